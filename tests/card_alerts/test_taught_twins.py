"""One correction teaches a layout: the next message of it is read by the slots alone.

Some exams have two messages of each layout, written by somebody who does not know the
code. The first one is taught, the second one is read.
"""

from pathlib import Path

import pytest

from card_alerts import ParseResult, parse, read_with_layout
from tests.support.alert_samples import (
    EXAM_2026D,
    EXAM_2026F,
    EXAM_2026G,
    EXAM_2026R,
    EXAM_2026S,
    LAST_EXAMS,
    RECEIVED_AT,
    UNLEARNED_EXAMS,
    load_twins,
)
from tests.support.alert_teaching import (
    count_right_after_correction,
    is_merchant,
    teach,
)

# Of the texts that a taught layout is to read.
MIN_ACCURACY = 0.99
FIRST_FILES = (EXAM_2026D, EXAM_2026F, EXAM_2026G)
# Their twins differ in products and cards, too.
LATER_FILES = (EXAM_2026R, EXAM_2026S)
FILES = tuple(
    each
    for each in (EXAM_2026D, EXAM_2026F, *LAST_EXAMS, *UNLEARNED_EXAMS)
    if each not in LATER_FILES
)
# A sixth of the payments of the first are in languages that are not read.
MIN_OF_FILE = {
    "notifications_exam_2026h": 0.96,
    "notifications_exam_2026s": 0.97,
}


def read(text: str, sender: str, title: str) -> ParseResult:
    return parse(text, RECEIVED_AT, sender, title=title)


@pytest.mark.parametrize(
    ("paths", "taught_share", "unread_share"),
    [
        (FIRST_FILES, 0.95, 0.01),
        (FILES, 0.95, 0.035),
        (LATER_FILES, 0.92, 0.14),
    ],
)
def test_taught_layout_reads_the_next_text_without_the_grammar(
    paths: tuple[Path, ...], taught_share: float, unread_share: float
) -> None:
    wrong, unread, taught = [], [], 0
    pairs = [pair for path in paths for pair in load_twins(path)]
    payments = [pair for pair in pairs if not pair[0]["expect"]["ignored"]]
    for first, twin in payments:
        found = read(first["text"], "", first.get("title", ""))
        layout = teach(first, found) if first["expect"]["merchant"] else None
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
    assert taught >= taught_share * len(payments)
    # The others have words of their own beside the name: products, routes, places.
    assert len(wrong) + len(unread) <= unread_share * taught, (wrong, unread)


@pytest.mark.parametrize("path", [*FILES, *LATER_FILES], ids=lambda path: path.stem)
def test_merchant_is_right_after_one_correction_of_each_layout(path: Path) -> None:
    right, count = count_right_after_correction(load_twins(path), read)
    assert right >= MIN_OF_FILE.get(path.stem, MIN_ACCURACY) * count
