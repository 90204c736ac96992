"""Transactions that are repeated after a conflict, or see one snapshot throughout."""

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
# Of the first wait, which is random, as are the later ones, each up to twice as long:
# two transactions that met once shall not meet again.
MAX_BACKOFF_SECONDS = 0.05
CONFLICTS = (errors.DeadlockDetected, errors.SerializationFailure)

P = ParamSpec("P")
R = TypeVar("R")
logger = logging.getLogger(__name__)


def retry_on_conflict(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function to be called again, up to three times, after a conflict.

    PostgreSQL ends one of the transactions that wait for each other, or that cannot be
    put in an order; it had no effect and may be repeated. The function must write in
    one transaction only, and what it does before, in its arguments or outside of the
    database, must be safe to repeat. Within an open transaction the error is raised,
    since that has ended as a whole: the function that opened it is called again.
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
                logger.warning("transaction conflict in %s", function.__qualname__)
                if retries == MAX_RETRIES:
                    raise
            time.sleep(random.uniform(0, MAX_BACKOFF_SECONDS * 2**retries))  # noqa: S311  # not secret
            retries += 1

    return call


def is_conflict(error: Exception) -> bool:
    """Return True for a deadlock or a serialization failure: 40P01, 40001."""
    return isinstance(error.__cause__, CONFLICTS)


@contextmanager
def repeatable_read() -> Iterator[None]:
    """Let all statements of the block read the same snapshot, and write nothing.

    Inside an open transaction the block runs in that one, with its isolation level.
    """
    is_outermost = not connection.in_atomic_block
    with transaction.atomic():
        if is_outermost:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
                )
        yield
