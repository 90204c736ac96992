"""Days, weeks and months: where each begins and ends."""

from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.periods import (
    Period,
    Unit,
    add_months,
    last_periods,
    month_period,
    period_containing,
    previous_month,
    split_period,
    year_period,
)

DAYS = st.dates(date(1900, 1, 1), date(2200, 12, 31))
UNITS = st.sampled_from(Unit)


def days_of(period: Any) -> list[Any]:
    return [
        period.start + timedelta(number)
        for number in range((period.end - period.start).days + 1)
    ]


def test_week_begins_on_monday_and_ends_on_sunday() -> None:
    week = Period(date(2026, 11, 16), date(2026, 11, 22))
    for day in days_of(week):
        assert period_containing(day, Unit.WEEK) == week
    assert period_containing(date(2026, 11, 23), Unit.WEEK).start == date(2026, 11, 23)


def test_week_may_lie_in_two_years() -> None:
    week = period_containing(date(2027, 1, 1), Unit.WEEK)
    assert week == Period(date(2026, 12, 28), date(2027, 1, 3))


@pytest.mark.parametrize(
    ("year", "month", "last"),
    [(2026, 2, 28), (2028, 2, 29), (2000, 2, 29), (2100, 2, 28), (2026, 4, 30)],
)
def test_month_ends_on_its_last_day_in_leap_years_too(
    year: int, month: int, last: int
) -> None:
    assert month_period(year, month) == Period(
        date(year, month, 1), date(year, month, last)
    )


def test_year_is_from_january_to_december() -> None:
    assert year_period(2026) == Period(date(2026, 1, 1), date(2026, 12, 31))


def test_month_before_january_is_december_of_the_year_before() -> None:
    assert previous_month(2026, 1) == (2025, 12)
    assert previous_month(2026, 12) == (2026, 11)


@given(st.integers(1, 9999), st.integers(1, 12), st.integers(-5000, 5000))
def test_adding_months_is_counting_them_one_by_one(
    year: Any, month: Any, count: Any
) -> None:
    there = add_months(year, month, count)
    assert 1 <= there[1] <= 12
    assert (there[0] - year) * 12 + there[1] - month == count
    assert add_months(*there, -count) == (year, month)


@given(DAYS, UNITS)
def test_every_day_lies_in_its_period_and_shares_it_with_the_days_around(
    day: Any, unit: Any
) -> None:
    period = period_containing(day, unit)
    assert period.start <= day <= period.end
    assert (
        period_containing(period.start, unit)
        == period_containing(period.end, unit)
        == period
    )
    assert period_containing(period.end + timedelta(1), unit) != period


@given(DAYS, st.integers(0, 400), UNITS)
def test_parts_of_a_range_cover_each_of_its_days_once(
    start: Any, length: Any, unit: Any
) -> None:
    whole = Period(start, start + timedelta(length))
    parts = list(split_period(whole, unit))
    assert [day for part in parts for day in days_of(part)] == days_of(whole)
    for part in parts[1:]:
        assert part.start == period_containing(part.start, unit).start
    for part in parts[:-1]:
        assert part.end == period_containing(part.end, unit).end


@pytest.mark.parametrize("unit", Unit)
def test_last_days_of_the_calendar_can_be_split(unit: Any) -> None:
    whole = Period(date(9999, 12, 20), date.max)
    assert list(split_period(whole, unit))[-1].end == date.max


@pytest.mark.parametrize("unit", Unit)
def test_first_days_of_the_calendar_can_be_split(unit: Any) -> None:
    whole = Period(date.min, date(1, 1, 20))
    assert next(iter(split_period(whole, unit))).start == date.min


@given(DAYS, UNITS, st.integers(1, 60))
def test_last_periods_end_with_the_current_one_and_leave_no_gap(
    today: Any, unit: Any, count: Any
) -> None:
    periods = last_periods(today, unit, count)
    assert len(periods) == count
    assert periods[-1] == period_containing(today, unit)
    for before, after in pairwise(periods):
        assert before.end + timedelta(1) == after.start
