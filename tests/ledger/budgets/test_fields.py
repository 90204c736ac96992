"""Budgets of a month: one for a category, and what their fields may be."""

from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from accounts.models import Member
from ledger.models import Budget, Category
from tests.support.budgets import BUDGETS, CHART, FOOD, INCOME, MOST, NOVEMBER, STATUS
from tests.support.clients import JSONClient
from tests.support.factories import make_budget, make_category, make_member

# The list


def test_budget_is_made_read_changed_and_deleted(client: JSONClient) -> None:
    created = client.send("POST", BUDGETS, FOOD)
    assert created.status_code == 201
    path = f"{BUDGETS}/{created.data['id']}"
    assert created.data == FOOD | {"id": created.data["id"]}
    assert client.get_json(path) == created.data
    assert client.get_json(BUDGETS, **NOVEMBER) == [created.data]

    whole = {"year": 2027, "month": 1, "category": "Rent", "amount": 7}
    assert client.send("PUT", path, whole).data == whole | {"id": created.data["id"]}
    part = client.send("PATCH", path, {"amount": 8}).data
    assert part == whole | {"id": created.data["id"], "amount": 8}
    assert client.get_json(BUDGETS, **NOVEMBER) == []

    assert client.send("DELETE", path).status_code == 204
    assert client.send("GET", path).status_code == 404
    assert Category.objects.filter(name="Food", type="expense").exists()


def test_what_was_read_can_be_sent_back_as_it_is(client: JSONClient) -> None:
    body = client.send("POST", BUDGETS, FOOD).data
    response = client.send("PUT", f"{BUDGETS}/{body['id']}", body)
    assert (response.status_code, response.data) == (200, body)


def test_unknown_category_is_made_as_a_major_expense_one(
    client: JSONClient, premium_member: Member
) -> None:
    make_category(premium_member, name="Food", type="income")
    assert client.send("POST", BUDGETS, FOOD).status_code == 201
    category = Category.objects.get(name="Food", type="expense")
    assert category.parent is None


def test_category_has_one_budget_a_month(client: JSONClient) -> None:
    assert client.send("POST", BUDGETS, FOOD).status_code == 201
    response = client.send("POST", BUDGETS, FOOD | {"amount": 9})
    assert (response.status_code, response.data["code"]) == (409, "DUPLICATE")
    for other in ({"month": 12}, {"year": 2025}, {"category": "Rent"}):
        assert client.send("POST", BUDGETS, FOOD | other).status_code == 201
    assert Budget.objects.count() == 4


@pytest.mark.parametrize("change", [{"month": 12}, {"category": "Rent"}])
def test_change_into_the_key_of_another_budget_is_a_duplicate(
    client: JSONClient, change: dict[str, Any]
) -> None:
    client.send("POST", BUDGETS, FOOD | change)
    own = client.send("POST", BUDGETS, FOOD).data
    path = f"{BUDGETS}/{own['id']}"
    for method, body in (("PATCH", change), ("PUT", FOOD | change)):
        response = client.send(method, path, body)
        assert (response.status_code, response.data["code"]) == (409, "DUPLICATE")
    assert client.get_json(path) == own


def test_two_members_have_budgets_of_the_same_key(
    client: JSONClient, other_member: Member
) -> None:
    theirs = make_category(other_member, name="Food")
    make_budget(other_member, category=theirs)
    assert client.send("POST", BUDGETS, FOOD).status_code == 201
    assert len(client.get_json(BUDGETS, **NOVEMBER)) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("amount", 0),
        ("amount", -1),
        ("amount", MOST + 1),
        ("amount", 1.5),
        ("amount", "5"),
        ("amount", None),
        ("month", 0),
        ("month", 13),
        ("month", True),
        ("year", 1899),
        ("year", 2201),
        ("year", 10**30),
        ("category", None),
        ("category", ""),
        ("category", "x" * 101),
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_wrong_field_is_named(
    client: JSONClient, premium_member: Member, method: str, field: str, value: Any
) -> None:
    budget = make_budget(premium_member)
    path = BUDGETS if method == "POST" else f"{BUDGETS}/{budget.pk}"
    body = {field: value} if method == "PATCH" else FOOD | {field: value}
    response = client.send(method, path, body)
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == [field]


@pytest.mark.parametrize("field", FOOD)
def test_every_field_of_a_budget_is_required(client: JSONClient, field: Any) -> None:
    body = {name: value for name, value in FOOD.items() if name != field}
    response = client.send("POST", BUDGETS, body)
    assert [error["field"] for error in response.data["errors"]] == [field]


def test_largest_amount_is_kept(client: JSONClient) -> None:
    body = client.send("POST", BUDGETS, FOOD | {"amount": MOST})
    assert body.data["amount"] == MOST


@pytest.mark.parametrize("path", [BUDGETS, STATUS, CHART, INCOME])
@pytest.mark.parametrize(
    "query", ["month=13", "month=0", "year=0", "year=99999", "year=x", "month=1.5"]
)
def test_month_that_does_not_exist_is_400(
    client: JSONClient, path: Any, query: str
) -> None:
    response = client.send("GET", f"{path}?{query}")
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")


@time_machine.travel(datetime(2026, 12, 31, 15, 30, tzinfo=UTC), tick=False)
def test_without_a_month_it_is_the_current_one_of_the_home_time_zone(db: None) -> None:
    member = make_member(plan="PREMIUM")
    make_budget(member, year=2027, month=1, amount=3)
    make_budget(member, year=2026, month=12)
    client = JSONClient(member)
    assert [row["amount"] for row in client.get_json(BUDGETS)] == [3]
    for path in (STATUS, CHART, INCOME):
        body = client.get_json(path)
        assert (body["year"], body["month"]) == (2027, 1)


# Access


def test_free_member_is_refused_before_anything_else(free_member: Member) -> None:
    client = JSONClient(free_member)
    budget = make_budget(free_member)
    for method, path in (
        ("GET", f"{BUDGETS}?month=99"),
        ("GET", f"{BUDGETS}/{budget.pk}"),
        ("GET", f"{BUDGETS}/987654321"),
        ("POST", "/budgets/copy"),
    ):
        response = client.send(method, path)
        assert response.status_code == 403
        assert response.data["code"] == "PREMIUM_REQUIRED"
