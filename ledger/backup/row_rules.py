"""Rules over several cells and rows: names that are unique, references that exist.

Pure. Sheets are checked in their order, so that what a row refers to is known; only a
minor category may stand above its major one.
"""

from collections.abc import Callable
from typing import Any

from core.errors import InvalidField
from ledger.backup.error_collector import Problems
from ledger.backup.rows import (
    Backup,
    BudgetRow,
    CategoryRow,
    EntryRow,
    RecurringRow,
    TagRow,
    WalletRow,
)
from ledger.entries import Draft, settle
from ledger.models.base import EntryType
from ledger.models.wallets import Wallet

Rule = Callable[[Any], Any]


class BadRow(Exception):
    """A row that breaks a rule, told at one of its columns."""

    def __init__(self, column: str, code: str, detail: str) -> None:
        self.column = column
        self.code = code
        self.detail = detail
        super().__init__(detail)


class Names:
    """The names of a sheet; each stands there once."""

    def __init__(self) -> None:
        self._seen: set[Any] = set()

    def add(self, key: Any, column: str = "name") -> None:
        if key in self._seen:
            raise BadRow(column, "duplicate", "This stands in a row before.")
        self._seen.add(key)


class Known:
    """What rows of other sheets may refer to."""

    def __init__(self, backup: Backup) -> None:
        self.wallets = {row.name: row.kind for row in backup.wallets}
        self.tags = {row.name for row in backup.tags}
        self.categories = {(row.type, row.name) for row in backup.categories}
        self._tag_lists: set[tuple[str, ...]] = {()}

    def check(self, row: Any) -> None:
        """Type and category, wallet and tags of a row."""
        if row.category is not None and (row.type, row.category) not in self.categories:
            raise _unknown("category", "category of this type", row.category)
        if row.wallet is not None and row.wallet not in self.wallets:
            raise _unknown("wallet", "wallet", row.wallet)
        if row.tags in self._tag_lists:
            return
        for name in row.tags:
            if name not in self.tags:
                raise _unknown("tags", "tag", name)
        self._tag_lists.add(row.tags)


def _unknown(column: str, what: str, name: str) -> BadRow:
    detail = f"There is no {what} named {name} in this backup."
    return BadRow(column, "does_not_exist", detail)


def _rule_of_wallets(backup: Backup, home_currency: str) -> Rule:
    names = Names()

    def check(row: WalletRow) -> WalletRow:
        names.add(row.name)
        return row

    return check


def _rule_of_tags(backup: Backup, home_currency: str) -> Rule:
    names = Names()

    def check(row: TagRow) -> TagRow:
        names.add(row.name)
        return row

    return check


def _rule_of_categories(backup: Backup, home_currency: str) -> Rule:
    names = Names()

    def check(row: CategoryRow) -> CategoryRow:
        names.add((row.type, row.name))
        return row

    return check


def finish(sheet: str, backup: Backup, numbers: list[int], problems: Problems) -> None:
    """The rule over all rows of a sheet: a minor category's parent is a major one."""
    if sheet != "categories":
        return
    majors = {(row.type, row.name) for row in backup.categories if row.parent is None}
    for number, row in zip(numbers, backup.categories, strict=True):
        if row.parent is not None and (row.type, row.parent) not in majors:
            detail = f"There is no major category of this type named {row.parent}."
            problems.add(number, "parent", "hierarchy", detail)


def _rule_of_entries(backup: Backup, home_currency: str) -> Rule:
    known, home = Known(backup), (None, home_currency)

    def check(row: EntryRow) -> EntryRow:
        known.check(row)
        if row.installment_months is not None:
            _check_installments(row, known)
        if row.currency in home and row.original_amount is row.exchange_rate is None:
            if not row.amount:
                raise BadRow("amount", "required", "This is at least 1.")
            return row._replace(currency=None) if row.currency else row
        if row.currency in home:
            raise BadRow("currency", "required", "Original amount and rate need it.")
        return _settle(row)

    return check


def _check_installments(row: EntryRow, known: Known) -> None:
    by_card = row.wallet and known.wallets[row.wallet] == Wallet.Kind.CARD
    if row.type != EntryType.EXPENSE or not by_card:
        raise BadRow(
            "installmentMonths", "invalid", "Only an expense by CARD has these."
        )


def _settle(row: EntryRow) -> EntryRow:
    """Currency, original amount and rate belong together, as the API has it."""
    if row.pending and not row.amount and row.exchange_rate is None:
        if row.original_amount is None:
            raise BadRow("originalAmount", "required", "A foreign entry needs it.")
        return row._replace(amount=0)
    draft = Draft(
        date=row.date,
        type=row.type,
        amount=row.amount,
        currency=row.currency,
        original_amount=row.original_amount,
        exchange_rate=row.exchange_rate,
    )
    try:
        draft = settle(draft)
    except InvalidField as refusal:
        error = refusal.errors[0]
        raise BadRow(error.field, error.code, error.detail) from None
    return row._replace(amount=draft.amount, exchange_rate=draft.exchange_rate)


def _rule_of_recurring(backup: Backup, home_currency: str) -> Rule:
    known = Known(backup)

    def check(row: RecurringRow) -> RecurringRow:
        known.check(row)
        if row.end_date is not None and row.end_date < row.anchor_date:
            raise BadRow("endDate", "invalid", "This lies before the anchor date.")
        return row

    return check


def _rule_of_budgets(backup: Backup, home_currency: str) -> Rule:
    known, names = Known(backup), Names()

    def check(row: BudgetRow) -> BudgetRow:
        if (EntryType.EXPENSE, row.category) not in known.categories:
            raise _unknown("category", "expense category", row.category)
        names.add(row[:3], "category")
        return row

    return check


def _rule_of_quick_entries(backup: Backup, home_currency: str) -> Rule:
    known = Known(backup)

    def check(row: Any) -> Any:
        known.check(row)
        return row

    return check


RULES: dict[str, Callable[[Backup, str], Rule]] = {
    "wallets": _rule_of_wallets,
    "tags": _rule_of_tags,
    "categories": _rule_of_categories,
    "entries": _rule_of_entries,
    "recurring": _rule_of_recurring,
    "budgets": _rule_of_budgets,
    "quickEntries": _rule_of_quick_entries,
}
