"""Statistics: months, years and ranges, and what is asked for wrongly."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
import time_machine

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_member
from tests.support.problems import assert_invalid
from tests.support.reports import MONTH, NOVEMBER, RANGE, YEAR


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago", "UTC"])
def test_home_time_zone_moves_no_entry_to_another_day(
    zone: str, client: JSONClient, premium_member: Member, settings: Any
) -> None:
    make_entry(premium_member, date=date(2026, 11, 1), amount=1)
    make_entry(premium_member, date=date(2026, 11, 30), amount=20)
    make_entry(premium_member, date=date(2026, 12, 1), amount=300)
    settings.TIME_ZONE = zone
    body = client.get_json(MONTH, **NOVEMBER)
    assert body["expense"] == 21
    assert [day["expense"] for day in body["byDay"]] == [1, *[0] * 28, 20]


@time_machine.travel(datetime(2026, 12, 31, 15, 30, tzinfo=UTC), tick=False)
def test_without_parameters_it_is_the_current_month_of_the_home_time_zone() -> None:
    client = JSONClient(make_member(plan="PREMIUM"))
    body = client.get_json(MONTH)
    assert (body["year"], body["month"]) == (2027, 1)
    assert client.get_json(YEAR)["year"] == 2027


def test_weeks_begin_on_monday_and_are_cut_to_the_range(client: JSONClient) -> None:
    body = client.get_json(
        RANGE, **{"from": "2026-11-21", "to": "2026-12-01"}, groupBy="week"
    )
    assert [(point["start"], point["end"]) for point in body["points"]] == [
        ("2026-11-21", "2026-11-22"),
        ("2026-11-23", "2026-11-29"),
        ("2026-11-30", "2026-12-01"),
    ]


def test_range_is_grouped_by_day_unless_told_otherwise(client: JSONClient) -> None:
    body = client.get_json(RANGE, **{"from": "2026-11-21", "to": "2026-11-22"})
    assert body["groupBy"] == "day"
    assert len(body["points"]) == 2


@pytest.mark.parametrize("group_by", ["day", "week", "month"])
@pytest.mark.parametrize(
    ("start", "end"), [("0001-01-01", "0001-01-09"), ("9999-12-20", "9999-12-31")]
)
def test_range_at_the_ends_of_the_calendar(
    client: JSONClient, start: str, end: str, group_by: str
) -> None:
    body = client.get_json(RANGE, **{"from": start, "to": end}, groupBy=group_by)
    assert (body["points"][0]["start"], body["points"][-1]["end"]) == (start, end)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        (f"{RANGE}?to=2026-11-30", "from"),
        (f"{RANGE}?from=2026-11-30", "to"),
        (f"{RANGE}?from=2026-11-30&to=2026-11-29", "to"),
        (f"{RANGE}?from=2026-02-30&to=2026-11-29", "from"),
        (f"{RANGE}?from=2026-11-01&to=20261130", "to"),
        (f"{RANGE}?from=0001-01-01&to=9999-12-31", "to"),
        (f"{RANGE}?from=2026-11-01&to=2026-11-30&groupBy=year", "groupBy"),
        (f"{RANGE}?from=2026-11-01&to=2026-11-30&groupBy=WEEK", "groupBy"),
        *(
            (f"{path}?year={year}", "year")
            for path in (MONTH, YEAR)
            for year in ("1899", "2201", "x", "9" * 30)
        ),
    ],
)
def test_wrong_period_is_refused(client: JSONClient, query: str, field: str) -> None:
    assert_invalid(client.send("GET", query), field)


@pytest.mark.parametrize(("year", "month"), [(1900, 1), (2200, 12)])
def test_first_and_last_month_can_be_asked_for(
    client: JSONClient, year: int, month: int
) -> None:
    assert client.get_json(MONTH, year=year, month=month)["count"] == 0
    assert len(client.get_json(YEAR, year=year)["months"]) == 12
