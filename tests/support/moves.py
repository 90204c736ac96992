"""A ledger whose wallets and categories are large enough to move in batches."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from accounts.models import Member
from ledger.models import Category, Wallet
from tests.support.factories import (
    make_budget,
    make_category,
    make_entry,
    make_quick_entry,
    make_rule,
    make_wallet,
)

# More entries than these move by the job.
LIMIT = 3
BATCH_SIZE = 2
MOVED_ENTRIES = 2 * LIMIT
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
        """How entries refer to it."""
        return "wallet" if self.kind == "wallets" else "category"

    @property
    def naming(self) -> dict[str, Any]:
        """The part of a body that names what moves."""
        if self.kind == "wallets":
            return {"walletId": self.wallet.pk}
        return {"category": self.category.name}


def make_moving_ledger(member: Member, kind: str) -> MovingLedger:
    """Make a ledger in which `kind` ("wallets", "categories") is large.

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
