"""Decides what a Korean message says, once its parts are told."""

import re

from card_alerts.candidate import PaymentCandidate, SourceText, build_result
from card_alerts.issuer import Issuer
from card_alerts.issuers import find_issuer_by_sender
from card_alerts.korean import rejection_rules
from card_alerts.korean.classifier import MessageEvidence, rejection_reason
from card_alerts.korean.issuer_match import find_heading_above
from card_alerts.korean.merchant_span import extend_merchant_span
from card_alerts.korean.merchants import (
    MerchantSpan,
    find_merchant,
    trim_labeled_merchant,
)
from card_alerts.korean.status_keywords import (
    PARTIAL_CANCELLATION,
    WORD_FOLLOWS,
    StatusKeyword,
    choose_keyword,
)
from card_alerts.korean.tokenizer import TokenizedMessage, tokenize
from card_alerts.masked_text import AMOUNT, INSTALLMENT, KEYWORD
from card_alerts.money import WON, MoneyMatch, parse_number
from card_alerts.result import Kind, ParseResult, Reason, rejected
from card_alerts.times import TimestampMatch

_OVERSEAS = re.compile("해외|국외")
_HOME_AMOUNT_PREFIX = re.compile(rf"{AMOUNT}[ ]?[/(=≒][ ]?약?[ ]?$")
_DASHED_LINE = re.compile(r"(?:^|\n)[ ]?-")
_FOLLOWED_BY_STATUS = re.compile(rf"[ /|·,.()\-]{{0,4}}[{KEYWORD}{INSTALLMENT}]")


def parse_korean(source: SourceText, sender: str) -> ParseResult:
    """The answer for a text with Korean words."""
    text = source.normalized.text
    if rejection_rules.has_opt_out_number(text):
        return rejected(Reason.ADVERT)
    reading = tokenize(text)
    money, home = choose_amounts(reading)
    signal = choose_keyword(reading.keywords)
    if signal and is_part_of_merchant_name(reading, signal):
        signal = None
    moment, original = choose_timestamps(reading)
    run = find_merchant_span(reading, money, home, signal, moment)
    case = MessageEvidence(reading, money, signal, run, sender)
    refusal = rejection_reason(case)
    if refusal:
        return rejected(refusal)
    if (
        resolve_kind(case) is Kind.CANCELLATION
        and original is None
        and has_usage_keyword(case)
    ):
        moment, original = None, moment
    return build_result(build_candidate(case, home, moment, original), source)


def choose_amounts(
    reading: TokenizedMessage,
) -> tuple[MoneyMatch | None, MoneyMatch | None]:
    """What was paid, and the same in won where a foreign payment prints both.

    Of several the one beside the signal or the months wins, else the first.
    """
    won = _nearest_amount(reading.won_amounts, reading.masked.text)
    foreign = _nearest_amount(reading.foreign_amounts, reading.masked.text)
    if foreign and won and _is_name_prefix(reading.masked.text, won):
        won = None
    if foreign is None or won is None:
        return foreign or won, None
    if foreign.currency == WON:
        return foreign, None
    before = reading.masked.text[max(0, won.span[0] - 6) : won.span[0]]
    if _HOME_AMOUNT_PREFIX.search(before) or _OVERSEAS.search(reading.masked.text):
        return foreign, won
    overseas = any(
        "해외" in _keyword_text(reading, signal) for signal in reading.keywords
    )
    return (foreign, won) if overseas or foreign.span < won.span else (won, None)


def _keyword_text(reading: TokenizedMessage, signal: StatusKeyword) -> str:
    return reading.text[signal.span[0] : signal.span[1]]


def _is_name_prefix(text: str, won: MoneyMatch) -> bool:
    """5000원 국밥, unless it is the pair of the foreign amount before it."""
    before = text[max(0, won.span[0] - 6) : won.span[0]]
    return bool(
        WORD_FOLLOWS.match(text, won.span[1])
    ) and not _HOME_AMOUNT_PREFIX.search(before)


def _nearest_amount(amounts: list[MoneyMatch], text: str) -> MoneyMatch | None:
    if len(amounts) < 2:
        return amounts[0] if amounts else None
    for money in amounts:
        if _FOLLOWED_BY_STATUS.match(text, money.span[1]):
            return money
    steady = [each for each in amounts if not WORD_FOLLOWS.match(text, each.span[1])]
    return (steady or amounts)[0]


def is_part_of_merchant_name(reading: TokenizedMessage, signal: StatusKeyword) -> bool:
    """한도초과 노래방: a reason of decline, but the message is complete without it."""
    if signal.kind is not Kind.DECLINED or not signal.is_weak:
        return False
    named = reading.digits or (
        reading.issuer_match and reading.issuer_match.is_unambiguous
    )
    return bool(
        named
        and reading.timestamps
        and (reading.running_total or reading.has_installment_terms)
    )


def choose_timestamps(
    reading: TokenizedMessage,
) -> tuple[TimestampMatch | None, TimestampMatch | None]:
    """The day of the message, and the day of the approval that it names."""
    own = [moment for moment in reading.timestamps if not moment.is_original]
    named = [moment for moment in reading.timestamps if moment.is_original]
    timed = [moment for moment in own if moment.has_printed_time]
    if not timed and len(own) > 1:
        text = reading.masked.text
        timed = [day for day in own if not WORD_FOLLOWS.match(text, day.span[1])]
    first = (timed or own)[0] if own else None
    return first, named[0] if named else None


def find_merchant_span(
    reading: TokenizedMessage,
    money: MoneyMatch | None,
    home: MoneyMatch | None,
    signal: StatusKeyword | None,
    moment: TimestampMatch | None,
) -> MerchantSpan | None:
    """The merchant, with what looked like a field but belongs to its name."""
    if reading.labeled_merchant:
        return trim_labeled_merchant(reading.text, *reading.labeled_merchant)
    anchor = moment.span[1] if moment else money.span[1] if money else 0
    overseas = bool(reading.foreign_amounts) or bool(_OVERSEAS.search(reading.text))
    run = find_merchant(reading.masked.text, anchor, is_overseas=overseas)
    if run is not None:
        return extend_merchant_span(run, reading, {money, home}, signal, moment)
    if reading.issuer_match is None:
        return None
    title = find_heading_above(
        reading.issuer_matches, reading.issuer_match, reading.text
    )
    if title is None or not title.is_app:
        return None
    start, end = title.span
    return MerchantSpan(start, end, reading.text[start:end])


def build_candidate(
    case: MessageEvidence,
    home: MoneyMatch | None,
    moment: TimestampMatch | None,
    original: TimestampMatch | None,
) -> PaymentCandidate:
    """The parts of the payment, ready to become the answer."""
    reading, signal, run = case.message, case.keyword, case.merchant
    head, months, kind = (
        reading.issuer_match,
        reading.installment_months,
        resolve_kind(case),
    )
    rest = run.remove_from(reading.text) if run else reading.text
    return PaymentCandidate(
        kind=kind,
        kind_span=signal.span if signal else None,
        issuer=_identify_issuer(case),
        issuer_span=head.span if head else None,
        card_hint_span=reading.digits or reading.product or reading.nickname,
        is_check_card=reading.is_check_card,
        money=case.money,
        home_money=home,
        merchant_span=(run.start, run.end) if run else None,
        installment_months=int(months[months.lastgroup or 0]) if months else None,
        installment_months_span=months.span() if months else None,
        timestamp=moment,
        standalone_time=reading.standalone_time,
        original_timestamp=original,
        is_partial=kind is Kind.CANCELLATION
        and bool(PARTIAL_CANCELLATION.search(rest)),
        running_total=_matched_amount(reading.running_total),
        running_total_span=reading.running_total.span()
        if reading.running_total
        else None,
        balance=_matched_amount(reading.balance),
    )


def resolve_kind(case: MessageEvidence) -> Kind:
    """What happened; a card's approval of less than nothing takes one back.

    A minus beside an account's booking (출금 -5,000) only says where money went, and
    lines that all begin with one are a list.
    """
    kind = case.keyword.kind if case.keyword else Kind.APPROVAL
    if kind is not Kind.APPROVAL or case.money is None or not case.money.is_negative:
        return kind
    reading = case.message
    if len(_DASHED_LINE.findall(reading.text)) > 1:
        return kind
    is_card = reading.issuer_match is not None and not reading.issuer_match.is_app
    is_booking = not is_card or reading.is_check_card or reading.balance is not None
    return kind if is_booking or "승인" not in case.keyword_text else Kind.CANCELLATION


def _identify_issuer(case: MessageEvidence) -> Issuer | None:
    """That of the head; of the sender where there is none, or it may be a shop's."""
    head, sender = case.message.issuer_match, find_issuer_by_sender(case.sender)
    if head is None or (
        head.has_following_word and sender and not sender.is_pay_service
    ):
        return sender
    return head.issuer


def _matched_amount(match: re.Match[str] | None) -> int | None:
    return int(parse_number(match["number"])) if match else None


def has_usage_keyword(case: MessageEvidence) -> bool:
    """09/12 나래몰 사용 57,000원 취소: the day is that of the use."""
    signal = case.keyword
    if signal is None or case.has_printed_time:
        return False
    return any(
        each.kind is Kind.APPROVAL and each.span < signal.span and not each.is_weak
        for each in case.message.keywords
    )
