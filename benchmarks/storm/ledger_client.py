"""A member who changes the own ledger at random and knows what it must be."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from benchmarks.storm.connection import UNCERTAIN, Answer, Connection, OutageError
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
class LedgerClient:
    """One member; nobody else writes to the ledger."""

    connection: Connection
    chance: random.Random
    name: str
    ledger: Ledger = field(default_factory=Ledger)
    number: int = 0

    def act(self) -> None:
        """Write or read something at random, and check the answer."""
        actions = self.list_writes() if self.chance.random() < 0.75 else self.reads
        action = self.chance.choice(actions)
        if action.__name__ == "notify" or action in self.reads:
            self.connection.record.add_operation(action.__name__)
            action()
            return
        write = action()
        if write is not None:
            self.connection.record.add_operation(action.__name__)
            self.do(write)

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

    def verify(self) -> None:
        """Compare the whole ledger and all figures with the oracle."""
        self.reconcile("at the end", self.ledger)
        for month in (*MONTHS, NOTIFIED_MONTH):
            self.check_month(month)
            self.check_budget_status(month)
        self.balances()
        self.holdings()
        self.pending()

    def expect(self, what: str, expected: Any, actual: Any) -> None:
        if expected != actual:
            self.connection.record.add_difference(
                f"{self.name}: {what}: expected {expected}, not {actual}"
            )

    # --- Reading ---------------------------------------------------------------

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

    # --- Writing ---------------------------------------------------------------

    def list_writes(self) -> list[Callable[[], Any]]:
        """Return what the member may do, the frequent things several times."""
        entries: tuple[Callable[[], Write | None], ...]
        entries = (self.create_entry,) * 8 + (self.change_entry,) * 5
        if len(self.ledger.entries) > MAX_ENTRIES:
            entries = (self.delete_entry,) * 8
        return [
            *entries,
            *(self.delete_entry,) * 3,
            *(self.notify, self.notify, self.confirm_entry, self.confirm_entry),
            *(self.create_wallet, self.change_wallet, self.delete_wallet),
            *(self.create_category, self.change_category, self.delete_category),
            *(self.create_tag, self.rename_tag, self.delete_tag, self.reorder),
            *(self.create_quick_entry, self.delete_quick_entry),
            *(self.set_budget, self.delete_budget, self.copy_budgets, self.set_income),
            *(self.create_rule, self.run_rule, self.delete_rule),
            *(self.create_stock, self.create_trade, self.create_trade),
            *(self.change_trade, self.delete_trade),
            *((self.restore,) if self.chance.random() < 0.1 else ()),
        ]

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

    def make_entry(self) -> Entry:
        type_ = self.chance.choice(TYPES)
        category, tags = self.pick_category(type_), self.pick_tags()
        is_new = len(self.ledger.categories) < MAX_ROWS and self.chance.random() < 0.1
        if is_new or self.chance.random() < 0.1:
            category = self.make_name("c") if is_new else None
        if len(self.ledger.tags) < MAX_ROWS and self.chance.random() < 0.05:
            tags = (*tags, self.make_name("t"))
        return Entry(
            self.pick_day(),
            type_,
            self.chance.randint(1, 1_000_000),
            category,
            self.pick(self.ledger.wallets),
            self.make_name("memo "),
            tags,
        )

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

    def create_entry(self) -> Write:
        entry = self.make_entry()
        after = self.ledger.know_names(entry, entry.type)
        after = replace(after, new_entries=(entry,))
        body = self.to_body(entry)
        created = ("new_entries", None)
        return Write("POST", f"{ROOT}/entries", body, 201, after, created=created)

    def change_entry(self) -> Write | None:
        """Replace an entry, or some of its fields."""
        entry_id = self.pick(self.ledger.entries)
        if entry_id is None:
            return None
        before, entry = self.ledger.entries[entry_id], self.make_entry()
        method, body = "PUT", self.to_body(entry)
        if self.chance.random() < 0.5:
            method = "PATCH"
            names = self.chance.sample(["amount", "memo", "tags", "walletId"], 2)
            body = {name: body[name] for name in names}
            fields = {name.removesuffix("Id"): name in names for name in [*body]}
            entry = before._replace(
                **{name: getattr(entry, name) for name in fields},
            )
        entry = entry._replace(pending=before.pending)
        after = self.ledger.know_names(entry, entry.type)
        after = after.put("entries", entry_id, entry)
        return Write(method, f"{ROOT}/entries/{entry_id}", body, 200, after)

    def delete_entry(self) -> Write | None:
        entry_id = self.pick(self.ledger.entries)
        if entry_id is None:
            return None
        after = self.ledger.drop("entries", entry_id)
        return Write("DELETE", f"{ROOT}/entries/{entry_id}", None, 204, after)

    def notify(self) -> None:
        """Send a card notification until it is answered: it makes one entry."""
        self.number += 1
        amount, minute = 10_000 + self.number, self.number % 60
        text = (
            f"신한카드(1309)승인 홍*동 {amount:,}원(일시불)11/10 "
            f"{self.number // 60 % 24:02}:{minute:02} 상점{self.number:05}호"
        )
        body = {"text": text, "receivedAt": NOTIFIED_AT}
        repeats = 0
        while True:
            answer = self.connection.send("POST", f"{ROOT}/entries/notification", body)
            if answer.status not in UNCERTAIN:
                break
            repeats += 1
            if repeats > MAX_REPEATS:
                raise OutageError(text)
            self.connection.settle()
        actions = {"CREATED", "DUPLICATE"} if repeats else {"CREATED"}
        entry = self.read_notified_entry(answer, actions)
        expected = (NOTIFIED_DAY, "expense", amount, True)
        if entry is None or expected != (*entry[:3], entry.pending):
            self.connection.record.add_difference(f"{self.name}: {text}: {answer}")
            self.reconcile(text, self.ledger)
            return
        self.ledger = self.ledger.put("entries", answer.body["entry"]["id"], entry)

    def read_notified_entry(self, answer: Answer, actions: set[str]) -> Entry | None:
        if answer.status not in {200, 201} or answer.body["action"] not in actions:
            return None
        return Entry.of(answer.body["entry"]) if answer.body["entry"] else None

    def confirm_entry(self) -> Write | None:
        """Confirm a pending entry; confirming again changes nothing."""
        entry_id = self.pick(
            [key for key, row in self.ledger.entries.items() if row.pending]
            or self.ledger.entries
        )
        if entry_id is None:
            return None
        entry = self.ledger.entries[entry_id]._replace(pending=False)
        after = self.ledger.put("entries", entry_id, entry)
        path = f"{ROOT}/entries/{entry_id}/confirm"
        return Write("POST", path, None, 200, after)

    def create_wallet(self) -> Write | None:
        if len(self.ledger.wallets) >= MAX_ROWS:
            return None
        is_taken = bool(self.ledger.wallets) and self.chance.random() < 0.1
        name = self.pick(self.ledger.wallets) if is_taken else self.make_name("w")
        opening = self.chance.randint(-9999, 9999)
        wallet = Wallet(NEW, self.chance.choice(KINDS), opening)
        body = {"name": name, "kind": wallet.kind}
        body |= {"openingBalance": wallet.opening_balance}
        path = f"{ROOT}/wallets"
        if is_taken:
            return Write("POST", path, body, 409, self.ledger, "DUPLICATE")
        after = self.ledger.put("wallets", name, wallet)
        return Write("POST", path, body, 201, after, created=("wallets", name))

    def change_wallet(self) -> Write | None:
        old = self.pick(self.ledger.wallets)
        if old is None:
            return None
        new, opening = self.make_name("w"), self.chance.randint(-9999, 9999)
        wallet = self.ledger.wallets[old]._replace(opening_balance=opening)
        after = self.ledger.put("wallets", old, wallet).rename("wallets", old, new)
        after = after.refer("wallet", old, new)
        body = {"name": new, "kind": wallet.kind, "openingBalance": opening}
        return Write("PUT", f"{ROOT}/wallets/{wallet.id}", body, 200, after)

    def delete_wallet(self) -> Write | None:
        name = self.pick(self.ledger.wallets)
        if name is None:
            return None
        path = f"{ROOT}/wallets/{self.ledger.wallets[name].id}"
        others = [each for each in self.ledger.wallets if each != name]
        after = self.ledger.drop("wallets", name)
        if others and self.chance.random() < 0.5:
            target = self.chance.choice(others)
            path += f"?moveTo={self.ledger.wallets[target].id}"
            after = after.refer("wallet", name, target)
        elif self.ledger.uses("wallet", name):
            return Write("DELETE", path, None, 409, self.ledger, "IN_USE")
        return Write("DELETE", path, None, 204, after)

    def create_category(self) -> Write | None:
        if len(self.ledger.categories) >= 2 * MAX_ROWS:
            return None
        name, type_ = self.make_name("c"), self.chance.choice(TYPES)
        parent = self.pick_parent(type_, name)
        body = self.category_body(name, type_, parent)
        after = self.ledger.put("categories", name, Category(NEW, type_, parent))
        path = f"{ROOT}/categories"
        created = ("categories", name)
        if parent is not None and self.ledger.categories[parent].parent is not None:
            code = "CATEGORY_HIERARCHY"
            return Write("POST", path, body, 400, self.ledger, code)
        return Write("POST", path, body, 201, after, created=created)

    def pick_parent(self, type_: str, name: str) -> str | None:
        rows = self.ledger.categories.items()
        names = [each for each, row in rows if row.type == type_ and each != name]
        return self.chance.choice([*names, None])

    def category_body(self, name: str, type_: str, parent: str | None) -> Any:
        parent_id = parent and self.ledger.categories[parent].id
        return {"name": name, "type": type_, "parentId": parent_id}

    def change_category(self) -> Write | None:
        """Rename a category and move it to another parent, last among its siblings."""
        old = self.pick(self.ledger.categories)
        if old is None:
            return None
        new, row = self.make_name("c"), self.ledger.categories[old]
        parent = self.pick_parent(row.type, old)
        path, body = (
            f"{ROOT}/categories/{row.id}",
            self.category_body(new, row.type, parent),
        )
        is_minor_parent = (
            parent is not None and self.ledger.categories[parent].parent is not None
        )
        if is_minor_parent or (parent is not None and self.ledger.list_minors(old)):
            code = "CATEGORY_HIERARCHY"
            return Write("PUT", path, body, 400, self.ledger, code)
        after = self.ledger
        if parent != row.parent:
            after = after.drop("categories", old)
            after = after.put("categories", old, row._replace(parent=parent))
        after = after.rename("categories", old, new)
        for name in self.ledger.list_minors(old):
            minor = self.ledger.categories[name]._replace(parent=new)
            after = after.put("categories", name, minor)
        budgets = {
            (new if category == old else category, month): budget
            for (category, month), budget in after.budgets.items()
        }
        after = replace(after.refer("category", old, new), budgets=budgets)
        return Write("PUT", path, body, 200, after)

    def delete_category(self) -> Write | None:
        name = self.pick(self.ledger.categories)
        if name is None:
            return None
        row = self.ledger.categories[name]
        path, after = f"{ROOT}/categories/{row.id}", self.ledger
        if after.list_minors(name):
            code = "CATEGORY_HIERARCHY"
            return Write("DELETE", path, None, 400, after, code)
        others = [
            each
            for each, other in after.categories.items()
            if other.type == row.type and each != name
        ]
        if others and self.chance.random() < 0.5:
            target = self.chance.choice(others)
            path += f"?moveTo={after.categories[target].id}"
            after = after.refer("category", name, target).merge_budgets(name, target)
        elif after.uses("category", name) or any(
            category == name for category, _ in after.budgets
        ):
            return Write("DELETE", path, None, 409, self.ledger, "IN_USE")
        return Write("DELETE", path, None, 204, after.drop("categories", name))

    def create_tag(self) -> Write | None:
        if len(self.ledger.tags) >= MAX_ROWS:
            return None
        name = self.make_name("t")
        after = self.ledger.put("tags", name, NEW)
        path, body = f"{ROOT}/tags", {"name": name}
        return Write("POST", path, body, 201, after, created=("tags", name))

    def rename_tag(self) -> Write | None:
        old = self.pick(self.ledger.tags)
        if old is None:
            return None
        new = self.make_name("t")
        after = self.ledger.rename("tags", old, new)
        after = after.refer_to_tags(lambda tag: new if tag == old else tag)
        path = f"{ROOT}/tags/{self.ledger.tags[old]}"
        return Write("PUT", path, {"name": new}, 200, after)

    def delete_tag(self) -> Write | None:
        name = self.pick(self.ledger.tags)
        if name is None:
            return None
        after = self.ledger.drop("tags", name)
        after = after.refer_to_tags(lambda tag: None if tag == name else tag)
        path = f"{ROOT}/tags/{self.ledger.tags[name]}"
        return Write("DELETE", path, None, 204, after)

    def reorder(self) -> Write:
        """Give wallets or tags another order."""
        section = self.chance.choice(["wallets", "tags"])
        rows = getattr(self.ledger, section)
        names = self.chance.sample(list(rows), len(rows))
        ids = [getattr(rows[name], "id", rows[name]) for name in names]
        after = self.ledger.arrange(section, names)
        return Write("PUT", f"{ROOT}/{section}/reorder", {"ids": ids}, 200, after)

    def make_template(self, next_date: str | None = None) -> Template:
        return Template(
            NEW,
            self.chance.randint(1, 10_000),
            self.pick_category("expense"),
            self.pick(self.ledger.wallets),
            self.make_name("template "),
            self.pick_tags(),
            next_date,
        )

    def create_quick_entry(self) -> Write | None:
        if len(self.ledger.quick_entries) >= MAX_ROWS:
            return None
        return self.create_template("quick_entries", "quick-entries", {})

    def create_rule(self) -> Write | None:
        if len(self.ledger.rules) >= MAX_ROWS:
            return None
        schedule = {"frequency": "YEARLY", "anchorDate": FIRST_DUE}
        return self.create_template("rules", "recurring", schedule, FIRST_DUE)

    def create_template(
        self, section: str, path: str, extra: Any, next_date: str | None = None
    ) -> Write:
        name, row = self.make_name("q"), self.make_template(next_date)
        after = self.ledger.put(section, name, row)
        body = self.to_body(row) | extra | {"name": name}
        created = (section, name)
        return Write("POST", f"{ROOT}/{path}", body, 201, after, created=created)

    def delete_quick_entry(self) -> Write | None:
        return self.delete_template("quick_entries", "quick-entries")

    def delete_rule(self) -> Write | None:
        return self.delete_template("rules", "recurring")

    def delete_template(self, section: str, path: str) -> Write | None:
        rows = getattr(self.ledger, section)
        name = self.pick(rows)
        if name is None:
            return None
        after = self.ledger.drop(section, name)
        return Write("DELETE", f"{ROOT}/{path}/{rows[name].id}", None, 204, after)

    def run_rule(self) -> Write | None:
        """Book the next due date of a rule; the next is a year later."""
        name = self.pick(self.ledger.rules)
        if name is None:
            return None
        rule = self.ledger.rules[name]
        year, rest = (rule.next_date or FIRST_DUE).split("-", 1)
        if int(year) > LAST_DUE_YEAR:
            return None
        entry = Entry(
            f"{year}-{rest}",
            "expense",
            rule.amount,
            rule.category,
            rule.wallet,
            rule.memo,
            rule.tags,
        )
        next_rule = rule._replace(next_date=f"{int(year) + 1}-{rest}")
        after = self.ledger.put("rules", name, next_rule)
        after = replace(after, new_entries=(entry,))
        path = f"{ROOT}/recurring/{rule.id}/run"
        created = ("new_entries", None)
        return Write("POST", path, None, 201, after, created=created)

    def set_budget(self) -> Write | None:
        """Create a budget or change one; a second one of a month is refused."""
        category = self.pick_category("expense")
        if category is None:
            return None
        month, amount = self.chance.choice(MONTHS), self.chance.randint(1, 99_999)
        key = category, month
        body = {"category": category, "year": month.year, "month": month.month}
        body["amount"] = amount
        path = f"{ROOT}/budgets"
        if key not in self.ledger.budgets:
            after = self.ledger.put("budgets", key, (NEW, amount))
            return Write("POST", path, body, 201, after, created=("budgets", key))
        if self.chance.random() < 0.2:
            return Write("POST", path, body, 409, self.ledger, "DUPLICATE")
        budget_id = self.ledger.budgets[key][0]
        after = self.ledger.put("budgets", key, (budget_id, amount))
        return Write("PUT", f"{path}/{budget_id}", body, 200, after)

    def delete_budget(self) -> Write | None:
        key = self.pick(self.ledger.budgets)
        if key is None:
            return None
        after = self.ledger.drop("budgets", key)
        path = f"{ROOT}/budgets/{self.ledger.budgets[key][0]}"
        return Write("DELETE", path, None, 204, after)

    def copy_budgets(self) -> Write:
        source, target = self.chance.sample(MONTHS, 2)
        after = self.ledger
        for (category, month), (_, amount) in self.ledger.budgets.items():
            if month == source:
                known = self.ledger.budgets.get((category, target), (NEW, 0))
                after = after.put("budgets", (category, target), (known[0], amount))
        body = {"fromYear": source.year, "fromMonth": source.month}
        body |= {"toYear": target.year, "toMonth": target.month}
        return Write("POST", f"{ROOT}/budgets/copy", body, 200, after)

    def set_income(self) -> Write:
        month, amount = self.chance.choice(MONTHS), self.chance.randint(0, 99_999)
        body = {"year": month.year, "month": month.month, "amount": amount}
        after = self.ledger.put("incomes", month, amount)
        return Write("PUT", f"{ROOT}/budgets/income", body, 200, after)

    def create_stock(self) -> Write | None:
        if len(self.ledger.stocks) >= MAX_ROWS:
            return None
        code = self.make_name("S")
        after = self.ledger.put("stocks", code, NEW)
        path, body = f"{ROOT}/stocks", {"code": code, "name": code}
        return Write("POST", path, body, 201, after, created=("stocks", code))

    def make_trade(self) -> Trade | None:
        stock = self.pick(self.ledger.stocks)
        return stock and Trade(
            stock,
            self.chance.choice(["BUY", "BUY", "SELL"]),
            self.pick_day(),
            Decimal(self.chance.randint(1, 5_000)) / 1_000,
            self.chance.randint(0, 99_999),
        )

    def write_trade(self, method: str, trade_id: int, trade: Trade) -> Write:
        """Return a write, which is refused where more would be sold than is held."""
        stock_id = self.ledger.stocks[trade.stock]
        body = {"stockId": stock_id, "side": trade.side, "date": trade.date}
        body |= {"quantity": str(trade.quantity), "price": trade.price}
        path = f"{ROOT}/trades" + (f"/{trade_id}" if trade_id else "")
        after = self.ledger.put("trades", trade_id, trade)
        if after.has_negative_holdings():
            return Write(method, path, body, 400, self.ledger, "NEGATIVE_HOLDINGS")
        if method == "PUT":
            return Write(method, path, body, 200, after)
        return Write(method, path, body, 201, after, created=("trades", NEW))

    def create_trade(self) -> Write | None:
        trade = self.make_trade()
        return trade and self.write_trade("POST", NEW, trade)

    def change_trade(self) -> Write | None:
        trade_id, trade = self.pick(self.ledger.trades), self.make_trade()
        return trade and trade_id and self.write_trade("PUT", trade_id, trade)

    def delete_trade(self) -> Write | None:
        trade_id = self.pick(self.ledger.trades)
        if trade_id is None:
            return None
        path, after = f"{ROOT}/trades/{trade_id}", self.ledger.drop("trades", trade_id)
        if after.has_negative_holdings():
            code = "NEGATIVE_HOLDINGS"
            return Write("DELETE", path, None, 400, self.ledger, code)
        return Write("DELETE", path, None, 204, after)

    def restore(self) -> Write | None:
        """Restore a part of the ledger; stocks, trades and the rest are deleted."""
        kept = self.chance.sample(
            list(self.ledger.entries.values()), min(30, len(self.ledger.entries))
        )
        if not kept:
            return None
        ledger = self.ledger
        wallets, categories = ledger.wallets.items(), ledger.categories.items()
        after = Ledger(
            wallets={name: row._replace(id=NEW) for name, row in wallets},
            categories={name: row._replace(id=NEW) for name, row in categories},
            tags=dict.fromkeys(ledger.tags, NEW),
            new_entries=tuple(kept),
            incomes=ledger.incomes,
        )
        body = {
            "wallets": [
                {"name": name, "kind": row.kind, "openingBalance": row.opening_balance}
                for name, row in wallets
            ],
            "tags": [{"name": name} for name in ledger.tags],
            "categories": [
                {"type": row.type, "name": name, "parent": row.parent}
                # The major ones first.
                for name, row in sorted(categories, key=lambda row: row[1].parent or "")
            ],
            "entries": [row._asdict() | {"tags": list(row.tags)} for row in kept],
        }
        # One of before that was killed holds its lease for a while.
        path = f"{ROOT}/restore"
        return Write("POST", path, body, 200, after, may_conflict=True)
