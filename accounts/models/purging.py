"""Deletion of many rows."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet

BATCH_SIZE = 5_000


def purge(
    rows: QuerySet[Any], report: Callable[[int], None] = lambda purged: None
) -> int:
    """Delete rows in batches; return their number, and report it after each batch."""
    rows, purged = rows.order_by(), 0
    while keys := list(rows.values_list("pk", flat=True)[:BATCH_SIZE]):
        # A row that has changed since may no longer match.
        purged += rows.filter(pk__in=keys).delete()[0]
        report(purged)
    return purged
