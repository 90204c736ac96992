"""Read a payment by the marked parts of a taught text, whatever the grammar says."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal

from card_alerts.channels import find_channel
from card_alerts.issuers import find_issuer_by_sender
from card_alerts.layouts import apply_layout
from card_alerts.money import MAX_AMOUNT, WON, find_foreign_amounts, parse_number
from card_alerts.result import Confidence, Kind, ParseResult, Span
from card_alerts.times import TimestampMatch, find_timestamps, resolve_date


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
    if not parsed.recognized or parsed.kind is not kind:
        parsed = _begin(parsed, text, kind, sender)
    if "amount" in spans:
        currency = _find_currency(text, spans["amount"]) or home_currency
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
    parsed = _with_time(parsed, text, spans.get("occurredAt"), received_at)
    is_sure = parsed.merchant is not None and "merchant" in spans
    confidence = Confidence.SURE if is_sure else parsed.merchant_confidence
    return replace(parsed, merchant_confidence=confidence)


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


def _find_currency(text: str, span: Span) -> str | None:
    """Return the currency that is printed beside a number; None for none."""
    start, end = span
    for match in find_foreign_amounts(text):
        if match.span[0] <= start and end <= match.span[1]:
            return match.currency
    return None


def _with_value(
    parsed: ParseResult, value: Decimal, currency: str, home_currency: str
) -> ParseResult:
    if currency != home_currency:
        return replace(parsed, amount=None, currency=currency, original_amount=value)
    whole = int(value.quantize(Decimal(1), ROUND_HALF_UP))
    return replace(parsed, amount=whole, currency=None, original_amount=None)


def _with_time(
    parsed: ParseResult, text: str, span: Span | None, received_at: datetime
) -> ParseResult:
    """Return the payment with the taught time, else with the first printed one."""
    if span is None and parsed.occurred_on is not None:
        return parsed
    start, end = span or (0, len(text))
    found = next(
        (each for each in find_timestamps(text[start:end]) if _is_complete(each)), None
    )
    day = resolve_date(found, received_at) if found else None
    if found is None or found.time is None or day is None:
        return parsed
    printed = (start + found.span[0], start + found.span[1])
    return replace(
        parsed,
        occurred_at=datetime.combine(day, found.time, tzinfo=received_at.tzinfo),
        occurred_on=day,
        spans={**parsed.spans, "occurredAt": printed},
    )


def _is_complete(timestamp: TimestampMatch) -> bool:
    return timestamp.has_printed_time and timestamp.time is not None
