"""Days and times as messages print them."""

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

MAX_FUTURE_OFFSET = timedelta(days=1)
"""A phone's clock, or a time zone, may run ahead of the receiving side."""

LEAP_CYCLE_YEARS = 8
"""Years within which every day of the calendar comes back."""

_TIME = (
    r"(?:(?P<half>오전|오후|[AaPp][Mm])[ ]?)?(?P<hour>\d{1,2})"
    r"(?::(?P<minute>\d{2})(?::\d{2})?|시[ ]?(?P<minute_word>\d{1,2})분)(?!\d)"
    r"(?:[ ]?(?P<half_after>[AaPp][Mm])(?![A-Za-z]))?"
)
_DAY = (
    r"(?:(?P<year>20\d\d|\d\d)(?:[-./]|년)[ ]?(?P<month_full>\d{1,2})(?:[-./]|월)[ ]?"
    r"(?P<day_full>\d{1,2})(?!\d|:)(?:일|\.(?!\d))?"
    r"|(?P<month>\d{1,2})(?:/|월[ ]?)(?P<day>\d{1,2})(?!\d|:|%|[.]\d)일?"
    r"|(?P<month_dot>\d{1,2})[.-](?P<day_dot>\d{1,2})(?=[ ,/(]{1,2}[가-힣"
    r")]{0,3}[ ]?\d{1,2}:\d\d))"
)
_TIMESTAMP = re.compile(
    rf"(?<![\d~,*-])(?<!\d[./]){_DAY}(?:[ ]?\([월화수목금토일]\)"
    rf"|[ ]?[월화수목금토일]요일)?"
    rf"(?:(?:[ ,./:T|]{{0,4}}|[ ]{{1,12}}"
    rf"|[ ]?\n[ ]?(?!\d{{1,2}}:\d\d[ ][가-힣])){_TIME})?"
)
_STANDALONE_TIME = re.compile(rf"(?<![\d:.,*-]){_TIME}(?![:\d])")
_ORIGINAL_SUFFIX = re.compile(
    r"[ ]?(?:일자?[ ]?)?(?:에[ ]?)?(?:이용|사용|승인|결제|거래|매출)"
    r"(?:[ ]?(?:건|분|내역)(?:[이을의은]|에)?(?![가-힣])|[ ]?(?=\)))"
)
_RANGE_SUFFIX = re.compile(r"[ ]?(?:까지|부터|~|∼|마감|소멸)|-\d")
_WORD_CONTINUES = re.compile(
    r"(?!접수|사용|이용|승인|취소|결제|일시불|거래|매출|출금|자|일자|건|분|에|[가-힣]{1,2}\*)"
    r"[가-힣]"
)
"""7/11편의점 is a shop, not the 11th of July."""
_NAME_FOLLOWS = re.compile(
    r"[ ](?!승인|사용|이용|취소|결제|일시불|체크|[가-힣]{1,2}\*|[가-힣]{2,4}[ ]?님)"
    r"[가-힣]"
)
_ORIGINAL_PREFIX = re.compile(
    r"\(?원거래(?:일자?)?[ :]{0,2}$|최초[ ]?승인일?[ :]{0,2}$"
)


@dataclass(frozen=True, slots=True)
class TimestampMatch:
    """A printed day, with its time where one stands beside it."""

    month: int
    day: int
    year: int | None
    time: time | None
    span: tuple[int, int]
    is_original: bool = False
    """It is the day of the approval, named by a cancellation."""
    has_printed_time: bool = False
    """A time is printed, possible (13:05) or not (24:05)."""


def find_timestamps(text: str) -> list[TimestampMatch]:
    """All days of the text in order; what cannot be a day of a year is left out."""
    moments = []
    for match in _TIMESTAMP.finditer(text):
        moment = _to_timestamp_match(match)
        if moment is not None:
            moments.append(moment)
    return moments


def _to_timestamp_match(match: re.Match[str]) -> TimestampMatch | None:
    groups = match.groupdict()
    month = int(groups["month_full"] or groups["month"] or groups["month_dot"])
    day = int(groups["day_full"] or groups["day"] or groups["day_dot"])
    if not _is_valid_day(month, day) or _RANGE_SUFFIX.match(match.string, match.end()):
        return None
    if not groups["hour"] and _WORD_CONTINUES.match(match.string, match.end()):
        return None
    year = groups["year"] and 2000 + int(groups["year"][-2:])
    end = match.end()
    original = _ORIGINAL_SUFFIX.match(match.string, end)
    if original and not groups["hour"]:
        end = original.end()
    before = match.string[max(0, match.start() - 10) : match.start()]
    named = None
    if "거래" in before or "승인" in before:
        named = _ORIGINAL_PREFIX.search(before)
    is_original = end > match.end() or named is not None
    start = match.start() - (len(before) - named.start() if named else 0)
    return TimestampMatch(
        month,
        day,
        year or None,
        parse_time(match),
        (start, end),
        is_original,
        bool(groups["hour"]),
    )


def find_standalone_time(text: str) -> tuple[tuple[int, int], time | None] | None:
    """The first time apart from any day that opens no name (12:30 브런치)."""
    for match in _STANDALONE_TIME.finditer(text):
        if not _NAME_FOLLOWS.match(text, match.end()):
            return match.span(), parse_time(match)
    return None


def parse_time(match: re.Match[str]) -> time | None:
    """The clock of a match; None where there is none or it cannot be (24:05)."""
    if not match["hour"]:
        return None
    hour = int(match["hour"])
    minute = int(match["minute"] or match["minute_word"])
    half = (match["half"] or match["half_after"] or "").lower()
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half in {"pm", "오후"} else 0)
    if hour > 23 or minute > 59:
        return None
    return time(hour, minute)


def _is_valid_day(month: int, day: int) -> bool:
    """Whether the day exists in some year."""
    return make_date(2000, month, day) is not None


def make_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def resolve_date(moment: TimestampMatch, received_at: datetime) -> date | None:
    """The day of a moment: of its own year, else the last such day before receipt.

    That lies in the past 12 months (spec 4.2), but for 29
    February, which is looked for back to the last leap year. None for a day that its
    printed year does not have, or that is not yet.
    """
    if moment.year is not None:
        return _date_unless_future(moment.year, moment, received_at)
    received = received_at.date()
    for year in range(received.year + 1, received.year - LEAP_CYCLE_YEARS, -1):
        day = _date_unless_future(year, moment, received_at)
        if day is not None:
            return day
    return None


def _date_unless_future(
    year: int, moment: TimestampMatch, received_at: datetime
) -> date | None:
    if not 1 <= year <= date.max.year:
        return None
    day = make_date(year, moment.month, moment.day)
    if day is None:
        return None
    ahead = day.toordinal() - received_at.toordinal() - MAX_FUTURE_OFFSET.days
    if ahead > 0 or (ahead == 0 and moment.time and moment.time > received_at.time()):
        return None
    return day


def to_datetime(day: date, clock: time, received_at: datetime) -> datetime:
    """The moment in the home zone, which is that of `received_at`."""
    return datetime.combine(day, clock, tzinfo=received_at.tzinfo)
