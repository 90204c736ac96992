"""A member's ledger in plain Python: the oracle of the storm.

Rows refer to each other by name, as in the JSON of the service. Each change returns a
new ledger, so that the one before it is kept until the service has answered.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

# The id of a row that the service has not named yet.
NEW = 0


class Wallet(NamedTuple):
    id: int
    kind: str
    opening_balance: int


class Category(NamedTuple):
    id: int
    type: str
    parent: str | None


class Entry(NamedTuple):
    date: str
    type: str
    amount: int
    category: str | None
    wallet: str | None
    memo: str
    tags: tuple[str, ...]
    pending: bool = False

    @classmethod
    def of(cls, body: Any) -> "Entry":
        """Return the entry that a JSON object of the service describes."""
        return cls(
            body["date"],
            body["type"],
            body["amount"],
            body["category"],
            body["wallet"] and body["wallet"]["name"],
            body["memo"],
            tuple(body["tags"]),
            body["pending"],
        )


class Template(NamedTuple):
    """A quick entry, or, with its next date, a recurring rule; both are expenses."""

    id: int
    amount: int
    category: str | None
    wallet: str | None
    memo: str
    tags: tuple[str, ...]
    next_date: str | None = None


class Trade(NamedTuple):
    stock: str
    side: str
    date: str
    quantity: Decimal
    price: int


class Month(NamedTuple):
    year: int
    month: int

    def has(self, day: str) -> bool:
        return day.startswith(f"{self.year}-{self.month:02}-")


@dataclass(frozen=True)
class Ledger:
    """All that a member has; dictionaries by name are in the order of the lists."""

    wallets: dict[str, Wallet] = field(default_factory=dict)
    categories: dict[str, Category] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    entries: dict[int, Entry] = field(default_factory=dict)
    # Entries whose ids are not known yet.
    new_entries: tuple[Entry, ...] = ()
    quick_entries: dict[str, Template] = field(default_factory=dict)
    rules: dict[str, Template] = field(default_factory=dict)
    # By category and month, with the ids and amounts.
    budgets: dict[tuple[str, Month], tuple[int, int]] = field(default_factory=dict)
    incomes: dict[Month, int] = field(default_factory=dict)
    stocks: dict[str, int] = field(default_factory=dict)
    trades: dict[int, Trade] = field(default_factory=dict)

    # --- Changes --------------------------------------------------------------

    def put(self, section: str, key: Any, value: Any) -> "Ledger":
        """Add a row, or replace that of the key in its place."""
        return self._with(section, getattr(self, section) | {key: value})

    def drop(self, section: str, key: Any) -> "Ledger":
        rows: dict[Any, Any] = getattr(self, section)
        left = {each: row for each, row in rows.items() if each != key}
        return self._with(section, left)

    def rename(self, section: str, old: str, new: str) -> "Ledger":
        """Give a row another name in its place."""
        rows: dict[str, Any] = getattr(self, section)
        renamed = {new if each == old else each: row for each, row in rows.items()}
        return self._with(section, renamed)

    def arrange(self, section: str, names: Iterable[str]) -> "Ledger":
        """Give a list another order."""
        rows: dict[str, Any] = getattr(self, section)
        return self._with(section, {name: rows[name] for name in names})

    def _with(self, section: str, rows: Any) -> "Ledger":
        changed: dict[str, Any] = {section: rows}
        return replace(self, **changed)

    def change_references(self, change: Callable[[Any], Any]) -> "Ledger":
        """Replace every row that names a wallet, a category or tags."""
        return replace(
            self,
            entries={key: change(row) for key, row in self.entries.items()},
            quick_entries={key: change(row) for key, row in self.quick_entries.items()},
            rules={key: change(row) for key, row in self.rules.items()},
        )

    def refer(self, name: str, old: str, new: str) -> "Ledger":
        """Let every row whose wallet or category is the old one name the new one."""

        def change(row: Any) -> Any:
            return row._replace(**{name: new}) if getattr(row, name) == old else row

        return self.change_references(change)

    def refer_to_tags(self, change: Callable[[str], str | None]) -> "Ledger":
        """Replace the tags of all rows by what the function returns, None for none."""

        def change_row(row: Any) -> Any:
            return row._replace(tags=tuple(filter(None, map(change, row.tags))))

        return self.change_references(change_row)

    def know_names(self, entry: Entry | Template, type_: str) -> "Ledger":
        """Add the category and the tags of an entry that the ledger does not have."""
        after = self
        if entry.category is not None and entry.category not in self.categories:
            after = after.put("categories", entry.category, Category(NEW, type_, None))
        for tag in entry.tags:
            if tag not in after.tags:
                after = after.put("tags", tag, NEW)
        return after

    def merge_budgets(self, source: str, target: str) -> "Ledger":
        """Add the budgets of a category to those of another one."""
        after = self
        for (category, month), (_, amount) in self.budgets.items():
            if category == source:
                known = self.budgets.get((target, month), (NEW, 0))
                total = known[0], known[1] + amount
                after = after.put("budgets", (target, month), total)
                after = after.drop("budgets", (category, month))
        return after

    # --- What is true of it ----------------------------------------------------

    def list_minors(self, category: str) -> list[str]:
        return [name for name, row in self.categories.items() if row.parent == category]

    def uses(self, name: str, value: str) -> bool:
        """Return True if a row has this wallet or category."""
        parts: tuple[dict[Any, Any], ...]
        parts = self.entries, self.quick_entries, self.rules
        rows = [row for part in parts for row in part.values()]
        return any(getattr(row, name) == value for row in rows)

    def has_unknown_ids(self) -> bool:
        parts: tuple[dict[str, Any], ...]
        parts = self.wallets, self.categories, self.quick_entries, self.rules
        ids = [
            *(row.id for part in parts for row in part.values()),
            *(budget_id for budget_id, _ in self.budgets.values()),
            *(*self.tags.values(), *self.stocks.values(), *self.trades),
        ]
        return bool(self.new_entries) or NEW in ids

    def confirmed(self) -> list[Entry]:
        return [entry for entry in self.entries.values() if not entry.pending]

    def balances(self) -> dict[str, int]:
        """Return opening balance + income − expense of each wallet."""
        balances = {name: row.opening_balance for name, row in self.wallets.items()}
        for entry in self.confirmed():
            if entry.wallet is not None:
                balances[entry.wallet] += signed(entry)
        return balances

    def spending(self, category: str, month: Month) -> int:
        """Return the expenses of a category and its minor ones in a month."""
        names = {category, *self.list_minors(category)}
        return sum(
            entry.amount
            for entry in self.confirmed()
            if entry.type == "expense"
            and entry.category in names
            and month.has(entry.date)
        )

    def has_negative_holdings(self) -> bool:
        """Return True if more is sold than held, buys of a day coming first."""
        for stock in self.stocks:
            held = Decimal(0)
            for _, trade in self.order_trades(stock):
                held += trade.quantity if trade.side == "BUY" else -trade.quantity
                if held < 0:
                    return True
        return False

    def order_trades(self, stock: str) -> list[tuple[int, Trade]]:
        """Return the trades of a stock in their order; a new one has the last id."""
        rows = [each for each in self.trades.items() if each[1].stock == stock]
        return sorted(
            rows,
            key=lambda row: (row[1].date, row[1].side, row[0] or float("inf")),
        )

    def holdings(self) -> dict[str, tuple[Decimal, int]]:
        """Return quantity and cost of each stock by moving average."""
        holdings = {}
        for stock in self.stocks:
            quantity, cost = Fraction(0), Fraction(0)
            for _, trade in self.order_trades(stock):
                traded = Fraction(trade.quantity)
                if trade.side == "BUY":
                    quantity, cost = quantity + traded, cost + traded * trade.price
                else:
                    cost -= cost / quantity * traded
                    quantity -= traded
            exact = Decimal(quantity.numerator) / Decimal(quantity.denominator)
            holdings[stock] = exact, int(cost + Fraction(1, 2))
        return holdings

    def canonical(self) -> dict[str, Any]:
        """Return all that two ledgers must have in common: everything but ids."""
        siblings: dict[Any, list[str]] = defaultdict(list)
        for name, row in self.categories.items():
            siblings[row.type, row.parent or ""].append(name)
        return {
            "wallets": [(name, *row[1:]) for name, row in self.wallets.items()],
            "categories": dict(siblings),
            "tags": list(self.tags),
            "entries": sorted(map(repr, [*self.entries.values(), *self.new_entries])),
            "quick entries": [(n, *row[1:]) for n, row in self.quick_entries.items()],
            "rules": {name: row[1:] for name, row in self.rules.items()},
            "budgets": {key: amount for key, (_, amount) in self.budgets.items()},
            "incomes": {month: each for month, each in self.incomes.items() if each},
            "stocks": list(self.stocks),
            "trades": sorted(map(repr, self.trades.values())),
        }


def signed(entry: Entry) -> int:
    return entry.amount if entry.type == "income" else -entry.amount


def compare(expected: dict[str, Any], actual: dict[str, Any]) -> str:
    """Return the sections of two canonical ledgers that differ; "" if none does."""
    texts = []
    for name, wanted in expected.items():
        found = actual[name]
        if found == wanted:
            continue
        if isinstance(wanted, list):
            missing = [row for row in wanted if row not in found]
            added = [row for row in found if row not in wanted]
            texts.append(f"{name}: missing {missing[:3]}, not expected {added[:3]}")
        else:
            keys = [
                key for key in {*wanted, *found} if wanted.get(key) != found.get(key)
            ]
            pairs = [(key, wanted.get(key), found.get(key)) for key in keys[:3]]
            texts.append(f"{name}: {pairs}")
    return "; ".join(texts)
