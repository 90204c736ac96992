"""A payment that a text would be, as JSON and back. Pure."""

from dataclasses import fields, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from card_alerts import (
    Channel,
    Confidence,
    Doubt,
    Kind,
    NameCandidate,
    ParseResult,
    Span,
)
from ledger.notifications.message import limit_total

_READERS: dict[str, Any] = {
    "kind": Kind,
    "original_amount": Decimal,
    "occurred_at": datetime.fromisoformat,
    "occurred_on": date.fromisoformat,
    "original_date": date.fromisoformat,
    "balance": Decimal,
    "merchant_confidence": Confidence,
    "channel": Channel,
    "spans": lambda value: {name: (span[0], span[1]) for name, span in value.items()},
    "doubts": lambda value: tuple(map(Doubt, value)),
    "candidates": lambda value: tuple(
        NameCandidate(text, (span[0], span[1])) for text, span in value
    ),
}
# They say nothing about a payment of one message.
_LEFT_OUT = frozenset({"reason", "bank_booking", "text_span", "would_be"})
_STORED = [each.name for each in fields(ParseResult) if each.name not in _LEFT_OUT]


def has_value(would_be: ParseResult | None) -> bool:
    """Return True for a payment with an amount: none is ever guessed."""
    if would_be is None or would_be.kind not in {Kind.APPROVAL, Kind.CANCELLATION}:
        return False
    value = would_be.original_amount if would_be.currency else would_be.amount
    return bool(value)


def move_to_message(would_be: ParseResult, start: int) -> ParseResult:
    """Return a payment whose parts are of its own message, which begins at `start`."""

    def moved(span: Span) -> Span:
        return span[0] - start, span[1] - start

    return replace(
        would_be,
        recognized=True,
        reason=None,
        text_span=None,
        would_be=None,
        spans={name: moved(span) for name, span in would_be.spans.items()},
        candidates=tuple(
            replace(each, span=moved(each.span)) for each in would_be.candidates
        ),
    )


def dump_payment(payment: ParseResult) -> dict[str, Any]:
    values = {name: getattr(payment, name) for name in _STORED}
    values["running_total"] = limit_total(payment.running_total)
    for name in ("original_amount", "balance"):
        if values[name] is not None:
            values[name] = str(values[name])
    values["candidates"] = [(each.text, each.span) for each in payment.candidates]
    return {name: value for name, value in values.items() if value is not None}


def load_payment(values: dict[str, Any]) -> ParseResult:
    known = {name: value for name, value in values.items() if name in _STORED}
    for name in known.keys() & _READERS.keys():
        known[name] = _READERS[name](known[name])
    return ParseResult(**known)
