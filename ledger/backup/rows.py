"""What a checked row of each sheet is; the fields stand in the order of its columns."""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from ledger.backup.columns import SHEETS


class WalletRow(NamedTuple):
    name: str
    kind: str
    institution: str
    account_number: str
    opening_balance: int
    manual_valuation: bool
    current_value: int | None
    archived: bool
    memo: str


class TagRow(NamedTuple):
    name: str


class CategoryRow(NamedTuple):
    type: str
    name: str
    parent: str | None


class EntryRow(NamedTuple):
    date: date
    type: str
    amount: int | None
    category: str | None
    wallet: str | None
    memo: str
    tags: tuple[str, ...]
    currency: str | None
    original_amount: Decimal | None
    exchange_rate: Decimal | None
    installment_months: int | None
    pending: bool


class RecurringRow(NamedTuple):
    name: str
    type: str
    amount: int
    category: str | None
    wallet: str | None
    memo: str
    tags: tuple[str, ...]
    frequency: str
    interval: int
    anchor_date: date
    end_date: date | None
    next_date: date | None
    active: bool


class BudgetRow(NamedTuple):
    category: str
    year: int
    month: int
    amount: int


class QuickEntryRow(NamedTuple):
    name: str
    type: str
    amount: int | None
    category: str | None
    wallet: str | None
    memo: str
    tags: tuple[str, ...]


ROW_CLASSES: dict[str, Any] = {
    "wallets": WalletRow,
    "tags": TagRow,
    "categories": CategoryRow,
    "entries": EntryRow,
    "recurring": RecurringRow,
    "budgets": BudgetRow,
    "quickEntries": QuickEntryRow,
}


@dataclass(slots=True)
class Backup:
    """A whole backup: the records of each sheet, in the order of their rows."""

    wallets: list[WalletRow] = field(default_factory=list)
    tags: list[TagRow] = field(default_factory=list)
    categories: list[CategoryRow] = field(default_factory=list)
    entries: list[EntryRow] = field(default_factory=list)
    recurring: list[RecurringRow] = field(default_factory=list)
    budgets: list[BudgetRow] = field(default_factory=list)
    quickEntries: list[QuickEntryRow] = field(default_factory=list)  # noqa: N815

    def row_counts(self) -> dict[str, int]:
        return {sheet.name: len(getattr(self, sheet.name)) for sheet in SHEETS}
