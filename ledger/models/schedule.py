"""Due dates of recurring transactions. Pure.

Due dates are counted from the anchor, never from one another: day 31 is the last day of
a shorter month and day 31 again in a longer one (spec 3.10).
"""

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from ledger.periods import add_months


class Frequency(StrEnum):
    DAILY = "DAILY"
    WEEKLY = "WEEKLY"
    MONTHLY = "MONTHLY"
    YEARLY = "YEARLY"


DAYS_BY_FREQUENCY = {Frequency.DAILY: 1, Frequency.WEEKLY: 7}
MONTHS_BY_FREQUENCY = {Frequency.MONTHLY: 1, Frequency.YEARLY: 12}


@dataclass(frozen=True, slots=True)
class Schedule:
    """Every `interval` days, weeks, months or years from `anchor` to `end`."""

    frequency: Frequency
    interval: int
    anchor: date
    end: date | None = None

    def nth_due_date(self, number: int) -> date | None:
        """Return a due date by its number, from 0; None after the end."""
        try:
            if self.frequency in DAYS_BY_FREQUENCY:
                days = DAYS_BY_FREQUENCY[self.frequency] * self.interval * number
                day = self.anchor + timedelta(days=days)
            else:
                months = MONTHS_BY_FREQUENCY[self.frequency] * self.interval * number
                year, month = add_months(self.anchor.year, self.anchor.month, months)
                last = calendar.monthrange(year, month)[1]
                day = date(year, month, min(self.anchor.day, last))
        except (OverflowError, ValueError):
            return None
        return None if self.end is not None and day > self.end else day

    def first_due_date(self, not_before: date) -> date | None:
        """Return the first due date from this day on; None after the end."""
        # Begin near the day: the quotients are at most one too high.
        if self.frequency in DAYS_BY_FREQUENCY:
            days = (not_before - self.anchor).days
            number = days // (DAYS_BY_FREQUENCY[self.frequency] * self.interval)
        else:
            years = not_before.year - self.anchor.year
            months = years * 12 + not_before.month - self.anchor.month
            number = months // (MONTHS_BY_FREQUENCY[self.frequency] * self.interval)
        number = max(0, number - 1)
        while (day := self.nth_due_date(number)) is not None and day < not_before:
            number += 1
        return day

    def next_due_date(self, after: date) -> date | None:
        return (
            None
            if after == date.max
            else self.first_due_date(after + timedelta(days=1))
        )

    def due_dates(self, start: date, end: date) -> Iterator[date]:
        day = self.first_due_date(start)
        while day is not None and day <= end:
            yield day
            day = self.next_due_date(day)
