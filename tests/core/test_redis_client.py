"""Look-ups of single keys over connections that are used again and again."""

import time

import pytest

from core import redis_client
from core.redis_client import RedisUnavailableError, get_value
from tests.support.stores import ValkeyServer

# More than a pool lets be open at once.
MANY_FAILURES = 150
SOCKET_TIMEOUT_SECONDS = 0.15


def fail_to_get() -> float:
    """Return the seconds that a failing look-up takes."""
    redis_client.circuit_breaker.reset()
    started_at = time.monotonic()
    with pytest.raises(RedisUnavailableError):
        get_value("name")
    return time.monotonic() - started_at


def test_values_are_found_after_any_number_of_failures(
    own_valkey: ValkeyServer,
) -> None:
    own_valkey.run("SET", "name", "value")
    assert get_value("name") == b"value"
    own_valkey.kill()
    for _ in range(MANY_FAILURES):
        fail_to_get()
    own_valkey.start()
    own_valkey.run("SET", "name", "new")
    redis_client.circuit_breaker.reset()
    assert get_value("name") == b"new"
    assert redis_client.is_reachable()


def test_hanging_server_takes_its_time_limit_once(own_valkey: ValkeyServer) -> None:
    assert get_value("name") is None
    own_valkey.hang()
    try:
        # The connection that is open, then new ones; a busy machine may delay some.
        fail_to_get()
        assert min(fail_to_get() for _ in range(4)) < 1.6 * SOCKET_TIMEOUT_SECONDS
    finally:
        own_valkey.heal()
    redis_client.circuit_breaker.reset()
    assert get_value("name") is None


def test_late_answer_is_not_taken_for_that_of_the_next_command(
    own_valkey: ValkeyServer,
) -> None:
    own_valkey.run("MSET", "first", "1", "second", "2")
    assert get_value("first") == b"1"
    own_valkey.hang()
    redis_client.circuit_breaker.reset()
    with pytest.raises(RedisUnavailableError):
        get_value("first")
    own_valkey.heal()
    redis_client.circuit_breaker.reset()
    assert get_value("second") == b"2"


def test_connection_that_the_server_closed_is_opened_again(
    own_valkey: ValkeyServer,
) -> None:
    assert get_value("name") is None
    own_valkey.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    assert get_value("name") is None
