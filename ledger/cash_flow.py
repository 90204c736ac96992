"""Flows: sums of what came in and went out, by category, wallet and tag."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from ledger.models.base import EntryType
from ledger.ratios import compute_ratio


class TypedAmount(Protocol):
    """An amount of one direction, and how many entries it is of."""

    @property
    def type(self) -> str: ...
    @property
    def amount(self) -> int: ...
    @property
    def count(self) -> int: ...


@dataclass(slots=True)
class Flow:
    """Money of a period in whole home-currency units, and how many entries."""

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


@dataclass(slots=True)
class EntryGroup:
    """The entries of one type and category, or tag, and wallet."""

    type: str
    category_id: int | None
    category: str | None
    parent: str | None
    wallet_id: int | None
    wallet: str | None
    sort_order: int | None
    """Of the wallet or tag among the member's."""
    amount: int
    count: int


@dataclass(frozen=True, slots=True)
class CategoryFlow:
    """One category of a type; None is what has no category."""

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


def sum_flow(parts: Iterable[TypedAmount]) -> Flow:
    total = Flow()
    for part in parts:
        total.add(part)
    return total


def sum_categories(groups: list[EntryGroup]) -> list[CategoryFlow]:
    """By minor-category name with its major one, within each type by amount."""
    sums: dict[tuple[str, int | None], list[EntryGroup]] = {}
    whole = dict.fromkeys(EntryType.values, 0)
    for group in groups:
        sums.setdefault((group.type, group.category_id), []).append(group)
        whole[group.type] += group.amount
    flows = [
        CategoryFlow(
            type=type_,
            category=parts[0].category,
            parent=parts[0].parent,
            amount=(amount := sum(part.amount for part in parts)),
            count=sum(part.count for part in parts),
            share=compute_ratio(amount, whole[type_]),
        )
        for (type_, _), parts in sums.items()
    ]
    return sorted(
        flows, key=lambda flow: (flow.type, -flow.amount, flow.category or "")
    )


def sum_wallets(groups: list[EntryGroup]) -> list[WalletFlow]:
    """In the order of the wallets; what has no wallet comes last."""
    flows: dict[int | None, Flow] = {}
    ordered = sorted(
        groups, key=lambda g: (g.wallet_id is None, g.sort_order or 0, g.wallet_id or 0)
    )
    for group in ordered:
        flows.setdefault(group.wallet_id, Flow()).add(group)
    names = {group.wallet_id: group.wallet for group in groups}
    return [
        WalletFlow(wallet_id, names[wallet_id], flow.income, flow.expense)
        for wallet_id, flow in flows.items()
    ]


def sum_tags(groups: list[EntryGroup]) -> list[TagFlow]:
    """In the order of the tags, each of which has a name of its own."""
    flows: dict[str, Flow] = {}
    for group in sorted(groups, key=lambda g: (g.sort_order or 0, g.category_id or 0)):
        flows.setdefault(group.category or "", Flow()).add(group)
    return [
        TagFlow(name, flow.income, flow.expense, flow.count)
        for name, flow in flows.items()
    ]
