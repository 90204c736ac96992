"""Dates and times of files: each form, and never against its order."""

from datetime import date, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.imports.dates import guess_date_order, parse_date, parse_time
from ledger.imports.errors import UnreadableValueError

TODAY = date(2026, 9, 10)
DAY = date(2026, 9, 5)
AT = time(13, 20)

DATES: list[tuple[Any, str, date, time | None]] = [
    ("2026-09-05", "ymd", DAY, None),
    ("2026-09-05", "mdy", DAY, None),
    ("2026.09.05", "dmy", DAY, None),
    ("2026. 9. 5.", "ymd", DAY, None),
    ("2026/9/5", "ymd", DAY, None),
    ("26.09.05", "ymd", DAY, None),
    ("05.09.26", "dmy", DAY, None),
    ("09/05/26", "mdy", DAY, None),
    ("05.09.2026", "dmy", DAY, None),
    ("09/05/2026", "mdy", DAY, None),
    ("2026년 9월 5일", "ymd", DAY, None),
    ("26년 09월 05일", "dmy", DAY, None),
    ("9월 5일", "ymd", DAY, None),
    ("20260905", "ymd", DAY, None),
    ("260905", "ymd", DAY, None),
    (20260905.0, "ymd", DAY, None),
    (260905, "ymd", DAY, None),
    (46270.0, "ymd", DAY, None),
    ("46270", "ymd", DAY, None),
    (46270.5, "ymd", DAY, time(12)),
    ("2026-09-05T13:20:00", "ymd", DAY, AT),
    ("2026-09-05T13:20:00+09:00", "ymd", DAY, AT),
    ("2026-09-05 13:20:00.123Z", "ymd", DAY, AT),
    ("2026.09.05(토) 13:20", "ymd", DAY, AT),
    ("2026-09-05 오후 1:20", "ymd", DAY, AT),
    ("2026-09-05 오후 1시 20분", "ymd", DAY, AT),
    ("2026/9/5 1:20 PM", "ymd", DAY, AT),
    ("20260905132000", "ymd", DAY, AT),
    ("2026-09-05 132000", "ymd", DAY, AT),
    ("5 Sep 2026", "ymd", DAY, None),
    ("Sat, 5 September 2026", "ymd", DAY, None),
    ("Sept 5, 2026", "ymd", DAY, None),
    ("05-Sep-26", "mdy", DAY, None),
    ("2026-Sep-05", "ymd", DAY, None),
    ("Sep 5", "ymd", DAY, None),
    ("２０２６－０９－０５", "ymd", DAY, None),
    # Without a year: the last such day up to today.
    ("09/05", "ymd", DAY, None),
    ("05/09", "dmy", DAY, None),
    ("09/10", "ymd", TODAY, None),
    ("09/11", "ymd", date(2025, 9, 11), None),
    ("12/31 13:20", "ymd", date(2025, 12, 31), AT),
    # A year of two digits ends with the next year.
    ("99.12.31", "ymd", date(1999, 12, 31), None),
    ("27.01.01", "ymd", date(2027, 1, 1), None),
    # What ymd would read as a year is none behind.
    ("13/02/2026", "dmy", date(2026, 2, 13), None),
    ("13/02/26", "dmy", date(2026, 2, 13), None),
]


@pytest.mark.parametrize(("cell", "order", "day", "at"), DATES)
def test_date_is_read(cell: Any, order: str, day: date, at: time | None) -> None:
    assert parse_date(cell, TODAY, order) == (day, at)


@pytest.mark.parametrize("order", ["ymd", "dmy", "mdy"])
@pytest.mark.parametrize(
    "cell",
    [
        None, "", "  ", "nonsense", True, "2026-02-30", "2026-13-01", "2026/13/02",
        "0000-01-01", "0000.00.00", "9999-12-31", "1899-12-31", "2026-09", "Sep 2026",
        "02/29", "13/13/2026", "2026-09-05 25:00", "5", 5, 1e300, -46270.0, float("nan"),
        float("inf"), "2026-09-05\0", "1/2/3/4", "09/0/2026", "2026-9-5-1", "٥/٩/٢٠٢٦x", "1:" * 500, "2026-09-05" + " x" * 400,
    ],
)  # fmt: skip
def test_nonsense_is_no_date(cell: Any, order: str) -> None:
    with pytest.raises(UnreadableValueError):
        parse_date(cell, TODAY, order)


@pytest.mark.parametrize("cell", ["13/02/2026", "01/02/2026", "31.12.2026"])
def test_year_behind_is_never_read_year_first(cell: str) -> None:
    with pytest.raises(UnreadableValueError):
        parse_date(cell, TODAY, "ymd")


DAYS = st.dates(date(1930, 1, 1), date(2118, 12, 31))


@given(
    DAYS, st.sampled_from("-./"), st.booleans(), st.sampled_from(["ymd", "dmy", "mdy"])
)
def test_written_day_is_read_again(
    day: date, mark: str, is_padded: bool, order: str
) -> None:
    width = "02" if is_padded else ""
    parts = {"y": f"{day.year}", "m": f"{day.month:{width}}", "d": f"{day.day:{width}}"}
    written = mark.join(parts[letter] for letter in order)
    assert parse_date(written, TODAY, order).date == day


# Moments of files have no zone.
FIRST = datetime.fromisoformat("1930-01-01")
LAST = datetime.fromisoformat("2118-12-31")
EPOCH = datetime.fromisoformat("1899-12-30")


@given(st.datetimes(min_value=FIRST, max_value=LAST))
def test_serial_date_is_read_again(moment: datetime) -> None:
    moment = moment.replace(microsecond=0)
    serial = (moment - EPOCH) / timedelta(days=1)
    day, at = parse_date(serial, TODAY)
    assert day == moment.date()
    seconds = abs((datetime.combine(day, at or time()) - moment).total_seconds())
    assert seconds <= 1


@given(st.dates(TODAY - timedelta(days=364), TODAY))
def test_day_without_year_is_within_the_past_twelve_months(day: date) -> None:
    assert parse_date(f"{day.month}/{day.day}", TODAY).date == day


@given(st.text(max_size=30), st.sampled_from(["ymd", "dmy", "mdy"]))
def test_any_text_is_a_day_of_the_bounds_or_an_error(text: str, order: str) -> None:
    try:
        day = parse_date(text, TODAY, order).date
    except UnreadableValueError:
        return
    assert 1900 <= day.year <= 2199


@pytest.mark.parametrize(
    ("cells", "order"),
    [
        (["2026-09-05", "2026-09-06"], "ymd"),
        (["13/02/2026", "01/02/2026"], "dmy"),
        (["02/13/2026", "02/01/2026"], "mdy"),
        (["01/02/2026"], "dmy"),
        (["26.09.05", "26.09.06"], "ymd"),
        (["05.09.26", "31.12.26"], "dmy"),
        (["09/05", "12/31"], "ymd"),
        ([46270.0, None, "", "합계"], "ymd"),
        ([], "ymd"),
    ],
)
def test_order_is_guessed_from_a_column(cells: list[Any], order: str) -> None:
    assert guess_date_order(cells) == order


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("13:20", AT), ("13:20:00", AT), ("132000", AT), ("1320", AT), ("1:20 PM", AT),
        ("PM 1:20", AT), ("오후 1:20", AT), ("오후 1시 20분", AT), ("13시 20분", AT),
        ("12:05 AM", time(0, 5)), ("오후 12:05", time(12, 5)), (0.5, time(12)), (0.0, time()),
        ("2026-09-05T13:20:00", AT), (46270.5, time(12)), (None, None), ("", None), ("-", None),
    ],
)  # fmt: skip
def test_time_is_read(cell: Any, expected: time | None) -> None:
    assert parse_time(cell) == expected


@pytest.mark.parametrize("cell", ["25:00", "13:61", "x", "1", "996100", -0.5, True])
def test_nonsense_is_no_time(cell: Any) -> None:
    with pytest.raises(UnreadableValueError):
        parse_time(cell)
