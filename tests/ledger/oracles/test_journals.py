"""hledger and beancount agree with every balance and month, to the unit.

Both read the same random ledger as a journal. hledger computes reports that are compared
here; beancount gets our figures as assertions. `ORACLE_ENTRIES=10000` makes it large.
"""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.support.clients import JSONClient
from tests.support.journals import (
    ROOTS,
    WALLETS,
    CategoryKey,
    Journal,
    has_hledger,
    list_beancount_errors,
    report_months,
    write_beancount,
    write_hledger,
)
from tests.support.ledger_replay import (
    EXPENSE,
    INCOME,
    list_months,
    month_bounds,
    read_ledger,
)
from tests.support.random_ledgers import END, START

A = "/api/account"
MONTHS = list_months(START, END)
SIGNS = {INCOME: -1, EXPENSE: 1}
needs_hledger = pytest.mark.skipif(
    not has_hledger(), reason="hledger is not installed: apt-get install hledger"
)


def read_months(client: JSONClient) -> dict[tuple[int, int], Any]:
    """Return the statistics of all months that have entries."""
    return {
        (year, month): client.get_json(f"{A}/statistics/month", year=year, month=month)
        for year, month in MONTHS
    }


def amounts_of(body: dict[str, Any]) -> dict[CategoryKey, int]:
    """Return what was counted in each category of a month, without zeros."""
    rows = {(r["type"], r["category"]): r["amount"] for r in body["byCategory"]}
    assert len(rows) == len(body["byCategory"])
    return {key: amount for key, amount in rows.items() if amount}


def read_balances(client: JSONClient) -> dict[str, int]:
    """Return the balance of each wallet, by account."""
    wallets = client.get_json(f"{A}/wallets")
    return {Journal.wallet_account(row["id"]): row["balance"] for row in wallets}


def read_trend(client: JSONClient) -> list[tuple[date, int]]:
    """Return days and the net worth at their end, the last day of all at last."""
    points = client.get_json(f"{A}/networth/trend", months=24)["points"]
    past = [(date.fromisoformat(p["end"]), p["netWorth"]) for p in points[:-1]]
    return [*past, (END, points[-1]["netWorth"])]


@needs_hledger
def test_hledger_agrees_with_balances_months_and_net_worth(
    client: JSONClient, tmp_path: Path
) -> None:
    journal = Journal(read_ledger(client))
    path = tmp_path / "ledger.journal"
    path.write_text(write_hledger(journal))
    first, last = month_bounds(*MONTHS[0])[0], month_bounds(*MONTHS[-1])[1]

    reported = report_months(path, "^(Income|Expenses):", first, last)
    names = {journal.category_account(*key): key for key in list(journal.categories)}
    for (year, month), body in read_months(client).items():
        sums = {
            names[account]: amounts[f"{year}-{month:02}"] * SIGNS[names[account][0]]
            for account, amounts in reported.items()
        }
        assert amounts_of(body) == {key: each for key, each in sums.items() if each}
        assert body["income"] == sum(
            v for (type_, _), v in sums.items() if type_ == INCOME
        )
        assert body["expense"] == sum(
            v for (type_, _), v in sums.items() if type_ == EXPENSE
        )

    # From the earliest point of the trend on.
    worths = read_trend(client)
    start = worths[0][0].replace(day=1)
    held = report_months(path, f"^{WALLETS}:", start, last, "--historical")
    final = f"{MONTHS[-1][0]}-{MONTHS[-1][1]:02}"
    balances = read_balances(client)
    assert {name: amounts[final] for name, amounts in held.items()} == balances
    for day, worth in worths:
        assert sum(amounts[f"{day:%Y-%m}"] for amounts in held.values()) == worth, day
    assert client.get_json(f"{A}/networth")["total"] == sum(balances.values())


def test_beancount_accepts_balances_months_and_net_worth(
    client: JSONClient, kind: str
) -> None:
    journal = Journal(read_ledger(client))
    months = read_months(client)
    assertions = [(END, *each) for each in read_balances(client).items()]
    assertions += [(day, WALLETS, worth) for day, worth in read_trend(client)]
    totals = dict.fromkeys(journal.categories, 0)
    excluded = dict.fromkeys((INCOME, EXPENSE), 0)
    for (year, month), body in months.items():
        _, end = month_bounds(year, month)
        for key, amount in amounts_of(body).items():
            totals[key] += amount
        for key, total in totals.items():
            account = journal.category_account(*key)
            assertions.append((end, account, SIGNS[key[0]] * total))
        if kind == "lines":
            for type_ in excluded:
                excluded[type_] += body["excluded"][type_]
                root = ROOTS[True][type_ == INCOME]
                assertions.append((end, root, SIGNS[type_] * excluded[type_]))
    assert list_beancount_errors(write_beancount(journal, assertions)) == []


def test_beancount_refuses_a_balance_that_is_one_unit_off(client: JSONClient) -> None:
    journal = Journal(read_ledger(client))
    account, balance = next(iter(read_balances(client).items()))
    text = write_beancount(journal, [(END, account, balance + 1)])
    assert len(list_beancount_errors(text)) == 1
