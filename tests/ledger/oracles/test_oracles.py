"""The oracles themselves: replay, hledger and beancount read an entry alike.

The answers are made up here, so that none of it needs the service.
"""

from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.support.journals import (
    WALLETS,
    Journal,
    has_hledger,
    list_beancount_errors,
    report_months,
    write_beancount,
    write_hledger,
)
from tests.support.ledger_replay import EXPENSE, INCOME, LedgerReplay, read_booking

FIRST, LAST = date(2026, 11, 1), date(2026, 11, 30)
SIGNS = {INCOME: -1, EXPENSE: 1}
# Wallets 1 and 2, the lines of 1, and what the specification says of it.
CASES: list[tuple[str, int, list[Any], dict[int, int], dict[str, int]]] = [
    (
        "transfer",
        100_500,
        [(100_000, 2), (500, EXPENSE)],
        {1: -100_500, 2: 100_000},
        {EXPENSE: 500},
    ),
    ("transfer", 70_000, [(70_000, 2)], {1: -70_000, 2: 70_000}, {}),
    (
        "income",
        3_000_000,
        [(3_500_000, INCOME), (-500_000, EXPENSE)],
        {1: 3_000_000},
        {INCOME: 3_500_000, EXPENSE: 500_000},
    ),
    ("income", 30_000, [(30_000, EXPENSE)], {1: 30_000}, {EXPENSE: -30_000}),
    (
        "expense",
        8_500,
        [(10_000, EXPENSE), (-500, EXPENSE), (-1_000, 2)],
        {1: -8_500, 2: -1_000},
        {EXPENSE: 9_500},
    ),
    (
        "expense",
        60_000,
        [(20_000, EXPENSE), (40_000, 2)],
        {1: -60_000, 2: 40_000},
        {EXPENSE: 20_000},
    ),
    ("expense", 300, [(300, INCOME)], {1: -300}, {INCOME: -300}),
]


def make_row(number: int, type_: str, amount: int, lines: list[Any]) -> dict[str, Any]:
    """Return an entry as the API shows it: flat, if it has one line."""
    row: dict[str, Any] = {
        "id": number,
        "date": "2026-11-18",
        "type": type_,
        "amount": amount,
        "walletId": 1,
        "toWalletId": None,
        "category": None,
        "categoryType": type_,
        "lines": [],
        "tags": [],
        "excluded": False,
    }
    if len(lines) > 1:
        row["lines"] = [
            {
                "amount": part,
                "walletId": to if isinstance(to, int) else None,
                "category": None if isinstance(to, int) else "분류",
                "categoryType": EXPENSE if isinstance(to, int) else to,
            }
            for part, to in lines
        ]
        return row
    ((_, to),) = lines
    if isinstance(to, int):
        return row | {"toWalletId": to}
    return row | {"category": "분류", "categoryType": to}


def make_ledger(rows: list[dict[str, Any]]) -> LedgerReplay:
    wallets = [{"id": n, "name": str(n), "openingBalance": 5 * n} for n in (1, 2)]
    return LedgerReplay(wallets, [], [], [read_booking(row) for row in rows])


@pytest.mark.parametrize(("type_", "amount", "lines", "changes", "flows"), CASES)
def test_replay_has_the_effects_of_the_specification(
    type_: str,
    amount: int,
    lines: list[Any],
    changes: dict[int, int],
    flows: dict[str, int],
) -> None:
    ledger = make_ledger([make_row(1, type_, amount, lines)])
    expected = {n: 5 * n + changes.get(n, 0) for n in (1, 2)}
    assert ledger.balances() == expected
    month = ledger.month(2026, 11)
    assert (month["income"], month["expense"]) == (
        flows.get(INCOME, 0),
        flows.get(EXPENSE, 0),
    )
    assert month["count"] == (1 if flows else 0)
    assert sum(changes.values()) == month["net"]


def make_random_rows(random: Random, count: int) -> list[dict[str, Any]]:
    rows = []
    for number in range(count):
        lines = [
            (
                random.choice([-1, 1]) * random.randint(1, 10**9),
                random.choice([2, INCOME, EXPENSE]),
            )
            for _ in range(random.randint(1, 6))
        ]
        amount = sum(part for part, _ in lines)
        type_ = random.choice(["income", "expense"])
        if len(lines) == 1 and lines[0][1] == 2:
            type_ = "transfer"
        if amount < 0:
            amount, lines = -amount, [(-part, to) for part, to in lines]
        rows.append(
            make_row(number, type_, amount, lines) | {"excluded": random.random() < 0.2}
        )
    return rows


@pytest.mark.parametrize("seed", range(3))
def test_hledger_and_beancount_agree_with_the_replay(seed: int, tmp_path: Path) -> None:
    ledger = make_ledger(make_random_rows(Random(seed), 200))
    journal = Journal(ledger)
    month = ledger.month(2026, 11)
    found = {
        (row["type"], row["category"]): row["amount"] for row in month["byCategory"]
    }
    balances = {
        journal.wallet_account(wallet): balance
        for wallet, balance in ledger.balances().items()
    }
    assertions = [(LAST, account, balance) for account, balance in balances.items()]
    assertions.append((LAST, WALLETS, ledger.net_worth()["total"]))
    assertions += [
        (LAST, journal.category_account(*key), SIGNS[key[0]] * amount)
        for key, amount in found.items()
    ]
    assert list_beancount_errors(write_beancount(journal, assertions)) == []

    if not has_hledger():
        pytest.skip("hledger is not installed: apt-get install hledger")
    path = tmp_path / "ledger.journal"
    path.write_text(write_hledger(journal))
    sums = report_months(path, "^(Income|Expenses):", FIRST, LAST)
    assert {account: amounts["2026-11"] for account, amounts in sums.items()} == {
        journal.category_account(*key): SIGNS[key[0]] * amount
        for key, amount in found.items()
    }
    held = report_months(path, f"^{WALLETS}:", FIRST, LAST, "--historical")
    assert {
        account: amounts["2026-11"] for account, amounts in held.items()
    } == balances


def test_beancount_refuses_what_does_not_add_up() -> None:
    row = make_row(1, "expense", 100, [(60, EXPENSE), (41, EXPENSE)])
    text = write_beancount(Journal(make_ledger([row])), [])
    (error,) = list_beancount_errors(text)
    assert "does not balance" in error
