"""Decides what a Korean message says, once its parts are told."""

import re

from ledger.notifications import refusals
from ledger.notifications.draft import Draft, Source, build
from ledger.notifications.heads import title_above
from ledger.notifications.issuer import Issuer
from ledger.notifications.issuers import issuer_of_sender
from ledger.notifications.masking import Reading, read
from ledger.notifications.merchants import Run, find_merchant
from ledger.notifications.money import WON, Money, read_number
from ledger.notifications.parsed import Kind, Parsed, Reason, refuse
from ledger.notifications.signals import (
    BESIDE_RANK,
    GLUED_RANK,
    IS_PARTIAL,
    Signal,
    decide,
)
from ledger.notifications.skeleton import AMOUNT, MONTHS, SIGNAL
from ledger.notifications.times import Moment

_OVERSEAS = re.compile("해외|국외")
_PAIR = re.compile(rf"{AMOUNT}[ ]?[/(=≒][ ]?약?[ ]?$")
_FIRST_SIGNS = re.compile(rf"[ /|·,.()\-]{{0,4}}[{SIGNAL}{MONTHS}]")
_CARD_CANCEL = re.compile("승인[ ]?취소|매[출입][ ]?취소")
_PAYS_AND_SO_ON = re.compile("사용|이용|결제")


def parse_korean(source: Source, sender: str) -> Parsed:
    """The answer for a text with Korean words."""
    text = source.plain.text
    if refusals.OPT_OUT.search(text):
        return refuse(Reason.ADVERT)
    reading = read(text)
    money, home = choose_money(reading)
    signal = decide(reading.signals)
    refusal = refuse_reading(text, reading, money, signal, sender)
    if refusal:
        return refuse(refusal)
    draft = draft_of(text, reading, money, home, signal, sender)
    return build(draft, source)


def choose_money(reading: Reading) -> tuple[Money | None, Money | None]:
    """What was paid, and the same in won where a foreign payment prints both.

    Of several the one beside the signal or the months wins, else the first.
    """
    won = _nearest(reading.won, reading.skeleton.text)
    foreign = _nearest(reading.foreign, reading.skeleton.text)
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


def _nearest(amounts: list[Money], text: str) -> Money | None:
    for money in amounts:
        if _FIRST_SIGNS.match(text, money.span[1]):
            return money
    return amounts[0] if amounts else None


def is_settled(reading: Reading, money: Money | None, signal: Signal | None) -> bool:
    """Whether a signal glued to a head, an amount and one more part leave no doubt."""
    if money is None or signal is None:
        return False
    if "체크카드출금" in reading.source.replace(" ", ""):
        return True
    word = _word(reading, signal)
    if signal.rank > GLUED_RANK or _PAYS_AND_SO_ON.fullmatch(word):
        return False
    named = reading.head is not None or reading.digits is not None
    return named and bool(
        reading.moments or reading.total or has_months(reading) or reading.digits
    )


def has_months(reading: Reading) -> bool:
    return MONTHS in reading.skeleton.text


def is_detailed(reading: Reading, money: Money | None) -> bool:
    """Whether a card, an amount and a day, a total or months stand together."""
    if money is None:
        return False
    if reading.digits is not None:
        return bool(reading.moments or reading.total or has_months(reading))
    firm = reading.head is not None and reading.head.is_firm
    return firm and bool(reading.moments) and bool(reading.total or has_months(reading))


def refuse_reading(
    text: str,
    reading: Reading,
    money: Money | None,
    signal: Signal | None,
    sender: str,
) -> Reason | None:
    """The reason why nothing is recorded, or None for a payment or a decline."""
    detailed = is_detailed(reading, money)
    settled = is_settled(reading, money, signal)
    if refusals.ADVERT_MARK.match(text) and not (detailed and has_clock(reading)):
        return Reason.ADVERT
    if settled:
        return None
    if is_decline(reading, money, signal):
        return None
    if refusals.PASSWORD.search(text) and not (detailed and signal):
        return Reason.ONE_TIME_PASSWORD
    weak = refusals.refuse_weak(
        _without_merchant(reading, money, signal, is_detailed=detailed),
        is_detailed=detailed,
        is_approved=signal is not None and "승인" in _word(reading, signal),
    )
    if weak or money is None:
        return weak or Reason.NO_PAYMENT
    return (
        None
        if _is_payment(text, reading, signal, sender, detailed)
        else Reason.NO_PAYMENT
    )


def is_decline(reading: Reading, money: Money | None, signal: Signal | None) -> bool:
    """Whether a decline is told of an amount, or at least beside a card."""
    if signal is None or signal.kind is not Kind.DECLINED:
        return False
    return money is not None or bool(reading.head and signal.rank <= BESIDE_RANK)


def has_clock(reading: Reading) -> bool:
    return any(moment.has_clock for moment in reading.moments)


def _without_merchant(
    reading: Reading, money: Money | None, signal: Signal | None, *, is_detailed: bool
) -> str:
    """What is searched for words of refusal: no merchant, where a signal is sure."""
    if signal is None or not (is_detailed or signal.rank <= BESIDE_RANK):
        return reading.source
    run = find_run(reading, money)
    if run is None:
        return reading.source
    return f"{reading.source[: run.start]}\n{reading.source[run.end :]}"


def _is_payment(
    text: str, reading: Reading, signal: Signal | None, sender: str, detailed: bool
) -> bool:
    if signal is None or (reading.is_bare and not (reading.head or reading.digits)):
        return detailed and signal is None
    named = reading.head is not None or bool(sender and issuer_of_sender(sender))
    if named or reading.digits is not None:
        return True
    if refusals.LINK.search(text) or refusals.ABROAD_SENDER.search(text):
        return False
    if refusals.ORDER.search(text):
        return False
    if signal.kind is Kind.CANCELLATION:
        return bool(_CARD_CANCEL.search(text)) or signal.rank <= BESIDE_RANK
    return True


def choose_moment(reading: Reading) -> tuple[Moment | None, Moment | None]:
    """The day of the message, and the day of the approval that it names."""
    own = [moment for moment in reading.moments if not moment.is_original]
    named = [moment for moment in reading.moments if moment.is_original]
    timed = [moment for moment in own if moment.has_clock]
    first = (timed or own)[0] if own else None
    return first, named[0] if named else None


def find_run(reading: Reading, money: Money | None) -> Run | None:
    moment, _ = choose_moment(reading)
    anchor = moment.span[1] if moment else money.span[1] if money else 0
    overseas = bool(reading.foreign) or bool(_OVERSEAS.search(reading.source))
    run = find_merchant(reading.skeleton.text, anchor, is_overseas=overseas)
    if run is None and reading.head is not None:
        title = title_above(reading.heads, reading.head, reading.source)
        if title is not None and title.is_app:
            start, end = title.span
            return Run(start, end, reading.source[start:end])
    return run


def draft_of(
    text: str,
    reading: Reading,
    money: Money | None,
    home: Money | None,
    signal: Signal | None,
    sender: str,
) -> Draft:
    """The parts of the payment, ready to become the answer."""
    kind = signal.kind if signal else Kind.APPROVAL
    issuer: Issuer | None = reading.head.issuer if reading.head else None
    moment, original = choose_moment(reading)
    if kind is Kind.CANCELLATION and original is None and _names_a_use(reading, signal):
        original = moment
    run = find_run(reading, money)
    months = reading.months
    return Draft(
        kind=kind,
        kind_span=signal.span if signal else None,
        issuer=issuer or issuer_of_sender(sender),
        issuer_span=reading.head.span if reading.head else None,
        hint_span=reading.digits or reading.product or reading.nickname,
        is_check=reading.is_check,
        money=money,
        home=home,
        merchant_span=(run.start, run.end) if run else None,
        months=int(months[months.lastgroup or 0]) if months else None,
        months_span=months.span() if months else None,
        moment=moment,
        clock=reading.clock,
        clock_span=reading.clock_span,
        original=original,
        is_partial=bool(IS_PARTIAL.search(text)),
        total=_sum_of(reading.total),
        total_span=reading.total.span() if reading.total else None,
        balance=_sum_of(reading.balance),
    )


def _sum_of(match: re.Match[str] | None) -> int | None:
    return int(read_number(match["number"])) if match else None


def _names_a_use(reading: Reading, signal: Signal | None) -> bool:
    """09/12 나래몰 사용 57,000원 취소: the day is that of the use."""
    if signal is None or has_clock(reading):
        return False
    return any(
        each.kind is Kind.APPROVAL and each.span < signal.span
        for each in reading.signals
    )
