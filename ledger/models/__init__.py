"""All models of the ledger."""

from ledger.models.budgets import Budget, BudgetIncome
from ledger.models.card_notifications import (
    LayoutKind,
    Notification,
    TaughtLayout,
    UnsureText,
)
from ledger.models.cards import Card, CardBill, CardPayment
from ledger.models.categories import Category
from ledger.models.default_categories import DefaultCategory
from ledger.models.dismissed_transfers import DismissedTransfer
from ledger.models.entries import Entry, EntryLine, EntryTag
from ledger.models.imports import (
    Import,
    ImportAction,
    ImportKey,
    ImportMapping,
    ImportRow,
    ImportStatus,
)
from ledger.models.investments import Position, Stock, StockQuote, Trade
from ledger.models.ledgers import Ledger
from ledger.models.merged_entries import MergedEntry
from ledger.models.notification_counts import NotificationCount
from ledger.models.operations import (
    LedgerCopy,
    Operation,
    OperationKind,
    OperationRow,
    RowAction,
)
from ledger.models.quick_entries import QuickEntry, QuickEntryLine, QuickEntryTag
from ledger.models.rates import FxRate
from ledger.models.recurring import (
    Occurrence,
    RecurringLine,
    RecurringRule,
    RecurringTag,
)
from ledger.models.request_keys import RequestKey
from ledger.models.rollups import (
    CategoryRollup,
    DayRollup,
    MemoRollup,
    TagRollup,
    WalletMonthRollup,
    WalletRollup,
)
from ledger.models.tags import Tag
from ledger.models.tombstones import DeletedClientId, RowKind, Tombstone
from ledger.models.wallets import Valuation, Wallet

__all__ = [
    "Budget",
    "BudgetIncome",
    "Card",
    "CardBill",
    "CardPayment",
    "Category",
    "CategoryRollup",
    "DayRollup",
    "DefaultCategory",
    "DeletedClientId",
    "DismissedTransfer",
    "Entry",
    "EntryLine",
    "EntryTag",
    "FxRate",
    "Import",
    "ImportAction",
    "ImportKey",
    "ImportMapping",
    "ImportRow",
    "ImportStatus",
    "LayoutKind",
    "Ledger",
    "LedgerCopy",
    "MemoRollup",
    "MergedEntry",
    "Notification",
    "NotificationCount",
    "Occurrence",
    "Operation",
    "OperationKind",
    "OperationRow",
    "Position",
    "QuickEntry",
    "QuickEntryLine",
    "QuickEntryTag",
    "RecurringLine",
    "RecurringRule",
    "RecurringTag",
    "RequestKey",
    "RowAction",
    "RowKind",
    "Stock",
    "StockQuote",
    "Tag",
    "TagRollup",
    "TaughtLayout",
    "Tombstone",
    "Trade",
    "UnsureText",
    "Valuation",
    "Wallet",
    "WalletMonthRollup",
    "WalletRollup",
]
