"""Budgets of a month, copied to another one."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Budget
from tests.support.budgets import BUDGETS, COPY, INCOME, NOVEMBER
from tests.support.clients import JSONClient
from tests.support.factories import make_budget, make_category


def amounts(member: Member, **when: Any) -> Any:
    rows = Budget.objects.owned_by(member).filter(**when)
    return dict(rows.values_list("category__name", "amount"))


def copy(client: JSONClient, source: Any, target: Any, path: Any = COPY) -> Any:
    body = {
        "fromYear": source[0],
        "fromMonth": source[1],
        "toYear": target[0],
        "toMonth": target[1],
    }
    return client.send("POST", path, body)


@pytest.mark.parametrize("path", [COPY, "/budgets/copy", "/api/budgets/copy"])
def test_copy_creates_and_overwrites_and_leaves_the_others(
    client: JSONClient, premium_member: Member, path: Any
) -> None:
    food, rent, fun = (make_category(premium_member, name=name) for name in "frx")
    for category, amount in ((food, 1), (rent, 2)):
        make_budget(premium_member, category=category, month=11, amount=amount)
    for category, amount in ((rent, 30), (fun, 40)):
        make_budget(premium_member, category=category, month=12, amount=amount)
    response = copy(client, (2026, 11), (2026, 12), path)
    assert response.status_code == 200
    assert response.data == {"created": 1, "overwritten": 1}
    assert amounts(premium_member, month=12) == {"f": 1, "r": 2, "x": 40}
    assert amounts(premium_member, month=11) == {"f": 1, "r": 2}


def test_copy_again_overwrites_with_the_same(
    client: JSONClient, premium_member: Member
) -> None:
    make_budget(premium_member)
    assert copy(client, (2026, 11), (2027, 1)).data == {"created": 1, "overwritten": 0}
    assert copy(client, (2026, 11), (2027, 1)).data == {"created": 0, "overwritten": 1}
    assert Budget.objects.count() == 2


def test_overwritten_budget_keeps_its_id(
    client: JSONClient, premium_member: Member
) -> None:
    category = make_category(premium_member)
    make_budget(premium_member, category=category, month=11, amount=5)
    kept = make_budget(premium_member, category=category, month=12)
    copy(client, (2026, 11), (2026, 12))
    assert client.get_json(f"{BUDGETS}/{kept.pk}")["amount"] == 5


def test_copy_of_a_month_without_budgets_changes_nothing(
    client: JSONClient, premium_member: Member
) -> None:
    make_budget(premium_member, month=12, amount=9)
    response = copy(client, (2026, 11), (2026, 12))
    assert response.data == {"created": 0, "overwritten": 0}
    assert Budget.objects.get().amount == 9


def test_copy_touches_the_callers_budgets_only(
    client: JSONClient, premium_member: Member, other_member: Member
) -> None:
    make_budget(other_member, month=11, amount=1)
    make_budget(other_member, month=12, amount=2)
    make_budget(premium_member, month=11, amount=3)
    assert copy(client, (2026, 11), (2026, 12)).data["created"] == 1
    theirs = Budget.objects.owned_by(other_member).values_list("month", "amount")
    assert set(theirs) == {(11, 1), (12, 2)}
    assert Budget.objects.owned_by(premium_member).count() == 2


def test_copy_of_a_month_into_itself_is_refused(
    client: JSONClient, premium_member: Member
) -> None:
    make_budget(premium_member)
    response = copy(client, (2026, 11), (2026, 11))
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == ["toMonth"]


def test_copy_goes_back_in_time_too(client: JSONClient, premium_member: Member) -> None:
    make_budget(premium_member, year=2027, month=1, amount=6)
    copy(client, (2027, 1), (2026, 12))
    assert list(amounts(premium_member, year=2026).values()) == [6]


def test_copy_leaves_the_expected_income_alone(
    client: JSONClient, premium_member: Member
) -> None:
    client.send("PUT", INCOME, NOVEMBER | {"amount": 5})
    copy(client, (2026, 11), (2026, 12))
    assert client.get_json(INCOME, year=2026, month=12)["amount"] == 0


@pytest.mark.parametrize("missing", ["fromYear", "fromMonth", "toYear", "toMonth"])
def test_copy_needs_both_months(client: JSONClient, missing: str) -> None:
    body = {"fromYear": 2026, "fromMonth": 1, "toYear": 2026, "toMonth": 2}
    response = client.send("POST", COPY, body | {missing: 0})
    assert [error["field"] for error in response.data["errors"]] == [missing]
    del body[missing]
    response = client.send("POST", COPY, body)
    assert [error["field"] for error in response.data["errors"]] == [missing]
