"""Labeled payments, printed in other ways: they are read as before.

What is told as declined, requested or announced is not booked.
"""

from collections import Counter
from functools import cache

import pytest

from card_alerts import parse
from tests.support.alert_changes import NOT_BOOKED, SAME, Payment
from tests.support.alert_samples import (
    EXAMS,
    GIVEN,
    OWN,
    RECEIVED_AT,
    load,
    squeeze,
)

# Every so many payments are changed in every way.
STEP = 5
MIN_RECOGNIZED, MIN_RIGHT = 0.99, 0.97
# One amount in a thousand; a single text may be read otherwise with a changed word.
MAX_WRONG_AMOUNTS = 0.001
MAX_WRONG_OF_ONE_CHANGE = 0.15


@cache
def payments() -> list[Payment]:
    messages = [each for path in (GIVEN, OWN, *EXAMS) for each in load(path)]
    korean = [each for each in messages if any("가" <= c <= "힣" for c in each["text"])]
    return [p for p in map(Payment.of, korean[::STEP]) if p]


@cache
def outcome(name: str) -> Counter[str]:
    """Return how many texts a change made, and how many are read otherwise."""
    counts: Counter[str] = Counter()
    for payment in payments():
        text = SAME[name](payment)
        if text is None or text == payment.text:
            continue
        before, parsed = payment.parsed, parse(text, RECEIVED_AT, title=payment.title)
        counts["all"] += 1
        if not parsed.recognized:
            counts["lost"] += 1
            continue
        amounts = [
            each.original_amount if each.currency else each.amount
            for each in (before, parsed)
        ]
        counts["amount"] += amounts[0] != amounts[1]
        counts["merchant"] += squeeze(parsed.merchant) != squeeze(before.merchant)
        counts["company"] += parsed.card_company != before.card_company
    return counts


@pytest.mark.parametrize("name", SAME)
def test_change_of_the_print_changes_few_results(name: str) -> None:
    counts = outcome(name)

    assert counts["all"] >= 5
    for field in ("lost", "merchant", "company"):
        assert counts[field] <= MAX_WRONG_OF_ONE_CHANGE * counts["all"], counts


def test_payments_that_are_printed_otherwise_are_recognized() -> None:
    total = sum(map(outcome, SAME), Counter[str]())

    assert total["lost"] <= (1 - MIN_RECOGNIZED) * total["all"], total
    assert total["amount"] <= MAX_WRONG_AMOUNTS * total["all"], total
    assert total["merchant"] <= (1 - MIN_RIGHT) * total["all"], total
    assert total["company"] <= (1 - MIN_RIGHT) * total["all"], total


@pytest.mark.parametrize("word", NOT_BOOKED)
def test_what_was_declined_or_is_to_come_is_not_booked(word: str) -> None:
    texts = [(NOT_BOOKED[word](payment), payment.title) for payment in payments()]
    booked = [
        text
        for text, title in texts
        # A title or another word may tell the payment.
        if text
        and "승인" not in (title + text).replace(word, "")
        and "결제" not in (title + text).replace(word, "")
        and parse(text, RECEIVED_AT, title=title).recognized
    ]

    assert len(texts) > 100
    assert booked == []
