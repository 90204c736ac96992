"""The effects of entries on balances and flows (spec 3.4), in Python."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ledger.entry_shape import EXPENSE, INCOME, LineShape, Ref, default_category_type


@dataclass(slots=True)
class Effects:
    """Changes of balances by wallet, and of flows by type and category."""

    balances: Counter[Ref] = field(default_factory=Counter)
    flows: Counter[tuple[str, Ref | None]] = field(default_factory=Counter)

    @property
    def income(self) -> int:
        return self._sum(INCOME)

    @property
    def expense(self) -> int:
        return self._sum(EXPENSE)

    def _sum(self, category_type: str) -> int:
        return sum(
            amount
            for (type_, _), amount in self.flows.items()
            if type_ == category_type
        )


def direction(entry_type: str) -> int:
    """Return 1 for money into the entry's wallet, -1 for money out of it."""
    return 1 if entry_type == INCOME else -1


def flow(entry_type: str, category_type: str, amount: int) -> int:
    """Return the change of the flow of the category's type."""
    is_same = (entry_type == INCOME) == (category_type == INCOME)
    return amount if is_same else -amount


def balance_change(entry_type: str, amount: int) -> int:
    return direction(entry_type) * amount


def compute_effects(
    entry_type: str, wallet: Ref | None, lines: Iterable[LineShape]
) -> Effects:
    """Return the effects of a confirmed entry with these lines."""
    effects = Effects()
    for line in lines:
        change = balance_change(entry_type, line.amount)
        if wallet is not None:
            effects.balances[wallet] += change
        if line.wallet is not None:
            effects.balances[line.wallet] -= change
        else:
            type_ = line.category_type or default_category_type(entry_type)
            effects.flows[type_, line.category] += flow(entry_type, type_, line.amount)
    return effects
