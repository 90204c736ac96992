"""Budgets beside their categories: the order, new names, and categories that end."""

from random import Random
from typing import Any

from accounts.models import Member
from ledger.models import Budget, Category
from tests.support.clients import JSONClient
from tests.support.factories import make_budget, make_category
from tests.support.problems import assert_problem
from tests.support.reports import BUDGETS, MOST, NOVEMBER, STATUS

CATEGORIES = "/api/account/categories"


def test_budgets_are_in_the_order_of_the_categories_minors_under_their_major(
    client: JSONClient, premium_member: Member
) -> None:
    def add(
        name: str, parent: Any = None, *, place: Any, budget: bool = True
    ) -> Category:
        category = make_category(
            premium_member, name=name, parent=parent, sort_order=place
        )
        if budget:
            budgeted.append(category)
        return category

    budgeted: list[Any] = []
    late = add("late", place=3)
    early = add("early", place=1)
    bare = add("bare", place=2, budget=False)
    twin = add("twin", place=1)
    for major, names in ((late, "ba"), (early, "dc"), (bare, "fe"), (twin, "hg")):
        for place, name in enumerate(names, start=1):
            add(f"{major.name} {name}", major, place=place)
    add("early last", early, place=2)
    for category in Random(1).sample(budgeted, len(budgeted)):
        make_budget(premium_member, category=category)

    listed = [row["category"] for row in client.get_json(BUDGETS, **NOVEMBER)]
    statuses = client.get_json(STATUS, **NOVEMBER)["categories"]
    categories = [row["name"] for row in client.get_json(CATEGORIES)]

    assert listed == [
        *("early", "early d", "early c", "early last", "twin", "twin h", "twin g"),
        *("bare f", "bare e", "late", "late b", "late a"),
    ]
    assert [row["category"] for row in statuses] == listed
    assert [name for name in categories if name != "bare"] == listed


def test_new_name_of_a_category_reaches_its_budgets(
    client: JSONClient, premium_member: Member
) -> None:
    budget = make_budget(premium_member)
    client.send("PATCH", f"{CATEGORIES}/{budget.category_id}", {"name": "Groceries"})
    assert client.get_json(f"{BUDGETS}/{budget.pk}")["category"] == "Groceries"
    assert (
        client.get_json(STATUS, **NOVEMBER)["categories"][0]["category"] == "Groceries"
    )


def test_category_with_a_budget_is_in_use(
    client: JSONClient, premium_member: Member
) -> None:
    path = f"{CATEGORIES}/{make_budget(premium_member).category_id}"
    for method, body in (("DELETE", None), ("PATCH", {"type": "income"})):
        assert_problem(client.send(method, path, body), 409, "IN_USE")


def test_budgets_of_a_moved_category_are_added_to_the_targets_within_range(
    client: JSONClient, premium_member: Member
) -> None:
    source, target = (make_category(premium_member, name=name) for name in "st")
    for category, month, amount in (
        *((source, 10, 1), (source, 11, 20), (target, 11, 300), (target, 12, 4_000)),
        *((source, 9, MOST), (target, 9, MOST)),
    ):
        make_budget(premium_member, category=category, month=month, amount=amount)
    response = client.send("DELETE", f"{CATEGORIES}/{source.pk}?moveTo={target.pk}")
    assert response.status_code == 204
    rows = Budget.objects.owned_by(premium_member).order_by("month")
    assert list(rows.values_list("category__name", "month", "amount")) == [
        *(("t", 9, MOST), ("t", 10, 1), ("t", 11, 320), ("t", 12, 4_000))
    ]
