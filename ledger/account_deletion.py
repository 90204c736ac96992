"""What self-deletion and a restore delete of a ledger."""

from collections.abc import Iterable

from django.db.models import Model

from accounts.models import Member
from ledger.locking import lock_ledger
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

BOOKS = (
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
BESIDE_THE_BOOKS = (BudgetIncome, Notification)
"""What a backup has no sheet for and a restore leaves alone: no payment that was
announced before it comes back by being announced again."""


def lock_before_member(member: Member) -> None:
    """Exclude all writers of the ledger, before the member's row is locked."""
    lock_ledger(member)


def erase_books(member: Member) -> None:
    """Delete all that a restore replaces, inside the caller's transaction.

    Stocks and trades are of it (service.md, Restore rules, 4).
    """
    _erase(member, BOOKS)


def erase_member(member: Member) -> None:
    """Delete the member's whole ledger, inside the caller's transaction."""
    erase_books(member)
    _erase(member, BESIDE_THE_BOOKS)


def _erase(member: Member, models: Iterable[type[Model]]) -> None:
    for model in models:
        rows = model._default_manager.filter(member_id=member.pk)
        rows._raw_delete(rows.db)
