"""Find 일시불 and the number of months of a Korean message."""

import re

from card_alerts.masked_text import RUNNING_TOTAL, TIMESTAMP
from card_alerts.patterns import pattern

_HAS_INSTALLMENTS = pattern(r"일시불|개월|할부", example="5,700원(일시불)")
_WORDS = ("일시불", "개월", "할부")
# Before the first word, and behind the last one.
MAX_LEAD_LENGTH, MAX_TAIL_LENGTH = 20, 28
_INSTALLMENTS = pattern(
    r"""
    [\[(]?[ ]?
    (?:
        (?:할부[ ]?[:]?[ ]?)?일시불
        | (?:(?:유이자|부분무이자|무이자|할부|\(무\)|\(유\)|무|유)[ ]?[:(/]?[ ]?)?
          (?<!\d)0?(?P<a>\d{1,2})[ ]?개월(?:[ ]?(?:무이자|할부|유이자))?
        | 할부[ ]?(?:개월(?:수)?|기간)?[ ]?[:(/][ ]?0?(?P<b>\d{1,2})(?!\d)(?:[ ]?개월)?
    )[ ]?[\])]?(?![가-힣]|[ ]?(?:사진|아기))
    | [\[(]?(?:일시불|(?P<c>\d{1,2})개월)[ ]?[\])]?
      (?=승인|취소|결제|체크|거절|누적|[가-힣]\*)
    """,
    example="58,000원 2개월",
    initials=r"\d (\[무부유일할",
)
_NAME_FOLLOWS = pattern(
    r"""
    [ ](?!승인|취소|결제|사용|이용|체크|누적|[가-힣]{1,2}\*|[가-힣]{2,4}[ ]?님)
    [가-힣A-Za-z]
    """,
    example="3개월 체형관리",
)
# Before months that begin a name (3개월 체형관리).
_BEFORE_NAME = {"", "\n", TIMESTAMP, RUNNING_TOTAL, ":", "|", "님"}


def find_installments(text: str) -> list[re.Match[str]]:
    """Prefer other terms to months before a name (3개월 체형관리)."""
    word = _HAS_INSTALLMENTS.search(text)
    if word is None:
        return []
    likely, unlikely = [], []
    first = max(0, word.start() - MAX_LEAD_LENGTH)
    last = max(map(text.rfind, _WORDS)) + MAX_TAIL_LENGTH
    for match in _INSTALLMENTS.finditer(text, first, last):
        if match["c"] or not _NAME_FOLLOWS.match(text, match.end()):
            likely.append(match)
            continue
        before = text[: match.start()].rstrip(" ")[-1:]
        if before not in _BEFORE_NAME:
            unlikely.append(match)
    return likely or unlikely
