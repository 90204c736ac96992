"""The net-worth trend beside a model that adds up the entries one by one."""

import calendar
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

import pytest
import time_machine

from accounts.models import Member
from ledger.models import Entry, Wallet
from ledger.periods import Unit
from ledger.statistics.trend import get_net_worth_trend
from tests.support.clients import JSONClient
from tests.support.factories import (
    make_entry,
    make_member,
    make_stock,
    make_trade,
    make_wallet,
)
from tests.support.problems import assert_invalid
from tests.support.scale import scaled

TREND = "/api/account/networth/trend"
NETWORTH = "/api/account/networth"
NOON = datetime(2026, 11, 21, 3, tzinfo=UTC)
TODAY = date(2026, 11, 21)


@pytest.fixture(autouse=True)
def _noon() -> Iterator[None]:
    """Stop the clock at noon in Seoul on Saturday, 21 November 2026."""
    with time_machine.travel(NOON, tick=False):
        yield


def has_valuation(wallet: Any) -> Any:
    return wallet.manual_valuation and wallet.current_value is not None


def worth_at(member: Member, end: Any) -> int:
    """Return what the wallets were worth at the end of a day, by adding up entries."""
    total = 0
    for wallet in Wallet.objects.owned_by(member):
        if has_valuation(wallet):
            total += wallet.current_value
            continue
        total += wallet.opening_balance
        for entry in Entry.objects.filter(wallet=wallet, pending=False, date__lte=end):
            total += entry.amount if entry.type == "income" else -entry.amount
    return total


def flow_within(member: Member, start: Any, end: Any) -> dict[str, Any]:
    rows = Entry.objects.owned_by(member).filter(
        pending=False, date__range=(start, end)
    )
    income, expense = (
        sum(entry.amount for entry in rows if entry.type == type_)
        for type_ in ("income", "expense")
    )
    return {"income": income, "expense": expense, "net": income - expense}


def months_until(today: Any, count: Any) -> Any:
    year, month = today.year, today.month
    found = []
    for _ in range(count):
        last = calendar.monthrange(year, month)[1]
        found.append((date(year, month, 1), date(year, month, last)))
        year, month = (year - 1, 12) if month == 1 else (year, month - 1)
    return found[::-1]


def weeks_until(today: Any, count: Any) -> list[Any]:
    monday = today - timedelta(today.weekday())
    return [
        (monday - timedelta(7 * number), monday - timedelta(7 * number - 6))
        for number in reversed(range(count))
    ]


def assert_trend_is_right(
    member: Member, client: JSONClient, points: Any, periods: Any
) -> None:
    """Assert that each point is the end of its period, and the last one is now."""
    expected = [
        {"start": start.isoformat(), "end": end.isoformat()}
        | flow_within(member, start, end)
        | {"netWorth": worth_at(member, end)}
        for start, end in periods
    ]
    expected[-1]["netWorth"] = client.get_json(NETWORTH)["total"]
    assert points == expected


@pytest.mark.parametrize("seed", range(scaled(2, 6)))
@pytest.mark.parametrize("plan", ["FREE", "PREMIUM"])
def test_trend_equals_a_count_by_hand(
    seed: Any, plan: str, other_member: Member
) -> None:
    random = Random(seed)
    member = make_member(plan=plan)
    client = JSONClient(member)
    for owner in (member, other_member):
        fill(owner, random)
    body = client.get_json(TREND, months=18)
    assert body["unit"] == "month"
    periods = months_until(TODAY, 18)
    assert_trend_is_right(member, client, body["points"], periods)
    body = client.get_json(TREND, unit="WEEK", weeks=30)
    assert body["unit"] == "WEEK"
    assert_trend_is_right(member, client, body["points"], weeks_until(TODAY, 30))


def fill(member: Member, random: Any) -> None:
    wallets = [
        make_wallet(member, opening_balance=random.randrange(-500, 500))
        for _ in range(2)
    ]
    wallets += [
        make_wallet(member, manual_valuation=True, current_value=777),
        make_wallet(member, manual_valuation=True, current_value=None),
        make_wallet(member, manual_valuation=False, current_value=5_000),
        make_wallet(member, archived=True, opening_balance=60),
    ]
    Entry.objects.bulk_create(
        Entry(
            member=member,
            date=date(2025, 4, 1) + timedelta(random.randrange(700)),
            type=random.choice(["income", "expense"]),
            amount=random.randrange(1, 10_000),
            pending=random.random() < 0.2,
            wallet=random.choice([None, *wallets]),
        )
        for _ in range(150)
    )


@pytest.mark.parametrize("path", [TREND, "/networth/trend", "/api/networth/trend"])
def test_default_is_12_months_or_13_weeks_until_today(
    client: JSONClient, path: str
) -> None:
    months = client.get_json(path)
    weeks = client.get_json(path, unit="WEEK")
    assert {point["netWorth"] for point in months["points"]} == {0}
    assert months["points"][0]["start"] == "2025-12-01"
    assert months["points"][-1]["end"] == "2026-11-30"
    assert weeks["points"][-1]["end"] == "2026-11-22"
    assert (len(months["points"]), len(weeks["points"])) == (12, 13)


@pytest.mark.parametrize(
    ("query", "unit", "count"),
    [
        *((f"unit={unit}&weeks=2", "WEEK", 2) for unit in ("week", "Week", "wEEk")),
        *((f"unit={unit}&months=2", "month", 2) for unit in ("MONTH", "Month")),
        # The count of the other unit is ignored.
        *((f"weeks={n}", "month", 12) for n in ("1", "520")),
        *((f"unit=week&months={n}", "WEEK", 13) for n in ("1", "240")),
        ("months=240", "month", 240),
        ("unit=week&weeks=520", "WEEK", 520),
    ],
)
def test_unit_and_its_count(
    client: JSONClient, query: str, unit: str, count: int
) -> None:
    body = client.get_json(f"{TREND}?{query}")
    assert (body["unit"], len(body["points"])) == (unit, count)


@pytest.mark.parametrize("today", range(16, 23))
def test_weeks_begin_on_monday_on_whatever_day_it_is_asked(
    client: JSONClient, today: Any
) -> None:
    with time_machine.travel(datetime(2026, 11, today, 3, tzinfo=UTC), tick=False):
        points = client.get_json(TREND, unit="WEEK", weeks=2)["points"]
    assert [(point["start"], point["end"]) for point in points] == [
        ("2026-11-09", "2026-11-15"),
        ("2026-11-16", "2026-11-22"),
    ]


def test_current_period_is_that_of_the_home_time_zone(premium_member: Member) -> None:
    with time_machine.travel(datetime(2026, 11, 30, 15, tzinfo=UTC), tick=False):
        points = JSONClient(premium_member).get_json(TREND, months=1)["points"]
    assert points[0]["start"] == "2026-12-01"


@pytest.mark.parametrize(
    ("field", "query"),
    [
        *(("unit", f"unit={unit}") for unit in ("day", "YEAR")),
        *(("months", f"months={count}") for count in ("0", "-1", "241", "x")),
        *(("weeks", f"unit=WEEK&weeks={n}") for n in ("0", "521", "1.5", "9" * 30)),
        # The count of the other unit is ignored, but must be one.
        *(("weeks", f"weeks={n}") for n in ("0", "-1", "521", "9" * 30)),
        *(("months", f"unit=week&months={n}") for n in ("0", "-1", "241")),
        ("weeks", "weeks=abc"),
        ("weeks", "unit=month&weeks=1.5"),
        ("months", "unit=WEEK&months=x"),
    ],
)
def test_wrong_parameter_is_refused(client: JSONClient, query: str, field: str) -> None:
    assert_invalid(client.send("GET", f"{TREND}?{query}"), field)


def test_entry_dated_later_is_in_the_last_point_only(
    client: JSONClient, premium_member: Member
) -> None:
    wallet = make_wallet(premium_member, opening_balance=100)
    make_entry(premium_member, wallet=wallet, amount=30, date=date(2027, 6, 1))
    make_entry(premium_member, wallet=wallet, amount=9, date=date(2026, 11, 30))
    points = client.get_json(TREND, months=3)["points"]
    assert [point["netWorth"] for point in points] == [100, 100, 61]
    # Later in the current period, it is part of its flow.
    assert points[-1]["net"] == -9


def test_typed_valuation_has_no_history_but_its_flows_count(
    client: JSONClient, premium_member: Member
) -> None:
    pension = make_wallet(
        premium_member, kind="PENSION", manual_valuation=True, current_value=900
    )
    make_entry(premium_member, wallet=pension, type="income", amount=50)
    points = client.get_json(TREND, months=3)["points"]
    assert [point["netWorth"] for point in points] == [900, 900, 900]
    assert points[-1]["income"] == 50


def test_entry_without_a_wallet_is_in_the_flows_only(
    client: JSONClient, premium_member: Member
) -> None:
    make_wallet(premium_member, opening_balance=10)
    make_entry(premium_member, type="income", amount=50)
    points = client.get_json(TREND, months=2)["points"]
    assert [point["netWorth"] for point in points] == [10, 10]
    assert [point["net"] for point in points] == [0, 50]


def test_pending_entries_count_nowhere(
    client: JSONClient, premium_member: Member
) -> None:
    wallet = make_wallet(premium_member)
    entry = make_entry(premium_member, wallet=wallet, amount=9, pending=True)
    for unit in ("month", "WEEK"):
        points = client.get_json(TREND, unit=unit)["points"]
        assert {point["netWorth"] for point in points} == {0}
        assert {point["expense"] for point in points} == {0}
    client.send("POST", f"/api/account/entries/{entry.pk}/confirm")
    assert client.get_json(TREND)["points"][-1]["netWorth"] == -9


def test_wallet_moved_into_another_leaves_the_trend(
    client: JSONClient, premium_member: Member
) -> None:
    source, target = (make_wallet(premium_member) for _ in range(2))
    for month in (9, 10, 11):
        make_entry(
            premium_member, wallet=source, date=date(2026, month, 5), amount=month
        )
    before = client.get_json(TREND)
    path = f"/api/account/wallets/{source.pk}?moveTo={target.pk}"
    assert client.send("DELETE", path).status_code == 204
    assert client.get_json(TREND) == before


def test_holdings_are_drawn_as_they_are_now(
    client: JSONClient, premium_member: Member
) -> None:
    make_wallet(premium_member, opening_balance=7)
    make_trade(premium_member, stock=make_stock(premium_member, current_price=120))
    points = client.get_json(TREND, months=3)["points"]
    total = client.get_json(NETWORTH)["total"]
    assert total == 1_207
    assert [point["netWorth"] for point in points] == [total] * 3


# One statement has one snapshot: flows and balances agree with each other.
@pytest.mark.parametrize("unit", [Unit.MONTH, Unit.WEEK])
def test_flows_and_balances_come_from_one_statement(
    django_assert_num_queries: Any, premium_member: Member, unit: Unit
) -> None:
    make_entry(premium_member, wallet=make_wallet(premium_member), date=TODAY, amount=5)
    # The other one is for the holdings.
    with django_assert_num_queries(2):
        get_net_worth_trend(premium_member, unit, 12, TODAY)
