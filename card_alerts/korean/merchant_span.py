"""What looked like a field of a Korean message but belongs to the shop's name.

Shops are called 11/11 선물샵, 5000원 국밥, 승인 카페 and 하나은행 앞 분식. A day, an
amount, a signal or an issuer that nothing used belongs to the name that it touches.
"""

from card_alerts.result import Span
from card_alerts.korean.merchants import MerchantSpan
from card_alerts.korean.status_keywords import RANK_ATTACHED, StatusKeyword
from card_alerts.korean.tokenizer import TokenizedMessage
from card_alerts.masked_text import AMOUNT, PLACEHOLDERS
from card_alerts.money import MoneyMatch
from card_alerts.times import TimestampMatch

# Parts that a name may begin with; 12월 31일 호프 begins with one.
MAX_PREFIX_PARTS = 4


def extend_merchant_span(
    run: MerchantSpan,
    reading: TokenizedMessage,
    used: set[MoneyMatch | None],
    signal: StatusKeyword | None,
    moment: TimestampMatch | None,
) -> MerchantSpan:
    """The run with the unused parts that stand right before it."""
    text = reading.masked.text
    before = text[max(0, run.start - 3) : run.start].rstrip(" ")[-1:]
    if before not in PLACEHOLDERS:
        return run
    parts = [
        *_unused_timestamps(reading, moment),
        *_unused_amounts(reading, used),
        *_unused_keywords(reading, signal),
        *_unused_issuer_matches(reading, run),
    ]
    start = run.start
    for _ in range(MAX_PREFIX_PARTS):
        part = next(
            (each for each in parts if _is_adjacent(text, each[1], start)), None
        )
        if part is None:
            break
        start = part[0]
    return MerchantSpan(start, run.end, reading.text[start : run.end])


def _is_adjacent(text: str, end: int, start: int) -> bool:
    """Whether nothing, or a blank or two, lies between a part and what follows it."""
    return end <= start <= end + 2 and not text[end:start].strip(" ")


def _unused_timestamps(
    reading: TokenizedMessage, chosen: TimestampMatch | None
) -> list[Span]:
    return [
        each.span
        for each in reading.timestamps
        if each is not chosen and not each.is_original
    ]


def _unused_amounts(
    reading: TokenizedMessage, used: set[MoneyMatch | None]
) -> list[Span]:
    amounts = (*reading.won_amounts, *reading.foreign_amounts)
    return [each.span for each in amounts if each not in used]


def _unused_keywords(
    reading: TokenizedMessage, chosen: StatusKeyword | None
) -> list[Span]:
    """Not what stands behind the amount, unless the deciding word comes later."""
    text = reading.masked.text
    return [
        each.span
        for each in reading.keywords
        if each.is_weak
        and each is not chosen
        and (
            chosen is None
            or chosen.rank == RANK_ATTACHED
            or chosen.span > each.span
            or text[: each.span[0]].rstrip(" ")[-1:] != AMOUNT
        )
    ]


def _unused_issuer_matches(reading: TokenizedMessage, run: MerchantSpan) -> list[Span]:
    """Names of issuers that open the line of which the run is the rest."""
    rest = reading.masked.text[run.end : run.end + 3].lstrip(" ")
    if rest and rest[0] != "\n":
        return []
    return [
        each.span
        for each in reading.issuer_matches
        if each is not reading.issuer_match and each.has_following_word
    ]
