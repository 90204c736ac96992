"""Periods and payment dates of the bills of a card (spec 3.30).

A bill is named by the month of its payment day, before any shift by holidays: a date of
the first of that month. No ORM.
"""

import calendar
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import StrEnum
from typing import Any

from ledger.cards.holidays import next_business_day, previous_business_day
from ledger.periods import Period, add_months

MAX_PAYMENT_MONTH = 2
_ONE_DAY = timedelta(days=1)
# Bills before the first one, so that parts of earlier purchases have a place.
_MONTHS_BEFORE = 36


class Shift(StrEnum):
    """Where a payment day moves that is no business day."""

    NEXT = "NEXT"
    PREVIOUS = "PREVIOUS"
    NONE = "NONE"


@dataclass(frozen=True, slots=True)
class Term:
    """The days of the bills from one month on.

    `payment_month` is the number of months from closing to payment.
    """

    first_month: date
    closing_day: int
    payment_day: int
    payment_month: int
    shift: Shift = Shift.NEXT

    @property
    def days(self) -> tuple[int, int, int, Shift]:
        return self.closing_day, self.payment_day, self.payment_month, self.shift

    def closing_date(self, month: date) -> date:
        closing = move_month(month, -self.payment_month)
        return day_of_month(closing, self.closing_day)

    def payment_date(self, month: date) -> date:
        day = day_of_month(month, self.payment_day)
        if self.shift is Shift.NEXT:
            return next_business_day(day)
        return previous_business_day(day) if self.shift is Shift.PREVIOUS else day

    def to_json(self) -> dict[str, Any]:
        return {
            "from": format_month(self.first_month),
            "closingDay": self.closing_day,
            "paymentDay": self.payment_day,
            "paymentMonth": self.payment_month,
            "shift": self.shift.value,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Term":
        return cls(
            parse_month(stored["from"]),
            stored["closingDay"],
            stored["paymentDay"],
            stored["paymentMonth"],
            Shift(stored["shift"]),
        )


@dataclass(frozen=True, slots=True)
class Printed:
    """The printed values of a bill. None: the computed value holds."""

    period_end: date | None = None
    payment_date: date | None = None
    amount: int | None = None


@dataclass(slots=True)
class Schedule:
    """The bills of a card with one or more terms, oldest first."""

    terms: Sequence[Term]
    printed: Mapping[date, Printed] = field(default_factory=dict)
    # The last days of the periods, from `_MONTHS_BEFORE` the first bill on.
    _ends: list[date] = field(default_factory=list, init=False, repr=False)

    @property
    def first_month(self) -> date:
        return self.terms[0].first_month

    def term_of(self, month: date) -> Term:
        known = [term for term in self.terms if term.first_month <= month]
        return known[-1] if known else self.terms[0]

    def period_end(self, month: date) -> date:
        start = move_month(self.first_month, -_MONTHS_BEFORE)
        number = count_months(start, month)
        if number < 0:
            return self.terms[0].closing_date(month)
        while len(self._ends) <= number:
            self._ends.append(self._find_end(move_month(start, len(self._ends))))
        return self._ends[number]

    def _find_end(self, month: date) -> date:
        printed = self.printed.get(month)
        is_printed = printed is not None and month >= self.first_month
        end = printed.period_end if printed is not None and is_printed else None
        end = end or self.term_of(month).closing_date(month)
        # A period may be empty where the days changed; it never ends before another.
        return max(end, self._ends[-1]) if self._ends else end

    def period(self, month: date) -> Period:
        """Return the days of a bill, which begin after the bill before."""
        before = self.period_end(move_month(month, -1))
        return Period(before + _ONE_DAY, self.period_end(month))

    def payment_date(self, month: date) -> date:
        printed = self.printed.get(month)
        if printed is not None and printed.payment_date is not None:
            return printed.payment_date
        return self.term_of(month).payment_date(month)

    def month_of(self, day: date) -> date:
        """Return the bill whose period holds a day, of before the first one too."""
        month = move_month(first_of_month(day), self.term_of(day).payment_month)
        while self.period_end(month) < day:
            month = move_month(month, 1)
        while self.period_end(move_month(month, -1)) >= day:
            month = move_month(month, -1)
        return month


def months_fit(closing_day: int, payment_day: int, payment_month: int) -> bool:
    """Return True if the payment comes after the closing."""
    return payment_month > 0 or payment_day > closing_day


def first_of_month(day: date) -> date:
    return day.replace(day=1)


def move_month(month: date, count: int) -> date:
    return date(*add_months(month.year, month.month, count), 1)


def count_months(start: date, end: date) -> int:
    return (end.year - start.year) * 12 + end.month - start.month


def day_of_month(month: date, number: int) -> date:
    """Return a day of the month, the last one for a number that it lacks."""
    last = calendar.monthrange(month.year, month.month)[1]
    return month.replace(day=min(number, last))


def format_month(month: date) -> str:
    return f"{month.year:04d}-{month.month:02d}"


def parse_month(text: str) -> date:
    return date.fromisoformat(f"{text}-01")
