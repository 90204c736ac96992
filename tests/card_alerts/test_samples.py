"""Every labeled message of tests/samples, field by field."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.alert_samples import (
    EXAM,
    EXAM_2026,
    EXAM_2026B,
    EXAM_2026C,
    EXAM_2026D,
    EXAM_2026E,
    EXAM_2026F,
    GIVEN,
    LAYOUTS_2026,
    OWN,
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


@pytest.mark.parametrize(
    "path",
    [EXAM, EXAM_2026, EXAM_2026B, EXAM_2026C, EXAM_2026D, EXAM_2026E, EXAM_2026F],
    ids=lambda path: path.stem,
)
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
