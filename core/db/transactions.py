"""Transactions with other than PostgreSQL's default isolation."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


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
