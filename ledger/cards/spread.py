"""Installments by the months in which their parts are paid (spec 3.30). Pure."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any, NamedTuple

from ledger.cards.parts import divide, list_parts
from ledger.cards.schedule import (
    Printed,
    Schedule,
    Term,
    count_months,
    first_of_month,
    move_month,
)
from ledger.models.budgets import MAX_YEAR, MIN_YEAR
from ledger.periods import Period, month_period

_LAST_MONTH = first_of_month(date.max)
_LAST_NUMBER = 9_999 * 12 + 11
# The number of bills around a purchase whose periods are listed: enough for the
# longest plans.
_ENDS_BEFORE, _ENDS = 30, 60


class PlanLine(NamedTuple):
    """The amount of a purchase in a category; `major_id` belongs to a minor one."""

    type: str
    category_id: int | None
    major_id: int | None
    # In the direction of an expense, in whole home-currency units.
    amount: int


@dataclass(slots=True)
class Plan:
    """A purchase in installments; `lines` are those that count in statistics."""

    id: int
    day: date
    wallet_id: int | None
    amount: int
    months: int
    typed: Sequence[int] | None
    bill_month: date | None
    lines: Sequence[PlanLine] = ()
    tag_ids: Sequence[int] = ()

    @property
    def parts(self) -> list[int]:
        return list_parts(self.amount, self.months, self.typed)


@dataclass(slots=True)
class Move:
    """The change that a purchase makes in sums which count it on its own day.

    `numbers` are its parts in the period, from 0, and `days` the days on which they
    count. `shares` are the parts of each line.
    """

    plan: Plan
    is_purchase_within: bool
    numbers: range
    days: Sequence[date]
    shares: Sequence[Sequence[int]]

    @property
    def entry_count(self) -> int:
        """A purchase counts on the day of its first part."""
        return int(0 in self.numbers) - self.is_purchase_within

    def list_gains(self) -> Iterator[tuple[PlanLine, int]]:
        """Return what each line gains in the whole period."""
        first, stop = self.numbers.start, self.numbers.stop
        for line, share in zip(self.plan.lines, self.shares, strict=True):
            before = line.amount if self.is_purchase_within else 0
            yield line, sum(share[first:stop]) - before

    def list_days(self) -> Iterator[tuple[date, int, list[tuple[PlanLine, int]]]]:
        """Return (day, change of the count, gain of each line), not always sorted."""
        lines = self.plan.lines
        if self.is_purchase_within:
            yield self.plan.day, -1, [(line, -line.amount) for line in lines]
        pairs = list(zip(lines, self.shares, strict=True))
        for number, day in zip(self.numbers, self.days, strict=True):
            gains = [(line, share[number]) for line, share in pairs]
            yield day, int(number == 0), gains


@dataclass(slots=True)
class PaymentCalendar:
    """The bills of all cards.

    `mains` leads from a card to the one on whose bill it stands. Cards without settings
    have no schedule: their part k is paid k months after the purchase.
    """

    schedules: Mapping[int, Schedule]
    mains: Mapping[int, int]
    # By main card: the number of a month, and the ends of the periods from there on.
    _ends: dict[int | None, tuple[int, tuple[date, ...]]] = field(
        default_factory=dict, repr=False
    )
    # By main card and number of a month.
    _payment_days: dict[int | None, dict[int, date]] = field(
        default_factory=dict, repr=False
    )

    @classmethod
    def of(
        cls, cards: Iterable[Mapping[str, Any]], printed: Iterable[Mapping[str, Any]]
    ) -> "PaymentCalendar":
        """Build it from rows with `id`, `terms`, `billed_with`, and printed bills.

        Days are ISO texts or None.
        """
        bills: dict[int, dict[date, Printed]] = {}
        for row in printed:
            bills.setdefault(row["card"], {})[date.fromisoformat(row["month"])] = (
                Printed(_to_day(row["period_end"]), _to_day(row["payment_date"]))
            )
        schedules, mains = {}, {}
        for row in cards:
            if row["billed_with"] is not None:
                mains[row["id"]] = row["billed_with"]
            elif row["terms"]:
                terms = [Term.from_json(each) for each in row["terms"]]
                schedules[row["id"]] = Schedule(terms, bills.get(row["id"], {}))
        return cls(schedules, mains)

    def main_of(self, wallet_id: int | None) -> int | None:
        """Return the card on whose bill a wallet stands: itself, if on no other."""
        return None if wallet_id is None else self.mains.get(wallet_id, wallet_id)

    def find_schedule(self, wallet_id: int | None, day: date) -> Schedule | None:
        """Return the schedule of a card; bills of other years cannot be asked for."""
        main = self.main_of(wallet_id)
        if main is None or not MIN_YEAR <= day.year <= MAX_YEAR:
            return None
        return self.schedules.get(main)

    def month_of(self, wallet_id: int | None, day: date, billed: date | None) -> date:
        """Return the bill of a booking: as named by the member, else by its day."""
        schedule = self.find_schedule(wallet_id, day)
        if schedule is None:
            return move_within_calendar(first_of_month(day), 1)
        return self._find_month(wallet_id, schedule, day) if billed is None else billed

    def _find_month(self, wallet_id: int | None, schedule: Schedule, day: date) -> date:
        """Return what `Schedule.month_of` does, from a list of the ends of periods."""
        main = self.main_of(wallet_id)
        if main not in self._ends:
            start = move_within_calendar(first_of_month(day), -_ENDS_BEFORE)
            printed = tuple(schedule.printed.items())
            ends = list_period_ends(tuple(schedule.terms), printed, start)
            self._ends[main] = _number(start), ends
        first, ends = self._ends[main]
        number = bisect_left(ends, day)
        if 0 < number < len(ends):
            return _month_of_number(first + number)
        return schedule.month_of(day)

    def first_number(self, plan: Plan) -> int:
        return _number(self.month_of(plan.wallet_id, plan.day, plan.bill_month))

    def list_months(self, plan: Plan) -> list[date]:
        """Return the bill of each part."""
        first = self.month_of(plan.wallet_id, plan.day, plan.bill_month)
        return [move_within_calendar(first, number) for number in range(plan.months)]

    def payment_day(self, wallet_id: int | None, month: date, of: date) -> date:
        """Return the day in the month of a bill on which its parts count.

        `of` is the day of the purchase, which is that day where there are no settings.
        A payment that a holiday moved out of the month counts on its nearest day.
        """
        period = month_period(month.year, month.month)
        schedule = self.find_schedule(wallet_id, month)
        if schedule is None:
            return month.replace(day=min(of.day, period.end.day))
        return min(max(schedule.payment_date(month), period.start), period.end)

    def list_payment_days(
        self, plan: Plan, first: int, numbers: range
    ) -> Sequence[date]:
        """Return the days on which parts count; `first` is as in `first_number`."""
        days = []
        known = self._payment_days.setdefault(self.main_of(plan.wallet_id), {})
        for number in range(first + numbers.start, first + numbers.stop):
            day = known.get(number)
            if day is None:
                month = _month_of_number(number)
                day = self.payment_day(plan.wallet_id, month, plan.day)
                # Without settings the day belongs to one purchase.
                if self.find_schedule(plan.wallet_id, month) is not None:
                    known[number] = day
            days.append(day)
        return days

    def is_closed(self, wallet_id: int | None, month: date, today: date) -> bool:
        """Tell if the period of a bill has ended before today.

        Without settings that is the month before the payment.
        """
        schedule = self.find_schedule(wallet_id, month)
        if schedule is None:
            return month <= first_of_month(today)
        return schedule.period_end(month) < today

    def first_open_month(self, today: date) -> date:
        """Return a month before which no card has an open bill."""
        months = [schedule.month_of(today) for schedule in self.schedules.values()]
        return min(first_of_month(today), *months) if months else first_of_month(today)


@lru_cache(maxsize=1_024)
def list_period_ends(
    terms: tuple[Term, ...], printed: tuple[tuple[date, Printed], ...], start: date
) -> tuple[date, ...]:
    """Return the last days of the periods of some bills, from one on."""
    schedule = Schedule(terms, dict(printed))
    return tuple(
        schedule.period_end(move_month(start, number)) for number in range(_ENDS)
    )


def list_moves(
    plans: Iterable[Plan], calendar: PaymentCalendar, period: Period
) -> list[Move]:
    """Return what the parts of plans change in the sums of the days of a period."""
    moves: list[Move] = []
    for plan in plans:
        if not plan.lines:
            continue
        first = calendar.first_number(plan)
        numbers = _number_parts(plan, first, period)
        days = calendar.list_payment_days(plan, first, numbers)
        # The months of the period may be cut.
        while days and days[0] < period.start:
            days, numbers = days[1:], numbers[1:]
        while days and days[-1] > period.end:
            days, numbers = days[:-1], numbers[:-1]
        is_within = period.start <= plan.day <= period.end
        if days or is_within:
            moves.append(Move(plan, is_within, numbers, days, _divide_lines(plan)))
    return moves


def _number_parts(plan: Plan, first: int, period: Period) -> range:
    """Return the numbers of the parts, from 0, in the bills of the months of a period.

    `first` is the number of the first month. Parts behind the end of the calendar are
    in its last month.
    """
    start, end = _number(period.start), _number(period.end)
    stop = plan.months if end == _LAST_NUMBER else end + 1 - first
    # The last month has all the parts that would come later.
    if start == _LAST_NUMBER:
        start = min(start, first + plan.months - 1)
    return range(max(start - first, 0), min(stop, plan.months))


def _divide_lines(plan: Plan) -> list[list[int]]:
    """Return the parts of each line; a flat purchase has them as they are."""
    parts = plan.parts
    if len(plan.lines) == 1 and plan.lines[0].amount == plan.amount:
        return [parts]
    return [divide(line.amount, parts) for line in plan.lines]


def move_within_calendar(month: date, count: int) -> date:
    """Return a month some months later, at most the last one of the calendar."""
    if count_months(month, _LAST_MONTH) < count:
        return _LAST_MONTH
    if count_months(date.min, month) < -count:
        return date.min
    return move_month(month, count)


def _number(day: date) -> int:
    """Return the number of a month since the year 0."""
    return day.year * 12 + day.month - 1


@lru_cache(maxsize=4_096)
def _month_of_number(number: int) -> date:
    """Return the first day of a month, at most of the last one."""
    year, month = divmod(min(number, _LAST_NUMBER), 12)
    return date(year, month + 1, 1)


def _to_day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)
