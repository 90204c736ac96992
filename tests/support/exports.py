"""Exports for tests, and what other programs read in them."""

import csv
import io
import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from beancount import loader
from beancount.core import data
from django.utils import timezone

from accounts.models import Member
from ledger.export.export import write_export
from ledger.export.scope import Export, Scope

EXPORT = "/api/account/export"
HLEDGER = shutil.which("hledger")
CURRENCY = "KRW"
# A month as "2026-11", an account and what it moved by.
Flows = Counter[tuple[str, str]]


def export_ledger(member: Member, format_name: str, scope: Scope | None = None) -> str:
    file = io.BytesIO()
    export = Export(member, scope or Scope(), timezone.now())
    write_export(format_name, export, file)
    return file.getvalue().decode()


def export_json(member: Member) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        export_ledger(member, "json"), parse_float=Decimal
    )
    return found


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


class Books:
    """Balances of accounts and flows by month, as a program has read them."""

    def __init__(self) -> None:
        self.balances: Counter[str] = Counter()
        self.flows: Flows = Counter()

    def add(self, day: date, account: str, amount: int) -> None:
        self.balances[account] += amount
        self.flows[f"{day:%Y-%m}", account] += amount

    def sum_below(self, *roots: str) -> int:
        """Return the balance of accounts with the accounts below them."""
        return sum(
            amount
            for account, amount in self.balances.items()
            if any(f"{account}:".startswith(f"{root}:") for root in roots)
        )

    def list_flows(self, *roots: str) -> Flows:
        return Counter(
            {
                key: amount
                for key, amount in self.flows.items()
                if amount and key[1].split(":")[0] in roots
            }
        )


def read_beancount(text: str) -> Books:
    """Return the books of a journal, which beancount must find right."""
    entries, errors, _ = loader.load_string(text)
    found: list[Any] = list(errors)
    assert [(error.message, error.source) for error in found] == []
    books = Books()
    for entry in entries:
        if isinstance(entry, data.Transaction):
            for posting in entry.postings:
                units: Any = posting.units
                assert units.currency == CURRENCY
                books.add(entry.date, posting.account, int(units.number))
    return books


def run_hledger(path: Path, *arguments: str) -> str:
    """Return the output of hledger, which must find the journal right."""
    assert HLEDGER
    done = subprocess.run(
        [HLEDGER, "--file", path, *arguments],
        capture_output=True,
        encoding="utf-8",
        env={"LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_hledger(text: str, directory: Path) -> Books:
    path = directory / "export.journal"
    path.write_text(text, encoding="utf-8")
    run_hledger(path, "check", "accounts", "commodities", "ordereddates")
    books = Books()
    for row in _read_register(run_hledger(path, "register", "--output-format=csv")):
        amount = row["amount"].removesuffix(f" {CURRENCY}")
        books.add(date.fromisoformat(row["date"]), row["account"], int(amount))
    return books


def _read_register(text: str) -> Iterator[dict[str, str]]:
    rows: Iterable[dict[str, str]] = csv.DictReader(io.StringIO(text))
    yield from rows
