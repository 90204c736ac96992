"""Correct one message, and read the next one of its layout."""

from decimal import Decimal
from typing import Any

from card_alerts import (
    NO_PART,
    Confidence,
    Kind,
    Layout,
    ParseResult,
    apply_layout,
    learn_layout,
    locate_corrections,
    read_taught_payment,
    read_with_layout,
)
from tests.support.alert_accuracy import Reader
from tests.support.alert_samples import RECEIVED_AT, squeeze


def teach(message: Any, found: ParseResult) -> Layout | None:
    """Return the layout that a correction of the merchant and the amount teaches.

    A guess is cleared where the text has no merchant.
    """
    expected = message["expect"]
    amount = None if expected["amount"] is None else Decimal(str(expected["amount"]))
    spans = locate_corrections(message["text"], expected["merchant"], amount)
    if not expected["merchant"] and found.merchant_confidence is Confidence.GUESS:
        spans["merchant"] = NO_PART
    return learn_layout(message["text"], spans) if "merchant" in spans else None


def read_after_correction(first: Any, twin: Any, read: Reader) -> ParseResult:
    """Read the twin of a message whose merchant and amount were corrected.

    A message that was recognized teaches its parts, any other one that it is a payment.
    """
    before, found = (
        read(each["text"], each.get("sender", ""), each.get("title", ""))
        for each in (first, twin)
    )
    layout = teach(first, before)
    spans = read_with_layout(layout, twin["text"]) if layout else None
    if not spans:
        return found
    if before.recognized:
        may_be_payment = found.recognized or found.would_be is not None
        return apply_layout(found, twin["text"], spans) if may_be_payment else found
    kind = Kind(first["expect"]["kind"])
    taught = read_taught_payment(found, twin["text"], kind, spans, RECEIVED_AT)
    return taught or found


def is_merchant(name: str | None, message: Any) -> bool:
    accepted = [message["expect"]["merchant"], *message.get("merchant_alt", [])]
    return squeeze(name) in {squeeze(each) for each in accepted}


def count_right_after_correction(
    pairs: list[tuple[Any, Any]], read: Reader
) -> tuple[int, int]:
    """Return how many names of the twins of payments are right, and of how many."""
    payments = [pair for pair in pairs if not pair[0]["expect"]["ignored"]]
    right = 0
    for first, twin in payments:
        found = read_after_correction(first, twin, read)
        right += found.recognized and is_merchant(found.merchant, twin)
    return right, len(payments)
