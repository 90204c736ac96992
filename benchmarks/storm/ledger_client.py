"""A member who changes the own ledger at random and knows what it must be."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.storm.entry_writes import EntryWrites
from benchmarks.storm.ledger import (
    NEW,
    Ledger,
)
from benchmarks.storm.ledger_reads import LedgerReads
from benchmarks.storm.ledger_session import (
    MAX_ENTRIES,
    MONTHS,
    NOTIFIED_MONTH,
    ROOT,
    Write,
)
from benchmarks.storm.plan_writes import PlanWrites
from benchmarks.storm.register_writes import RegisterWrites
from benchmarks.storm.trade_writes import TradeWrites


@dataclass
class LedgerClient(LedgerReads, EntryWrites, RegisterWrites, PlanWrites, TradeWrites):
    """One member; nobody else writes to the ledger."""

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

    def verify(self) -> None:
        """Compare the whole ledger and all figures with the oracle."""
        self.reconcile("at the end", self.ledger)
        for month in (*MONTHS, NOTIFIED_MONTH):
            self.check_month(month)
            self.check_budget_status(month)
        self.balances()
        self.holdings()
        self.pending()

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
