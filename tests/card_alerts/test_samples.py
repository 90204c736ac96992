"""Every labeled message of tests/samples, field by field."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from card_alerts.opinion.opinion import load_opinion
from tests.support.alert_accuracy import count_right, find_similarities, make_reader
from tests.support.alert_samples import (
    EXAM_2026AC,
    EXAM_2026D,
    EXAM_2026F,
    EXAM_2026G,
    EXAM_2026H,
    EXAM_2026N,
    EXAM_2026P,
    EXAM_2026Q,
    EXAM_2026S,
    EXAM_2026V,
    EXAMS,
    GIVEN,
    LAST_EXAMS,
    LAYOUTS_2026,
    NEWEST_EXAM,
    OWN,
    PRACTICE,
    UNLEARNED_EXAMS,
    differences,
    load,
    load_twins,
)

GIVEN_MESSAGES = load(GIVEN)
OWN_MESSAGES = load(OWN)
# Minimum share of the messages labeled by others with all fields right.
MIN_EXAM_ACCURACY = 0.98


@pytest.mark.parametrize(
    "message",
    [*GIVEN_MESSAGES, *OWN_MESSAGES, *load(LAYOUTS_2026)],
    ids=lambda message: message["id"],
)
def test_message_is_parsed_as_labeled(message: Any) -> None:
    assert differences(message) == {}


@pytest.mark.parametrize("path", EXAMS, ids=lambda path: path.stem)
def test_messages_labeled_by_others_are_parsed(path: Path) -> None:
    messages = load(path)
    wrong = {each["id"]: differences(each) for each in messages}
    failing = {name: fields for name, fields in wrong.items() if fields}

    assert len(failing) <= (1 - MIN_EXAM_ACCURACY) * len(messages), failing


@pytest.mark.parametrize("path", [EXAM_2026D, EXAM_2026F], ids=lambda path: path.stem)
def test_other_messages_of_the_layouts_of_others_are_parsed(path: Path) -> None:
    twins = [(each["id"], twin) for each, twin in load_twins(path)]
    wrong = {name: differences(twin) for name, twin in twins}
    failing = {name: fields for name, fields in wrong.items() if fields}

    assert len(failing) <= (1 - MIN_EXAM_ACCURACY) * len(twins), failing


def test_own_messages_have_no_merchant_of_the_given_ones() -> None:
    given = {each["expect"]["merchant"] for each in GIVEN_MESSAGES} - {None}
    own = {each["expect"]["merchant"] for each in OWN_MESSAGES} - {None}

    assert not given & own


@pytest.mark.parametrize("kind", ["approval", "cancellation", "declined"])
def test_own_messages_include_each_kind_twice(kind: str) -> None:
    kinds = Counter(each["expect"]["kind"] for each in OWN_MESSAGES)

    assert kinds[kind] >= 2


# As at its first sight.
MIN_OF_NEWEST = {"recognized": 0.98}


@pytest.mark.parametrize("path", UNLEARNED_EXAMS, ids=lambda path: path.stem)
def test_unlearned_exam_is_read_as_at_its_first_sight_or_better(path: Path) -> None:
    counts = count_with_twins(path)
    least = {"recognized": 0.99, "company": 0.98, "card_hint": 0.98}
    if path == NEWEST_EXAM:
        least |= MIN_OF_NEWEST

    assert counts["payments"] >= 440
    assert counts["wrong"] == 0
    assert counts["recognized"] >= least["recognized"] * counts["payments"], counts
    assert counts["booked"] <= 0.01 * counts["others"], counts
    assert counts["booked without a doubt"] == 0, counts
    for field in ("company", "card_hint"):
        assert counts[field] >= least[field] * counts["recognized"], (field, counts)
    assert counts["merchant"] >= 0.95 * counts["recognized"], counts
    assert counts["sure"] >= 0.75 * counts["recognized"], counts
    assert counts["sure and right"] >= 0.99 * counts["sure"], counts


MIN_PAYMENTS = {
    EXAM_2026G: 450,
    EXAM_2026H: 450,
    EXAM_2026P: 430,
    EXAM_2026Q: 390,
}
# The eighth one has languages that are not read, the other one transfers to shops.
MIN_RECOGNIZED = {EXAM_2026H: 0.96, EXAM_2026V: 0.98, EXAM_2026AC: 0.98}
# Invented layouts; many receipts, whose names few layouts mark
MIN_SURE = {EXAM_2026N: 0.74, EXAM_2026S: 0.65}


@pytest.mark.parametrize("path", LAST_EXAMS, ids=lambda path: path.stem)
def test_exam_whose_classes_became_rules_last_is_read(path: Path) -> None:
    counts = count_with_twins(path)
    recognized = MIN_RECOGNIZED.get(path, 0.99)

    assert counts["payments"] >= MIN_PAYMENTS.get(path, 420)
    assert counts["wrong"] == 0
    assert counts["recognized"] >= recognized * counts["payments"], counts
    assert counts["booked"] <= 0.01 * counts["others"], counts
    assert counts["booked without a doubt"] == 0, counts
    assert counts["merchant"] >= 0.95 * counts["recognized"], counts
    assert counts["sure"] >= MIN_SURE.get(path, 0.75) * counts["recognized"], counts
    assert counts["sure and right"] >= 0.99 * counts["sure"], counts


def test_practice_is_read() -> None:
    counts = count_with_twins(PRACTICE)

    assert counts["payments"] >= 1160
    assert counts["others"] >= 2050
    assert counts["recognized"] >= 0.98 * counts["payments"], counts
    assert counts["booked"] <= 0.005 * counts["others"], counts
    assert counts["wrong"] == 0, counts
    assert counts["card_hint"] >= 0.96 * counts["recognized"], counts
    assert counts["merchant"] >= 0.88 * counts["recognized"], counts
    assert counts["sure and right"] >= 0.99 * counts["sure"], counts


def count_with_twins(path: Path) -> Counter[str]:
    messages = [*load(path), *(twin for _, twin in load_twins(path))]
    return count_right(messages, make_reader(load_opinion()))


def test_similar_texts_are_found_by_their_letters() -> None:
    known = ["신한카드(1309)승인 4,800원", "お支払い"]
    equal, like, other = find_similarities(
        ["신한카드(1309)승인 4,800원", "신한카드(2077)승인 9,100원 취소", "abc"], known
    )

    assert (equal, other) == (1, 0)
    assert 0.5 < like < 1
