"""The client of Valkey, the specification's fast store.

Every caller falls back to PostgreSQL; a circuit breaker bounds the cost of an outage.
"""

import functools
import logging
import time
from collections.abc import Callable
from typing import TypeVar

from django_redis import get_redis_connection
from redis import Redis
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
