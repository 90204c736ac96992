"""One correction teaches a layout: the next message of it is read by the slots alone.

The fourth exam has two messages of each layout, written by somebody who does not know
the code. The first one is taught, the second one is read.
"""

from decimal import Decimal
from typing import Any

from card_alerts import (
    Layout,
    ParseResult,
    apply_layout,
    learn_layout,
    locate_corrections,
    parse,
    read_with_layout,
)
from tests.support.alert_samples import (
    EXAM_2026D,
    EXAM_2026F,
    EXAM_2026G,
    RECEIVED_AT,
    load_twins,
    squeeze,
)

# Of the texts that a taught layout is to read.
MIN_ACCURACY = 0.99

PAYMENTS = [
    (first, twin)
    for path in (EXAM_2026D, EXAM_2026F, EXAM_2026G)
    for first, twin in load_twins(path)
    if not first["expect"]["ignored"]
]


def read(message: Any) -> ParseResult:
    return parse(message["text"], RECEIVED_AT, title=message.get("title", ""))


def teach(message: Any) -> Layout | None:
    """Return the layout that a correction of the merchant and the amount teaches."""
    expected = message["expect"]
    amount = None if expected["amount"] is None else Decimal(str(expected["amount"]))
    spans = locate_corrections(message["text"], expected["merchant"], amount)
    return learn_layout(message["text"], spans) if "merchant" in spans else None


def is_merchant(name: str | None, message: Any) -> bool:
    accepted = [message["expect"]["merchant"], *message.get("merchant_alt", [])]
    return squeeze(name) in {squeeze(each) for each in accepted}


def test_taught_layout_reads_the_next_text_without_the_grammar() -> None:
    wrong, unread, taught = [], [], 0
    for first, twin in PAYMENTS:
        layout = teach(first)
        if layout is None:
            continue
        taught += 1
        spans = read_with_layout(layout, twin["text"])
        if spans is None:
            unread.append(first["id"])
            continue
        start, end = spans["merchant"]
        if not is_merchant(twin["text"][start:end], twin):
            wrong.append((first["id"], twin["text"][start:end]))

    # Very short layouts have too few letters to be learned.
    assert taught >= 0.95 * len(PAYMENTS)
    assert len(wrong) + len(unread) <= (1 - MIN_ACCURACY) * taught, (wrong, unread)


def test_merchant_is_right_after_one_correction_of_each_layout() -> None:
    wrong = []
    for first, twin in PAYMENTS:
        layout, found = teach(first), read(twin)
        spans = read_with_layout(layout, twin["text"]) if layout else None
        if spans:
            found = apply_layout(found, twin["text"], spans)
        if not (found.recognized and is_merchant(found.merchant, twin)):
            wrong.append((first["id"], found.merchant))

    assert len(wrong) <= (1 - MIN_ACCURACY) * len(PAYMENTS), wrong
