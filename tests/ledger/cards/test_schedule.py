"""Days of bills: real schedules, holidays, months that lack a day, changes of days."""

import logging
from datetime import date, timedelta
from pathlib import Path

import pytest

from ledger.cards.holidays import list_holidays
from ledger.cards.presets import list_presets
from ledger.cards.schedule import Printed, Schedule, Shift, Term, move_month

SAMPLES = Path(__file__).parents[2] / "samples"
FIRST, BILL = date(2024, 1, 1), date(2026, 12, 1)


def read_lines(name: str) -> list[list[str]]:
    lines = (SAMPLES / name).read_text().splitlines()
    return [line.split() for line in lines if not line.startswith("#")]


HOLIDAYS = {
    date.fromisoformat(f"{year}-{day}")
    for year, *days in read_lines("holidays_kr.txt")
    for day in days
}


def make_schedule(closing: int, payment: int, months: int, shift: str) -> Schedule:
    return Schedule([Term(FIRST, closing, payment, months, Shift(shift))])


@pytest.mark.parametrize("year", range(2024, 2028))
def test_holidays_are_those_that_are_published(year: int) -> None:
    published = {day for day in HOLIDAYS if day.year == year}
    assert set(list_holidays("KR", year)) == published


def test_unknown_country_has_weekends_only_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    list_holidays.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert list_holidays("XX", 2026) == {}
        assert list_holidays("XX", 2026) == {}
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "only weekends count" in caplog.text


@pytest.mark.parametrize(
    ("issuer", "payment", "start", "end"), read_lines("card_schedules.txt")
)
def test_preset_of_an_issuer_gives_the_period_of_its_table(
    issuer: str, payment: str, start: str, end: str
) -> None:
    (preset,) = (
        each
        for each in list_presets()
        if (each.issuer, each.payment_day) == (issuer, int(payment))
    )
    schedule = make_schedule(
        preset.closing_day, preset.payment_day, preset.payment_month, "NEXT"
    )
    period = schedule.period(BILL)
    assert (str(period.start), str(period.end)) == (start, end)


@pytest.mark.parametrize("shift", ["NEXT", "PREVIOUS", "NONE"])
def test_payment_of_every_day_of_four_years_is_on_a_business_day(shift: str) -> None:
    # Every week has a bill that is due in it.
    step = {"NEXT": 1, "PREVIOUS": -1, "NONE": 0}[shift]
    weeks = set()
    for payment in range(1, 32):
        schedule = make_schedule(13, payment, 1, shift)
        for number in range(48):
            month = move_month(FIRST, number)
            day = move_month(month, 1) - timedelta(days=1)
            expected = month.replace(day=min(payment, day.day))
            weeks.add(expected.isocalendar()[:2])
            while step and (expected.weekday() > 4 or expected in HOLIDAYS):
                expected += timedelta(days=step)
            # The last days of 2027 may go on into a year that is not in the table.
            if expected.year <= 2027 and expected.year >= 2024:
                assert schedule.payment_date(month) == expected
    assert len(weeks) >= 208


def test_day_that_a_month_lacks_is_its_last() -> None:
    schedule = make_schedule(30, 31, 1, "NONE")
    period = schedule.period(date(2026, 3, 1))
    assert (period.start, period.end) == (date(2026, 1, 31), date(2026, 2, 28))
    assert schedule.payment_date(date(2026, 2, 1)) == date(2026, 2, 28)


@pytest.mark.parametrize("closing", [1, 13, 28, 29, 30, 31])
@pytest.mark.parametrize("months", [0, 1, 2])
def test_every_day_is_on_one_bill(closing: int, months: int) -> None:
    payment = 31 if months == 0 else 5
    if months == 0 and closing == 31:
        pytest.skip("the payment comes after the closing")
    schedule = make_schedule(closing, payment, months, "NEXT")
    day, last = date(2023, 1, 1), date(2027, 12, 31)
    before = schedule.month_of(day)
    while day <= last:
        month = schedule.month_of(day)
        period = schedule.period(month)
        assert period.start <= day <= period.end
        assert month in (before, move_month(before, 1))
        before, day = month, day + timedelta(days=1)


def test_printed_end_moves_the_start_of_the_next_period() -> None:
    term = Term(FIRST, 13, 27, 0)
    schedule = Schedule([term], {BILL: Printed(period_end=date(2026, 12, 15))})
    assert schedule.period(BILL).end == date(2026, 12, 15)
    following = schedule.period(move_month(BILL, 1))
    assert (following.start, following.end) == (date(2026, 12, 16), date(2027, 1, 13))
    assert schedule.month_of(date(2026, 12, 14)) == BILL


def test_new_days_that_close_earlier_leave_no_gap() -> None:
    terms = [Term(FIRST, 13, 27, 0), Term(BILL, 31, 14, 2)]
    schedule = Schedule(terms)
    before, first, second = (
        schedule.period(move_month(BILL, number)) for number in (-1, 0, 1)
    )
    assert before.end == date(2026, 11, 13)
    # The first bill by the new days closed on 31 October: nothing is left for it.
    assert first.end == before.end
    assert (second.start, second.end) == (date(2026, 11, 14), date(2026, 11, 30))
