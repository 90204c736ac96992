"""Rules over the cells of a row and over rows: unique names, existing references.

Only the parent of a category may come after it. No database access.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sized
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from core.errors import InvalidFieldError
from ledger.backup.columns import (
    BUDGETS,
    CATEGORIES,
    ENTRIES,
    LINES,
    MERGED_ENTRIES,
    QUICK_ENTRIES,
    RECURRING,
    TAGS,
    VALUATIONS,
    WALLETS,
    Backup,
    BudgetRow,
    CategoryRow,
    EntryRow,
    LineRow,
    MergedEntryRow,
    QuickEntryRow,
    RecurringRow,
    ReferringRow,
    TagRow,
    ValuationRow,
    WalletRow,
)
from ledger.base.quotas import MAX_ROWS
from ledger.entries.amounts import resolve_amounts
from ledger.entry_shape import EntryShape, default_category_type
from ledger.models import Category, QuickEntry, RecurringRule, Tag, Wallet
from ledger.models.base import CategoryType, EntryType

# Checks and completes a row; raises `RowError`.
RowRule = Callable[[Any], None]

# Type of the category, or kind of the row -> detail.
MISSING_REFERENCE_DETAILS = {
    CategoryType.EXPENSE.value: gettext_lazy(
        "This backup has no expense category named {name}."
    ),
    CategoryType.INCOME.value: gettext_lazy(
        "This backup has no income category named {name}."
    ),
    "tag": gettext_lazy("This backup has no tag named {name}."),
    "wallet": gettext_lazy("This backup has no wallet named {name}."),
}
MISSING_MAJOR_DETAILS = {
    CategoryType.EXPENSE.value: gettext_lazy(
        "There is no major expense category named {name}."
    ),
    CategoryType.INCOME.value: gettext_lazy(
        "There is no major income category named {name}."
    ),
}


class RowError(Exception):
    def __init__(self, column: str, code: str, detail: str) -> None:
        self.column = column
        self.code = code
        self.detail = detail
        super().__init__(detail)


class UniqueNames:
    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self._names = set(names)

    def add(self, name: Hashable, column: str = "name") -> None:
        if name in self._names:
            raise RowError(
                column, "duplicate", gettext("An earlier row has the same value.")
            )
        self._names.add(name)


class ReferenceIndex:
    def __init__(self, backup: Backup) -> None:
        self.wallet_kinds = {row.name: row.kind for row in backup.wallets}
        self.tags = {row.name for row in backup.tags}
        self.categories = {(row.type, row.name) for row in backup.categories}
        # Few different lists recur in many entries: each is validated once.
        self._valid_tag_lists: set[tuple[str, ...]] = {()}

    def validate(self, row: ReferringRow) -> None:
        if row.category_type is None:
            row.category_type = default_category_type(row.type)
        self.validate_names(row)
        if row.to_wallet is not None and row.to_wallet not in self.wallet_kinds:
            raise _missing_reference_error("toWallet", "wallet", row.to_wallet)
        self.validate_tags(row.tags)

    def validate_names(self, row: ReferringRow | LineRow) -> None:
        self.validate_category(row)
        if row.wallet is not None and row.wallet not in self.wallet_kinds:
            raise _missing_reference_error("wallet", "wallet", row.wallet)

    def validate_category(self, row: ReferringRow | LineRow | MergedEntryRow) -> None:
        type_ = row.category_type or CategoryType.EXPENSE.value
        if row.category is not None and (type_, row.category) not in self.categories:
            raise _missing_reference_error("category", type_, row.category)

    def validate_tags(self, names: tuple[str, ...]) -> None:
        if names in self._valid_tag_lists:
            return
        for name in names:
            if name not in self.tags:
                raise _missing_reference_error("tags", "tag", name)
        self._valid_tag_lists.add(names)


def _missing_reference_error(column: str, kind: str, name: str) -> RowError:
    detail = MISSING_REFERENCE_DETAILS[kind].format(name=name)
    return RowError(column, "does_not_exist", detail)


def raise_on_missing(column: str, kind: str, name: str) -> None:
    """Raise `RowError`: the backup has no such wallet, tag or category."""
    raise _missing_reference_error(column, kind, name)


def _make_installments_error() -> RowError:
    detail = gettext("Installments are only allowed for card expenses.")
    return RowError("installmentMonths", "invalid", detail)


def _require_room(rows: Sized, model: type[Any]) -> None:
    """Raise `RowError` for more rows than a ledger may have (spec 10.1)."""
    limit = MAX_ROWS[model]
    if len(rows) >= limit:
        detail = gettext("A ledger has at most {limit} of them.")
        raise RowError("name", "limit", detail.format(limit=limit))


def _make_name_rule(rows: Sized, model: type[Any]) -> RowRule:
    names = UniqueNames()

    def check(row: WalletRow | TagRow) -> None:
        _require_room(rows, model)
        names.add(row.name)

    return check


def _make_category_rule(backup: Backup, home_currency: str) -> RowRule:
    names = UniqueNames()

    def check(row: CategoryRow) -> None:
        _require_room(backup.categories, Category)
        names.add((row.type, row.name))

    return check


def list_rows_without_parent(rows: Iterable[CategoryRow]) -> Iterator[tuple[int, str]]:
    """Yield the index of each row whose parent is no major category, and the reason."""
    rows = list(rows)
    majors = {(row.type, row.name) for row in rows if row.parent is None}
    for index, row in enumerate(rows):
        if row.parent is not None and (row.type, row.parent) not in majors:
            yield index, MISSING_MAJOR_DETAILS[row.type].format(name=row.parent)


def _make_entry_rule(backup: Backup, home_currency: str) -> RowRule:
    references, client_ids = ReferenceIndex(backup), UniqueNames()

    def check(row: EntryRow) -> None:
        references.validate(row)
        if row.client_id is not None:
            client_ids.add(row.client_id, "clientId")
        if row.installment_months is not None:
            is_by_card = (
                row.wallet is not None
                and references.wallet_kinds[row.wallet] == Wallet.Kind.CARD
            )
            if row.type != EntryType.EXPENSE or not is_by_card:
                raise _make_installments_error()
        if row.currency is not None and row.currency != home_currency:
            _resolve_row_amounts(row)
            return
        if row.original_amount is not None or row.exchange_rate is not None:
            raise RowError(
                "currency",
                "required",
                gettext(
                    "Required with originalAmount or exchangeRate; must be foreign."
                ),
            )
        if not row.amount:
            raise RowError("amount", "required", gettext("Must be at least 1."))
        # Entries in the home currency store none.
        row.currency = None

    return check


def _resolve_row_amounts(row: EntryRow) -> None:
    # Only a pending entry may lack both the amount and the rate (spec 4.4).
    if row.pending and not row.amount and row.exchange_rate is None:
        if row.original_amount is None:
            raise RowError(
                "originalAmount", "required", gettext("Required for a foreign entry.")
            )
        row.amount = 0
        return
    shape = EntryShape(
        type=row.type,
        date=row.date,
        amount=row.amount,
        currency=row.currency,
        original_amount=row.original_amount,
        exchange_rate=row.exchange_rate,
    )
    try:
        shape = resolve_amounts(shape)
    except InvalidFieldError as error:
        first = error.errors[0]
        raise RowError(first.field, first.code, str(first.detail)) from None
    row.amount, row.exchange_rate = shape.amount, shape.exchange_rate


def _make_recurring_rule(backup: Backup, home_currency: str) -> RowRule:
    references = ReferenceIndex(backup)

    def check(row: RecurringRow) -> None:
        _require_room(backup.recurring, RecurringRule)
        references.validate(row)
        if row.end_date is not None and row.end_date < row.anchor_date:
            raise RowError(
                "endDate", "invalid", gettext("Must not be before the anchor date.")
            )

    return check


def _make_budget_rule(backup: Backup, home_currency: str) -> RowRule:
    references, names = ReferenceIndex(backup), UniqueNames()

    def check(row: BudgetRow) -> None:
        if (CategoryType.EXPENSE, row.category) not in references.categories:
            raise _missing_reference_error(
                "category", CategoryType.EXPENSE, row.category
            )
        names.add((row.category, row.year, row.month), "category")

    return check


def _make_quick_entry_rule(backup: Backup, home_currency: str) -> RowRule:
    references = ReferenceIndex(backup)

    def check(row: QuickEntryRow) -> None:
        _require_room(backup.quick_entries, QuickEntry)
        references.validate(row)

    return check


def _make_line_rule(backup: Backup, home_currency: str) -> RowRule:
    references = ReferenceIndex(backup)
    types = {
        row.key: row.type
        for rows in (backup.entries, backup.recurring, backup.quick_entries)
        for row in rows
    }

    def check(row: LineRow) -> None:
        if row.category_type is None:
            type_ = types.get(row.entry, EntryType.EXPENSE.value)
            row.category_type = default_category_type(type_)
        references.validate_names(row)

    return check


def _make_valuation_rule(backup: Backup, home_currency: str) -> RowRule:
    references, names = ReferenceIndex(backup), UniqueNames()

    def check(row: ValuationRow) -> None:
        if row.wallet not in references.wallet_kinds:
            raise _missing_reference_error("wallet", "wallet", row.wallet)
        names.add((row.wallet, row.date), "date")

    return check


def _make_merged_entry_rule(backup: Backup, home_currency: str) -> RowRule:
    references, names = ReferenceIndex(backup), UniqueNames()
    # A transfer that is taken apart becomes two entries.
    client_ids = UniqueNames(row.client_id for row in backup.entries)

    def check(row: MergedEntryRow) -> None:
        if row.category_type is None:
            row.category_type = row.type
        references.validate_category(row)
        references.validate_tags(row.tags)
        if row.installment_months is not None and row.type != EntryType.EXPENSE:
            raise _make_installments_error()
        names.add((row.entry, row.type), "entry")
        if row.client_id is not None:
            client_ids.add(row.client_id, "clientId")

    return check


ROW_RULES: dict[str, Callable[[Backup, str], RowRule]] = {
    WALLETS.name: lambda backup, _: _make_name_rule(backup.wallets, Wallet),
    TAGS.name: lambda backup, _: _make_name_rule(backup.tags, Tag),
    CATEGORIES.name: _make_category_rule,
    ENTRIES.name: _make_entry_rule,
    RECURRING.name: _make_recurring_rule,
    BUDGETS.name: _make_budget_rule,
    QUICK_ENTRIES.name: _make_quick_entry_rule,
    LINES.name: _make_line_rule,
    VALUATIONS.name: _make_valuation_rule,
    MERGED_ENTRIES.name: _make_merged_entry_rule,
}
