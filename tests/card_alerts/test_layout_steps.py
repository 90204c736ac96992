"""Teaching and reading a layout takes a bounded number of steps, whatever the text."""

import gc
import random
import re
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from card_alerts import Layout, Span, learn_layout, locate_corrections, read_with_layout
from card_alerts.layouts import (
    MAX_LAYOUT_TEXT_LENGTH,
    MAX_VARIABLE_PARTS,
    make_template,
)
from tests.support.taught_texts import REPEATED_PARTS, change_text, make_text, mark

# Calls of functions; each looks at the text once.
MAX_READING_STEPS = 1_200
MAX_LEARNING_STEPS = 5 * MAX_LAYOUT_TEXT_LENGTH
CLIMBS, CLIMB_STEPS = 4, 600


def count_steps(function: Callable[..., Any], *arguments: Any) -> int:
    """Return how many functions of Python and C a call calls."""
    steps = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal steps
        steps += event in {"call", "c_call"}

    # A collection in between would add the finalizers of what other tests left.
    gc.disable()
    sys.setprofile(count)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
        gc.enable()
    return steps


def count_reading(text: str, spans: dict[str, Span]) -> int:
    layout = Layout(make_template(text, spans, is_wide=True))
    read_with_layout(layout, text)  # the parts of the layout are cached
    return count_steps(read_with_layout, layout, text)


@pytest.mark.parametrize("seed", range(CLIMBS))
def test_no_layout_takes_many_steps(seed: int) -> None:
    source = random.Random(seed)
    text = make_text(source)
    spans, most = mark(source, text), 0
    for _ in range(CLIMB_STEPS):
        candidate = change_text(source, make_text(source), text)
        candidate = candidate[:MAX_LAYOUT_TEXT_LENGTH]
        marked = mark(source, candidate)
        steps = count_reading(candidate, marked)
        if steps >= most:
            text, spans, most = candidate, marked, steps
    assert MAX_VARIABLE_PARTS < most <= MAX_READING_STEPS
    assert count_steps(learn_layout, text, spans) <= MAX_LEARNING_STEPS


@pytest.mark.parametrize("part", REPEATED_PARTS)
@pytest.mark.parametrize("name", ["merchant", "amount"])
def test_twice_the_text_takes_twice_the_steps(part: str, name: str) -> None:
    def steps_of(length: int) -> int:
        text = f"새봄카드 가마트 {part * length}"[:length]
        return count_steps(learn_layout, text, {name: (5, 8)})

    long = steps_of(MAX_LAYOUT_TEXT_LENGTH)
    assert long <= 2.2 * steps_of(MAX_LAYOUT_TEXT_LENGTH // 2) + 100


@pytest.mark.parametrize("length", [187, 214, 300, MAX_LAYOUT_TEXT_LENGTH])
def test_adjacent_numbers_are_taught_at_once(length: int) -> None:
    amount = "12,000원"
    text = f"새봄카드 결제 {'1,' * length}"[: length - len(amount)] + amount
    spans = {"amount": (length - len(amount), length - 1)}
    assert count_steps(learn_layout, text, spans) < 3 * length


def test_no_pattern_is_made_from_a_text() -> None:
    def teach(merchant: str) -> Layout | None:
        text = f"새봄카드 결제 {merchant}\n4,500원 1,1,1,1,1,1,1,1,1"
        return learn_layout(text, locate_corrections(text, merchant, Decimal(4_500)))

    compiled: list[str] = []
    compile_pattern = re._compiler.compile  # type: ignore[attr-defined]

    def record(pattern: str, flags: int = 0) -> Any:
        compiled.append(pattern)
        return compile_pattern(pattern, flags)

    teach("가마트")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(re._compiler, "compile", record)  # type: ignore[attr-defined]
        layout = teach("구름 국수")
        re.match("not compiled before", "")
    assert layout is not None
    assert compiled == ["not compiled before"]


def test_layout_of_too_many_variable_parts_is_not_learned() -> None:
    def teach(count: int) -> Layout | None:
        # The merchant and two spaces are variable too.
        text = "새봄카드 결제 가마트/" + "1/" * (count - 3)
        return learn_layout(text, {"merchant": (8, 11)})

    assert teach(MAX_VARIABLE_PARTS) is not None
    assert teach(MAX_VARIABLE_PARTS + 1) is None


def test_number_leaves_a_separator_to_the_next_part() -> None:
    text = "새봄카드 가마트 12,000.11/05"
    layout = learn_layout(text, {"merchant": (5, 8), "amount": (9, 15)})
    assert layout is not None
    other = "새봄카드 구름국수 7,500.11/06"
    assert read_with_layout(layout, other) == {"merchant": (5, 9), "amount": (10, 15)}
