"""Budgets of a month: one for a category, and what their fields may be."""

from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from accounts.models import Member
from ledger.models import Budget, Category
from tests.support.clients import JSONClient
from tests.support.factories import make_budget, make_category, make_member
from tests.support.problems import assert_invalid, assert_problem
from tests.support.reports import (
    BUDGETS,
    CHART,
    COPY,
    FOOD,
    INCOME,
    MOST,
    NOVEMBER,
    STATUS,
)


def omit(body: dict[str, Any], field: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != field}


def test_budget_is_made_read_changed_and_deleted(
    client: JSONClient, premium_member: Member, other_member: Member
) -> None:
    # Neither a category of the other type nor a budget of another member counts.
    make_category(premium_member, name="Food", type="income")
    make_budget(other_member, category=make_category(other_member, name="Food"))
    created = client.create_json(BUDGETS, FOOD)
    path = f"{BUDGETS}/{created['id']}"
    own = {name: created[name] for name in ("id", "categoryId", "version")}
    assert created == FOOD | own
    assert client.get_json(path) == created
    assert client.get_json(BUDGETS, **NOVEMBER) == [created]
    assert client.change_json("PUT", path, created).items() >= FOOD.items()
    assert Category.objects.filter(pk=created["categoryId"], name="Food").exists()

    whole = {"year": 2027, "month": 1, "category": "Rent", "amount": 7}
    changed = client.change_json("PUT", path, whole)
    assert changed.items() >= (whole | {"id": created["id"]}).items()
    part = client.change_json("PATCH", path, {"amount": 8})
    assert part == changed | {"amount": 8}
    assert client.get_json(BUDGETS, **NOVEMBER) == []

    assert client.send("DELETE", path).status_code == 204
    assert client.send("GET", path).status_code == 404
    food = Category.objects.get(member=premium_member, name="Food", type="expense")
    assert food.parent is None


def test_category_has_one_budget_a_month(client: JSONClient) -> None:
    client.create_json(BUDGETS, FOOD)
    assert_problem(client.send("POST", BUDGETS, FOOD | {"amount": 9}), 409, "DUPLICATE")
    for other in ({"month": 12}, {"year": 2025}, {"category": "Rent"}):
        client.create_json(BUDGETS, FOOD | other)
    assert Budget.objects.count() == 4


@pytest.mark.parametrize("change", [{"month": 12}, {"category": "Rent"}])
def test_change_into_the_key_of_another_budget_is_a_duplicate(
    client: JSONClient, change: dict[str, Any]
) -> None:
    client.send("POST", BUDGETS, FOOD | change)
    own = client.send("POST", BUDGETS, FOOD).data
    path = f"{BUDGETS}/{own['id']}"
    for method, body in (("PATCH", change), ("PUT", FOOD | change)):
        assert_problem(client.send(method, path, body), 409, "DUPLICATE")
    assert client.get_json(path) == own


WRONG: dict[str, list[Any]] = {
    "amount": [0, -1, MOST + 1, 1.5, "5", None],
    "month": [0, 13, True],
    "year": [1899, 2201, 10**30],
    "category": [None, "", "x" * 101],
}
COPIED = {"fromYear": 2026, "fromMonth": 1, "toYear": 2026, "toMonth": 2}


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        *(
            (method, path, whole | {field: value}, field)
            for method, path, whole in (
                ("POST", BUDGETS, FOOD),
                ("PUT", "{budget}", FOOD),
                ("PATCH", "{budget}", {}),
            )
            for field, values in WRONG.items()
            for value in values
        ),
        *(("POST", BUDGETS, omit(FOOD, field), field) for field in FOOD),
        *(
            ("PUT", INCOME, NOVEMBER | {"amount": amount}, "amount")
            for amount in (-1, MOST + 1, "5", None, 0.5)
        ),
        *(("POST", COPY, COPIED | {field: 0}, field) for field in COPIED),
        *(("POST", COPY, omit(COPIED, field), field) for field in COPIED),
        # A month into itself.
        ("POST", COPY, COPIED | {"toMonth": 1}, "toMonth"),
        *(
            ("GET", f"{path}?{query}", None, query.partition("=")[0])
            for path in (BUDGETS, STATUS, CHART, INCOME)
            for query in [
                "month=13",
                "month=0",
                "month=1.5",
                "year=0",
                "year=99999",
                "year=x",
            ]
        ),
    ],
)
def test_wrong_field_is_refused(
    client: JSONClient,
    premium_member: Member,
    method: str,
    path: str,
    body: Any,
    field: str,
) -> None:
    budget = make_budget(premium_member)
    path = path.format(budget=f"{BUDGETS}/{budget.pk}")
    assert_invalid(client.send(method, path, body), field)
    assert Budget.objects.count() == 1


@time_machine.travel(datetime(2026, 12, 31, 15, 30, tzinfo=UTC), tick=False)
def test_without_a_month_it_is_the_current_one_of_the_home_time_zone() -> None:
    member = make_member(plan="PREMIUM")
    make_budget(member, year=2027, month=1, amount=MOST)
    make_budget(member, year=2026, month=12)
    client = JSONClient(member)
    assert [row["amount"] for row in client.get_json(BUDGETS)] == [MOST]
    for path in (STATUS, CHART, INCOME):
        body = client.get_json(path)
        assert (body["year"], body["month"]) == (2027, 1)
