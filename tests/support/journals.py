"""A ledger as a journal of plain-text accounting, for hledger and for beancount.

An entry becomes one transaction: its wallet, and for each line the account of its
category or wallet with the opposite sign. Whether a category is one of income or of
expense decides its account alone, never a sign, and the readers refuse a transaction
that does not add up to zero. So they share no rule with the service.
"""

import csv
import io
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from beancount import loader

from tests.support.ledger_replay import INCOME, LedgerReplay, Line

CURRENCY = "KRW"
OPENING_DAY = date(1990, 1, 1)
WALLETS, NO_WALLET, OPENING = "Assets:Wallets", "Equity:Outside", "Equity:Opening"
# Roots of the accounts of categories, of counted and of excluded entries.
ROOTS = {
    False: {True: "Income", False: "Expenses"},
    True: {True: "Equity:Excluded:Income", False: "Equity:Excluded:Expenses"},
}

# By category: type and name, None without one.
CategoryKey = tuple[str, str | None]


@dataclass(frozen=True)
class Transaction:
    """Postings to accounts, which add up to zero."""

    day: date
    text: str
    postings: tuple[tuple[str, int], ...]


class Journal:
    """The transactions of a ledger, and the names of its accounts."""

    def __init__(self, ledger: LedgerReplay) -> None:
        self.ledger = ledger
        # Names may hold any character: accounts are named by number.
        self.categories: dict[CategoryKey, str] = {}
        self.transactions = [*self._list_openings(), *self._list_entries()]

    @staticmethod
    def wallet_account(wallet_id: int | None) -> str:
        return NO_WALLET if wallet_id is None else f"{WALLETS}:W{wallet_id}"

    def category_account(
        self, type_: str, category: str | None, *, is_excluded: bool = False
    ) -> str:
        code = self.categories.setdefault((type_, category), f"C{len(self.categories)}")
        return f"{ROOTS[is_excluded][type_ == INCOME]}:{code}"

    @property
    def accounts(self) -> list[str]:
        named = {name for each in self.transactions for name, _ in each.postings}
        wallets = {self.wallet_account(each["id"]) for each in self.ledger.wallets}
        fixed = {WALLETS, NO_WALLET, OPENING, *ROOTS[True].values()}
        return sorted(named | wallets | fixed)

    def _list_openings(self) -> list[Transaction]:
        return [
            Transaction(
                OPENING_DAY,
                "opening balance",
                (
                    (self.wallet_account(wallet["id"]), wallet["openingBalance"]),
                    (OPENING, -wallet["openingBalance"]),
                ),
            )
            for wallet in self.ledger.wallets
        ]

    def _list_entries(self) -> list[Transaction]:
        transactions = []
        for booking in sorted(self.ledger.bookings, key=lambda each: each.date):
            sign = booking.sign
            postings = [(self.wallet_account(booking.wallet_id), sign * booking.amount)]
            postings += [
                (self._account_of(line, booking.is_excluded), -sign * line.amount)
                for line in booking.lines
            ]
            transactions.append(
                Transaction(booking.date, f"entry {booking.id}", tuple(postings))
            )
        return transactions

    def _account_of(self, line: Line, is_excluded: bool) -> str:
        if line.type is None:
            return self.wallet_account(line.wallet_id)
        return self.category_account(line.type, line.category, is_excluded=is_excluded)


def write_hledger(journal: Journal) -> str:
    """Return the journal in the format of hledger."""
    parts = [f"account {name}" for name in journal.accounts]
    for each in journal.transactions:
        parts.append(f"\n{each.day} {each.text}")
        parts += [f"    {name}  {amount} {CURRENCY}" for name, amount in each.postings]
    return "\n".join(parts) + "\n"


def write_beancount(journal: Journal, expected: Iterable[tuple[date, str, int]]) -> str:
    """Return the journal in the format of beancount, with its assertions.

    Each is a day, an account and the balance with which that day must end.
    """
    parts = [f"{OPENING_DAY} open {name} {CURRENCY}" for name in journal.accounts]
    for each in journal.transactions:
        parts.append(f'\n{each.day} * "{each.text}"')
        parts += [f"  {name}  {amount} {CURRENCY}" for name, amount in each.postings]
    # Beancount asserts the balance at the beginning of a day.
    parts += [
        f"{day + timedelta(1)} balance {name}  {amount} ~ 0 {CURRENCY}"
        for day, name, amount in expected
    ]
    return "\n".join(parts) + "\n"


def has_hledger() -> bool:
    return shutil.which("hledger") is not None


def run_hledger(path: Path, *arguments: str) -> list[dict[str, str]]:
    """Return the rows of a report of hledger on a journal; fail on any error."""
    command = ["hledger", "-f", str(path), *arguments, "--output-format=csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def read_amount(text: str) -> int:
    """Return an amount that hledger printed; zero has no commodity."""
    return int(text.removesuffix(CURRENCY).strip())


def report_months(
    path: Path, accounts: str, start: date, end: date, *options: str
) -> dict[str, dict[str, int]]:
    """Return a sum per account and month ("2026-01") that hledger computes."""
    rows = run_hledger(
        path,
        "balance",
        accounts,
        f"--period=monthly from {start} to {end + timedelta(1)}",
        "--flat",
        "--empty",
        "--no-total",
        *options,
    )
    return {
        row.pop("account"): {name[:7]: read_amount(text) for name, text in row.items()}
        for row in rows
    }


def list_beancount_errors(text: str) -> list[str]:
    """Return what beancount finds wrong in a journal: sums and assertions."""
    _, errors, _ = loader.load_string(text)
    found: list[Any] = list(errors)
    return [f"{error.source.get('lineno')}: {error.message}" for error in found]
