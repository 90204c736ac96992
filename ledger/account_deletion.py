"""What self-deletion and a restore delete of a ledger."""

from collections.abc import Iterable

from django.db.models import Model

from accounts.models import Member
from ledger.locking import lock_ledger_exclusive
from ledger.models import (
    Budget,
    BudgetIncome,
    Category,
    DayTotal,
    Entry,
    EntryTag,
    EntryTotal,
    LedgerTotal,
    MemoTotal,
    MonthTotal,
    Notification,
    Occurrence,
    Position,
    QuickEntry,
    QuickEntryTag,
    RecurringRule,
    RecurringTag,
    Stock,
    Tag,
    TagTotal,
    Trade,
    Wallet,
    WalletTotal,
)

REPLACED_BY_RESTORE = (
    EntryTag,
    QuickEntryTag,
    RecurringTag,
    Occurrence,
    Entry,
    QuickEntry,
    RecurringRule,
    Budget,
    Trade,
    Position,
    Stock,
    WalletTotal,
    EntryTotal,
    DayTotal,
    MonthTotal,
    TagTotal,
    MemoTotal,
    LedgerTotal,
    Tag,
    Category,
    Wallet,
)
"""What refers to something goes before it."""
KEPT_BY_RESTORE = (BudgetIncome, Notification)
"""What a backup has no sheet for and a restore leaves alone: no payment that was
announced before it comes back by being announced again."""


def lock_for_account_deletion(member: Member) -> None:
    """Exclude all writers of the ledger, before the member's row is locked."""
    lock_ledger_exclusive(member)


def delete_ledger_for_restore(member: Member) -> None:
    """Delete all that a restore replaces, inside the caller's transaction.

    Stocks and trades are of it (spec 3.18).
    """
    _delete_rows(member, REPLACED_BY_RESTORE)


def delete_member_data(member: Member) -> None:
    """Delete the member's whole ledger, inside the caller's transaction."""
    delete_ledger_for_restore(member)
    _delete_rows(member, KEPT_BY_RESTORE)


def _delete_rows(member: Member, models: Iterable[type[Model]]) -> None:
    for model in models:
        rows = model._default_manager.filter(member_id=member.pk)
        rows._raw_delete(rows.db)
