"""Writes of the storm to entries, and notifications."""

from dataclasses import dataclass, replace

from benchmarks.storm.connection import UNCERTAIN, Answer, OutageError
from benchmarks.storm.ledger import (
    Entry,
)
from benchmarks.storm.ledger_session import (
    MAX_REPEATS,
    MAX_ROWS,
    NOTIFIED_AT,
    NOTIFIED_DAY,
    ROOT,
    TYPES,
    LedgerSession,
    Write,
)


@dataclass
class EntryWrites(LedgerSession):
    """Writes to entries."""

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
