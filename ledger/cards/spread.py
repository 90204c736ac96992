"""Installments by the months in which their parts are paid (spec 3.30). Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
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
from ledger.models.base import CategoryType
from ledger.models.budgets import MAX_YEAR, MIN_YEAR
from ledger.periods import Period, month_period

_ONE_DAY = timedelta(days=1)
_LAST_MONTH = first_of_month(date.max)


class PlanLine(NamedTuple):
    """What a purchase books on a category; `major_id` is that of a minor one."""

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


class MovedLine(NamedTuple):
    """What statistics gain: `amount` of an income or an expense, and `refunded`."""

    type: str
    category_id: int | None
    major_id: int | None
    amount: int
    refunded: int


@dataclass(slots=True)
class Move:
    """What a purchase adds to the sums of a day that count it on its own day.

    On the day of the purchase that is less than nothing. `count` is -1 there, 1 on the
    day of the first part, and 0 on those of the others.
    """

    day: date
    plan: Plan
    count: int
    lines: list[MovedLine]


@dataclass(slots=True)
class PaymentCalendar:
    """The bills of all cards.

    `mains` leads from a card to the one on whose bill it stands. Cards without settings
    have no schedule: their part k is paid k months after the purchase.
    """

    schedules: Mapping[int, Schedule]
    mains: Mapping[int, int]
    _payment_days: dict[tuple[int | None, date], date] = field(
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

    def find_schedule(self, wallet_id: int | None) -> Schedule | None:
        main = self.main_of(wallet_id)
        return None if main is None else self.schedules.get(main)

    def month_of(self, wallet_id: int | None, day: date, billed: date | None) -> date:
        """Return the bill of a booking: as named by the member, else by its day."""
        schedule = self.find_schedule(wallet_id)
        # Bills of other years cannot be asked for.
        if schedule is None or not MIN_YEAR <= day.year <= MAX_YEAR:
            return move_within_calendar(first_of_month(day), 1)
        return schedule.month_of(day) if billed is None else billed

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
        schedule = self.find_schedule(wallet_id)
        if schedule is None or not MIN_YEAR <= month.year <= MAX_YEAR:
            return month.replace(day=min(of.day, period.end.day))
        key = self.main_of(wallet_id), month
        if key not in self._payment_days:
            day = schedule.payment_date(month)
            self._payment_days[key] = min(max(day, period.start), period.end)
        return self._payment_days[key]

    def is_closed(self, wallet_id: int | None, month: date, today: date) -> bool:
        """Tell if the period of a bill has ended before today.

        Without settings that is the month before the payment.
        """
        schedule = self.find_schedule(wallet_id)
        if schedule is None or not MIN_YEAR <= month.year <= MAX_YEAR:
            return month <= first_of_month(today)
        return schedule.period_end(month) < today

    def first_open_month(self, today: date) -> date:
        """Return a month before which no card has an open bill."""
        months = [schedule.month_of(today) for schedule in self.schedules.values()]
        return min(first_of_month(today), *months) if months else first_of_month(today)


def list_moves(
    plans: Iterable[Plan], calendar: PaymentCalendar, period: Period
) -> list[Move]:
    """Return what the parts of plans change in the sums of the days of a period."""
    return [move for plan in plans for move in _move_plan(plan, calendar, period)]


def _move_plan(plan: Plan, calendar: PaymentCalendar, period: Period) -> Iterator[Move]:
    if not plan.lines:
        return
    if period.start <= plan.day <= period.end:
        yield Move(plan.day, plan, -1, [_move_line(x, -x.amount) for x in plan.lines])
    days = list(_list_days(plan, calendar, period))
    if not days:
        return
    parts = plan.parts
    shares = [divide(line.amount, parts) for line in plan.lines]
    for number, day in days:
        lines = [
            _move_line(line, share[number])
            for line, share in zip(plan.lines, shares, strict=True)
        ]
        yield Move(day, plan, int(number == 0), lines)


def _list_days(
    plan: Plan, calendar: PaymentCalendar, period: Period
) -> Iterator[tuple[int, date]]:
    """Yield the number of each part that counts in a period, and its day."""
    first = first_of_month(period.start)
    for number, month in enumerate(calendar.list_months(plan)):
        if first <= month <= period.end:
            day = calendar.payment_day(plan.wallet_id, month, plan.day)
            if period.start <= day <= period.end:
                yield number, day


def _move_line(line: PlanLine, amount: int) -> MovedLine:
    """Return what a part of a line adds; a line below 0 is a refund of an expense."""
    if line.type != CategoryType.EXPENSE:
        return MovedLine(line.type, line.category_id, line.major_id, -amount, 0)
    refunded = -amount if line.amount < 0 else 0
    return MovedLine(line.type, line.category_id, line.major_id, amount, refunded)


def move_within_calendar(month: date, count: int) -> date:
    """Return a month some months later, at most the last one of the calendar."""
    if count_months(month, _LAST_MONTH) < count:
        return _LAST_MONTH
    if count_months(date.min, month) < -count:
        return date.min
    return move_month(month, count)


def _to_day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)
