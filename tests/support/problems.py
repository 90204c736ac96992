"""Assertions about error bodies (spec 1.6)."""

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
