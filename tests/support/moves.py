"""A ledger of which a wallet or a category is deleted with `moveTo`."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from accounts.models import Member
from ledger.models import Budget, Category, Entry, QuickEntry, RecurringRule, Wallet
from tests.support.clients import JSONClient
from tests.support.factories import (
    make_budget,
    make_category,
    make_entry,
    make_quick_entry,
    make_rule,
    make_wallet,
)

MOVED_ENTRIES = 6
A = "/api/account"


@dataclass(frozen=True)
class MovingLedger:
    """The rows of a member, and what is deleted: a wallet or a category."""

    member: Member
    kind: str
    wallet: Wallet
    category: Category
    wallet_target: Wallet
    category_target: Category

    @property
    def path(self) -> str:
        return f"{A}/{self.kind}/{self.source.pk}"

    @property
    def target_path(self) -> str:
        return f"{A}/{self.kind}/{self.target.pk}"

    @property
    def deletion(self) -> str:
        return f"{self.path}?moveTo={self.target.pk}"

    @property
    def source(self) -> Any:
        return self.wallet if self.kind == "wallets" else self.category

    @property
    def target(self) -> Any:
        return self.wallet_target if self.kind == "wallets" else self.category_target

    @property
    def field(self) -> str:
        """Return the field by which entries refer to it."""
        return "wallet" if self.kind == "wallets" else "category"


def make_moving_ledger(member: Member, kind: str) -> MovingLedger:
    """Make a ledger of which one of `kind` ("wallets", "categories") moves.

    Its entries are among others, of several months, with memos, tags, and some pending.
    """
    wallet, wallet_target = (
        make_wallet(member, opening_balance=100, kind="BANK") for _ in range(2)
    )
    category, category_target = (make_category(member) for _ in range(2))
    both: dict[str, Any] = {"wallet": wallet, "category": category}
    for number in range(MOVED_ENTRIES):
        make_entry(
            member,
            **both,
            date=date(2026, 1 + number % 3, 5),
            amount=10 + number,
            memo=f"Shop {number % 4}",
            pending=number == 1,
            tags=(f"tag {number % 2}",),
        )
        make_entry(member, memo=f"Shop {number}", amount=1_000)
    make_entry(member, wallet=wallet_target, category=category_target, amount=7)
    make_entry(member, wallet=wallet, type="income", amount=500)
    make_quick_entry(member, **both)
    make_rule(member, **both)
    make_budget(member, category=category, amount=30)
    make_budget(member, category=category_target, amount=50)
    make_budget(member, category=category, year=2025, amount=5)
    return MovingLedger(member, kind, wallet, category, wallet_target, category_target)


def entries_of(row: Any) -> Any:
    field = "wallet" if isinstance(row, Wallet) else "category"
    return Entry.objects.filter(member_id=row.member_id, **{field: row.pk})


def read_sums(client: JSONClient) -> dict[str, Any]:
    """Return what a move must not change."""
    worth = client.get_json(f"{A}/networth")
    months = [
        client.get_json(f"{A}/statistics/month", year=2026, month=month)
        for month in (1, 2, 3, 11)
    ]
    budgets = client.get_json(f"{A}/budgets/status", year=2026, month=11)
    wallets = client.get_json(f"{A}/wallets")
    return {
        "worth": worth["total"],
        "flows": [
            {key: month[key] for key in ("income", "expense", "count", "byDay")}
            for month in months
        ],
        "categories": [sum(c["amount"] for c in m["byCategory"]) for m in months],
        "wallets": [sum(w["expense"] for w in m["byWallet"]) for m in months],
        "tags": [month["byTag"] for month in months],
        "budgets": budgets["total"],
        "balance": sum(row["balance"] for row in wallets),
        "entries": client.get_json(f"{A}/entries")["count"],
        "pending": client.get_json(f"{A}/entries/pending/count"),
        "trend": client.get_json(f"{A}/networth/trend"),
    }


def dump_ledger(member: Member) -> dict[str, list[Any]]:
    return {
        model.__name__: list(model.objects.filter(member_id=member.pk).values())
        for model in (Wallet, Category, Entry, QuickEntry, RecurringRule, Budget)
    }
