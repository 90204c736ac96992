"""beancount and hledger agree with the service about any ledger (spec 3.28)."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
import time_machine

from accounts.models import Member
from ledger.export.scope import Scope
from tests.support.clients import JSONClient
from tests.support.exports import (
    HLEDGER,
    Books,
    Flows,
    export_ledger,
    read_beancount,
    read_hledger,
)
from tests.support.factories import make_entry, make_stock, make_trade, make_wallet
from tests.support.ledger_strategies import ODD
from tests.support.random_ledgers import (
    ALL_KINDS,
    END,
    ENTRIES,
    START,
    A,
    Body,
    RandomLedger,
)
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db

# 21 November 2026, a Saturday, in Seoul.
NOON = datetime(2026, 11, 21, 3, tzinfo=UTC)
Read = Callable[[str], Books]
needs_hledger = pytest.mark.skipif(HLEDGER is None, reason="hledger is not installed")


@pytest.fixture(
    params=["beancount", pytest.param("hledger", marks=needs_hledger)],
)
def program(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def read(program: str, tmp_path: Path) -> Read:
    if program == "beancount":
        return read_beancount
    return lambda text: read_hledger(text, tmp_path)


def refund_of_lines(ledger: RandomLedger) -> Body:
    """Draw a deposit that brings parts of two purchases back."""
    ids = []
    for _ in range(2):
        body = ledger.base("expense") | {
            "amount": 50_000,
            "category": "외식",
            "date": START.isoformat(),
        }
        ids.append(ledger.post(ENTRIES, body)["id"])
    lines = [
        {"amount": amount, "refundOf": purchase, "category": "외식"}
        for amount, purchase in zip((30_000, 1), ids, strict=True)
    ]
    body = ledger.base("income") | {"walletId": ledger.pick_wallet(), "lines": lines}
    return body | {"amount": 30_001}


def write_random_ledger(client: JSONClient, seed: int, count: int) -> RandomLedger:
    ledger = RandomLedger(client, Random(seed))
    ledger.add_wallets(["BANK", "CARD", "LOAN", "PREPAID"])
    ledger.add_categories()
    add_typed_wallets(ledger)
    kinds = (*ALL_KINDS, refund_of_lines)
    for number in range(count):
        body = kinds[number % len(kinds)](ledger)
        answer = ledger.post(ENTRIES, body)
        if body["type"] == "expense" and body.get("currency") is None:
            ledger.refundable[answer["id"]] = (body["date"], body["amount"])
        if "refundOf" in body:
            day, rest = ledger.refundable[body["refundOf"]]
            ledger.refundable[body["refundOf"]] = (day, rest - body["amount"])
    return ledger


def add_typed_wallets(ledger: RandomLedger) -> None:
    """Add a wallet with values of several days, and one with a value without a day."""
    body = {"kind": "PENSION", "manualValuation": True, "openingBalance": 1_000}
    fund = ledger.post(f"{A}/wallets", body | {"name": "연금"})["id"]
    for _ in range(6):
        day = START + timedelta(ledger.random.randrange((END - START).days))
        value = {"date": day.isoformat(), "value": ledger.random.randrange(-9, 10**8)}
        response = ledger.client.send("POST", f"{A}/wallets/{fund}/valuations", value)
        assert response.status_code < 300, response.content
    assert ledger.client.member
    other = make_wallet(
        ledger.client.member,
        name="보험",
        kind="INVESTMENT",
        manual_valuation=True,
        current_value=777,
    )
    ledger.wallet_ids += [fund, other.pk]


def account_of(row: Any) -> str:
    root = "Liabilities" if row["kind"] in {"CARD", "LOAN"} else "Assets"
    return f"{root}:Wallets:W{row['id']}"


def worth_of(row: Any) -> int:
    worth: int = row["balance"]
    if row["manualValuation"] and row["currentValue"] is not None:
        worth = row["currentValue"]
    return worth


def read_flows(client: JSONClient) -> Flows:
    """Return what the statistics show for each month and category."""
    parents = {row["id"]: row["parentId"] for row in client.get_json(f"{A}/categories")}
    flows: Flows = Counter()
    for year in range(START.year, END.year + 1):
        for month in range(1, 13):
            body = client.get_json(f"{A}/statistics/month", year=year, month=month)
            for row in body["byCategory"]:
                is_income = row["type"] == "income"
                parts = ["Income" if is_income else "Expenses"]
                if (category := row["categoryId"]) is None:
                    parts.append("Uncategorized")
                else:
                    ids = (parents[category], category)
                    parts += [f"C{each}" for each in ids if each is not None]
                key = f"{year}-{month:02}", ":".join(parts)
                flows[key] += -row["amount"] if is_income else row["amount"]
    return Counter({key: amount for key, amount in flows.items() if amount})


def assert_books_are_those_of_the_service(client: JSONClient, books: Books) -> None:
    for row in client.get_json(f"{A}/wallets"):
        assert books.sum_below(account_of(row)) == worth_of(row), row
        assert books.balances[account_of(row)] == row["balance"], row
    worth = client.get_json(f"{A}/networth")["total"]
    assert books.sum_below("Assets", "Liabilities") == worth
    assert books.list_flows("Income", "Expenses") == read_flows(client)


@pytest.mark.parametrize("seed", range(scaled(2, 1)))
def test_random_ledgers_are_read_alike(
    premium_member: Member, read: Read, program: str, seed: int
) -> None:
    client = JSONClient(premium_member)
    with time_machine.travel(NOON, tick=True):
        write_random_ledger(client, seed, scaled(80, 10_000))
        make_entry(premium_member, amount=5, pending=True, memo="not yet")
        stock = make_stock(premium_member, code="X1", current_price=None)
        make_trade(premium_member, stock=stock, quantity="1.5", price=1_001, fee=7)
        text = export_ledger(premium_member, program)
        assert "not yet" not in text
        assert_books_are_those_of_the_service(client, read(text))


def test_part_of_a_ledger_asserts_the_balances_of_its_last_day(
    premium_member: Member, read: Read, program: str
) -> None:
    client = JSONClient(premium_member)
    with time_machine.travel(NOON, tick=True):
        ledger = write_random_ledger(client, 3, 60)
        whole = read(export_ledger(premium_member, program))
        for _ in range(5):
            days = [
                START + timedelta(ledger.random.randrange((END - START).days))
                for _ in range(2)
            ]
            first, last = min(days), max(days)
            wallet = ledger.random.choice([None, *ledger.wallet_ids])
            books = read(
                export_ledger(premium_member, program, Scope(first, last, wallet))
            )
            if wallet is None:
                for month in full_months(first, last):
                    assert flows_of(books, month) == flows_of(whole, month)
            for row in client.get_json(f"{A}/wallets"):
                if wallet in (None, row["id"]):
                    balance = balance_on(client, row, last)
                    assert books.balances[account_of(row)] == balance


def full_months(first: date, last: date) -> list[str]:
    """Return the months that lie between the days."""
    inner = {f"{first + timedelta(n):%Y-%m}" for n in range((last - first).days)}
    return sorted(inner - {f"{first:%Y-%m}", f"{last:%Y-%m}"})


def flows_of(books: Books, month: str) -> Flows:
    flows = books.list_flows("Income", "Expenses")
    return Counter({key: amount for key, amount in flows.items() if key[0] == month})


def balance_on(client: JSONClient, row: Any, day: date) -> int:
    """Return the balance after the last entry by the day, in the wallet's history."""
    path: str | None = f"{A}/wallets/{row['id']}/history"
    query = {"from": "2000-01-01", "to": day.isoformat(), "size": 100}
    balance: int = row["openingBalance"]
    while path:
        page = client.get_json(path, **query)
        if page["results"]:
            balance = page["results"][-1]["balanceAfter"]
        path, query = page["next"], {}
    return balance


def test_any_text_stands_for_itself(
    premium_member: Member, read: Read, program: str
) -> None:
    hostile = (
        *ODD,
        "date:2020-99-99",
        "x, type:Z, date2:1",
        "[2020-99-99] [=1]",
        "(code) | note ; comment",
        'back\\slash "quote" \'x',
        "= 5 KRW",
        "\x07bell\x85next\u2028line",
        "  2 spaces  ",
        "* ! %",
    )
    for number, text in enumerate(hostile):
        wallet = make_wallet(premium_member, name=f"{text} {number}")
        entry = make_entry(
            premium_member, memo=text, wallet=wallet, amount=number + 1, tags=(text,)
        )
        assert entry.pk
    books = read(export_ledger(premium_member, program))
    total = -sum(range(len(hostile) + 1))
    assert books.sum_below("Assets") == total


def test_empty_ledger_is_a_journal(
    free_member: Member, read: Read, program: str
) -> None:
    assert not read(export_ledger(free_member, program)).balances


@pytest.mark.parametrize("day", [date.min, date.max])
def test_first_and_last_days_of_the_calendar_are_read(
    free_member: Member, read: Read, program: str, day: date
) -> None:
    wallet = make_wallet(free_member, opening_balance=3)
    make_entry(free_member, date=day, wallet=wallet, amount=5)
    books = read(export_ledger(free_member, program))
    assert books.sum_below("Assets") == -2
