"""Rules over several cells and rows: names that are unique, references that exist.

Pure. Sheets are checked in their order, so that what a row refers to is known; only a
minor category may stand above its major one.
"""

from collections.abc import Callable
from typing import Any

from core.errors import InvalidFieldError
from ledger.backup.error_collector import ErrorCollector
from ledger.backup.rows import (
    Backup,
    BudgetRow,
    CategoryRow,
    EntryRow,
    RecurringRow,
    TagRow,
    WalletRow,
)
from ledger.entries import EntryData, resolve_amounts
from ledger.models.base import EntryType
from ledger.models.wallets import Wallet

RowRule = Callable[[Any], Any]


class RowError(Exception):
    """A row that breaks a rule, told at one of its columns."""

    def __init__(self, column: str, code: str, detail: str) -> None:
        self.column = column
        self.code = code
        self.detail = detail
        super().__init__(detail)


class UniqueNames:
    """The names of a sheet; each stands there once."""

    def __init__(self) -> None:
        self._seen: set[Any] = set()

    def add(self, key: Any, column: str = "name") -> None:
        if key in self._seen:
            raise RowError(column, "duplicate", "This stands in a row before.")
        self._seen.add(key)


class ReferenceIndex:
    """What rows of other sheets may refer to."""

    def __init__(self, backup: Backup) -> None:
        self.wallets = {row.name: row.kind for row in backup.wallets}
        self.tags = {row.name for row in backup.tags}
        self.categories = {(row.type, row.name) for row in backup.categories}
        self._tag_lists: set[tuple[str, ...]] = {()}

    def validate(self, row: Any) -> None:
        """Type and category, wallet and tags of a row."""
        if row.category is not None and (row.type, row.category) not in self.categories:
            raise _missing_reference_error(
                "category", "category of this type", row.category
            )
        if row.wallet is not None and row.wallet not in self.wallets:
            raise _missing_reference_error("wallet", "wallet", row.wallet)
        if row.tags in self._tag_lists:
            return
        for name in row.tags:
            if name not in self.tags:
                raise _missing_reference_error("tags", "tag", name)
        self._tag_lists.add(row.tags)


def _missing_reference_error(column: str, what: str, name: str) -> RowError:
    detail = f"There is no {what} named {name} in this backup."
    return RowError(column, "does_not_exist", detail)


def _wallet_rule(backup: Backup, home_currency: str) -> RowRule:
    names = UniqueNames()

    def check(row: WalletRow) -> WalletRow:
        names.add(row.name)
        return row

    return check


def _tag_rule(backup: Backup, home_currency: str) -> RowRule:
    names = UniqueNames()

    def check(row: TagRow) -> TagRow:
        names.add(row.name)
        return row

    return check


def _category_rule(backup: Backup, home_currency: str) -> RowRule:
    names = UniqueNames()

    def check(row: CategoryRow) -> CategoryRow:
        names.add((row.type, row.name))
        return row

    return check


def validate_sheet(
    sheet: str, backup: Backup, numbers: list[int], problems: ErrorCollector
) -> None:
    """The rule over all rows of a sheet: a minor category's parent is a major one."""
    if sheet != "categories":
        return
    majors = {(row.type, row.name) for row in backup.categories if row.parent is None}
    for number, row in zip(numbers, backup.categories, strict=True):
        if row.parent is not None and (row.type, row.parent) not in majors:
            detail = f"There is no major category of this type named {row.parent}."
            problems.add(number, "parent", "hierarchy", detail)


def _entry_rule(backup: Backup, home_currency: str) -> RowRule:
    known, home = ReferenceIndex(backup), (None, home_currency)

    def check(row: EntryRow) -> EntryRow:
        known.validate(row)
        if row.installment_months is not None:
            _validate_installments(row, known)
        if row.currency in home and row.original_amount is row.exchange_rate is None:
            if not row.amount:
                raise RowError("amount", "required", "This is at least 1.")
            return row._replace(currency=None) if row.currency else row
        if row.currency in home:
            raise RowError("currency", "required", "Original amount and rate need it.")
        return _resolve_row_amounts(row)

    return check


def _validate_installments(row: EntryRow, known: ReferenceIndex) -> None:
    by_card = row.wallet and known.wallets[row.wallet] == Wallet.Kind.CARD
    if row.type != EntryType.EXPENSE or not by_card:
        raise RowError(
            "installmentMonths", "invalid", "Only an expense by CARD has these."
        )


def _resolve_row_amounts(row: EntryRow) -> EntryRow:
    """Currency, original amount and rate belong together, as the API has it."""
    if row.pending and not row.amount and row.exchange_rate is None:
        if row.original_amount is None:
            raise RowError("originalAmount", "required", "A foreign entry needs it.")
        return row._replace(amount=0)
    draft = EntryData(
        date=row.date,
        type=row.type,
        amount=row.amount,
        currency=row.currency,
        original_amount=row.original_amount,
        exchange_rate=row.exchange_rate,
    )
    try:
        draft = resolve_amounts(draft)
    except InvalidFieldError as refusal:
        error = refusal.errors[0]
        raise RowError(error.field, error.code, error.detail) from None
    return row._replace(amount=draft.amount, exchange_rate=draft.exchange_rate)


def _recurring_rule(backup: Backup, home_currency: str) -> RowRule:
    known = ReferenceIndex(backup)

    def check(row: RecurringRow) -> RecurringRow:
        known.validate(row)
        if row.end_date is not None and row.end_date < row.anchor_date:
            raise RowError("endDate", "invalid", "This lies before the anchor date.")
        return row

    return check


def _budget_rule(backup: Backup, home_currency: str) -> RowRule:
    known, names = ReferenceIndex(backup), UniqueNames()

    def check(row: BudgetRow) -> BudgetRow:
        if (EntryType.EXPENSE, row.category) not in known.categories:
            raise _missing_reference_error("category", "expense category", row.category)
        names.add(row[:3], "category")
        return row

    return check


def _quick_entry_rule(backup: Backup, home_currency: str) -> RowRule:
    known = ReferenceIndex(backup)

    def check(row: Any) -> Any:
        known.validate(row)
        return row

    return check


ROW_RULES: dict[str, Callable[[Backup, str], RowRule]] = {
    "wallets": _wallet_rule,
    "tags": _tag_rule,
    "categories": _category_rule,
    "entries": _entry_rule,
    "recurring": _recurring_rule,
    "budgets": _budget_rule,
    "quickEntries": _quick_entry_rule,
}
