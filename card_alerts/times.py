"""Find dates and times, and resolve their years."""

import re
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import NamedTuple

from card_alerts.patterns import pattern
from card_alerts.result import Span

# The sender's clock or time zone may be ahead.
MAX_FUTURE_OFFSET = timedelta(days=1)

MAX_TIMESTAMPS = 60

# A 29 February comes within eight years, around 2100 too.
LEAP_CYCLE_YEARS = 8

_TIME = r"""
    (?:(?P<half>오전|오후|午前|午後|[AaPp][Mm])[ ]?)?(?P<hour>\d{1,2})
    (?:
        :(?P<minute>\d{2})(?::\d{2})?
        | [시時][ ]?(?P<minute_word>\d{1,2})[분分](?:[ ]?\d{1,2}초)?
    )(?!\d)
    (?:[ ]?(?P<half_after>[AaPp][Mm])(?![A-Za-z]))?
"""
_DAY = r"""
    (?:
        (?P<year_joined>20\d\d)(?P<month_joined>[01]\d)(?P<day_joined>[0-3]\d)
        (?=[ ]\d{1,2}:\d\d)
        | (?P<year>20\d\d|\d\d)[-./년年][ ]?(?P<month_full>\d{1,2})[-./월月][ ]?
          (?P<day_full>\d{1,2})(?!\d|:)(?:[일日]|\.(?!\d))?
        | (?P<month>\d{1,2})(?:/|[월月][ ]?)(?P<day>\d{1,2})(?!\d|:|%|[.]\d)[일日]?
        | (?P<month_dot>\d{1,2})[.-](?P<day_dot>\d{1,2})
          (?=[ ,/(]{1,2}[가-힣)]{0,3}[ ]?\d{1,2}:\d\d)
    )
"""
_TIMESTAMP = pattern(
    rf"""
    (?=\d)(?<![\d~*-])(?<!\d,)(?<!\d[./]){_DAY}
    (?:[ ]?\([월화수목금토일月火水木金土日]\)|[ ]?[월화수목금토일]요일)?
    (?:
        (?:[ ,./:T|]{{0,4}}|[ ]{{1,12}}|[ ]-[ ]|[ ]?\n[ ]?(?!\d{{1,2}}:\d\d[ ][가-힣]))
        {_TIME}
    )?
    """,
    example="11/09 구름가구",
)
_STANDALONE_TIME = pattern(
    rf"(?=[\d오午AaPp])(?<![\d:.,*-]){_TIME}(?![:\d])", example="21:00 심야식당"
)
_ORIGINAL_SUFFIX = pattern(
    r"""
    [ ]?(?:일자?[ ]?)?(?:에[ ]?)?(?:이용|사용|승인|결제|거래|매출)
    (?:[ ]?(?:\d{1,3}[ ]?)?(?:건|분|내역)(?:[이을의은]|에)?(?![가-힣])|[ ]?(?=\)))
    """,
    example="10/29거래 2건",
)
# 10월31일기준: the day of a collected payment
_AS_OF = pattern(r"[ ]?기준(?![가-힣])", example="11/20 14:02 기준")
_RANGE_SUFFIX = pattern(
    r"[ ]?(?:까지|부터|~|∼|마감|소멸)|-\d", example="11/30 소멸예정"
)
# 7/11편의점 is a merchant.
_WORD_CONTINUES = pattern(
    r"""
    (?!
        접수 | 사용 | 이용 | 승인 | 취소 | 결제 | 일시불 | 거래 | 매출 | 출금 | 자
        | 일자 | 건 | 분 | 에
        | 기준(?![가-힣])
        | [가-힣]{1,2}\*
    )[가-힣]
    """,
    example="11/25입니다",
)
_NAME_FOLLOWS = pattern(
    r"""
    [ ](?!승인|사용|이용|취소|결제|일시불|체크|[가-힣]{1,2}\*|[가-힣]{2,4}[ ]?님)[가-힣]
    """,
    example="21:00 심야식당",
)
_ORIGINAL_PREFIX = pattern(
    r"\(?원거래(?:일자?)?[ :]{0,2}$|최초[ ]?승인일?[ :]{0,2}$",
    example="나무찻집 (원거래 ",
)


class TimestampMatch(NamedTuple):
    month: int
    day: int
    year: int | None
    # An impossible time (24:05) is None too.
    time: time | None
    span: Span
    is_original: bool = False
    has_printed_time: bool = False


def find_timestamps(text: str) -> list[TimestampMatch]:
    found = []
    for match in islice(_TIMESTAMP.finditer(text), MAX_TIMESTAMPS):
        start, end = match.span()
        year, month, day = _printed_day(match)
        # 2000 is a leap year.
        if make_date(2000, month, day) is None or _RANGE_SUFFIX.match(text, end):
            continue
        has_time = bool(match["hour"])
        if not has_time and _WORD_CONTINUES.match(text, end):
            continue
        # 12/14 이용건, 원거래 12/14: the date of the approval
        is_original = False
        suffix = None if has_time else _ORIGINAL_SUFFIX.match(text, end)
        if suffix:
            end, is_original = suffix.end(), True
        as_of = _AS_OF.match(text, end) if "기준" in text else None
        end = as_of.end() if as_of else end
        before = text[max(0, start - 10) : start]
        if "거래" in before or "승인" in before:
            prefix = _ORIGINAL_PREFIX.search(before)
            if prefix:
                start, is_original = start - (len(before) - prefix.start()), True
        found.append(
            TimestampMatch(
                month,
                day,
                year,
                _parse_time(match),
                (start, end),
                is_original,
                has_time,
            )
        )
    return found


def _printed_day(match: re.Match[str]) -> tuple[int | None, int, int]:
    if match["month"]:
        return None, int(match["month"]), int(match["day"])
    if match["month_dot"]:
        return None, int(match["month_dot"]), int(match["day_dot"])
    kind = "joined" if match["year_joined"] else "full"
    year = match["year_joined"] or match["year"]
    month, day = match[f"month_{kind}"], match[f"day_{kind}"]
    return 2000 + int(year[-2:]), int(month), int(day)


def find_standalone_time(text: str) -> tuple[Span, time | None] | None:
    """Return the first time that begins no name (12:30 브런치)."""
    for match in _STANDALONE_TIME.finditer(text):
        if not _NAME_FOLLOWS.match(text, match.end()):
            return match.span(), _parse_time(match)
    return None


def _parse_time(match: re.Match[str]) -> time | None:
    """Return None for an impossible time (24:05)."""
    if not match["hour"]:
        return None
    hour = int(match["hour"])
    minute = int(match["minute"] or match["minute_word"])
    half = (match["half"] or match["half_after"] or "").lower()
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half in {"pm", "오후", "午後"} else 0)
    if hour > 23 or minute > 59:
        return None
    return time(hour, minute)


def make_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def resolve_date(timestamp: TimestampMatch, received_at: datetime) -> date | None:
    """Return the date in its printed year, else the last such day before receipt.

    None for a day that does not exist or lies in the future.
    """
    this_year = received_at.year
    years: Iterable[int] = range(this_year + 1, this_year - LEAP_CYCLE_YEARS, -1)
    if timestamp.year is not None:
        years = [timestamp.year]
    for year in years:
        day = make_date(year, timestamp.month, timestamp.day)
        if day is None:
            continue
        days_ahead = day.toordinal() - received_at.toordinal() - MAX_FUTURE_OFFSET.days
        is_later = timestamp.time is not None and timestamp.time > received_at.time()
        if days_ahead < 0 or (days_ahead == 0 and not is_later):
            return day
    return None
