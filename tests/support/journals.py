"""A ledger as a journal of plain-text accounting, read by beancount.

An entry becomes one transaction: its wallet, and for each line the account of its
category or wallet with the opposite sign. The type of a category decides its account
alone, never a sign, and beancount refuses a transaction that does not add up to zero.
So the journal shares no rule with the service.
"""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from beancount import loader

from tests.support.clients import JSONClient

A = "/api/account"
INCOME, EXPENSE = "income", "expense"
CURRENCY = "KRW"
OPENING_DAY = date(1990, 1, 1)
WALLETS, OUTSIDE, OPENING = "Assets:Wallets", "Equity:Outside", "Equity:Opening"
# Roots of the accounts of categories, of counted and of excluded entries.
ROOTS = {
    False: {INCOME: "Income", EXPENSE: "Expenses"},
    True: {INCOME: "Equity:Excluded:Income", EXPENSE: "Equity:Excluded:Expenses"},
}
# Beancount counts income below zero.
SIGNS = {INCOME: -1, EXPENSE: 1}
PAGE_SIZE = 100

Row = dict[str, Any]
# A day, an account and its balance at the end of that day.
Assertion = tuple[date, str, int]


def read_entries(client: JSONClient, **filters: Any) -> list[Row]:
    """Return all entries of the list, page by page."""
    rows: list[Row] = []
    page = 1
    while True:
        body = client.get_json(f"{A}/entries", page=page, size=PAGE_SIZE, **filters)
        rows += body["results"]
        if body["next"] is None:
            assert len(rows) == body["count"]
            return rows
        page += 1


def list_lines(row: Row) -> list[Row]:
    """Return the lines of an entry; a flat entry is its only line."""
    return row["lines"] or [row | {"walletId": row["toWalletId"]}]


class Journal:
    """The transactions of wallets and entries, as the API shows them."""

    def __init__(self, wallets: list[Row], entries: list[Row]) -> None:
        # Names may hold any character: accounts are named by number.
        self._categories: dict[tuple[str, str | None], str] = {}
        self._accounts = {WALLETS, OUTSIDE, OPENING, *ROOTS[True].values()}
        self._text = "".join(
            self._write(
                OPENING_DAY,
                [
                    (self.wallet_account(wallet["id"]), wallet["openingBalance"]),
                    (OPENING, -wallet["openingBalance"]),
                ],
            )
            for wallet in wallets
        )
        for row in entries:
            if not row["pending"]:
                self._text += self._write_entry(row)

    def wallet_account(
        self, wallet_id: int | None, *, is_excluded: bool | None = None
    ) -> str:
        """Return the account of a wallet, or the part of counted or excluded entries.

        Beancount includes the parts in the balance of the whole.
        """
        whole = OUTSIDE if wallet_id is None else f"{WALLETS}:W{wallet_id}"
        if is_excluded is None:
            return whole
        return f"{whole}:{'Excluded' if is_excluded else 'Counted'}"

    def category_account(
        self, type_: str, category: str | None, *, is_excluded: bool = False
    ) -> str:
        code = self._categories.setdefault(
            (type_, category), f"C{len(self._categories)}"
        )
        return f"{ROOTS[is_excluded][type_]}:{code}"

    def list_errors(self, assertions: Iterable[Assertion]) -> list[str]:
        """Return what beancount finds wrong in the journal with these assertions."""
        # Beancount asserts the balance at the beginning of a day.
        balances = [
            f"{day + timedelta(1)} balance {account}  {amount} ~ 0 {CURRENCY}"
            for day, account, amount in assertions
        ]
        self._accounts |= {line.split()[2] for line in balances}
        opened = [f"{OPENING_DAY} open {name} {CURRENCY}" for name in self._accounts]
        text = "\n".join([*opened, self._text, *balances])
        _, errors, _ = loader.load_string(text)
        found: list[Any] = list(errors)
        return [f"{error.source.get('lineno')}: {error.message}" for error in found]

    def _write_entry(self, row: Row) -> str:
        sign, is_excluded = 1 if row["type"] == INCOME else -1, row["excluded"]
        own = self.wallet_account(row["walletId"], is_excluded=is_excluded)
        postings = [(own, sign * row["amount"])]
        for line in list_lines(row):
            if line["walletId"] is not None:
                account = self.wallet_account(line["walletId"], is_excluded=is_excluded)
            else:
                account = self.category_account(
                    line["categoryType"], line["category"], is_excluded=is_excluded
                )
            postings.append((account, -sign * line["amount"]))
        return self._write(date.fromisoformat(row["date"]), postings)

    def _write(self, day: date, postings: list[tuple[str, int]]) -> str:
        self._accounts |= {account for account, _ in postings}
        lines = [f"  {account}  {amount} {CURRENCY}" for account, amount in postings]
        return "\n".join([f'\n{day} * ""', *lines, ""])
