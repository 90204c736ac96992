"""Deletion of a ledger, with the account or before a restore."""

from collections.abc import Iterable

from django.db.models import Model

from accounts.models import Member
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.models import (
    Budget,
    BudgetIncome,
    Category,
    CategoryRollup,
    DayRollup,
    DismissedTransfer,
    Entry,
    EntryLine,
    EntryTag,
    Ledger,
    MemoRollup,
    MergedEntry,
    Notification,
    Occurrence,
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
    Trade,
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
    Wallet,
)
# A restore keeps them: known payments stay deduplicated, taught texts are read.
# Keys stand for the answers that their clients got.
KEPT_BY_RESTORE = (BudgetIncome, Notification, RequestKey, TaughtLayout)
ROLLUPS = (
    DayRollup,
    WalletMonthRollup,
    CategoryRollup,
    WalletRollup,
    MemoRollup,
    TagRollup,
)


@ledger_write
def delete_member_data(ledger: LockedLedger) -> None:
    extend_statement_timeout()
    with without_triggers():
        _delete_rows(
            ledger.member, (*REPLACED_BY_RESTORE, *KEPT_BY_RESTORE, *ROLLUPS, Ledger)
        )


def delete_ledger_for_restore(ledger: LockedLedger) -> None:
    """Delete all that a restore replaces (spec 3.18), inside `bulk_write`."""
    _delete_rows(ledger.member, REPLACED_BY_RESTORE)
    forget_texts(ledger.member)


def _delete_rows(member: Member, models: Iterable[type[Model]]) -> None:
    # One DELETE per table, without Django's collection of related objects.
    for model in models:
        rows = model._default_manager.filter(member_id=member.pk)
        rows._raw_delete(rows.db)
