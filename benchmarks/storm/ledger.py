"""A member who changes the own ledger at random and keeps the acknowledged rows.

The rows that the service shows must be the acknowledged ones; after a request without
an answer they may be the rows before it or after it. Balances and sums follow.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.storm.connection import UNCERTAIN, Answer, Connection, OutageError

ROOT = "/api/account"
YEAR, MONTHS = 2026, (1, 2, 3)
# The payments of notifications; their entries have no other month.
NOTIFIED_AT, NOTIFIED_MONTH = "2026-11-20T12:00:00+09:00", 11
MAX_WALLETS, MAX_ENTRIES, MAX_REPEATS = 6, 100, 60
READ_SHARE, RESTORE_SHARE = 0.2, 0.1
TAGS = ("red", "green", "blue")
# The compared fields of a kind; the first two identify a new row.
KINDS = {
    "wallets": ("name", "kind", "openingBalance"),
    "categories": ("name", "type"),
    "entries": (
        *("memo", "date", "type", "amount", "category", "walletId", "tags", "pending"),
    ),
}

Row = dict[str, Any]


@dataclass
class LedgerClient:
    connection: Connection
    chance: random.Random
    name: str
    rows: dict[str, dict[int, Row]] = field(
        default_factory=lambda: {kind: {} for kind in KINDS}
    )
    number: int = 0

    def act(self) -> None:
        reads = [self.check_balances, self.check_month]
        is_read = self.chance.random() < READ_SHARE
        action = self.chance.choice(reads if is_read else self.list_writes())
        sent = self.connection.sent
        action()
        if self.connection.sent > sent:
            self.connection.record.add_operation(action.__name__)

    def list_writes(self) -> list[Callable[[], None]]:
        """Repeat the frequent writes."""
        is_full = len(self.rows["entries"]) > MAX_ENTRIES
        return [
            *(self.delete_entry if is_full else self.create_entry,) * 8,
            *(self.change_entry,) * 5,
            *(self.delete_entry,) * 2,
            *(self.notify, self.notify, self.confirm_entry, self.confirm_entry),
            *(self.create_wallet, self.change_wallet, self.move_wallet),
            self.create_category,
            *((self.restore,) if self.chance.random() < RESTORE_SHARE else ()),
        ]

    def report(self, text: str, answer: object) -> None:
        self.connection.report(f"{self.name}: {text}: {answer}")

    def expect(self, text: str, expected: object, actual: object) -> None:
        self.connection.expect(f"{self.name}: {text}", expected, actual)

    def list_rows(self, kind: str) -> dict[int, Row]:
        path = f"{ROOT}/{kind}"
        read = self.connection.get_pages if kind == "entries" else self.connection.get
        found = read(path)
        return {row["id"]: select(row, KINDS[kind]) for row in found}

    def create(self, kind: str, row: Row, body: Row | None, path: str = "") -> None:
        """Create a row; after a request without an answer, look for it."""
        answer = self.connection.send("POST", f"{ROOT}/{kind}", body)
        if answer.status in UNCERTAIN:
            self.connection.settle()
            found = {
                row_id: shown
                for row_id, shown in self.list_rows(kind).items()
                if row_id not in self.rows[kind]
                and all(shown[name] == row[name] for name in KINDS[kind][:2])
            }
            if len(found) > 1:
                self.report(f"{kind} written {len(found)} times", row)
        elif answer.status == 201:
            found = {answer.body["id"]: select(answer.body, KINDS[kind])}
        else:
            self.report(f"new {kind} {row}", answer)
            return
        for row_id, shown in found.items():
            self.expect(f"new {kind}", row, select(shown, row))
            self.rows[kind][row_id] = shown

    def change(self, kind: str, row_id: int, after: Row) -> None:
        body = {name: value for name, value in after.items() if name != "pending"}
        answer = self.connection.send("PUT", f"{ROOT}/{kind}/{row_id}", body)
        self.note_change(kind, row_id, after, answer)

    def note_change(self, kind: str, row_id: int, after: Row, answer: Answer) -> None:
        """Compare a changed row with the wanted row, or the unchanged row."""
        allowed = [after]
        if answer.status in UNCERTAIN:
            self.connection.settle()
            allowed.append(self.rows[kind][row_id])
            shown = self.list_rows(kind).get(row_id)
        elif answer.status == 200:
            shown = select(answer.body, KINDS[kind])
        else:
            self.report(f"changed {kind} {after}", answer)
            return
        if shown not in allowed:
            self.report(f"{kind} {row_id}: expected one of {allowed}", shown)
        self.rows[kind][row_id] = shown or after

    def delete(self, kind: str, row_id: int, query: str = "") -> bool:
        """Return True if the row is gone."""
        answer = self.connection.send("DELETE", f"{ROOT}/{kind}/{row_id}{query}")
        if answer.status in UNCERTAIN:
            self.connection.settle()
            if row_id in self.list_rows(kind):
                return False
        elif answer.status != 204:
            self.report(f"deleted {kind} {row_id}", answer)
            return False
        del self.rows[kind][row_id]
        return True

    def make_name(self, kind: str) -> str:
        self.number += 1
        return f"{kind} {self.number:05}"

    def pick(self, kind: str) -> int | None:
        return self.chance.choice(list(self.rows[kind])) if self.rows[kind] else None

    def pick_category(self, type_: str) -> str | None:
        rows = self.rows["categories"].values()
        names: list[str] = [row["name"] for row in rows if row["type"] == type_]
        return self.chance.choice([None, *names])

    def make_entry(self) -> Row:
        type_ = self.chance.choice(["expense", "expense", "income"])
        month, day = self.chance.choice(MONTHS), self.chance.randint(1, 28)
        return {
            "date": f"{YEAR}-{month:02}-{day:02}",
            "type": type_,
            "amount": self.chance.randint(1, 1_000_000),
            "category": self.pick_category(type_),
            "walletId": self.pick("wallets"),
            "memo": self.make_name("memo"),
            "tags": self.chance.sample(TAGS, 2),
        }

    def create_entry(self) -> None:
        body = self.make_entry()
        self.create("entries", body | {"pending": False}, body)

    def change_entry(self) -> None:
        if entry_id := self.pick("entries"):
            pending = self.rows["entries"][entry_id]["pending"]
            self.change("entries", entry_id, self.make_entry() | {"pending": pending})

    def delete_entry(self) -> None:
        if entry_id := self.pick("entries"):
            self.delete("entries", entry_id)

    def confirm_entry(self) -> None:
        """Confirm an entry; confirming again changes nothing."""
        if entry_id := self.pick("entries"):
            after = self.rows["entries"][entry_id] | {"pending": False}
            path = f"{ROOT}/entries/{entry_id}/confirm"
            answer = self.connection.send("POST", path)
            self.note_change("entries", entry_id, after, answer)

    def notify(self) -> None:
        """Send a notification until it is answered: it makes one entry."""
        self.number += 1
        amount, minute = 10_000 + self.number, self.number % 60
        text = (
            f"신한카드(1309)승인 홍*동 {amount:,}원(일시불)11/10 "
            f"{self.number // 60 % 24:02}:{minute:02} 상점{self.number:05}호"
        )
        body, repeats = {"text": text, "receivedAt": NOTIFIED_AT}, 0
        path = f"{ROOT}/entries/notification"
        while (answer := self.connection.send("POST", path, body)).status in UNCERTAIN:
            repeats += 1
            if repeats > MAX_REPEATS:
                raise OutageError(text)
            self.connection.settle()
        entry = answer.body.get("entry")
        actions = {"CREATED", "DUPLICATE"} if repeats else {"CREATED"}
        if not entry or answer.body["action"] not in actions:
            self.report(text, answer)
            return
        self.expect(text, (amount, True), (entry["amount"], entry["pending"]))
        self.rows["entries"][entry["id"]] = select(entry, KINDS["entries"])

    def make_wallet(self) -> Row:
        opening = self.chance.randint(-9999, 9999)
        name = self.make_name("wallet")
        return {"name": name, "kind": "BANK", "openingBalance": opening}

    def create_wallet(self) -> None:
        if len(self.rows["wallets"]) < MAX_WALLETS:
            row = self.make_wallet()
            self.create("wallets", row, row)

    def change_wallet(self) -> None:
        if wallet_id := self.pick("wallets"):
            self.change("wallets", wallet_id, self.make_wallet())

    def move_wallet(self) -> None:
        if len(self.rows["wallets"]) > 2:
            source, target = self.chance.sample(list(self.rows["wallets"]), 2)
            if self.delete("wallets", source, f"?moveTo={target}"):
                for row in self.rows["entries"].values():
                    if row["walletId"] == source:
                        row["walletId"] = target

    def create_category(self) -> None:
        if len(self.rows["categories"]) < MAX_WALLETS:
            type_ = self.chance.choice(["expense", "income"])
            row = {"name": self.make_name("category"), "type": type_}
            self.create("categories", row, row | {"parentId": None})

    def restore(self) -> None:
        """Replace the ledger by a part of it."""
        count = min(20, len(self.rows["entries"]))
        kept = self.chance.sample(list(self.rows["entries"].values()), count)
        body = {
            "wallets": list(self.rows["wallets"].values()),
            "categories": list(self.rows["categories"].values()),
            "tags": [{"name": name} for name in TAGS],
            "entries": [self.with_wallet_name(row) for row in kept],
        }
        allowed = [sorted(map(repr, body["entries"]))]
        answer = self.connection.send("POST", f"{ROOT}/restore", body)
        # A restore that was killed holds its lease for a while.
        if answer.status == 409:
            return
        if answer.status in UNCERTAIN:
            self.connection.settle()
            rows = map(self.with_wallet_name, self.rows["entries"].values())
            allowed.append(sorted(map(repr, rows)))
        elif answer.status != 200:
            self.report("restore", answer)
        self.rows = {kind: self.list_rows(kind) for kind in KINDS}
        rows = map(self.with_wallet_name, self.rows["entries"].values())
        if (shown := sorted(map(repr, rows))) not in allowed:
            self.report(f"restore: expected one of {allowed}", shown)

    def with_wallet_name(self, entry: Row) -> Row:
        """Return an entry as a backup describes it."""
        row = {name: value for name, value in entry.items() if name != "walletId"}
        wallet = self.rows["wallets"].get(entry["walletId"])
        return row | {"wallet": wallet and wallet["name"]}

    def list_confirmed(self) -> list[Row]:
        return [row for row in self.rows["entries"].values() if not row["pending"]]

    def check_balances(self) -> None:
        balances = {
            wallet_id: row["openingBalance"]
            for wallet_id, row in self.rows["wallets"].items()
        }
        for row in self.list_confirmed():
            if row["walletId"]:
                sign = 1 if row["type"] == "income" else -1
                balances[row["walletId"]] += sign * row["amount"]
        shown = self.connection.get(f"{ROOT}/wallets")
        actual = {row["id"]: row["balance"] for row in shown}
        self.expect("balances", balances, actual)

    def check_month(self) -> None:
        month = self.chance.choice([*MONTHS, NOTIFIED_MONTH])
        sums: Counter[str] = Counter()
        categories: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
        for row in self.list_confirmed():
            if row["date"].startswith(f"{YEAR}-{month:02}-"):
                sums[row["type"]] += row["amount"]
                category = categories[row["type"], row["category"]]
                category[0] += row["amount"]
                category[1] += 1
        path = f"{ROOT}/statistics/month?year={YEAR}&month={month}"
        body = self.connection.get(path)
        for type_ in ("income", "expense"):
            self.expect(f"{type_} of month {month}", sums[type_], body[type_])
        actual = {
            (row["type"], row["category"]): [row["amount"], row["count"]]
            for row in body["byCategory"]
        }
        self.expect(f"categories of month {month}", categories, actual)

    def verify(self) -> None:
        for kind, rows in self.rows.items():
            shown = self.list_rows(kind)
            for row_id in rows.keys() | shown.keys():
                text = f"{kind} {row_id} at the end"
                self.expect(text, rows.get(row_id), shown.get(row_id))
        for _ in range(2 * len(MONTHS)):
            self.check_month()
        self.check_balances()


def select(row: Row, names: Iterable[str]) -> Row:
    return {name: row[name] for name in names}
