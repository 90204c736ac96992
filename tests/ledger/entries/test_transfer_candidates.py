"""Pairs that look like one transfer: none that a merge refuses."""

from typing import Any

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_wallet
from tests.support.problems import assert_problem

pytestmark = pytest.mark.django_db

ENTRIES = "/api/account/entries"


def test_refunded_expenses_and_refunds_are_no_candidates(
    premium_member: Member,
) -> None:
    client: Any = JSONClient(premium_member)
    bank, cash = make_wallet(premium_member), make_wallet(premium_member)
    plain: dict[str, Any] = {"amount": 500, "date": "2026-11-02"}
    refunded = make_entry(premium_member, **plain, wallet=bank)
    candidate = make_entry(premium_member, **plain, wallet=bank)
    part = {"amount": 100, "date": "2026-11-02"}
    response = client.send("POST", f"{ENTRIES}/{refunded.pk}/refund", part)
    assert response.status_code == 201, response.content
    # A refund into another wallet, as large as an expense that is not refunded.
    other = make_entry(premium_member, amount=500, date="2026-10-01", wallet=bank)
    body = {"walletId": cash.pk, "date": "2026-11-02"}
    response = client.send("POST", f"{ENTRIES}/{other.pk}/refund", body)
    assert response.status_code == 201, response.content
    query = "from=2026-09-01&to=2026-11-30"
    assert client.get_json(f"{ENTRIES}/transfer-candidates?{query}") == []

    income = make_entry(premium_member, **plain, type="income", wallet=cash)
    (found,) = client.get_json(f"{ENTRIES}/transfer-candidates?{query}")
    assert (found["outId"], found["inId"]) == (candidate.pk, income.pk)
    path = f"{ENTRIES}/{candidate.pk}/merge"
    assert client.send("POST", path, {"with": income.pk}).status_code == 200


def test_range_of_candidates_is_limited(client: JSONClient) -> None:
    path = f"{ENTRIES}/transfer-candidates?to=2026-11-20"
    assert client.get_json(f"{path}&from=2025-10-16") == []
    refused = client.send("GET", f"{path}&from=2025-10-15")
    assert_problem(refused, 400, "VALIDATION_ERROR")
    assert [each["field"] for each in refused.data["errors"]] == ["to"]
    assert client.send("GET", f"{path}&from=0001-01-01").status_code == 400


@pytest.mark.parametrize(
    "query",
    [
        "to=0001-01-01",
        "to=0001-02-01",
        "from=0001-01-01&to=0001-01-01",
        "from=9999-12-30&to=9999-12-31",
        "to=9999-12-31",
    ],
)
def test_candidates_at_the_ends_of_the_calendar(client: JSONClient, query: str) -> None:
    assert client.get_json(f"{ENTRIES}/transfer-candidates?{query}") == []
