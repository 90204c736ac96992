"""Income and expense, by category, wallet and tag."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Protocol

from ledger.models.base import CategoryType

RATIO_QUANTUM = Decimal("0.0001")


class FlowPart(Protocol):
    """The sum of several entries."""

    @property
    def income(self) -> int: ...
    @property
    def expense(self) -> int: ...
    @property
    def refunded(self) -> int: ...
    @property
    def count(self) -> int: ...


class PeriodPart(FlowPart, Protocol):
    """The sum of several entries of a period; `transfer_in` is what was moved."""

    @property
    def transfer_in(self) -> int: ...
    @property
    def transfer_count(self) -> int: ...
    @property
    def excluded_income(self) -> int: ...
    @property
    def excluded_expense(self) -> int: ...
    @property
    def excluded_count(self) -> int: ...


# Not frozen, as `CategoryFlow` below: a month has a hundred of them, and assigning the
# fields of a frozen one takes three times as long.
@dataclass(slots=True)
class FlowRow:
    """A sum of entries, in one part of a statistics query.

    Only the columns of the part are set: `day` is the day or the first day of the
    month; `id`, `name` and `sort_order` are those of the category, wallet or tag,
    `parent` is the name of the major category.
    """

    part: str
    day: date | None
    type: str | None
    id: int | None
    name: str | None
    parent: str | None
    sort_order: int | None
    income: int
    expense: int
    refunded: int
    count: int
    # Of days, months and wallets only.
    transfer_in: int
    transfer_out: int
    transfer_count: int
    excluded_income: int
    excluded_expense: int
    excluded_count: int


@dataclass(slots=True)
class Flow:
    """Net income and expense in whole home-currency units, and the number of entries.

    `refunded` has been taken from the expense. Transfers between wallets and excluded
    entries are in neither, but in sums of their own.
    """

    income: int = 0
    expense: int = 0
    refunded: int = 0
    count: int = 0
    transferred: int = 0
    transfer_count: int = 0
    excluded_income: int = 0
    excluded_expense: int = 0
    excluded_count: int = 0

    @property
    def net(self) -> int:
        return self.income - self.expense

    def add(self, part: FlowPart) -> None:
        self.income += part.income
        self.expense += part.expense
        self.refunded += part.refunded
        self.count += part.count

    def add_period(self, part: PeriodPart) -> None:
        """Add a day or month, with its transfers and excluded entries."""
        self.add(part)
        self.transferred += part.transfer_in
        self.transfer_count += part.transfer_count
        self.excluded_income += part.excluded_income
        self.excluded_expense += part.excluded_expense
        self.excluded_count += part.excluded_count


@dataclass(slots=True)
class CategoryFlow:
    """The entries of a type in one category, or (None) without a category."""

    type: str
    category: str | None
    parent: str | None
    amount: int
    refunded: int
    count: int
    share: Decimal | None


@dataclass(frozen=True, slots=True)
class WalletFlow:
    wallet_id: int | None
    name: str | None
    income: int
    expense: int
    refunded: int
    transfer_in: int
    transfer_out: int


@dataclass(frozen=True, slots=True)
class TagFlow:
    tag: str
    income: int
    expense: int
    refunded: int
    count: int


def ratio(part: int, whole: int) -> Decimal | None:
    """Return `part` / `whole` with 4 decimals; None if `whole` is 0."""
    if not whole:
        return None
    return (Decimal(part) / Decimal(whole)).quantize(RATIO_QUANTUM, ROUND_HALF_UP)


def sum_periods(parts: Iterable[PeriodPart]) -> Flow:
    total = Flow()
    for part in parts:
        total.add_period(part)
    return total


def category_flows(rows: list[FlowRow]) -> list[CategoryFlow]:
    """Return the categories by type, then by amount from large to small.

    Shares are of the positive amounts; what is below 0 after refunds has none.
    """
    total_by_type: dict[str, int] = {
        CategoryType.INCOME: sum(max(row.income, 0) for row in rows),
        CategoryType.EXPENSE: sum(max(row.expense, 0) for row in rows),
    }
    flows = [
        CategoryFlow(
            type=(type_ := row.type or ""),
            category=row.name,
            parent=row.parent,
            amount=(amount := row.income + row.expense),
            refunded=row.refunded,
            count=row.count,
            share=ratio(amount, total_by_type[type_]) if amount >= 0 else None,
        )
        for row in rows
    ]
    return sorted(
        flows, key=lambda flow: (flow.type, -flow.amount, flow.category or "")
    )


def wallet_flows(rows: list[FlowRow]) -> list[WalletFlow]:
    """Return the wallets in their order; entries without a wallet go last."""
    ordered = sorted(
        rows, key=lambda row: (row.id is None, row.sort_order or 0, row.id or 0)
    )
    return [
        WalletFlow(
            row.id,
            row.name,
            row.income,
            row.expense,
            row.refunded,
            row.transfer_in,
            row.transfer_out,
        )
        for row in ordered
    ]


def tag_flows(rows: list[FlowRow]) -> list[TagFlow]:
    """Return the tags in their order."""
    ordered = sorted(rows, key=lambda row: (row.sort_order or 0, row.id or 0))
    return [
        TagFlow(row.name or "", row.income, row.expense, row.refunded, row.count)
        for row in ordered
    ]
