"""Deletion of a ledger, by account deletion or before a restore."""

from collections.abc import Iterable

from django.db.models import Model

from accounts.models import Member
from ledger.locking import lock_ledger
from ledger.models import (
    Budget,
    BudgetIncome,
    Category,
    CategoryRollup,
    DayRollup,
    Entry,
    EntryTag,
    Ledger,
    MemoRollup,
    Notification,
    Occurrence,
    Position,
    QuickEntry,
    QuickEntryTag,
    RecurringRule,
    RecurringTag,
    Stock,
    Tag,
    TagRollup,
    Trade,
    Wallet,
    WalletMonthRollup,
    WalletRollup,
)
from ledger.rollups import bulk_write

# Children before parents (foreign keys).
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
    Tag,
    Category,
    Wallet,
)
# Not in backups and kept by a restore, so that known payments stay deduplicated.
KEPT_BY_RESTORE = (BudgetIncome, Notification)
ROLLUPS = (
    DayRollup,
    WalletMonthRollup,
    CategoryRollup,
    WalletRollup,
    MemoRollup,
    TagRollup,
)


def lock_for_account_deletion(member: Member) -> None:
    """Block all writers of the ledger; called before the member's row is locked."""
    lock_ledger(member)


def delete_ledger_for_restore(member: Member) -> None:
    """Delete everything that a restore replaces, including trades (spec 3.18).

    Call inside `bulk_write`, which computes the rollups afterwards.
    """
    _delete_rows(member, REPLACED_BY_RESTORE)


def delete_member_data(member: Member) -> None:
    """Delete the member's whole ledger; call inside a transaction."""
    with bulk_write(member):
        delete_ledger_for_restore(member)
    _delete_rows(member, (*ROLLUPS, *KEPT_BY_RESTORE, Ledger))


def _delete_rows(member: Member, models: Iterable[type[Model]]) -> None:
    for model in models:
        rows = model._default_manager.filter(member_id=member.pk)
        # One DELETE per table, without Django's collection of related objects.
        rows._raw_delete(rows.db)
