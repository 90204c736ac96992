"""Valkey with a time limit and a breaker: it may be away, no request waits for it.

Every caller has PostgreSQL behind it, so a failure is `RedisUnavailableError`, never an
answer. What is read here is trusted only if it is younger than the last failure
that this process saw: a store that hung may have missed a revocation.
"""

import functools
import logging
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from django_redis import get_redis_connection
from redis import Redis
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as StoreTimeout

from core.metrics import redis_failures

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

FAILURE_THRESHOLD = 3
RESET_TIMEOUT_SECONDS = 1.0


class RedisUnavailableError(Exception):
    """The fast store failed or is being left alone after failures."""


class CircuitBreaker:
    """Counts failures in a row; when open, one call a second may try.

    A refused connection costs nothing, so a few may be tried; a call that hung has
    cost its request the whole time limit, and opens the breaker alone.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = 0
        self._next_try = 0.0
        self.last_failure = 0.0
        """Wall clock, in seconds since the epoch."""

    def can_attempt(self) -> bool:
        if self._failures < FAILURE_THRESHOLD:
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._next_try:
                return False
            self._next_try = now + RESET_TIMEOUT_SECONDS
            return True

    def record_success(self) -> None:
        if self._failures:
            with self._lock:
                self._failures = 0
            logger.info("fast store answers again")

    def record_failure(self, *, hung: bool) -> None:
        with self._lock:
            self._failures += FAILURE_THRESHOLD if hung else 1
            self._next_try = time.monotonic() + RESET_TIMEOUT_SECONDS
            self.last_failure = time.time()


breaker = CircuitBreaker()


@functools.cache
def get_client() -> Redis:
    """The client over django-redis's pool: its time limits, no retries."""
    store: Redis = get_redis_connection("default")
    return store


def call(command: Callable[[Redis], Result], *, insist: bool = False) -> Result:
    """Run one command, or raise `RedisUnavailableError` without waiting for long.

    With `insist` it is tried although the breaker is open: for what must not be
    missed when the store is just back.
    """
    if not (insist or breaker.can_attempt()):
        raise RedisUnavailableError
    try:
        result = command(get_client())
    except ResponseError as error:
        logger.warning("fast store refused: %s", str(error).split(" ")[0])
        raise RedisUnavailableError from error
    except (RedisError, OSError) as error:
        breaker.record_failure(hung=isinstance(error, StoreTimeout))
        redis_failures.inc()
        logger.warning("fast store: %s", type(error).__name__)
        raise RedisUnavailableError from error
    breaker.record_success()
    return result


def is_reachable() -> bool:
    """Whether the store answers a ping right now; for the health check."""
    try:
        return bool(call(lambda store: store.ping()))
    except RedisUnavailableError:
        return False


def is_newer_than_last_failure(read_at: float) -> bool:
    """Whether a copy made at `read_at` is younger than the last failure seen."""
    return read_at > breaker.last_failure
