"""Every labelled message, field by field: the given, our own, and those of others."""

from collections import Counter
from typing import Any

import pytest

from tests.support.alert_samples import EXAM, GIVEN, OWN, differences, load

GIVEN_MESSAGES = load(GIVEN)
OWN_MESSAGES = load(OWN)
EXAM_RIGHT = 0.98
"""Share of the messages labelled by others that is fully right at least."""


@pytest.mark.parametrize(
    "message", GIVEN_MESSAGES + OWN_MESSAGES, ids=lambda message: message["id"]
)
def test_message_is_understood_as_labelled(message: Any) -> None:
    assert differences(message) == {}


def test_messages_labelled_by_others_are_understood() -> None:
    messages = load(EXAM)
    wrong = {each["id"]: differences(each) for each in messages}
    failing = {name: fields for name, fields in wrong.items() if fields}

    assert len(failing) <= (1 - EXAM_RIGHT) * len(messages), failing


def test_own_messages_name_no_merchant_of_the_given_ones() -> None:
    given = {each["expect"]["merchant"] for each in GIVEN_MESSAGES} - {None}
    own = {each["expect"]["merchant"] for each in OWN_MESSAGES} - {None}

    assert not given & own


@pytest.mark.parametrize("kind", ["approval", "cancellation", "declined"])
def test_own_messages_hold_two_and_more_of_each_kind(kind: str) -> None:
    kinds = Counter(each["expect"]["kind"] for each in OWN_MESSAGES)

    assert kinds[kind] >= 2
