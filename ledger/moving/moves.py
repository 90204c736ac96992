"""Moves before a deletion, `moveTo`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, connection
from psycopg.errors import ForeignKeyViolation

from core.api.fields import MAX_AMOUNT
from core.errors import InUseError
from ledger.base.ledger_write import LockedLedger
from ledger.base.operations import find_recording, keep_entries
from ledger.models import Budget, Category, Entry, MergedEntry, Wallet
from ledger.moving.cards import move_cards, move_excluded_category
from ledger.moving.rebuild import (
    SHAPED,
    Field,
    list_changes,
    release_unfit_refunds,
    write_changes,
)
from ledger.rollups.definitions import add_entries, move_rollups, without_triggers
from ledger.rollups.time_limit import extend_statement_timeout

_MERGE_BUDGETS = """
    INSERT INTO account_budget AS stored
        (member_id, category_id, type, year, month, amount)
    SELECT member_id, %(target)s, type, year, month, amount FROM account_budget
    WHERE member_id = %(member)s AND category_id = %(source)s
    ORDER BY year, month
    ON CONFLICT (member_id, year, month, category_id)
    DO UPDATE SET amount = least(stored.amount + excluded.amount, %(max)s)
"""


@contextmanager
def raise_if_in_use(detail: str) -> Iterator[None]:
    """Raise `InUseError` if the block deletes a row that others refer to."""
    try:
        yield
    except IntegrityError as error:
        if isinstance(error.__cause__, ForeignKeyViolation):
            raise InUseError(detail) from error
        raise


def move_wallet(ledger: LockedLedger, source: Wallet, target: Wallet) -> None:
    _move(ledger, "wallet", source.pk, target.pk)
    move_cards(ledger, source.pk, target.pk)


def move_category(ledger: LockedLedger, source: Category, target: Category) -> None:
    _move(ledger, "category", source.pk, target.pk)
    move_excluded_category(ledger, source.pk, target.pk)
    owned = MergedEntry.objects.owned_by(ledger.member)
    owned.filter(category=source.pk).update(category=target.pk)
    # A month has one budget of a category.
    params: dict[str, Any] = {
        "member": ledger.member.pk,
        "source": source.pk,
        "target": target.pk,
        "max": MAX_AMOUNT,
    }
    with connection.cursor() as cursor:
        cursor.execute(_MERGE_BUDGETS, params)
    Budget.objects.owned_by(ledger.member).filter(category=source.pk).delete()


def _move(ledger: LockedLedger, field: Field, source: int, target: int) -> None:
    """Move entries and templates.

    Flat entries of one wallet move in one statement, with the rows of the rollups.
    Other rows become the result of `EntryShape.move`.
    """
    member = ledger.member
    entries = Entry.objects.owned_by(member)
    flat = entries.filter(line_count=0, to_wallet=None, **{field: source})
    extend_statement_timeout()
    with without_triggers():
        for tables in SHAPED:
            ids = tables.list_ids(member, field, source)
            changes = list_changes(tables, member, ids, field, source, target)
            if tables.model is not Entry:
                write_changes(tables, member, changes)
                continue
            changed = [change.row.pk for change in changes]
            # The rollups then are the sums of flat entries alone.
            add_entries(ledger, changed, sign=-1)
            # As many as the wallet or category has.
            ids = list(flat.values_list("pk", flat=True)) if find_recording() else []
            with keep_entries(member.pk, changed=ids):
                flat.update(**{field: target})
            move_rollups(ledger, f"{field}_id", source, target)
            written = write_changes(tables, member, changes)
            add_entries(ledger, written)
            release_unfit_refunds(member, changes)
