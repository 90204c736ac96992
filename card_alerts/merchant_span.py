"""What looked like a field of a Korean message but belongs to the shop's name.

Shops are called 11/11 선물샵, 5000원 국밥, 승인 카페 and 하나은행 앞 분식. A day, an
amount, a signal or an issuer that nothing used belongs to the name that it touches.
"""

from card_alerts.candidate import Span
from card_alerts.masked_text import AMOUNT, SIGNS
from card_alerts.merchants import Run
from card_alerts.money import Money
from card_alerts.status_keywords import GLUED_RANK, Signal
from card_alerts.times import Moment
from card_alerts.tokenizer import Reading

MOST_PARTS = 4
"""Parts that a name may begin with; 12월 31일 호프 begins with one."""


def widen(
    run: Run,
    reading: Reading,
    used: set[Money | None],
    signal: Signal | None,
    moment: Moment | None,
) -> Run:
    """The run with the unused parts that stand right before it."""
    text = reading.skeleton.text
    before = text[max(0, run.start - 3) : run.start].rstrip(" ")[-1:]
    if before not in SIGNS:
        return run
    parts = [
        *_unused_days(reading, moment),
        *_unused_amounts(reading, used),
        *_unused_signals(reading, signal),
        *_unused_heads(reading, run),
    ]
    start = run.start
    for _ in range(MOST_PARTS):
        part = next((each for each in parts if _touches(text, each[1], start)), None)
        if part is None:
            break
        start = part[0]
    return Run(start, run.end, reading.source[start : run.end])


def _touches(text: str, end: int, start: int) -> bool:
    """Whether nothing, or a blank or two, lies between a part and what follows it."""
    return end <= start <= end + 2 and not text[end:start].strip(" ")


def _unused_days(reading: Reading, chosen: Moment | None) -> list[Span]:
    return [
        each.span
        for each in reading.moments
        if each is not chosen and not each.is_original
    ]


def _unused_amounts(reading: Reading, used: set[Money | None]) -> list[Span]:
    amounts = (*reading.won, *reading.foreign)
    return [each.span for each in amounts if each not in used]


def _unused_signals(reading: Reading, chosen: Signal | None) -> list[Span]:
    """Not what stands behind the amount, unless the deciding word comes later."""
    text = reading.skeleton.text
    return [
        each.span
        for each in reading.signals
        if each.is_loose
        and each is not chosen
        and (
            chosen is None
            or chosen.rank == GLUED_RANK
            or chosen.span > each.span
            or text[: each.span[0]].rstrip(" ")[-1:] != AMOUNT
        )
    ]


def _unused_heads(reading: Reading, run: Run) -> list[Span]:
    """Names of issuers that open the line of which the run is the rest."""
    rest = reading.skeleton.text[run.end : run.end + 3].lstrip(" ")
    if rest and rest[0] != "\n":
        return []
    return [
        each.span for each in reading.heads if each is not reading.head and each.goes_on
    ]
