"""Comparison of an answer with what it must contain."""

from typing import Any


def assert_contains(actual: Any, expected: Any, place: str = "$") -> None:
    """Fail unless the answer has all that is expected, and lists of equal length.

    Objects may have more fields than expected, as new ones are added.
    """
    if isinstance(expected, dict):
        assert isinstance(actual, dict), f"{place} is {actual!r}"
        for name, value in expected.items():
            assert name in actual, f"{place} has no {name}: {actual!r}"
            assert_contains(actual[name], value, f"{place}.{name}")
    elif isinstance(expected, list):
        assert isinstance(actual, list), f"{place} is {actual!r}"
        assert len(actual) == len(expected), f"{place}: {actual!r} is not {expected!r}"
        for number, pair in enumerate(zip(actual, expected, strict=True)):
            assert_contains(*pair, f"{place}[{number}]")
    else:
        assert actual == expected, f"{place} is {actual!r}, must be {expected!r}"
        assert isinstance(actual, bool) == isinstance(expected, bool), place
