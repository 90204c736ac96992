"""Transactions of jobs that write very many rows of a ledger, some at a time."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

from accounts.models import Member
from ledger.locking import lock_ledger
from ledger.rollups import without_triggers

# Most batches take less than a second, but where very many rows have just been deleted
# or moved, PostgreSQL passes all of them once to find that nothing is left.
STATEMENT_TIMEOUT_SECONDS = 120


@contextmanager
def batch_transaction(member: Member) -> Iterator[None]:
    """Open a transaction that has the ledger to itself and more time than others.

    The triggers of totals do nothing in it. For functions with `retry_on_conflict`.
    """
    with transaction.atomic():
        lock_ledger(member)
        extend_statement_timeout()
        with without_triggers():
            yield


def extend_statement_timeout() -> None:
    """Give the statements of the transaction more time than others have."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('statement_timeout', %s, true)",
            [f"{STATEMENT_TIMEOUT_SECONDS}s"],
        )
