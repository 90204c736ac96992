"""The tables of the ledger, one module for each topic."""

from ledger.models.categories import Category
from ledger.models.entries import Entry, EntryTag
from ledger.models.quick_entries import QuickEntry, QuickEntryTag
from ledger.models.tags import Tag
from ledger.models.totals import EntryTotal, MonthTotal, WalletTotal
from ledger.models.wallets import Wallet

__all__ = [
    "Category",
    "Entry",
    "EntryTag",
    "EntryTotal",
    "MonthTotal",
    "QuickEntry",
    "QuickEntryTag",
    "Tag",
    "Wallet",
    "WalletTotal",
]
