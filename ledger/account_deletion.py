"""Deletion of a ledger, with the account or before a restore."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.db import connection
from django.db.models import Model

from accounts.models import Member
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.models import (
    Budget,
    BudgetIncome,
    Card,
    CardBill,
    CardPayment,
    Category,
    CategoryRollup,
    DayRollup,
    DeletedClientId,
    DismissedTransfer,
    Entry,
    EntryLine,
    EntryTag,
    Import,
    ImportKey,
    ImportMapping,
    ImportRow,
    Ledger,
    LedgerCopy,
    MemoRollup,
    MergedEntry,
    Notification,
    Occurrence,
    Operation,
    OperationRow,
    Position,
    QuickEntry,
    QuickEntryLine,
    QuickEntryTag,
    RecurringLine,
    RecurringRule,
    RecurringTag,
    RequestKey,
    Stock,
    Tag,
    TagRollup,
    TaughtLayout,
    Tombstone,
    Trade,
    UnsureText,
    Valuation,
    Wallet,
    WalletMonthRollup,
    WalletRollup,
)
from ledger.rollups.definitions import without_triggers
from ledger.rollups.time_limit import extend_statement_timeout
from ledger.taught_layouts.learning import forget_texts

# Children before parents (foreign keys).
REPLACED_BY_RESTORE = (
    EntryTag,
    QuickEntryTag,
    RecurringTag,
    Occurrence,
    EntryLine,
    MergedEntry,
    DismissedTransfer,
    Entry,
    QuickEntryLine,
    QuickEntry,
    RecurringLine,
    RecurringRule,
    Budget,
    Trade,
    Position,
    Stock,
    Tag,
    Category,
    Valuation,
    CardPayment,
    CardBill,
    Card,
    Wallet,
    # Clients start anew.
    Tombstone,
    # The entries that they tell apart are gone.
    ImportKey,
    # As are the texts of pending entries.
    UnsureText,
)
# A restore keeps them: known payments stay deduplicated, taught texts are read.
# Keys stand for the answers that their clients got. A file that was read is not of the
# ledger before its commit.
KEPT_BY_RESTORE = (
    BudgetIncome,
    DeletedClientId,
    ImportRow,
    Import,
    ImportMapping,
    LedgerCopy,
    Notification,
    Operation,
    OperationRow,
    RequestKey,
    TaughtLayout,
)
ROLLUPS = (
    DayRollup,
    WalletMonthRollup,
    CategoryRollup,
    WalletRollup,
    MemoRollup,
    TagRollup,
)


_KEEP_CLIENT_IDS = """
    INSERT INTO account_deleted_client_id (member_id, client_id)
    SELECT member_id, client_id FROM account_entry
    WHERE member_id = %(member)s AND client_id IS NOT NULL
    ON CONFLICT (member_id, client_id) DO NOTHING
"""
# No row has a newer version: what was read before is of the former ledger.
_VOID_CURSORS = """
    UPDATE account_ledger
    SET revision = revision + 1, oldest_cursor = revision + 1
    WHERE member_id = %(member)s
"""


@ledger_write
def delete_member_data(ledger: LockedLedger) -> None:
    extend_statement_timeout()
    with without_triggers(), _without_tombstones():
        _delete_rows(
            ledger.member, (*REPLACED_BY_RESTORE, *KEPT_BY_RESTORE, *ROLLUPS, Ledger)
        )


def delete_ledger_for_restore(
    ledger: LockedLedger, *, keep_import_keys: bool = False
) -> None:
    """Delete all that a restore replaces (spec 3.18), inside `bulk_write`.

    Clients that keep a copy start anew (spec 3.26).
    """
    with connection.cursor() as cursor:
        for statement in (_KEEP_CLIENT_IDS, _VOID_CURSORS):
            cursor.execute(statement, {"member": ledger.member.pk})
    with _without_tombstones():
        _delete_rows(
            ledger.member,
            (
                model
                for model in REPLACED_BY_RESTORE
                if not (keep_import_keys and model is ImportKey)
            ),
        )
    forget_texts(ledger.member)


@contextmanager
def _without_tombstones() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ledger.is_replaced = 'on'")
        yield
        cursor.execute("SET LOCAL ledger.is_replaced = 'off'")


def _delete_rows(member: Member, models: Iterable[type[Model]]) -> None:
    # One DELETE per table, without Django's collection of related objects.
    for model in models:
        rows = model._default_manager.filter(member_id=member.pk)
        rows._raw_delete(rows.db)
