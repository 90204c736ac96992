"""The accounts of a journal, by the ids of wallets and categories. Pure."""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from ledger.entry_shape import EXPENSE, INCOME
from ledger.export.journals.parts import Account, Detail

# Kinds of wallets whose money is owed, as in `Wallet.Kind`.
LIABILITY_KINDS = frozenset({"CARD", "LOAN"})
ROOTS = {INCOME: "Income", EXPENSE: "Expenses"}

OPENING = Account("Equity:Opening", "Opening balances")
OUTSIDE = Account("Equity:Outside", "Entries without a wallet")
VALUATIONS = Account("Equity:Valuations", "Typed-in values and holdings")
HOLDINGS = Account("Assets:Holdings", "Stocks at their last price")


class WalletRow(NamedTuple):
    """A wallet; `current_value` is None unless its value is typed in."""

    id: int
    name: str
    kind: str
    opening_balance: int
    current_value: int | None


class CategoryRow(NamedTuple):
    id: int
    type: str
    name: str
    parent_id: int | None


class Chart:
    """The accounts of a member's wallets and categories."""

    def __init__(
        self, wallets: Iterable[WalletRow], categories: Iterable[CategoryRow]
    ) -> None:
        self.wallets = {row.id: make_wallet_account(row) for row in wallets}
        self._categories = {row.id: row for row in categories}
        # Each is made once.
        self.category = cache(self._make_category)
        self.valuation = cache(self._make_valuation)

    def wallet(self, wallet_id: int | None) -> Account:
        return OUTSIDE if wallet_id is None else self.wallets[wallet_id]

    def _make_valuation(self, wallet_id: int) -> Account:
        """Return the account of what typed-in values add to a wallet's balance."""
        whole = self.wallets[wallet_id]
        return Account(f"{whole.name}:Valuation", f"{whole.title} (value)")

    def _make_category(
        self, category_id: int | None, type_: str, is_excluded: bool
    ) -> Account:
        """Return the account of a category, of excluded entries outside the flows."""
        root = f"Equity:Excluded:{ROOTS[type_]}" if is_excluded else ROOTS[type_]
        if category_id is None:
            return Account(f"{root}:Uncategorized", "")
        row = self._categories[category_id]
        parts = [f"C{each}" for each in (row.parent_id, row.id) if each is not None]
        return Account(":".join([root, *parts]), row.name)


def make_wallet_account(row: WalletRow) -> Account:
    root = "Liabilities" if row.kind in LIABILITY_KINDS else "Assets"
    return Account(f"{root}:Wallets:W{row.id}", row.name, (Detail("kind", row.kind),))
