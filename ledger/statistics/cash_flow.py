"""Income and expense."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from ledger.models.base import CategoryType
from ledger.rollups.effects import ratio


# Frozen classes take three times as long, and a month has a hundred rows.
@dataclass(slots=True)
class Flow:
    """Sums of entries in whole home-currency units, and their number.

    `expense` is net of `refunded`. Transfers and excluded entries have sums of their
    own.
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

    def add(self, other: "Flow") -> None:
        self.income += other.income
        self.expense += other.expense
        self.refunded += other.refunded
        self.count += other.count
        self.transferred += other.transferred
        self.transfer_count += other.transfer_count
        self.excluded_income += other.excluded_income
        self.excluded_expense += other.excluded_expense
        self.excluded_count += other.excluded_count


@dataclass(slots=True)
class PeriodFlow(Flow):
    """The flow of the day, week or month that begins on `start`."""

    start: date = date.min


@dataclass(slots=True)
class CategoryFlow:
    """The entries of a type in one category; None: without a category."""

    type: str
    category_id: int | None
    category: str | None
    parent: str | None
    amount: int
    refunded: int
    count: int
    share: Decimal | None = None


@dataclass(slots=True)
class WalletFlow:
    wallet_id: int | None
    name: str | None
    income: int
    expense: int
    refunded: int
    transfer_in: int
    transfer_out: int


@dataclass(slots=True)
class TagFlow:
    tag: str
    income: int
    expense: int
    refunded: int
    count: int


def sum_flows(flows: Iterable[Flow]) -> Flow:
    total = Flow()
    for flow in flows:
        total.add(flow)
    return total


def category_flows(rows: list[dict[str, Any]]) -> list[CategoryFlow]:
    """Return the categories by type, then by amount from large to small.

    Shares are of the positive amounts; an amount below 0 after refunds has none.
    """
    flows = [CategoryFlow(**row) for row in rows]
    totals = {
        type_: sum(max(flow.amount, 0) for flow in flows if flow.type == type_)
        for type_ in CategoryType
    }
    for flow in flows:
        if flow.amount >= 0:
            flow.share = ratio(flow.amount, totals[CategoryType(flow.type)])
    return sorted(
        flows, key=lambda flow: (flow.type, -flow.amount, flow.category or "")
    )
