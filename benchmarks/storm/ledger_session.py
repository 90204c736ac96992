"""A member of the storm: requests, and the ledger as it must be after them."""

import random
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from benchmarks.storm.connection import UNCERTAIN, Connection
from benchmarks.storm.ledger import (
    NEW,
    Category,
    Entry,
    Ledger,
    Month,
    Template,
    Trade,
    Wallet,
    compare,
)

ROOT = "/api/account"
MONTHS = (Month(2026, 1), Month(2026, 2), Month(2026, 3))
# Where notifications come from; their entries have no other month.
NOTIFIED_AT, NOTIFIED_DAY = "2026-11-20T12:00:00+09:00", "2026-11-10"
NOTIFIED_MONTH = Month(2026, 11)
# Far ahead, so that the daily job has nothing to book.
FIRST_DUE, LAST_DUE_YEAR = "2060-01-15", 2090
TYPES = ("expense", "expense", "income")
KINDS = ("CASH", "BANK", "CARD", "LOAN")
MAX_ROWS, MAX_ENTRIES = 8, 120
MAX_REPEATS = 60


@dataclass(frozen=True)
class Write:
    """A request, the status it must get, and the ledger after it."""

    method: str
    path: str
    body: Any
    status: int
    after: Ledger
    code: str = ""
    # Section and key of the row that the answer names the id of.
    created: tuple[str, Any] | None = None
    may_conflict: bool = False


@dataclass
class LedgerSession:
    """One member; nobody else writes to the ledger."""

    connection: Connection
    chance: random.Random
    name: str
    ledger: Ledger = field(default_factory=Ledger)
    number: int = 0

    def do(self, write: Write) -> None:
        answer = self.connection.send(write.method, write.path, write.body)
        if answer.status in UNCERTAIN:
            self.connection.settle()
            self.reconcile(f"{write} unanswered", self.ledger, write.after)
            return
        if write.may_conflict and answer.status == 409:
            return
        if answer.status != write.status or write.code not in ("", answer.code):
            self.connection.record.add_difference(f"{self.name}: {write}: {answer}")
            self.reconcile(str(write), self.ledger, write.after)
            return
        self.ledger = write.after
        if write.created is not None:
            self.set_id(*write.created, answer.body)
        if self.ledger.has_unknown_ids():
            self.reconcile(str(write), self.ledger)

    def set_id(self, section: str, key: Any, body: Any) -> None:
        """Note the id of a new row that the answer names."""
        if section == "new_entries":
            (entry,) = self.ledger.new_entries
            if Entry.of(body) != entry:
                self.connection.record.add_difference(f"{self.name}: {entry}: {body}")
            self.ledger = replace(self.ledger, new_entries=())
            self.ledger = self.ledger.put("entries", body["id"], entry)
        elif section == "trades":
            trade = self.ledger.trades[NEW]
            self.ledger = self.ledger.drop("trades", NEW)
            self.ledger = self.ledger.put("trades", body["id"], trade)
        elif section in {"tags", "stocks"}:
            self.ledger = self.ledger.put(section, key, body["id"])
        elif section == "budgets":
            amount = self.ledger.budgets[key][1]
            self.ledger = self.ledger.put(section, key, (body["id"], amount))
        else:
            row = getattr(self.ledger, section)[key]
            self.ledger = self.ledger.put(section, key, row._replace(id=body["id"]))

    def reconcile(self, reason: str, *candidates: Ledger) -> None:
        """Read the whole ledger, which must be one of the candidates; go on with it."""
        actual = self.read_ledger()
        found = actual.canonical()
        texts = [compare(each.canonical(), found) for each in candidates]
        if all(texts):
            self.connection.record.add_difference(f"{self.name}: {reason}: {texts}")
        self.ledger = actual

    def expect(self, what: str, expected: Any, actual: Any) -> None:
        if expected != actual:
            self.connection.record.add_difference(
                f"{self.name}: {what}: expected {expected}, not {actual}"
            )

    def read_ledger(self) -> Ledger:
        """Return the ledger as the service shows it."""
        get, pages = self.connection.get, self.connection.get_pages
        wallets = get(f"{ROOT}/wallets")
        categories = get(f"{ROOT}/categories")
        names = {row["id"]: row["name"] for row in categories}
        wallet_names = {row["id"]: row["name"] for row in wallets}

        def read_template(row: Any) -> Template:
            return Template(
                row["id"],
                row["amount"],
                row["category"],
                wallet_names.get(row["walletId"]),
                row["memo"],
                tuple(row["tags"]),
                row.get("nextDate"),
            )

        budgets = [
            row
            for month in MONTHS
            for row in get(f"{ROOT}/budgets?year={month.year}&month={month.month}")
        ]
        stocks = {row["id"]: row["code"] for row in get(f"{ROOT}/stocks")}
        return Ledger(
            wallets={
                row["name"]: Wallet(row["id"], row["kind"], row["openingBalance"])
                for row in wallets
            },
            categories={
                row["name"]: Category(
                    row["id"], row["type"], names.get(row["parentId"])
                )
                for row in categories
            },
            tags={row["name"]: row["id"] for row in get(f"{ROOT}/tags")},
            entries={row["id"]: Entry.of(row) for row in pages(f"{ROOT}/entries")},
            quick_entries={
                row["name"]: read_template(row) for row in get(f"{ROOT}/quick-entries")
            },
            rules={row["name"]: read_template(row) for row in get(f"{ROOT}/recurring")},
            budgets={
                (row["category"], Month(row["year"], row["month"])): (
                    row["id"],
                    row["amount"],
                )
                for row in budgets
            },
            incomes={month: self.read_income(month) for month in MONTHS},
            stocks={code: stock_id for stock_id, code in stocks.items()},
            trades={
                row["id"]: Trade(
                    stocks[row["stockId"]],
                    row["side"],
                    row["date"],
                    Decimal(row["quantity"]),
                    row["price"],
                )
                for row in pages(f"{ROOT}/trades")
            },
        )

    def read_income(self, month: Month) -> int:
        path = f"{ROOT}/budgets/income?year={month.year}&month={month.month}"
        amount: int = self.connection.get(path)["amount"]
        return amount

    def make_name(self, kind: str) -> str:
        self.number += 1
        return f"{kind}{self.number:05}"

    def pick(self, rows: Any) -> Any:
        """Return one of the keys, None if there is none."""
        return self.chance.choice(list(rows)) if rows else None

    def pick_category(self, type_: str) -> str | None:
        rows = self.ledger.categories.items()
        names = [name for name, row in rows if row.type == type_]
        return self.chance.choice(names) if names else None

    def pick_tags(self) -> tuple[str, ...]:
        count = min(self.chance.choice((0, 0, 1, 2)), len(self.ledger.tags))
        return tuple(self.chance.sample(list(self.ledger.tags), count))

    def pick_day(self) -> str:
        month = self.chance.choice(MONTHS)
        return f"{month.year}-{month.month:02}-{self.chance.randint(1, 28):02}"

    def to_body(self, row: Entry | Template) -> dict[str, Any]:
        wallet = row.wallet and self.ledger.wallets[row.wallet].id
        body = {
            "amount": row.amount,
            "category": row.category,
            "walletId": wallet,
            "memo": row.memo,
            "tags": list(row.tags),
            "type": "expense",
        }
        if isinstance(row, Entry):
            body |= {"type": row.type, "date": row.date}
        return body
