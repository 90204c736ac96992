"""Reconciling a wallet, and values that are typed in (spec 3.20)."""

from datetime import date, timedelta
from typing import Any

import pytest

from tests.support.households import (
    DAY,
    ENTRIES,
    OPENING,
    A,
    Household,
    category_line,
    results,
    row_of,
    wallet_line,
)

# Reconciling that counts entries after its date


def reconcile(household: Household, **body: Any) -> Any:
    path = f"{A}/wallets/{household.ids['통장']}/reconcile"
    response = household.client.send("POST", path, body)
    assert response.status_code in {200, 201}, response.content
    return response.data


def test_reconcile_leaves_out_what_is_dated_later(household: Household) -> None:
    later = (DAY + timedelta(1)).isoformat()
    household.write("expense", 100, "통장", category="외식")
    household.write("expense", 7_000, "통장", date=later, category="외식")
    household.write("transfer", 500, "통장", date=later, toWalletId="적금")
    told = {"date": DAY.isoformat(), "balance": OPENING - 150}
    dry = reconcile(household, **told, dryRun=True)
    assert (dry["before"], dry["difference"]) == (OPENING - 100, -50)
    assert len(results(household)) == 3

    done = reconcile(household, **told)
    assert (done["before"], done["difference"]) == (OPENING - 100, -50)
    entry = done["entry"]
    assert (entry["date"], entry["type"], entry["amount"]) == (
        DAY.isoformat(),
        "expense",
        50,
    )
    assert (entry["excluded"], entry["source"]) == (True, "ADJUSTMENT")
    assert household.changes()["통장"] == -7_650
    # It is no expense.
    assert household.month()["expense"] == 7_100

    again = reconcile(household, **told)
    assert (again["difference"], again["entry"]) == (0, None)
    assert len(results(household)) == 4


def test_reconcile_counts_moves_from_either_side_up_to_its_date(
    household: Household,
) -> None:
    lines = [category_line(60, "외식"), wallet_line(40, "통장")]
    household.write("expense", 100, "카드", lines=lines)
    household.write("transfer", 7, "적금", toWalletId="통장")
    done = reconcile(household, date=DAY.isoformat(), balance=OPENING + 50)
    assert (done["before"], done["difference"]) == (OPENING + 47, 3)
    assert (done["entry"]["type"], done["entry"]["amount"]) == ("income", 3)
    assert household.changes()["통장"] == 50


def test_reconcile_of_a_typed_in_wallet_writes_a_valuation(
    household: Household,
) -> None:
    body = {
        "name": "연금",
        "kind": "PENSION",
        "manualValuation": True,
        "currentValue": 900,
    }
    wallet = household.expect(201, "POST", f"{A}/wallets", body)
    path = f"{A}/wallets/{wallet['id']}"
    day = date(2026, 11, 21).isoformat()
    told = {"date": day, "balance": 950}
    answer = household.client.send("POST", f"{path}/reconcile", told)
    assert answer.status_code in {200, 201}, answer.content
    assert answer.data["entry"] is None
    values = household.client.get_json(f"{path}/valuations")
    assert {"date": day, "value": 950}.items() <= row_of(values, date=day).items()
    assert results(household) == []


# Valuations: a transfer is no loss until the next typing


def make_pension(household: Household, value: int = 1_000) -> dict[str, Any]:
    """Create a typed-in wallet, valued today."""
    body = {
        "name": "연금",
        "kind": "PENSION",
        "manualValuation": True,
        "currentValue": value,
    }
    wallet: dict[str, Any] = household.expect(201, "POST", f"{A}/wallets", body)
    household.ids["연금"] = wallet["id"]
    return wallet


def value_of(household: Household, wallet: dict[str, Any]) -> Any:
    return household.client.get_json(f"{A}/wallets/{wallet['id']}")["currentValue"]


@pytest.mark.parametrize(
    ("days", "expected"), [(1, 1_300), (0, 1_300), (-1, 1_000)], ids=str
)
def test_transfer_after_the_last_typed_value_moves_it(
    household: Household, now: Any, days: int, expected: int
) -> None:
    wallet = make_pension(household)
    # On the same day, what is written later counts.
    now.shift(60)
    before = household.client.get_json(f"{A}/networth")["total"]
    day = (date(2026, 11, 21) + timedelta(days)).isoformat()
    entry = household.write("transfer", 300, "통장", date=day, toWalletId="연금")
    assert value_of(household, wallet) == expected
    total = household.client.get_json(f"{A}/networth")["total"]
    assert total == before - 1_300 + expected
    household.expect(204, "DELETE", f"{ENTRIES}/{entry['id']}")
    assert value_of(household, wallet) == 1_000


def test_ordinary_entry_leaves_a_typed_value_alone(household: Household) -> None:
    wallet = make_pension(household)
    household.write("income", 300, "연금", date="2026-11-22", category="이자")
    assert value_of(household, wallet) == 1_000


def test_value_that_was_read_and_sent_back_types_nothing(
    household: Household, now: Any
) -> None:
    wallet = make_pension(household)
    now.shift(60)
    path = f"{A}/wallets/{wallet['id']}"
    household.write("transfer", 300, "통장", date="2026-11-22", toWalletId="연금")
    before = household.client.get_json(f"{path}/valuations")
    read = household.client.get_json(path)
    assert read["currentValue"] == 1_300
    household.expect(200, "PUT", path, read)
    assert household.client.get_json(f"{path}/valuations") == before
    assert value_of(household, wallet) == 1_300


def test_trend_uses_the_last_value_on_or_before_the_end_of_a_point(
    household: Household,
) -> None:
    wallet = make_pension(household, 1_000)
    path = f"{A}/wallets/{wallet['id']}/valuations"
    for day, value in (("2026-08-31", 400), ("2026-09-10", 600)):
        answer = household.client.send("POST", path, {"date": day, "value": value})
        assert answer.status_code in {200, 201}, answer.content
    points = household.client.get_json(f"{A}/networth/trend", months=6)["points"]
    worths = [point["netWorth"] - 7 * OPENING for point in points]
    # June and July have the first value, of August.
    assert worths == [400, 400, 400, 600, 600, 1_000]
    days = [row["date"] for row in household.client.get_json(path)]
    assert sorted(days) == ["2026-08-31", "2026-09-10", "2026-11-21"]
