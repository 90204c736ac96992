"""Days, weeks from Monday, and months, as periods. Pure.

All statistics use it: months with another first day would be one change.
"""

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Month:
    year: int
    month: int


class Unit(StrEnum):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `start` to `end`, both inclusive."""

    start: date
    end: date


def period_containing(day: date, unit: Unit) -> Period:
    if unit is Unit.DAY:
        return Period(day, day)
    if unit is Unit.WEEK:
        monday = day - timedelta(days=day.weekday())
        # The week of 9999-12-31 ends there.
        days_left = (date.max - monday).days
        return Period(monday, monday + timedelta(days=min(6, days_left)))
    return month_period(day.year, day.month)


def month_period(year: int, month: int) -> Period:
    last = calendar.monthrange(year, month)[1]
    return Period(date(year, month, 1), date(year, month, last))


def year_period(year: int) -> Period:
    return Period(date(year, 1, 1), date(year, 12, 31))


def previous_month(year: int, month: int) -> tuple[int, int]:
    return (year - 1, 12) if month == 1 else (year, month - 1)


def add_months(year: int, month: int, count: int) -> tuple[int, int]:
    """Return year and month `count` months later, earlier if negative."""
    years, zero_based = divmod(year * 12 + month - 1 + count, 12)
    return years, zero_based + 1


def split_period(period: Period, unit: Unit) -> Iterator[Period]:
    """Yield the periods that cover `period`, cut to it, oldest first."""
    start = period.start
    while start <= period.end:
        part = period_containing(start, unit)
        yield Period(start, min(part.end, period.end))
        if part.end == date.max:
            return
        start = part.end + timedelta(days=1)


def last_periods(today: date, unit: Unit, count: int) -> list[Period]:
    """Return the current period and the periods before it, oldest first."""
    periods = [period_containing(today, unit)]
    while len(periods) < count:
        before = periods[-1].start - timedelta(days=1)
        periods.append(period_containing(before, unit))
    return periods[::-1]
