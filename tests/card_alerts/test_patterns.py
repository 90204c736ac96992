"""Every pattern of the grammar finds the example beside it."""

import re

import pytest

from card_alerts.patterns import EXAMPLES

MIN_PATTERNS = 380


@pytest.mark.parametrize(
    ("compiled", "example"),
    [
        pytest.param(compiled, example, id=f"{number}-{example[:20]!r}")
        for number, (compiled, example) in enumerate(EXAMPLES)
    ],
)
def test_pattern_finds_its_example(compiled: re.Pattern[str], example: str) -> None:
    assert compiled.search(example)


def test_groups_have_names() -> None:
    nameless = [
        compiled.pattern
        for compiled, _ in EXAMPLES
        if compiled.groups != len(compiled.groupindex)
    ]

    assert len(EXAMPLES) >= MIN_PATTERNS
    assert nameless == []
