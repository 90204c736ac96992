"""Errors of the API, and answers that must contain something."""

import json
from typing import Any


def assert_problem(response: Any, status: int, code: str, *members: str) -> None:
    """Assert that it is this problem; `members` are the fields of this error only."""
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"] == "application/problem+json"
    body = json.loads(response.content)
    common = {"type", "title", "status", "detail", "code"}
    assert set(body) - {"errors"} == common | set(members)
    assert (body["status"], body["code"]) == (status, code)
    assert body["type"] == "about:blank"
    assert body["title"]
    assert body["detail"]


def assert_invalid(response: Any, *fields: Any) -> None:
    """Assert that it is a 400 VALIDATION_ERROR that names exactly these fields."""
    assert response.status_code == 400, response.content
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.data["code"] == "VALIDATION_ERROR"
    assert [error["field"] for error in response.data["errors"]] == list(fields)


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
