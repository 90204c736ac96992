"""Hints for the planner of PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

_SET_NESTED_LOOPS = "SELECT set_config('enable_nestloop', %s, true)"


@contextmanager
def without_nested_loops() -> Iterator[None]:
    """Let the statements of the block join by hash or merge; in a transaction.

    PostgreSQL expects a single row of tables that were filled a moment ago, until they
    are analyzed.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SET_NESTED_LOOPS, ["off"])
        yield
        cursor.execute(_SET_NESTED_LOOPS, ["on"])
