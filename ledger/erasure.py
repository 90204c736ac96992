"""The ledger's part of self-deletion."""

from accounts.models import Member
from ledger.models import (
    Budget,
    BudgetIncome,
    Category,
    DayTotal,
    Entry,
    EntryTag,
    EntryTotal,
    LedgerTotal,
    MonthTotal,
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

ORDER = (
    EntryTag,
    QuickEntryTag,
    RecurringTag,
    Occurrence,
    Entry,
    QuickEntry,
    RecurringRule,
    Budget,
    BudgetIncome,
    Trade,
    Position,
    Stock,
    WalletTotal,
    EntryTotal,
    DayTotal,
    MonthTotal,
    TagTotal,
    LedgerTotal,
    Tag,
    Category,
    Wallet,
)
"""What refers to something goes before it."""


def erase_member(member: Member) -> None:
    """Delete the member's whole ledger, inside the caller's transaction."""
    for model in ORDER:
        rows = model._default_manager.filter(member_id=member.pk)
        rows._raw_delete(rows.db)
