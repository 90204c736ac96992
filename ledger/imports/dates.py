"""Reads cells of files as dates and times (spec 3.29).

A date is never guessed against its order: "13/02/2026" is a 13th of February, or an
error, but never a year 13. Pure: no database.
"""

import datetime
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from django.utils.translation import gettext

from ledger.imports.errors import UnreadableValueError
from ledger.imports.records import Cell
from ledger.imports.texts import MAX_VALUE_LENGTH, clean_text, show

DATE_ORDERS = ("ymd", "dmy", "mdy")
# Days of a file, which repeat.
CACHED_CELLS = 4_096
MIN_YEAR, MAX_YEAR = 1900, 2199
# Day 1 of a spreadsheet is 1900-01-01, and it counts a February 29 of 1900.
SERIAL_EPOCH = datetime.date(1899, 12, 30)
# 1927-05-18 and 2119-01-11; smaller and larger numbers are no days.
MIN_SERIAL, MAX_SERIAL = 10_000, 80_000
SECONDS_OF_A_DAY = 86_400

_MONTH_NAMES = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_WEEKDAY = re.compile(
    r"\(?\b(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\b[.,]?|[월화수목금토일]요일)\)?"
    r"|\([월화수목금토일]\)",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"""(?:(?P<before>오전|오후|[ap]\.?m\.?)\s*)?
    (?P<hour>\d{1,2})\s*(?::|시)\s*(?P<minute>\d{1,2})?\s*(?:분)?
    (?:\s*:?\s*(?P<second>\d{1,2})(?:[.,]\d+)?\s*초?)?
    \s*(?P<after>[ap]\.?m\.?)?
    (?:\s*(?:z|utc|[+-]\d{2}:?(?:\d{2})?))?$""",
    re.IGNORECASE | re.VERBOSE,
)
_PACKED_TIME = re.compile(r"(\d{2})(\d{2})(\d{2})?")
_PACKED_DATE = re.compile(r"(\d{4}|\d{2})(\d{2})(\d{2})(?:\s*(\d{4}(?:\d{2})?))?")
_SERIAL = re.compile(r"\d{5}(?:\.\d+)?")
# Three numbers without a year of four digits.
_SHORT_YEAR = re.compile(r"^\s*\d{1,2}([-./])\s*\d{1,2}\1\s*\d{1,2}(?!\d)")
_KOREAN = re.compile(r"(?:(\d{4}|\d{2})년)?(\d{1,2})월(\d{1,2})일")
_NUMBERS = re.compile(r"(\d{1,4})([-./])(\d{1,2})(?:\2(\d{1,4}))?\.?")
_NAMED = re.compile(
    r"(?:(?P<day>\d{1,2})(?:st|nd|rd|th)?[-\s./,]*)?(?P<month>[a-z]{3,9})\.?[-\s./,]*"
    r"(?P<number>\d{1,4})(?:st|nd|rd|th)?(?:[-\s./,]+(?P<year>\d{4}|\d{2}))?",
    re.IGNORECASE,
)
_NAMED_YEAR_FIRST = re.compile(
    r"(\d{4})[-\s./,]+([a-z]{3,9})\.?[-\s./,]+(\d{1,2})", re.IGNORECASE
)


class DateAndTime(NamedTuple):
    date: datetime.date
    time: datetime.time | None = None


# Typed, since 1, 1.0 and True are equal and are not read alike.
@lru_cache(maxsize=CACHED_CELLS, typed=True)
def parse_date(
    cell: Cell, today: datetime.date, date_order: str = "ymd"
) -> DateAndTime:
    """Return the day of a cell, and its time of day if it has one.

    A year of four digits in front decides by itself; else `date_order` (ymd, dmy, mdy)
    does. A date without a year is the last such day up to `today`, within 12 months. A
    time stays as it is written, whatever its offset. Years of two digits end with the
    next year. Raises `UnreadableValueError`.
    """
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        found = _parse_number(float(cell), today)
    else:
        text = unicodedata.normalize("NFKC", clean_text(cell)).strip()
        is_short = 0 < len(text) <= MAX_VALUE_LENGTH
        found = _parse_text(text, today, date_order) if is_short else None
    if found is None:
        raise _unreadable_date(cell)
    if not MIN_YEAR <= found.date.year <= MAX_YEAR:
        text = gettext("The year of {value} must be between {minimum} and {maximum}.")
        raise UnreadableValueError(
            text.format(value=show(cell), minimum=MIN_YEAR, maximum=MAX_YEAR)
        )
    return found


@lru_cache(maxsize=CACHED_CELLS, typed=True)
def parse_time(cell: Cell) -> datetime.time | None:
    """Return a time of day, None for an empty cell.

    Takes "13:20", "13:20:05", "132005", "오후 1:20", "1:20 PM", "13시 20분", fractions
    of a day, and the time of an ISO date. Raises `UnreadableValueError`.
    """
    if isinstance(cell, float) and 0 <= cell < MAX_SERIAL:
        return _fraction_to_time(cell % 1)
    text = unicodedata.normalize("NFKC", clean_text(cell))
    if not text or text == "-":
        return None
    _, time = _split_time(text) if len(text) <= MAX_VALUE_LENGTH else (text, None)
    if time is None and (match := _PACKED_TIME.fullmatch(text)):
        time = _make_time(*match.groups())
    if time is None:
        message = gettext("{value} is not a time.").format(value=show(cell))
        raise UnreadableValueError(message)
    return time


def guess_date_order(cells: Iterable[Cell]) -> str:
    """Return the order in which most dates of a column can be read: ymd, dmy or mdy.

    Days above 12 decide between dmy and mdy; where none is, it is dmy. Years of two
    digits may stand in front or behind: the order with dates nearer together wins.
    """
    # Of a leap year, so that no February 29 is left out.
    today = datetime.date(2028, 12, 31)
    texts = [cell for cell in cells if isinstance(cell, str)]
    days = {order: _read_all(texts, today, order) for order in DATE_ORDERS}
    most = max(map(len, days.values()))
    orders = [order for order in DATE_ORDERS if len(days[order]) == most]
    has_short_years = any(_SHORT_YEAR.search(text) for text in texts)
    if orders[0] == "ymd" and has_short_years and len(orders) > 1 and most:
        spreads = [max(days[order]) - min(days[order]) for order in orders[:2]]
        return orders[0] if spreads[0] <= spreads[1] else orders[1]
    return orders[0]


def _read_all(
    texts: Iterable[str], today: datetime.date, order: str
) -> list[datetime.date]:
    days = []
    for text in texts:
        try:
            days.append(parse_date(text, today, order).date)
        except UnreadableValueError:
            continue
    return days


def _parse_number(number: float, today: datetime.date) -> DateAndTime | None:
    """Read a number of a workbook: a serial date, or the digits of a date."""
    if MIN_SERIAL <= number < MAX_SERIAL:
        days = int(number)
        time = _fraction_to_time(number - days) if number > days else None
        return DateAndTime(SERIAL_EPOCH + datetime.timedelta(days), time)
    if number.is_integer() and 10_000_000 <= number <= 99_999_999:
        return _parse_packed(str(int(number)), today)
    if number.is_integer() and 10_000 <= number <= 999_999:
        return _parse_packed(f"{int(number):06}", today)
    return None


def _parse_text(text: str, today: datetime.date, order: str) -> DateAndTime | None:
    text = _WEEKDAY.sub(" ", text).strip(" ,")
    if found := _parse_packed(text, today):
        return found
    if _SERIAL.fullmatch(text):
        return _parse_number(float(text), today)
    text, time = _split_time(text)
    text = text.strip(" ,")
    compact = "".join(text.split())
    if match := _KOREAN.fullmatch(compact):
        day = _make_date(match[1], match[2], match[3], today)
    elif match := _NUMBERS.fullmatch(compact):
        day = _order_numbers(match[1], match[3], match[4], order, today)
    else:
        day = _parse_named(text, today)
    return None if day is None else DateAndTime(day, time)


def _order_numbers(
    first: str, second: str, third: str | None, order: str, today: datetime.date
) -> datetime.date | None:
    """Read three numbers, or two without a year, in their order."""
    if third is None:
        if len(first) > 2:
            return None
        month, day = (second, first) if order == "dmy" else (first, second)
        return _make_date(None, month, day, today)
    if len(first) == 4:
        return _make_date(first, second, third, today) if len(third) <= 2 else None
    # A year of four digits behind is never one in front: the order must be told.
    if len(first) > 2 or len(third) not in {2, 4} or (order, len(third)) == ("ymd", 4):
        return None
    year, month, day = {
        "ymd": (first, second, third),
        "dmy": (third, second, first),
        "mdy": (third, first, second),
    }[order]
    return _make_date(year, month, day, today)


def _parse_named(text: str, today: datetime.date) -> datetime.date | None:
    """Read a date with the English name of its month."""
    if match := _NAMED_YEAR_FIRST.fullmatch(text):
        month = _find_month(match[2])
        return _make_date(match[1], month, match[3], today) if month else None
    if (match := _NAMED.fullmatch(text)) is None:
        return None
    month = _find_month(match["month"])
    day, number, year = match["day"], match["number"], match["year"]
    if month is None or (day is not None and year is not None):
        return None
    if day is None:
        # The day follows the month: "Sep 5, 2026" or "Sep 5".
        return _make_date(year, month, number, today) if len(number) <= 2 else None
    return _make_date(number, month, day, today) if len(number) in {2, 4} else None


def _find_month(name: str) -> str | None:
    for number, month in enumerate(_MONTH_NAMES, 1):
        if month.startswith(name.casefold()) or name.casefold() == "sept":
            return "9" if name.casefold() == "sept" else str(number)
    return None


def _parse_packed(text: str, today: datetime.date) -> DateAndTime | None:
    """Read the digits of a date, and of a time behind it: 20260905132000."""
    if (match := _PACKED_DATE.fullmatch(text)) is None:
        return None
    time = None
    if match[4] is not None:
        time = _make_time(match[4][:2], match[4][2:4], match[4][4:])
        if time is None:
            return None
    day = _make_date(match[1], match[2], match[3], today)
    return None if day is None else DateAndTime(day, time)


def _make_date(
    year: str | None, month: str, day: str, today: datetime.date
) -> datetime.date | None:
    try:
        if year is None:
            return _find_last_day(int(month), int(day), today)
        number = int(year)
        if len(year) == 2:
            number += 2000 if 2000 + number <= today.year + 1 else 1900
        return datetime.date(number, int(month), int(day))
    except ValueError:
        return None


def _find_last_day(month: int, day: int, today: datetime.date) -> datetime.date:
    """Return the last such day up to today; raise `ValueError` if a year has none."""
    is_past = (month, day) <= (today.month, today.day)
    return datetime.date(today.year if is_past else today.year - 1, month, day)


def _split_time(text: str) -> tuple[str, datetime.time | None]:
    """Return the text before a time of day, and the time; a `T` stands between them."""
    match = _TIME.search(text)
    if match is None:
        day, _, digits = text.rpartition(" ")
        packed = _PACKED_TIME.fullmatch(digits) if len(digits) == 6 else None
        time = _make_time(*packed.groups()) if packed else None
        return (text, None) if time is None else (day, time)
    before = text[: match.start()]
    if before and not re.search(r"(?:[\s,T.)]|일)$", before):
        return text, None
    half = (match["before"] or match["after"] or "").casefold().replace(".", "")
    time = _make_time(match["hour"], match["minute"], match["second"], half)
    return (text, None) if time is None else (before.removesuffix("T"), time)


def _make_time(
    hour: str, minute: str | None, second: str | None, half: str = ""
) -> datetime.time | None:
    number = int(hour)
    if half in {"오후", "pm"} and number < 12:
        number += 12
    elif half in {"오전", "am"} and number == 12:
        number = 0
    try:
        return datetime.time(number, int(minute or 0), int(second or 0))
    except ValueError:
        return None


def _fraction_to_time(fraction: float) -> datetime.time:
    seconds = min(round(fraction * SECONDS_OF_A_DAY), SECONDS_OF_A_DAY - 1)
    return datetime.time(seconds // 3_600, seconds // 60 % 60, seconds % 60)


def _unreadable_date(cell: Cell) -> UnreadableValueError:
    if cell is None or cell == "":
        return UnreadableValueError(gettext("The date is missing."))
    return UnreadableValueError(
        gettext("{value} is not a date.").format(value=show(cell))
    )
