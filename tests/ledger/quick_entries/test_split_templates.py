"""Quick entries and recurring rules with lines: nothing is rescaled silently."""

from typing import Any

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.problems import assert_problem

pytestmark = pytest.mark.django_db

A = "/api/account"
LINES = [{"amount": 700, "category": "식비"}, {"amount": 300, "category": "가전"}]
BODIES = {
    "quick-entries": {"name": "장보기", "type": "expense", "amount": 1_000},
    "recurring": {
        "name": "장보기",
        "type": "expense",
        "amount": 1_000,
        "frequency": "MONTHLY",
        "anchorDate": "2999-01-01",
    },
}


@pytest.mark.parametrize("kind", BODIES)
def test_type_and_amount_of_a_split_template_change_with_its_lines_only(
    premium_member: Member, kind: str
) -> None:
    client: Any = JSONClient(premium_member)
    made = client.send("POST", f"{A}/{kind}", BODIES[kind] | {"lines": LINES})
    assert made.status_code == 201, made.content
    path = f"{A}/{kind}/{made.data['id']}"
    before = client.get_json(path)
    other_type, other_amount = {"type": "income"}, {"amount": 900}
    for change in (other_type, other_amount, other_type | other_amount):
        for method, body in (("PATCH", change), ("PUT", BODIES[kind] | change)):
            response = client.send(method, path, body)
            assert_problem(response, 400, "LINES_MISMATCH")
            assert client.get_json(path) == before
    # The same values are no change.
    for method, body in (
        ("PATCH", {"type": "expense", "amount": 1_000, "memo": "a"}),
        ("PUT", BODIES[kind] | {"memo": "b"}),
        ("PUT", before),
    ):
        response = client.send(method, path, body)
        assert response.status_code == 200, response.content
        shown = client.get_json(path)
        assert [line["amount"] for line in shown["lines"]] == [700, 300]

    lines = [{"amount": 1_200}, {"amount": -300, "categoryType": "expense"}]
    whole = other_type | other_amount | {"lines": lines}
    assert client.send("PATCH", path, whole).status_code == 200
    shown = client.get_json(path)
    assert (shown["type"], shown["amount"]) == ("income", 900)
    response = client.send("PATCH", path, {"lines": [], "amount": 5})
    assert response.status_code == 200, response.content
    assert client.get_json(path)["amount"] == 5
    assert client.send("PATCH", path, {"type": "expense"}).status_code == 200
