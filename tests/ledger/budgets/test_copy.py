"""Budgets of a month, copied to another one."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Budget
from tests.support.clients import JSONClient
from tests.support.factories import make_budget, make_category
from tests.support.reports import BUDGETS, COPY, INCOME, NOVEMBER


def amounts(member: Member, **when: Any) -> Any:
    rows = Budget.objects.owned_by(member).filter(**when)
    return dict(rows.values_list("category__name", "amount"))


def copy(client: JSONClient, source: Any, target: Any, path: str = COPY) -> Any:
    names = ("fromYear", "fromMonth", "toYear", "toMonth")
    response = client.send("POST", path, dict(zip(names, source + target, strict=True)))
    assert response.status_code == 200, response.content
    return response.data


@pytest.mark.parametrize("path", [COPY, "/budgets/copy", "/api/budgets/copy"])
def test_copy_creates_and_overwrites_and_leaves_the_others(
    client: JSONClient, premium_member: Member, path: str
) -> None:
    client.send("PUT", INCOME, NOVEMBER | {"amount": 5})
    food, rent, fun = (make_category(premium_member, name=name) for name in "frx")
    for category, month, amount in (
        *((food, 11, 1), (rent, 11, 2)),
        *((rent, 12, 30), (fun, 12, 40)),
    ):
        make_budget(premium_member, category=category, month=month, amount=amount)
    kept = Budget.objects.get(category=rent, month=12)
    data = copy(client, (2026, 11), (2026, 12), path)
    assert data == {"created": 1, "overwritten": 1}
    assert amounts(premium_member, month=12) == {"f": 1, "r": 2, "x": 40}
    assert amounts(premium_member, month=11) == {"f": 1, "r": 2}
    assert client.get_json(f"{BUDGETS}/{kept.pk}")["amount"] == 2
    assert client.get_json(INCOME, year=2026, month=12)["amount"] == 0


def test_copy_again_overwrites_with_the_same(
    client: JSONClient, premium_member: Member
) -> None:
    make_budget(premium_member, year=2027, month=1, amount=6)
    # Back in time.
    for created in (1, 0):
        data = copy(client, (2027, 1), (2026, 12))
        assert data == {"created": created, "overwritten": 1 - created}
    assert list(amounts(premium_member, year=2026).values()) == [6]
    assert Budget.objects.count() == 2


def test_copy_of_a_month_without_budgets_changes_nothing(
    client: JSONClient, premium_member: Member
) -> None:
    make_budget(premium_member, month=12, amount=9)
    data = copy(client, (2026, 11), (2026, 12))
    assert data == {"created": 0, "overwritten": 0}
    assert Budget.objects.get().amount == 9


def test_copy_touches_the_callers_budgets_only(
    client: JSONClient, premium_member: Member, other_member: Member
) -> None:
    make_budget(other_member, month=11, amount=1)
    make_budget(other_member, month=12, amount=2)
    make_budget(premium_member, month=11, amount=3)
    assert copy(client, (2026, 11), (2026, 12))["created"] == 1
    theirs = Budget.objects.owned_by(other_member).values_list("month", "amount")
    assert set(theirs) == {(11, 1), (12, 2)}
    assert Budget.objects.owned_by(premium_member).count() == 2
