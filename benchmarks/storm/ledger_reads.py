"""Reads of the storm, each compared with the ledger as it must be."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from benchmarks.storm.ledger import (
    Entry,
    Month,
)
from benchmarks.storm.ledger_session import (
    MONTHS,
    NOTIFIED_MONTH,
    ROOT,
    LedgerSession,
)


@dataclass
class LedgerReads(LedgerSession):
    """Reads of one member."""

    @property
    def reads(self) -> list[Callable[[], None]]:
        return [
            self.balances,
            self.month,
            self.budget_status,
            self.entry_filter,
            self.pending,
            self.holdings,
        ]

    def balances(self) -> None:
        body = self.connection.get(f"{ROOT}/wallets")
        actual = {row["name"]: row["balance"] for row in body}
        self.expect("balances", self.ledger.balances(), actual)
        worth = self.connection.get(f"{ROOT}/networth")
        total = sum(self.ledger.balances().values()) + worth["investments"]
        self.expect("net worth", total, worth["total"])

    def month(self) -> None:
        self.check_month(self.chance.choice((*MONTHS, NOTIFIED_MONTH)))

    def check_month(self, month: Month) -> None:
        path = f"{ROOT}/statistics/month?year={month.year}&month={month.month}"
        body = self.connection.get(path)
        entries = [each for each in self.ledger.confirmed() if month.has(each.date)]
        sums = {
            type_: sum(each.amount for each in entries if each.type == type_)
            for type_ in ("income", "expense")
        }
        expected = {**sums, "count": len(entries)}
        self.expect(
            f"statistics of {month}", expected, {name: body[name] for name in expected}
        )
        categories: dict[Any, tuple[int, int]] = {}
        tags: dict[str, tuple[int, int, int]] = {}
        for each in entries:
            key = each.type, each.category
            amount, count = categories.get(key, (0, 0))
            categories[key] = amount + each.amount, count + 1
            for tag in each.tags:
                income, expense, count = tags.get(tag, (0, 0, 0))
                is_income = each.type == "income"
                tags[tag] = (
                    income + each.amount * is_income,
                    expense + each.amount * (not is_income),
                    count + 1,
                )
        actual = {
            (row["type"], row["category"]): (row["amount"], row["count"])
            for row in body["byCategory"]
        }
        self.expect(f"categories of {month}", categories, actual)
        by_tag = {
            row["tag"]: (row["income"], row["expense"], row["count"])
            for row in body["byTag"]
        }
        self.expect(f"tags of {month}", tags, by_tag)

    def budget_status(self) -> None:
        self.check_budget_status(self.chance.choice(MONTHS))

    def check_budget_status(self, month: Month) -> None:
        path = f"{ROOT}/budgets/status?year={month.year}&month={month.month}"
        rows = self.connection.get(path)["categories"]
        expected = {
            category: (amount, self.ledger.spending(category, month))
            for (category, each), (_, amount) in self.ledger.budgets.items()
            if each == month
        }
        actual = {row["category"]: (row["budgeted"], row["spent"]) for row in rows}
        self.expect(f"budgets of {month}", expected, actual)

    def entry_filter(self) -> None:
        """List the entries of a wallet, a category with its minor ones, or a tag."""
        ledger, entries = self.ledger, list(self.ledger.entries.values())
        month = self.chance.choice(MONTHS)
        query = f"year={month.year}&month={month.month}"
        entries = [each for each in entries if month.has(each.date)]
        kind = self.chance.choice(["wallet", "category", "tag"])
        if kind == "wallet" and ledger.wallets:
            name = self.chance.choice(list(ledger.wallets))
            query += f"&walletId={ledger.wallets[name].id}"
            entries = [each for each in entries if each.wallet == name]
        elif kind == "category" and ledger.categories:
            name = self.chance.choice(list(ledger.categories))
            names = {name, *ledger.list_minors(name)}
            query += f"&category={name}"
            entries = [each for each in entries if each.category in names]
        elif kind == "tag" and ledger.tags:
            name = self.chance.choice(list(ledger.tags))
            query += f"&tag={name}"
            entries = [each for each in entries if name in each.tags]
        rows = self.connection.get_pages(f"{ROOT}/entries?{query}")
        actual = sorted(repr(Entry.of(row)) for row in rows)
        self.expect(f"entries of {query}", sorted(map(repr, entries)), actual)

    def pending(self) -> None:
        count = self.connection.get(f"{ROOT}/entries/pending/count")["count"]
        entries = self.ledger.entries.values()
        self.expect("pending entries", sum(each.pending for each in entries), count)

    def holdings(self) -> None:
        rows = self.connection.get(f"{ROOT}/portfolio")["holdings"]
        actual = {
            row["code"]: (Decimal(row["quantity"]), row["costBasis"]) for row in rows
        }
        expected = {
            stock: row
            for stock, row in self.ledger.holdings().items()
            if self.ledger.order_trades(stock)
        }
        # Stocks without trades may be listed.
        traded = {code: row for code, row in actual.items() if code in expected}
        self.expect("holdings", expected, traded)
