"""Read a payment by the marked parts of a taught text, whatever the grammar says."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from itertools import chain

from card_alerts.channels import find_channel
from card_alerts.currencies import CURRENCY_CODES
from card_alerts.english.money import find_amounts
from card_alerts.issuers import find_issuer, find_issuer_by_sender
from card_alerts.japanese.money import YEN, find_yen, names_yen
from card_alerts.layouts import apply_layout
from card_alerts.money import MAX_AMOUNT, WON, find_foreign_amounts, parse_number
from card_alerts.result import Confidence, Doubt, Kind, ParseResult, Span
from card_alerts.times import (
    find_standalone_time,
    find_timestamps,
    resolve_date,
)

_OTHER_UNIT = re.compile(
    rf"[ ]?(?:[$¢-¥฿₠-⃏円元圓]|(?:{'|'.join(sorted(CURRENCY_CODES))})\b"
    r"|(?i:euros?|dollars?|yen|pounds?|yuan|baht|rupees?)\b)"
)

# KD 7.850, Ksh658.02, R943.12, Rs. 500
_UNIT_BEFORE = re.compile(r"(?<![A-Za-z])(?:[A-Z][A-Za-z]{0,2}|[$¢-¥฿₠-⃏])[. ]{0,2}$")
_WON_BEHIND = re.compile("[ ]?원")
_CENTS = re.compile(r"[.,]\d{1,2}$")
_MAY_BE_WON = re.compile(r"[가-힣₩]|\b(?i:won|krw)\b")


def read_taught_payment(
    parsed: ParseResult,
    text: str,
    kind: Kind,
    spans: Mapping[str, Span],
    received_at: datetime,
    sender: str = "",
    home_currency: str = WON,
) -> ParseResult | None:
    """Return the payment of a text whose parts `spans` are taught.

    `parsed` is what the grammar read. It stays where it is of the same kind and nothing
    else is taught. None without an amount that can be recorded.
    """
    message = parsed.text_span or (0, len(text))
    if not parsed.recognized or parsed.kind is not kind:
        parsed = _begin(parsed, text[slice(*message)], kind, sender)
    if "amount" in spans:
        currency = _find_currency(parsed, text, spans["amount"], home_currency)
        if currency is None:
            return None
        start, end = spans["amount"]
        value = parse_number(text[start:end], currency)
        if not 0 < value <= MAX_AMOUNT:
            return None
        parsed = _with_value(parsed, value, currency, home_currency)
        if parsed.amount == 0:
            return None
        name = "originalAmount" if parsed.currency else "amount"
        parsed = replace(parsed, spans={**parsed.spans, name: spans["amount"]})
    elif parsed.amount is None and parsed.original_amount is None:
        return None
    others = {name: span for name, span in spans.items() if name == "merchant"}
    parsed = apply_layout(parsed, text, others)
    if "cardHint" in spans:
        start, end = spans["cardHint"]
        found = {**parsed.spans, "cardHint": spans["cardHint"]}
        parsed = replace(parsed, card_hint=text[start:end], spans=found)
    if "occurredAt" in spans:
        parsed = _with_time(parsed, text, spans["occurredAt"], received_at)
    elif parsed.occurred_on is None:
        parsed = _with_printed_time(parsed, text, message, received_at)
    is_sure = parsed.merchant is not None and "merchant" in spans
    confidence = Confidence.SURE if is_sure else parsed.merchant_confidence
    # The member taught this layout as one of payments.
    doubts = tuple(each for each in parsed.doubts if each is not Doubt.KIND)
    return replace(parsed, merchant_confidence=confidence, doubts=doubts)


def _begin(parsed: ParseResult, text: str, kind: Kind, sender: str) -> ParseResult:
    """Return a payment without an amount, with what stands in refused texts too."""
    issuer = find_issuer_by_sender(sender)
    company = parsed.card_company or (issuer.name if issuer else None)
    channel = find_channel(text, sender, issuer, has_issuer=company is not None)
    kept = {
        name: span
        for name, span in parsed.spans.items()
        if name in {"cardCompany", "cardHint"}
    }
    return ParseResult(
        recognized=True,
        kind=kind,
        card_company=company,
        card_hint=parsed.card_hint,
        is_check_card=parsed.is_check_card,
        channel=parsed.channel or channel,
        text_span=parsed.text_span,
        spans=kept,
    )


def _find_currency(
    parsed: ParseResult, text: str, span: Span, home_currency: str
) -> str | None:
    """Return the currency printed beside a number, else the home currency.

    None for one that the grammar does not read: a currency is never guessed.
    """
    text = _with_narrow_letters(text)
    start, end = span
    if _WON_BEHIND.match(text, end):
        return WON
    issuer = find_issuer(parsed.card_company) if parsed.card_company else None
    for match in chain(
        find_foreign_amounts(text), find_yen(text), find_amounts(text, issuer)
    ):
        if match.span[0] <= start and end <= match.span[1]:
            return match.currency
    units = _OTHER_UNIT.match(text, end), _UNIT_BEFORE.search(text, 0, start)
    if any(unit and unit[0].strip(" .") != home_currency for unit in units):
        return None
    if names_yen(text):
        return YEN
    is_other = home_currency == WON and (
        _CENTS.search(text[start:end]) or not _MAY_BE_WON.search(text)
    )
    return None if is_other else home_currency


def _with_narrow_letters(text: str) -> str:
    """Return the text with each wide letter (￥, （円）) as a narrow one."""
    narrow = (unicodedata.normalize("NFKC", letter) for letter in text)
    return "".join(
        new if len(new) == 1 else letter
        for letter, new in zip(text, narrow, strict=True)
    )


def _with_value(
    parsed: ParseResult, value: Decimal, currency: str, home_currency: str
) -> ParseResult:
    if currency != home_currency:
        return replace(parsed, amount=None, currency=currency, original_amount=value)
    whole = int(value.quantize(Decimal(1), ROUND_HALF_UP))
    return replace(parsed, amount=whole, currency=None, original_amount=None)


def _with_printed_time(
    parsed: ParseResult, text: str, message: Span, received_at: datetime
) -> ParseResult:
    """Return the payment with the first day that has a time."""
    start, end = message
    for found in find_timestamps(text[start:end]):
        if found.has_printed_time and found.time is not None:
            place = (start + found.span[0], start + found.span[1])
            return _with_time(parsed, text, place, received_at)
    return parsed


def _with_time(
    parsed: ParseResult, text: str, place: Span, received_at: datetime
) -> ParseResult:
    """Return the payment with the first day and time of a part of the text.

    A day without a time is a day; a time without one is of the day of receipt.
    """
    start, end = place
    found = next(iter(find_timestamps(text[start:end])), None)
    if found is None:
        return _with_clock(parsed, text, place, received_at)
    day = resolve_date(found, received_at)
    if day is None:
        return parsed
    printed = (start + found.span[0], start + found.span[1])
    parsed = replace(parsed, occurred_at=None, occurred_on=day)
    if found.time is None or not found.has_printed_time:
        return parsed
    return replace(
        parsed,
        occurred_at=datetime.combine(day, found.time, tzinfo=received_at.tzinfo),
        spans={**parsed.spans, "occurredAt": printed},
    )


def _with_clock(
    parsed: ParseResult, text: str, place: Span, received_at: datetime
) -> ParseResult:
    start, end = place
    found = find_standalone_time(text[start:end])
    if found is None or found[1] is None:
        return parsed
    (first, last), clock = found[0], found[1]
    moment = datetime.combine(received_at.date(), clock, tzinfo=received_at.tzinfo)
    if moment > received_at:
        moment -= timedelta(days=1)
    return replace(
        parsed,
        occurred_at=moment,
        occurred_on=moment.date(),
        spans={**parsed.spans, "occurredAt": (start + first, start + last)},
    )
