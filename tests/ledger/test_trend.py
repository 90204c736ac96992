"""The net-worth trend beside a model that adds up the entries one by one."""

import calendar
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Member
from ledger.models import Entry, Wallet
from ledger.periods import Unit
from ledger.trend import get_net_worth_trend
from tests.support.clients import JSONClient
from tests.support.factories import (
    make_entry,
    make_member,
    make_stock,
    make_trade,
    make_wallet,
)

TREND = "/api/account/networth/trend"
NETWORTH = "/api/account/networth"
NOON = datetime(2026, 11, 21, 3, tzinfo=UTC)
TODAY = date(2026, 11, 21)


@pytest.fixture(autouse=True)
def _noon() -> Iterator[None]:
    """Stop the clock at noon in Seoul on Saturday, 21 November 2026."""
    with time_machine.travel(NOON, tick=False):
        yield


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


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


@pytest.mark.parametrize("seed", range(6))
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


def test_trend_without_anything_is_flat(client: JSONClient) -> None:
    points = client.get_json(TREND)["points"]
    assert len(points) == 12
    assert {point["netWorth"] for point in points} == {0}


@pytest.mark.parametrize("path", [TREND, "/networth/trend", "/api/networth/trend"])
def test_default_is_12_months_and_13_weeks(client: JSONClient, path: Any) -> None:
    months = client.get_json(path)
    assert (months["unit"], len(months["points"])) == ("month", 12)
    assert months["points"][0]["start"] == "2025-12-01"
    assert months["points"][-1]["end"] == "2026-11-30"
    weeks = client.get_json(path, unit="WEEK")
    assert (weeks["unit"], len(weeks["points"])) == ("WEEK", 13)


@pytest.mark.parametrize("unit", ["WEEK", "week", "Week", "wEEk"])
def test_week_in_any_letter_case(client: JSONClient, unit: str) -> None:
    assert client.get_json(TREND, unit=unit, weeks=2)["unit"] == "WEEK"


@pytest.mark.parametrize("unit", ["month", "MONTH", "Month", ""])
def test_month_in_any_letter_case(client: JSONClient, unit: str) -> None:
    assert client.get_json(TREND, unit=unit, months=2)["unit"] == "month"


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


def test_current_period_is_that_of_the_home_time_zone(free_member: Member) -> None:
    with time_machine.travel(datetime(2026, 11, 30, 15, tzinfo=UTC), tick=False):
        points = JSONClient(free_member).get_json(TREND, months=1)["points"]
    assert points[0]["start"] == "2026-12-01"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("unit=day", "unit"),
        ("unit=YEAR", "unit"),
        ("months=0", "months"),
        ("months=-1", "months"),
        ("months=241", "months"),
        ("months=x", "months"),
        ("unit=WEEK&weeks=0", "weeks"),
        ("unit=WEEK&weeks=521", "weeks"),
        ("unit=WEEK&weeks=1.5", "weeks"),
        ("weeks=abc", "weeks"),
        ("unit=month&weeks=1.5", "weeks"),
        ("unit=WEEK&months=x", "months"),
        (f"unit=WEEK&weeks={'9' * 30}", "weeks"),
    ],
)
def test_wrong_parameter_is_400_with_the_field_named(
    client: JSONClient, query: str, field: str
) -> None:
    response = client.send("GET", f"{TREND}?{query}")
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == [field]


@pytest.mark.parametrize("count", ["0", "-1", "521", "9" * 30, ""])
def test_count_of_the_other_unit_is_ignored_whatever_whole_number_it_is(
    client: JSONClient, count: str
) -> None:
    months = client.get_json(TREND, unit="month", weeks=count)
    assert (months["unit"], len(months["points"])) == ("month", 12)
    weeks = client.get_json(TREND, unit="WEEK", months=count)
    assert (weeks["unit"], len(weeks["points"])) == ("WEEK", 13)


def test_most_months_and_weeks_that_can_be_asked_for(client: JSONClient) -> None:
    assert len(client.get_json(TREND, months=240)["points"]) == 240
    assert len(client.get_json(TREND, unit="week", weeks=520)["points"]) == 520


def test_entry_dated_later_is_in_the_last_point_only(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member, opening_balance=100)
    make_entry(free_member, wallet=wallet, amount=30, date=date(2027, 6, 1))
    points = client.get_json(TREND, months=3)["points"]
    assert [point["netWorth"] for point in points] == [100, 100, 70]
    assert points[-1]["expense"] == 0


def test_entry_later_in_the_current_period_is_in_its_flow(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member)
    make_entry(free_member, wallet=wallet, amount=30, date=date(2026, 11, 30))
    points = client.get_json(TREND, months=2)["points"]
    assert [point["netWorth"] for point in points] == [0, -30]
    assert points[-1]["net"] == -30


def test_typed_valuation_has_no_history_but_its_flows_count(
    client: JSONClient, free_member: Member
) -> None:
    pension = make_wallet(
        free_member, kind="PENSION", manual_valuation=True, current_value=900
    )
    make_entry(free_member, wallet=pension, type="income", amount=50)
    points = client.get_json(TREND, months=3)["points"]
    assert [point["netWorth"] for point in points] == [900, 900, 900]
    assert points[-1]["income"] == 50


def test_entry_without_a_wallet_is_in_the_flows_only(
    client: JSONClient, free_member: Member
) -> None:
    make_wallet(free_member, opening_balance=10)
    make_entry(free_member, type="income", amount=50)
    points = client.get_json(TREND, months=2)["points"]
    assert [point["netWorth"] for point in points] == [10, 10]
    assert [point["net"] for point in points] == [0, 50]


def test_pending_entries_count_nowhere(client: JSONClient, free_member: Member) -> None:
    wallet = make_wallet(free_member)
    entry = make_entry(free_member, wallet=wallet, amount=9, pending=True)
    for unit in ("month", "WEEK"):
        points = client.get_json(TREND, unit=unit)["points"]
        assert {point["netWorth"] for point in points} == {0}
        assert {point["expense"] for point in points} == {0}
    client.send("POST", f"/api/account/entries/{entry.pk}/confirm")
    assert client.get_json(TREND)["points"][-1]["netWorth"] == -9


def test_wallet_moved_into_another_leaves_the_trend(
    client: JSONClient, free_member: Member
) -> None:
    source, target = (make_wallet(free_member) for _ in range(2))
    for month in (9, 10, 11):
        make_entry(free_member, wallet=source, date=date(2026, month, 5), amount=month)
    before = client.get_json(TREND)
    path = f"/api/account/wallets/{source.pk}?moveTo={target.pk}"
    assert client.send("DELETE", path).status_code == 204
    assert client.get_json(TREND) == before


def test_trend_is_drawn_until_today_of_the_home_time_zone(client: JSONClient) -> None:
    assert timezone.localdate() == TODAY
    assert client.get_json(TREND, unit="WEEK")["points"][-1]["end"] == "2026-11-22"


def test_holdings_are_drawn_as_they_are_now(
    client: JSONClient, free_member: Member
) -> None:
    make_wallet(free_member, opening_balance=7)
    make_trade(free_member, stock=make_stock(free_member, current_price=120))
    points = client.get_json(TREND, months=3)["points"]
    total = client.get_json(NETWORTH)["total"]
    assert total == 1_207
    assert [point["netWorth"] for point in points] == [total] * 3


# One statement has one snapshot: flows and balances agree with each other.
@pytest.mark.parametrize("unit", [Unit.MONTH, Unit.WEEK])
def test_flows_and_balances_come_from_one_statement(
    django_assert_num_queries: Any, free_member: Member, unit: Unit
) -> None:
    make_entry(free_member, wallet=make_wallet(free_member), date=TODAY, amount=5)
    # The other one is for the holdings.
    with django_assert_num_queries(2):
        get_net_worth_trend(free_member, unit, 12, TODAY)
