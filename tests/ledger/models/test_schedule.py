"""Due dates of recurring transactions, beside a model that counts day by day."""

import calendar
import time
from datetime import date, timedelta
from itertools import islice, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.models.schedule import Frequency, Schedule

LAST = date.max
# Of processor time.
QUICK_SECONDS = 0.5


def model_is_due(schedule: Schedule, day: date) -> bool:
    """Return True if the day is a due date, without any of the module's arithmetic."""
    anchor, interval = schedule.anchor, schedule.interval
    if day < anchor or (schedule.end and day > schedule.end):
        return False
    if schedule.frequency in {Frequency.DAILY, Frequency.WEEKLY}:
        step = interval * (7 if schedule.frequency is Frequency.WEEKLY else 1)
        return (day - anchor).days % step == 0
    months = (day.year - anchor.year) * 12 + day.month - anchor.month
    step = interval * (12 if schedule.frequency is Frequency.YEARLY else 1)
    last = calendar.monthrange(day.year, day.month)[1]
    return months % step == 0 and day.day == min(anchor.day, last)


def model_dues(schedule: Schedule, start: date, days: int) -> list[date]:
    every = (start + timedelta(number) for number in range(days))
    return [day for day in every if model_is_due(schedule, day)]


def first_of(schedule: Schedule, count: int) -> list[str]:
    return [
        day.isoformat()
        for day in islice(schedule.due_dates(schedule.anchor, LAST), count)
    ]


def every(frequency: str, anchor: str, interval: int = 1, end: str = "") -> Schedule:
    return Schedule(
        Frequency(frequency),
        interval,
        date.fromisoformat(anchor),
        date.fromisoformat(end) if end else None,
    )


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    anchor = draw(st.dates(date(2019, 1, 1), date(2029, 12, 31)))
    if draw(st.booleans()):
        last = calendar.monthrange(anchor.year, anchor.month)[1]
        anchor = anchor.replace(day=last)
    end = draw(st.none() | st.integers(0, 1500))
    return Schedule(
        draw(st.sampled_from(Frequency)),
        draw(st.integers(1, 14)),
        anchor,
        None if end is None else anchor + timedelta(end),
    )


DAYS = st.dates(date(2018, 1, 1), date(2030, 12, 31))


@settings(max_examples=60, deadline=None)
@given(schedules(), DAYS)
def test_due_dates_of_three_years_are_those_of_the_model(
    schedule: Any, start: Any
) -> None:
    days = 1_100
    found = list(schedule.due_dates(start, start + timedelta(days - 1)))
    assert found == model_dues(schedule, start, days)


@settings(max_examples=60, deadline=None)
@given(schedules(), DAYS)
def test_first_due_date_is_the_earliest_of_the_model_that_is_not_before(
    schedule: Any, day: Any
) -> None:
    found = schedule.first_due_date(day)
    if found is None:
        assert model_dues(schedule, max(day, schedule.anchor), 6_000) == []
    else:
        assert found >= day
        start = max(day, schedule.anchor)
        assert model_dues(schedule, start, (found - start).days + 1) == [found]


@given(schedules(), DAYS)
def test_next_due_date_lies_behind_the_day(schedule: Any, day: Any) -> None:
    found = schedule.next_due_date(day)
    assert found is None or found > day
    assert found == schedule.first_due_date(day + timedelta(1))


def test_day_31_becomes_the_last_day_of_a_month_and_returns_to_31() -> None:
    assert first_of(every("MONTHLY", "2026-01-31"), 6) == [
        "2026-01-31",
        "2026-02-28",
        "2026-03-31",
        "2026-04-30",
        "2026-05-31",
        "2026-06-30",
    ]


def test_day_30_is_the_last_of_february_only() -> None:
    assert first_of(every("MONTHLY", "2028-01-30"), 3) == [
        "2028-01-30",
        "2028-02-29",
        "2028-03-30",
    ]


def test_29_february_falls_on_the_28th_in_common_years_and_returns() -> None:
    assert first_of(every("YEARLY", "2024-02-29"), 5) == [
        "2024-02-29",
        "2025-02-28",
        "2026-02-28",
        "2027-02-28",
        "2028-02-29",
    ]


def test_29_february_of_a_century_without_leap_day_is_the_28th() -> None:
    schedule = every("YEARLY", "2096-02-29")
    assert schedule.first_due_date(date(2100, 1, 1)) == date(2100, 2, 28)
    assert schedule.first_due_date(date(2104, 1, 1)) == date(2104, 2, 29)


def test_interval_of_months_counts_from_the_anchor() -> None:
    assert first_of(every("MONTHLY", "2026-11-30", 3), 4) == [
        "2026-11-30",
        "2027-02-28",
        "2027-05-30",
        "2027-08-30",
    ]


def test_interval_of_weeks_keeps_the_weekday() -> None:
    dues = list(islice(every("WEEKLY", "2026-11-21", 2).due_dates(date.min, LAST), 30))
    assert {day.weekday() for day in dues} == {5}
    steps = pairwise(dues)
    assert {(after - before).days for before, after in steps} == {14}


def test_day_before_the_anchor_is_never_due() -> None:
    schedule = every("DAILY", "2026-11-21")
    assert schedule.first_due_date(date.min) == date(2026, 11, 21)


def test_end_date_is_due_itself_and_nothing_behind_it() -> None:
    schedule = every("MONTHLY", "2026-01-31", end="2026-02-28")
    assert first_of(schedule, 9) == ["2026-01-31", "2026-02-28"]
    assert schedule.next_due_date(date(2026, 2, 28)) is None
    short = every("MONTHLY", "2026-01-31", end="2026-02-27")
    assert first_of(short, 9) == ["2026-01-31"]


def test_end_before_the_first_due_date_leaves_none() -> None:
    schedule = every("DAILY", "2026-11-21", end="2026-11-20")
    assert schedule.first_due_date(date.min) is None


@pytest.mark.parametrize("frequency", Frequency)
@pytest.mark.parametrize("interval", [1, 1000])
@pytest.mark.parametrize("anchor", [date.min, date(2026, 1, 31), date.max])
@pytest.mark.parametrize("day", [date.min, date(2026, 11, 21), date.max])
def test_far_dates_neither_overflow_nor_take_long(
    frequency: Any, interval: int, anchor: Any, day: Any
) -> None:
    schedule = Schedule(frequency, interval, anchor)
    started = time.thread_time()
    found = schedule.first_due_date(day)
    following = schedule.next_due_date(day)
    assert time.thread_time() - started < QUICK_SECONDS
    assert found is None or (found >= day and model_is_due(schedule, found))
    assert following is None or (following > day and model_is_due(schedule, following))


def test_nothing_is_due_behind_the_last_day_of_the_calendar() -> None:
    schedule = every("DAILY", "9999-12-30")
    assert first_of(schedule, 9) == ["9999-12-30", "9999-12-31"]
    assert schedule.next_due_date(date.max) is None
    assert every("YEARLY", "9999-12-31").next_due_date(date(9999, 12, 31)) is None
