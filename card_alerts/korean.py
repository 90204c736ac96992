"""Decides what a Korean message says, once its parts are told."""

import re

from card_alerts import rejection_rules
from card_alerts.candidate import Draft, Source, build
from card_alerts.classifier import Case, find_refusal
from card_alerts.issuer import Issuer
from card_alerts.issuer_match import title_above
from card_alerts.issuers import issuer_of_sender
from card_alerts.masked_text import AMOUNT, MONTHS, SIGNAL
from card_alerts.merchant_span import widen
from card_alerts.merchants import Run, find_merchant, trim_place
from card_alerts.money import WON, Money, read_number
from card_alerts.result import Kind, Parsed, Reason, refuse
from card_alerts.status_keywords import IS_PARTIAL, NAME_FOLLOWS, Signal, decide
from card_alerts.times import Moment
from card_alerts.tokenizer import Reading, read

_OVERSEAS = re.compile("해외|국외")
_PAIR = re.compile(rf"{AMOUNT}[ ]?[/(=≒][ ]?약?[ ]?$")
_DASHED_LINE = re.compile(r"(?:^|\n)[ ]?-")
_FIRST_SIGNS = re.compile(rf"[ /|·,.()\-]{{0,4}}[{SIGNAL}{MONTHS}]")


def parse_korean(source: Source, sender: str) -> Parsed:
    """The answer for a text with Korean words."""
    text = source.plain.text
    if rejection_rules.is_opt_out_call(text):
        return refuse(Reason.ADVERT)
    reading = read(text)
    money, home = choose_money(reading)
    signal = decide(reading.signals)
    if signal and is_first_word(reading, signal):
        signal = None
    moment, original = choose_moment(reading)
    run = find_run(reading, money, home, signal, moment)
    case = Case(reading, money, signal, run, sender)
    refusal = find_refusal(case)
    if refusal:
        return refuse(refusal)
    if kind_of(case) is Kind.CANCELLATION and original is None and names_a_use(case):
        moment, original = None, moment
    return build(draft_of(case, home, moment, original), source)


def choose_money(reading: Reading) -> tuple[Money | None, Money | None]:
    """What was paid, and the same in won where a foreign payment prints both.

    Of several the one beside the signal or the months wins, else the first.
    """
    won = _nearest(reading.won, reading.skeleton.text)
    foreign = _nearest(reading.foreign, reading.skeleton.text)
    if foreign and won and _opens_name(reading.skeleton.text, won):
        won = None
    if foreign is None or won is None:
        return foreign or won, None
    if foreign.currency == WON:
        return foreign, None
    before = reading.skeleton.text[max(0, won.span[0] - 6) : won.span[0]]
    if _PAIR.search(before) or _OVERSEAS.search(reading.skeleton.text):
        return foreign, won
    overseas = any("해외" in _word(reading, signal) for signal in reading.signals)
    return (foreign, won) if overseas or foreign.span < won.span else (won, None)


def _word(reading: Reading, signal: Signal) -> str:
    return reading.source[signal.span[0] : signal.span[1]]


def _opens_name(text: str, won: Money) -> bool:
    """5000원 국밥, unless it is the pair of the foreign amount before it."""
    before = text[max(0, won.span[0] - 6) : won.span[0]]
    return bool(NAME_FOLLOWS.match(text, won.span[1])) and not _PAIR.search(before)


def _nearest(amounts: list[Money], text: str) -> Money | None:
    if len(amounts) < 2:
        return amounts[0] if amounts else None
    for money in amounts:
        if _FIRST_SIGNS.match(text, money.span[1]):
            return money
    steady = [each for each in amounts if not NAME_FOLLOWS.match(text, each.span[1])]
    return (steady or amounts)[0]


def is_first_word(reading: Reading, signal: Signal) -> bool:
    """한도초과 노래방: a reason of decline, but the message is complete without it."""
    if signal.kind is not Kind.DECLINED or not signal.is_loose:
        return False
    named = reading.digits or (reading.head and reading.head.is_firm)
    return bool(named and reading.moments and (reading.total or reading.has_months))


def choose_moment(reading: Reading) -> tuple[Moment | None, Moment | None]:
    """The day of the message, and the day of the approval that it names."""
    own = [moment for moment in reading.moments if not moment.is_original]
    named = [moment for moment in reading.moments if moment.is_original]
    timed = [moment for moment in own if moment.has_clock]
    if not timed and len(own) > 1:
        text = reading.skeleton.text
        timed = [day for day in own if not NAME_FOLLOWS.match(text, day.span[1])]
    first = (timed or own)[0] if own else None
    return first, named[0] if named else None


def find_run(
    reading: Reading,
    money: Money | None,
    home: Money | None,
    signal: Signal | None,
    moment: Moment | None,
) -> Run | None:
    """The merchant, with what looked like a field but belongs to its name."""
    if reading.place:
        return trim_place(reading.source, *reading.place)
    anchor = moment.span[1] if moment else money.span[1] if money else 0
    overseas = bool(reading.foreign) or bool(_OVERSEAS.search(reading.source))
    run = find_merchant(reading.skeleton.text, anchor, is_overseas=overseas)
    if run is not None:
        return widen(run, reading, {money, home}, signal, moment)
    if reading.head is None:
        return None
    title = title_above(reading.heads, reading.head, reading.source)
    if title is None or not title.is_app:
        return None
    start, end = title.span
    return Run(start, end, reading.source[start:end])


def draft_of(
    case: Case, home: Money | None, moment: Moment | None, original: Moment | None
) -> Draft:
    """The parts of the payment, ready to become the answer."""
    reading, signal, run = case.reading, case.signal, case.run
    head, months, kind = reading.head, reading.months, kind_of(case)
    rest = run.cut_from(reading.source) if run else reading.source
    return Draft(
        kind=kind,
        kind_span=signal.span if signal else None,
        issuer=_issuer(case),
        issuer_span=head.span if head else None,
        hint_span=reading.digits or reading.product or reading.nickname,
        is_check=reading.is_check,
        money=case.money,
        home=home,
        merchant_span=(run.start, run.end) if run else None,
        months=int(months[months.lastgroup or 0]) if months else None,
        months_span=months.span() if months else None,
        moment=moment,
        clock=reading.clock,
        original=original,
        is_partial=kind is Kind.CANCELLATION and bool(IS_PARTIAL.search(rest)),
        total=_sum_of(reading.total),
        total_span=reading.total.span() if reading.total else None,
        balance=_sum_of(reading.balance),
    )


def kind_of(case: Case) -> Kind:
    """What happened; a card's approval of less than nothing takes one back.

    A minus beside an account's booking (출금 -5,000) only says where money went, and
    lines that all begin with one are a list.
    """
    kind = case.signal.kind if case.signal else Kind.APPROVAL
    if kind is not Kind.APPROVAL or case.money is None or not case.money.is_minus:
        return kind
    reading = case.reading
    if len(_DASHED_LINE.findall(reading.source)) > 1:
        return kind
    is_card = reading.head is not None and not reading.head.is_app
    is_booking = not is_card or reading.is_check or reading.balance is not None
    return kind if is_booking or "승인" not in case.word else Kind.CANCELLATION


def _issuer(case: Case) -> Issuer | None:
    """That of the head; of the sender where there is none, or it may be a shop's."""
    head, sender = case.reading.head, issuer_of_sender(case.sender)
    if head is None or (head.goes_on and sender and not sender.pay_service):
        return sender
    return head.issuer


def _sum_of(match: re.Match[str] | None) -> int | None:
    return int(read_number(match["number"])) if match else None


def names_a_use(case: Case) -> bool:
    """09/12 나래몰 사용 57,000원 취소: the day is that of the use."""
    signal = case.signal
    if signal is None or case.has_clock:
        return False
    return any(
        each.kind is Kind.APPROVAL and each.span < signal.span and not each.is_loose
        for each in case.reading.signals
    )
