"""Find the date and time of an English alert."""

import re
from datetime import date, time

from card_alerts.patterns import pattern
from card_alerts.times import TimestampMatch, make_date

_MONTHS = r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_MONTH_NUMBERS = {
    name: number for number, name in enumerate(_MONTHS.split("|"), start=1)
}
_MONTH_NAME = rf"(?:{_MONTHS})[a-z]{{0,6}}\.?"
_TIME = r"""
    (?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2})?(?!\d)(?:[ ]?(?P<half>[ap])\.?m\b\.?)?
"""
_YEAR = r"(?P<year>20\d\d|\d\d)"
_ORDINAL = r"(?:st|nd|rd|th)?"
_DATE_TIME_SEPARATOR = r"(?:[:T, ]{1,3}(?:at[ ])?|[ ]at[ ]|[ ]?\n)"
# Behind the first digit of a date. In front of it, each place of a text would be tried.
_BEGINS_DATE = r"(?<![\w/.-]\d)"
_TIMESTAMP_PATTERNS = tuple(
    pattern(
        rf"{day}(?:{_DATE_TIME_SEPARATOR}{_TIME})?",
        example=example,
        flags=re.IGNORECASE,
    )
    for day, example in (
        (
            rf"""
            (?P<year>2{_BEGINS_DATE}0\d\d)[-/.](?P<month>\d{{1,2}})[-/.]
            (?P<day>\d{{1,2}})
            """,
            "2026-10-14:19:22:31",
        ),
        (
            rf"""
            (?P<day>\d{_BEGINS_DATE}\d?){_ORDINAL}[- ]?(?P<name>{_MONTH_NAME})
            (?:[-, ]{{0,2}}{_YEAR}(?![:\d]))?
            """,
            "14 Oct 2026",
        ),
        (
            rf"""
            (?=(?-i:[ADFJMNOSadfjmnos]))(?<![\w/.-])
            (?P<name>{_MONTH_NAME})[ ](?P<day>\d{{1,2}}){_ORDINAL}(?!\d|:)
            (?:,?[ ](?P<year>20\d\d)(?!\d))?
            """,
            "Oct 14, 2026 at 3:48 PM",
        ),
        (
            rf"""
            (?P<first>\d{_BEGINS_DATE}\d?)[/-](?P<second>\d{{1,2}})
            (?:[/-]{_YEAR})?(?![/\d-])
            """,
            "14-10-26 12:05:44",
        ),
    )
)
_TIME_FIRST = pattern(
    rf"(?<![\d:]){_TIME}(?:[ ][A-Z]{{2,4}})?(?:,?[ ](?:on[ ])?)$",
    example="3:48 PM ET on ",
    flags=re.IGNORECASE,
)
MAX_TIME_LOOKBEHIND = 24


def find_english_timestamp(
    text: str, *, is_month_first: bool, received_on: date
) -> TimestampMatch | None:
    found: list[TimestampMatch] = []
    for rule in _TIMESTAMP_PATTERNS:
        for match in rule.finditer(text):
            timestamp = _to_timestamp_match(
                match, is_month_first=is_month_first, received_on=received_on
            )
            if timestamp is not None:
                found.append(timestamp)
                break
    return min(found, key=lambda timestamp: timestamp.span, default=None)


def _find_date(
    groups: dict[str, str | None], *, is_month_first: bool, received_on: date
) -> tuple[str | None, int, int]:
    """Return the printed year, the month and the day."""
    year, name, first = groups.get("year"), groups.get("name"), groups.get("first")
    if name:
        return year, _MONTH_NUMBERS[name[:3].lower()], int(groups["day"] or 0)
    if not first:
        return year, int(groups["month"] or 0), int(groups["day"] or 0)
    one, two = int(first), int(groups["second"] or 0)
    if year and _is_year_first(one, two, int(year[-2:]), received_on):
        return first, two, int(year)
    month, day = (one, two) if is_month_first else (two, one)
    return (year, day, month) if month > 12 else (year, month, day)


def _is_year_first(one: int, two: int, three: int, received_on: date) -> bool:
    """Return True for 26/11/07 in 2026, if that day is not to come."""
    year = received_on.year
    if one != year % 100 or three == year % 100:
        return False
    day = make_date(year, two, three)
    return day is not None and day <= received_on


def _to_timestamp_match(
    match: re.Match[str], *, is_month_first: bool, received_on: date
) -> TimestampMatch | None:
    groups = match.groupdict()
    year, month, day = _find_date(
        groups, is_month_first=is_month_first, received_on=received_on
    )
    # 2000 is a leap year.
    if make_date(2000, month, day) is None:
        return None
    start, end = match.span()
    time_match = match
    if not groups["hour"]:
        limit = max(0, start - MAX_TIME_LOOKBEHIND)
        earlier = _TIME_FIRST.search(match.string, limit, start)
        if earlier:
            time_match, start = earlier, earlier.start()
    clock = None
    if time_match["hour"]:
        hour, minute = int(time_match["hour"]), int(time_match["minute"])
        if time_match["half"] and 1 <= hour <= 12:
            hour = hour % 12 + (12 if time_match["half"].lower() == "p" else 0)
        # 24:05 is impossible.
        clock = time(hour, minute) if hour < 24 and minute < 60 else None
    return TimestampMatch(
        month,
        day,
        2000 + int(year[-2:]) if year else None,
        clock,
        (start, end),
        has_printed_time=bool(time_match["hour"]),
    )
