"""The client of Valkey, the specification's fast store.

Every caller falls back to PostgreSQL; a circuit breaker bounds the cost of an outage.
"""

import functools
import logging
import os
import time
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from django_redis import get_redis_connection
from redis import ConnectionPool, Redis
from redis.exceptions import RedisError, ResponseError

from core.circuit_breaker import CircuitBreaker
from core.metrics import redis_failures

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

FAILURE_THRESHOLD = 3
RESET_TIMEOUT_SECONDS = 1.0
# A hanging call takes the socket timeout, a refused connection a millisecond.
SLOW_FAILURE_SECONDS = 0.1


class RedisUnavailableError(Exception):
    """Valkey failed, or is not called because it has just failed."""


circuit_breaker = CircuitBreaker(
    failure_threshold=FAILURE_THRESHOLD,
    slow_failure_seconds=SLOW_FAILURE_SECONDS,
    reset_timeout_seconds=RESET_TIMEOUT_SECONDS,
    # While Valkey hangs, each trial costs one request the socket timeout.
    trial_interval_seconds=RESET_TIMEOUT_SECONDS,
)


@functools.cache
def get_client() -> Redis:
    client: Redis = get_redis_connection("default")
    return client


def call(command: Callable[[Redis], Result], *, ignore_breaker: bool = False) -> Result:
    """Run a command; raise `RedisUnavailableError` on a failure.

    `ignore_breaker` is for invalidations that must reach Valkey as soon as it is back.
    """
    if not (ignore_breaker or circuit_breaker.allows_request()):
        raise RedisUnavailableError
    started_at = time.monotonic()
    try:
        result = command(get_client())
    except ResponseError as error:
        # The rest of the message may quote keys and values.
        kind = str(error).split(" ")[0]
        logger.warning("Valkey rejected a command: %s", kind)
        raise RedisUnavailableError from error
    except (RedisError, OSError) as error:
        circuit_breaker.record_failure(started_at=started_at)
        redis_failures.inc()
        logger.warning("Valkey is unavailable: %s", type(error).__name__)
        raise RedisUnavailableError from error
    if circuit_breaker.record_success():
        logger.info("Valkey is available again")
    return result


def get_value(key: str) -> bytes | None:
    """Return the value of a key; raise `RedisUnavailableError` as `call` does.

    The layers of the client and of its pool take twice the time of the command.
    """
    name = key.encode()
    command = b"*2\r\n$3\r\nGET\r\n$%d\r\n%b\r\n" % (len(name), name)
    value: bytes | None = call(lambda each: _exchange(each.connection_pool, command))
    return value


class _IdleConnections:
    """Connections of one pool, outside of it, each for one thread at a time."""

    def __init__(self) -> None:
        self._owner: tuple[ConnectionPool, int] | None = None
        self._idle: deque[Any] = deque()

    def pop(self, pool: ConnectionPool) -> Any:
        owner = pool, os.getpid()
        if self._owner != owner:
            # A thread that sees the new owner must not get another's connections.
            idle, self._idle = self._idle, deque()
            self._owner = owner
            for connection in idle:
                connection.disconnect()
        try:
            return self._idle.pop()
        except IndexError:
            return pool.make_connection()

    def append(self, pool: ConnectionPool, connection: Any) -> None:
        if self._owner == (pool, os.getpid()):
            self._idle.append(connection)
        else:
            connection.disconnect()


_idle_connections = _IdleConnections()


def _exchange(pool: ConnectionPool, command: bytes) -> Any:
    connection = _idle_connections.pop(pool)
    try:
        if connection.is_connected and _was_closed_by_server(connection):
            connection.disconnect()
        connection.send_packed_command([command], check_health=False)
        return connection.read_response()
    except BaseException:
        # A late answer would be taken for that of the next command.
        connection.disconnect()
        raise
    finally:
        # Also after a failure: the pool counts it as its own, and it connects again.
        _idle_connections.append(pool, connection)


def _was_closed_by_server(connection: Any) -> bool:
    """Return True for an idle connection that has something to read: its end."""
    try:
        return bool(connection.can_read())
    except (RedisError, OSError):
        return True


def is_reachable() -> bool:
    try:
        return bool(call(lambda client: client.ping()))
    except RedisUnavailableError:
        return False


def is_newer_than_last_failure(read_at: float) -> bool:
    """Compare seconds since the epoch.

    An older cached copy may have missed its invalidation.
    """
    return read_at > circuit_breaker.last_failure_time
