"""Every pattern of the grammar finds the example beside it, and its initials are all."""

import re
from collections.abc import Iterable, Iterator
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as syntax  # type: ignore[attr-defined]
from typing import Any

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


_LOOKAHEAD = re.compile(r"\(\?=\(\?-i:(?P<initials>\[(?:\\.|[^\]])+\])\)\)")
_NOTHING = frozenset((code.ASSERT, code.ASSERT_NOT, code.AT))
_REPEATS = frozenset((code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT))


def list_first_parts(parsed: Iterable[Any]) -> Iterator[tuple[Any, Any] | None]:
    """Return what may stand first, and None if all may be left out."""
    for operation, value in parsed:
        if operation in _NOTHING:
            continue
        if operation is code.BRANCH:
            choices: Iterable[Any] = value[1]
        elif operation is code.SUBPATTERN:
            choices = [value[-1]]
        elif operation in _REPEATS:
            choices = [value[-1], *([[]] if value[0] == 0 else [])]
        else:
            yield operation, value
            return
        firsts = [each for choice in choices for each in list_first_parts(choice)]
        yield from (each for each in firsts if each is not None)
        if None not in firsts:
            return
    yield None


def may_begin(
    letter: str, first: tuple[Any, Any] | None, *, ignores_case: bool
) -> bool:
    if first is None:
        return True
    operation, value = first
    letters = {letter, letter.swapcase()} if ignores_case else {letter}
    if operation is code.LITERAL:
        return chr(value) in letters
    assert operation is code.IN, operation
    for kind, part in value:
        if kind is code.LITERAL and chr(part) in letters:
            return True
        if kind is code.RANGE and any(
            part[0] <= ord(each) <= part[1] for each in letters
        ):
            return True
        if kind is code.CATEGORY and part is code.CATEGORY_DIGIT and letter.isdecimal():
            return True
    return False


@pytest.mark.parametrize(
    "compiled",
    [
        pytest.param(compiled, id=f"{number}-{example[:20]!r}")
        for number, (compiled, example) in enumerate(EXAMPLES)
        if _LOOKAHEAD.match(compiled.pattern)
    ],
)
def test_initials_are_all_that_a_match_begins_with(compiled: re.Pattern[str]) -> None:
    lookahead = _LOOKAHEAD.match(compiled.pattern)
    assert lookahead
    initials = re.compile(lookahead["initials"])
    rest = syntax.parse(compiled.pattern[lookahead.end() :], compiled.flags)
    ignores_case = bool(compiled.flags & re.IGNORECASE)
    parts = {repr(each): each for each in list_first_parts(rest)}.values()
    letters = {*compiled.pattern, *map(chr, range(32, 127)), "\n", "\t", "０"}
    missing = [
        letter
        for letter in sorted(letters)
        if initials.match(letter) is None
        and any(may_begin(letter, each, ignores_case=ignores_case) for each in parts)
    ]
    assert missing == []
