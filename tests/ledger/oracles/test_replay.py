"""A naive replay of all entries equals every balance and statistic."""

import itertools
from datetime import date, timedelta
from random import Random
from typing import Any

import pytest

from tests.support.clients import JSONClient
from tests.support.comparison import assert_contains
from tests.support.ledger_replay import (
    LedgerReplay,
    list_months,
    month_bounds,
    net_of,
    read_ledger,
)
from tests.support.random_ledgers import END, START

A = "/api/account"
TODAY = date(2026, 11, 21)
# What the answers of a ledger without transfers and excluded entries do not have today.
ADDED = {"excluded", "transferIn", "transferOut"}


@pytest.fixture(scope="module")
def replay(client: JSONClient) -> LedgerReplay:
    return read_ledger(client)


def without_added(value: Any, kind: str) -> Any:
    """Leave the fields of lines out of what a plain ledger must answer."""
    if kind == "lines":
        return value
    if isinstance(value, dict):
        return {k: without_added(v, kind) for k, v in value.items() if k not in ADDED}
    return [without_added(v, kind) for v in value] if isinstance(value, list) else value


def test_statistics_equal_the_replay(
    client: JSONClient, kind: str, replay: LedgerReplay
) -> None:
    for year, month in list_months(START, END):
        body = client.get_json(f"{A}/statistics/month", year=year, month=month)
        assert_contains(body, without_added(replay.month(year, month), kind))
    for year in (2025, 2026, 2027):
        body = client.get_json(f"{A}/statistics/year", year=year)
        assert_contains(body, without_added(replay.year(year), kind))
    random = Random(1)
    for group_by in ("day", "week", "month"):
        start = START + timedelta(random.randrange(300))
        end = start + timedelta(random.randrange(200))
        body = client.get_json(
            f"{A}/statistics/range",
            **{"from": start.isoformat(), "to": end.isoformat()},
            groupBy=group_by,
        )
        expected = replay.range(start, end, group_by)
        assert_contains(body, without_added(expected, kind))


def test_balances_net_worth_and_trend_equal_the_replay(
    client: JSONClient, replay: LedgerReplay
) -> None:
    balances = replay.balances()
    wallets = client.get_json(f"{A}/wallets")
    assert {row["id"]: row["balance"] for row in wallets} == balances
    assert_contains(client.get_json(f"{A}/networth"), replay.net_worth())

    first = TODAY.replace(year=TODAY.year - 1, day=1)
    months = [month_bounds(*each) for each in list_months(first, TODAY)]
    trend = client.get_json(f"{A}/networth/trend", months=len(months))
    assert_contains(trend["points"], replay.trend(months))

    monday = TODAY - timedelta(TODAY.weekday())
    starts = [monday - timedelta(weeks=number) for number in reversed(range(40))]
    weeks = [(start, start + timedelta(6)) for start in starts]
    trend = client.get_json(f"{A}/networth/trend", unit="WEEK", weeks=len(weeks))
    assert_contains(trend["points"], replay.trend(weeks))


def test_budgets_spend_what_the_replay_counts(
    client: JSONClient, replay: LedgerReplay
) -> None:
    month = {"year": 2026, "month": 5}
    names = ["식비", "주거", "관리비", "이자"]
    for name in names:
        body = month | {"category": name, "amount": 1_000_000}
        assert client.send("POST", f"{A}/budgets", body).status_code == 201
    start, end = month_bounds(2026, 5)
    status = client.get_json(f"{A}/budgets/status", **month)
    spent = {row["category"]: row["spent"] for row in status["categories"]}
    assert spent == {name: replay.spent(name, start, end) for name in names}
    assert status["income"]["actual"] == replay.month(2026, 5)["income"]
    chart = client.get_json(f"{A}/budgets/chart", **month)["days"]
    # 관리비 is within 주거.
    majors = [name for name in names if name != "관리비"]
    assert status["total"]["spent"] == sum(spent[name] for name in majors)
    for row in chart:
        day = date.fromisoformat(row["date"])
        assert row["spent"] == sum(replay.spent(name, start, day) for name in majors)


def test_net_worth_moves_by_income_less_expense_of_wallets_alone(
    client: JSONClient, replay: LedgerReplay
) -> None:
    for booking in replay.bookings:
        assert sum(line.amount for line in booking.lines) == booking.amount
    points = client.get_json(f"{A}/networth/trend", months=24)["points"]
    # The last point has later entries too.
    for before, point in itertools.pairwise(points[:-1]):
        start, end = (date.fromisoformat(point[name]) for name in ("start", "end"))
        body = client.get_json(
            f"{A}/statistics/month", year=start.year, month=start.month
        )
        counted = sum(
            row["income"] - row["expense"]
            for row in body["byWallet"]
            if row["walletId"] is not None
        )
        left_out = net_of(
            booking
            for booking in replay.bookings
            if start <= booking.date <= end
            and booking.is_excluded
            and booking.wallet_id is not None
        )
        assert point["netWorth"] - before["netWorth"] == counted + left_out["net"]
