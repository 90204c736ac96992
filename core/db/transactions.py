"""Transactions that are repeated after a conflict, or see one snapshot."""

import functools
import logging
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from django.db import OperationalError, connection, transaction
from psycopg import errors

from core.metrics import transaction_conflicts

MAX_RETRIES = 3
# The bound doubles with each retry.
MAX_BACKOFF_SECONDS = 0.05
CONFLICTS = (errors.DeadlockDetected, errors.SerializationFailure)

P = ParamSpec("P")
R = TypeVar("R")
logger = logging.getLogger(__name__)


def retry_on_conflict(function: Callable[P, R]) -> Callable[P, R]:
    """Call the function again, up to three times, after a conflict.

    The function must write in one transaction only, and be safe to repeat. Within an
    open transaction the error is raised to its opener.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if connection.in_atomic_block:
            return function(*args, **kwargs)
        retries = 0
        while True:
            try:
                return function(*args, **kwargs)
            except OperationalError as error:
                if not is_conflict(error):
                    raise
                transaction_conflicts.inc()
                logger.warning("transaction conflict in %s", call.__qualname__)
                if retries == MAX_RETRIES:
                    raise
            time.sleep(random.uniform(0, MAX_BACKOFF_SECONDS * 2**retries))  # noqa: S311  # not secret
            retries += 1

    return call


def is_conflict(error: Exception) -> bool:
    return isinstance(error.__cause__, CONFLICTS)


def is_lock_timeout(error: Exception) -> bool:
    """Return True for 55P03."""
    return isinstance(error.__cause__, errors.LockNotAvailable)


@contextmanager
def repeatable_read() -> Iterator[None]:
    """Let all statements of the block read the same snapshot.

    An open transaction keeps its isolation level.
    """
    is_outermost = not connection.in_atomic_block
    with transaction.atomic():
        if is_outermost:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
                )
        yield
