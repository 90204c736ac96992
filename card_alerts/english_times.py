"""Days and times as English alerts print them."""

import re
from datetime import time

from card_alerts.times import Moment, make_date

_MONTHS = {
    name: number
    for number, name in enumerate(
        [
            "jan",
            "feb",
            "mar",
            "apr",
            "may",
            "jun",
            "jul",
            "aug",
            "sep",
            "oct",
            "nov",
            "dec",
        ],
        start=1,
    )
}
_NAME = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2})?(?!\d)"
    r"(?:[ ]?(?P<half>[ap])\.?m\b\.?)?"
)
_YEAR = r"(?P<year>20\d\d|\d\d)"
_NTH = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DAYS = (
    r"(?P<year>20\d\d)[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",
    rf"{_NTH}[- ](?P<name>{_NAME})(?:[-, ]{{1,2}}{_YEAR}(?![:\d]))?",
    rf"(?P<name>{_NAME})[ ]{_NTH}(?!\d|:)(?:,?[ ](?P<year>20\d\d)(?!\d))?",
    rf"(?P<first>\d{{1,2}})[/-](?P<second>\d{{1,2}})(?:[/-]{_YEAR})?(?![/\d-])",
)
_BETWEEN = r"(?:[:T, ]{1,2}(?:at[ ])?|[ ]at[ ]|[ ]?\n)"
_WHENS = tuple(
    re.compile(rf"(?<![\w/.-]){day}(?:{_BETWEEN}{_CLOCK})?", re.IGNORECASE)
    for day in _DAYS
)
_TIME_FIRST = re.compile(
    rf"(?<![\d:]){_CLOCK}(?:[ ][A-Z]{{2,4}})?(?:,?[ ](?:on[ ])?)$", re.IGNORECASE
)
REACH = 24


def find_english_moment(text: str, *, month_first: bool) -> Moment | None:
    """The first day of the text; `month_first` reads 05/06 as the 6th of May."""
    found: list[Moment] = []
    for pattern in _WHENS:
        for match in pattern.finditer(text):
            moment = _read(match, month_first=month_first)
            if moment is not None:
                found.append(moment)
                break
    return min(found, key=lambda moment: moment.span, default=None)


def _read(match: re.Match[str], *, month_first: bool) -> Moment | None:
    groups = match.groupdict()
    if groups.get("name"):
        month, day = _MONTHS[groups["name"][:3].lower()], int(groups["day"])
    elif groups.get("first"):
        one, two = int(groups["first"]), int(groups["second"])
        month, day = (one, two) if month_first else (two, one)
        if month > 12:
            month, day = day, month
    else:
        month, day = int(groups["month"]), int(groups["day"])
    if make_date(2000, month, day) is None:
        return None
    start, end = match.span()
    clock = match
    if not groups["hour"]:
        earlier = _TIME_FIRST.search(match.string, max(0, start - REACH), start)
        if earlier:
            clock, start = earlier, earlier.start()
    year = groups.get("year")
    return Moment(
        month,
        day,
        2000 + int(year[-2:]) if year else None,
        _time(clock),
        (start, end),
        has_clock=bool(clock["hour"]),
    )


def _time(match: re.Match[str]) -> time | None:
    if not match["hour"]:
        return None
    hour, minute = int(match["hour"]), int(match["minute"])
    if match["half"] and 1 <= hour <= 12:
        hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None
