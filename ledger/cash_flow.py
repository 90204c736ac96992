"""Income and expense, summed by category, wallet and tag."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Protocol

from ledger.models.base import EntryType

RATIO_QUANTUM = Decimal("0.0001")


class TypedAmount(Protocol):
    """The sum of several entries of one type."""

    @property
    def type(self) -> str: ...
    @property
    def amount(self) -> int: ...
    @property
    def count(self) -> int: ...


@dataclass(slots=True)
class FlowRow:
    """A sum of entries of one type, in one part of a statistics query.

    Only the columns of the part are set: `day` is the day or the first day of the
    month; `id` and `name` are those of the category or tag, `parent` is the name of the
    major category, `sort_order` that of the wallet or tag.
    """

    part: str
    day: date | None
    type: str
    id: int | None
    name: str | None
    parent: str | None
    wallet_id: int | None
    wallet: str | None
    sort_order: int | None
    amount: int
    count: int


@dataclass(slots=True)
class Flow:
    """Income and expense in whole home-currency units, and the number of entries."""

    income: int = 0
    expense: int = 0
    count: int = 0

    @property
    def net(self) -> int:
        return self.income - self.expense

    def add(self, part: TypedAmount) -> None:
        if part.type == EntryType.INCOME:
            self.income += part.amount
        else:
            self.expense += part.amount
        self.count += part.count


@dataclass(frozen=True, slots=True)
class CategoryFlow:
    """The entries of a type in one category, or (None) without a category."""

    type: str
    category: str | None
    parent: str | None
    amount: int
    count: int
    share: Decimal | None


@dataclass(frozen=True, slots=True)
class WalletFlow:
    wallet_id: int | None
    name: str | None
    income: int
    expense: int


@dataclass(frozen=True, slots=True)
class TagFlow:
    tag: str
    income: int
    expense: int
    count: int


def ratio(part: int, whole: int) -> Decimal | None:
    """Return `part` / `whole` with 4 decimals; None if `whole` is 0."""
    if not whole:
        return None
    return (Decimal(part) / Decimal(whole)).quantize(RATIO_QUANTUM, ROUND_HALF_UP)


def sum_flow(parts: Iterable[TypedAmount]) -> Flow:
    total = Flow()
    for part in parts:
        total.add(part)
    return total


def sum_categories(rows: list[FlowRow]) -> list[CategoryFlow]:
    """Sum by category; order by type, then by amount from large to small."""
    by_category: dict[tuple[str, int | None], list[FlowRow]] = {}
    total_by_type = dict.fromkeys(EntryType.values, 0)
    for row in rows:
        by_category.setdefault((row.type, row.id), []).append(row)
        total_by_type[row.type] += row.amount
    flows = [
        CategoryFlow(
            type=type_,
            category=parts[0].name,
            parent=parts[0].parent,
            amount=(amount := sum(part.amount for part in parts)),
            count=sum(part.count for part in parts),
            share=ratio(amount, total_by_type[type_]),
        )
        for (type_, _), parts in by_category.items()
    ]
    return sorted(
        flows, key=lambda flow: (flow.type, -flow.amount, flow.category or "")
    )


def sum_wallets(rows: list[FlowRow]) -> list[WalletFlow]:
    """Sum by wallet, in the order of the wallets; entries without a wallet go last."""
    flows: dict[int | None, Flow] = {}
    ordered = sorted(
        rows,
        key=lambda row: (
            row.wallet_id is None,
            row.sort_order or 0,
            row.wallet_id or 0,
        ),
    )
    for row in ordered:
        flows.setdefault(row.wallet_id, Flow()).add(row)
    names = {row.wallet_id: row.wallet for row in rows}
    return [
        WalletFlow(wallet_id, names[wallet_id], flow.income, flow.expense)
        for wallet_id, flow in flows.items()
    ]


def sum_tags(rows: list[FlowRow]) -> list[TagFlow]:
    """Sum by tag, in the order of the tags, whose names are unique."""
    flows: dict[str, Flow] = {}
    for row in sorted(rows, key=lambda row: (row.sort_order or 0, row.id or 0)):
        flows.setdefault(row.name or "", Flow()).add(row)
    return [
        TagFlow(name, flow.income, flow.expense, flow.count)
        for name, flow in flows.items()
    ]
