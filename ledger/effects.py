"""The effects of entries on balances and flows: the only definition (spec 3.4).

An entry is one movement of one wallet, in one direction, and lines that say what it was
for; a flat entry is its only line. A line for a category of the type of the direction
adds to the flow of that type; one for a category of the other type takes from it. So a
refund, which is money in, takes from the expense. A line for another own wallet moves
that wallet the other way. Hence what an entry with a wallet adds to all balances is its
income less its expense.

Triggers and statements have the same as SQL; a test compares both. The module is pure.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ledger.models.base import CategoryType, EntryType


@dataclass(frozen=True, slots=True)
class LineAmount:
    """A part of an amount: for a category, or for another own wallet."""

    amount: int
    category_type: str = CategoryType.EXPENSE
    category_id: int | None = None
    wallet_id: int | None = None


@dataclass(slots=True)
class Effects:
    """Sums that an entry adds to balances by wallet, to flows by type and category."""

    balances: Counter[int] = field(default_factory=Counter)
    flows: Counter[tuple[str, int | None]] = field(default_factory=Counter)

    @property
    def income(self) -> int:
        return self._sum(CategoryType.INCOME)

    @property
    def expense(self) -> int:
        return self._sum(CategoryType.EXPENSE)

    def _sum(self, category_type: str) -> int:
        return sum(
            amount
            for (type_, _), amount in self.flows.items()
            if type_ == category_type
        )


def direction(entry_type: str) -> int:
    """Return 1 for money into the wallet of an entry, -1 for money out of it."""
    return 1 if entry_type == EntryType.INCOME else -1


def flow(entry_type: str, category_type: str, amount: int) -> int:
    """Return what an amount of an entry adds to the flow of the category's type."""
    is_same = (entry_type == EntryType.INCOME) == (category_type == CategoryType.INCOME)
    return amount if is_same else -amount


def balance_change(entry_type: str, amount: int) -> int:
    """Return what an entry adds to the balance of its wallet."""
    return direction(entry_type) * amount


def compute_effects(
    entry_type: str, wallet_id: int | None, lines: Iterable[LineAmount]
) -> Effects:
    """Return the effects of a confirmed entry with these lines."""
    effects = Effects()
    for line in lines:
        change = balance_change(entry_type, line.amount)
        if wallet_id is not None:
            effects.balances[wallet_id] += change
        if line.wallet_id is not None:
            effects.balances[line.wallet_id] -= change
        else:
            effects.flows[line.category_type, line.category_id] += flow(
                entry_type, line.category_type, line.amount
            )
    return effects


# The same as SQL, of rows with the columns `type`, `category_type` and `amount`.
DIRECTION_SQL = "CASE type WHEN 'income' THEN 1 ELSE -1 END"
FLOW_SQL = (
    "CASE WHEN (type = 'income') = (category_type = 'income')"
    " THEN amount ELSE -amount END"
)
BALANCE_CHANGE_SQL = f"({DIRECTION_SQL}) * amount"
# The lines of the split entries of a member in a scope, as such rows.
LINES_SQL = """
    SELECT e.member_id, e.id, e.date, e.type, e.pending, e.excluded, e.wallet_id,
        e.amount AS entry_amount, l.amount, l.category_id, l.category_type,
        l.wallet_id AS other_wallet_id
    FROM (SELECT * FROM account_entry WHERE {scope} AND line_count > 0) e
    JOIN account_entry_line l ON l.member_id = e.member_id AND l.entry_id = e.id
    WHERE l.member_id = %(member)s
"""
