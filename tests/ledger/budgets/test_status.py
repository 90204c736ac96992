"""Budgets of a month beside what was spent: the status."""

from datetime import date
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Budget, Entry
from tests.support.clients import JSONClient
from tests.support.factories import make_budget, make_category, make_entry, make_wallet
from tests.support.reports import CHART, INCOME, NOVEMBER, STATUS


def test_status_of_a_month_without_anything(client: JSONClient) -> None:
    assert client.get_json(STATUS, **NOVEMBER) == NOVEMBER | {
        "categories": [],
        "total": {"budgeted": 0, "spent": 0, "remaining": 0, "share": None},
        "income": {"expected": 0, "actual": 0},
    }


@pytest.mark.parametrize(
    ("budgeted", "spent", "share"),
    [
        (1_000, 250, "0.25"),
        # Half up, with 4 decimals.
        (3, 2, "0.6667"),
        (20_000, 1, "0.0001"),
        # Overspent.
        (100, 250, "2.5"),
    ],
)
def test_status_tells_budgeted_spent_remaining_and_share(
    client: JSONClient, premium_member: Member, budgeted: int, spent: int, share: str
) -> None:
    food = make_category(premium_member, name="Food")
    make_budget(premium_member, category=food, amount=budgeted)
    make_entry(premium_member, category=food, amount=spent, date=date(2026, 11, 30))
    body = client.get_json(STATUS, **NOVEMBER)
    figures = {
        "budgeted": budgeted,
        "spent": spent,
        "remaining": budgeted - spent,
        "share": Decimal(share),
    }
    assert body["categories"] == [{"category": "Food", "parent": None} | figures]
    assert body["total"] == figures


def test_what_does_not_count_as_spent(
    client: JSONClient, premium_member: Member, other_member: Member
) -> None:
    food = make_budget(premium_member, amount=100).category
    pending = make_entry(premium_member, category=food, pending=True)
    for day in (date(2026, 10, 31), date(2026, 12, 1)):
        make_entry(premium_member, category=food, date=day)
    income = make_category(premium_member, name=food.name, type="income")
    make_entry(premium_member, category=income, type="income")
    for category in (None, make_category(premium_member)):
        make_entry(premium_member, category=category)
    make_entry(other_member, category=make_category(other_member, name=food.name))
    body = client.get_json(STATUS, **NOVEMBER)
    assert (body["categories"][0]["spent"], body["total"]["spent"]) == (0, 0)
    assert {day["spent"] for day in client.get_json(CHART, **NOVEMBER)["days"]} == {0}

    client.send("POST", f"/api/account/entries/{pending.pk}/confirm")
    assert client.get_json(STATUS, **NOVEMBER)["total"]["spent"] == pending.amount


@pytest.mark.parametrize(("budgeted", "spent"), [("Food", 21), ("Lunch", 20)])
def test_budget_of_a_major_category_covers_its_minors_and_not_the_other_way(
    client: JSONClient, premium_member: Member, budgeted: str, spent: int
) -> None:
    food = make_category(premium_member, name="Food")
    lunch = make_category(premium_member, name="Lunch", parent=food)
    category = food if budgeted == "Food" else lunch
    make_budget(premium_member, category=category, amount=100)
    make_entry(premium_member, category=food, amount=1)
    make_entry(premium_member, category=lunch, amount=20)
    body = client.get_json(STATUS, **NOVEMBER)
    assert [(row["category"], row["spent"]) for row in body["categories"]] == [
        (budgeted, spent)
    ]
    assert body["total"]["spent"] == spent
    assert client.get_json(CHART, **NOVEMBER)["days"][-1]["spent"] == spent


def test_nothing_counts_twice_where_major_and_minor_have_budgets(
    client: JSONClient, premium_member: Member
) -> None:
    food = make_category(premium_member, name="Food", sort_order=2)
    lunch = make_category(premium_member, name="Lunch", parent=food)
    rent = make_category(premium_member, name="Rent", sort_order=1)
    for category, amount in ((lunch, 40), (food, 100), (rent, 500)):
        make_budget(premium_member, category=category, amount=amount)
    for category, amount in ((lunch, 8), (food, 1), (rent, 300)):
        make_entry(premium_member, category=category, amount=amount)
    body = client.get_json(STATUS, **NOVEMBER)
    assert [
        (row["category"], row["parent"], row["budgeted"], row["spent"])
        for row in body["categories"]
    ] == [
        ("Rent", None, 500, 300),
        ("Food", None, 100, 9),
        ("Lunch", "Food", 40, 8),
    ]
    assert (body["total"]["budgeted"], body["total"]["spent"]) == (600, 309)
    last = client.get_json(CHART, **NOVEMBER)["days"][-1]
    assert (last["budgeted"], last["spent"]) == (600, 309)


def test_status_sets_the_actual_income_beside_the_expected(
    client: JSONClient, premium_member: Member
) -> None:
    client.send("PUT", INCOME, NOVEMBER | {"amount": 3_000})
    salary = make_category(premium_member, type="income")
    make_entry(premium_member, type="income", amount=2_000, category=salary)
    make_entry(premium_member, type="income", amount=500)
    make_entry(premium_member, type="income", amount=7, pending=True)
    make_entry(premium_member, type="income", amount=9, date=date(2026, 12, 1))
    body = client.get_json(STATUS, **NOVEMBER)
    assert body["income"] == {"expected": 3_000, "actual": 2_500}


@pytest.mark.parametrize("seed", range(6))
def test_status_and_chart_equal_a_count_by_hand(
    seed: Any, client: JSONClient, premium_member: Member
) -> None:
    random = Random(seed)
    majors = [make_category(premium_member) for _ in range(3)]
    minors = [
        make_category(premium_member, parent=random.choice(majors)) for _ in range(5)
    ]
    for category in random.sample([*majors, *minors], 5):
        amount = random.randrange(1, 10_000)
        make_budget(premium_member, category=category, amount=amount)
    for _ in range(60):
        make_entry(
            premium_member,
            category=random.choice([None, *majors, *minors]),
            amount=random.randrange(1, 1_000),
            pending=random.random() < 0.2,
            date=date(2026, random.choice([10, 11, 11, 11, 12]), random.randint(1, 30)),
        )
    budgets = {row.category_id: row for row in Budget.objects.all()}
    entries = [
        entry
        for entry in Entry.objects.select_related("category")
        if entry.date.month == 11 and not entry.pending and entry.category
    ]
    body = client.get_json(STATUS, **NOVEMBER)
    assert {row["category"]: row["spent"] for row in body["categories"]} == {
        budget.category.name: sum(
            entry.amount
            for entry in entries
            if budget.category_id in {entry.category_id, entry.category.parent_id}
        )
        for budget in budgets.values()
    }
    counted = [
        entry
        for entry in entries
        if {entry.category_id, entry.category.parent_id} & set(budgets)
    ]
    assert body["total"]["spent"] == sum(entry.amount for entry in counted)
    assert body["total"]["budgeted"] == sum(
        row.amount for row in budgets.values() if row.category.parent_id not in budgets
    )
    for day in client.get_json(CHART, **NOVEMBER)["days"]:
        assert day["spent"] == sum(
            entry.amount for entry in counted if entry.date.isoformat() <= day["date"]
        )


def test_moving_a_wallet_leaves_what_is_spent(
    client: JSONClient, premium_member: Member
) -> None:
    wallet, target = make_wallet(premium_member), make_wallet(premium_member)
    budget = make_budget(premium_member)
    make_entry(premium_member, category=budget.category, wallet=wallet, amount=9)
    client.send("DELETE", f"/api/account/wallets/{wallet.pk}?moveTo={target.pk}")
    assert client.get_json(STATUS, **NOVEMBER)["total"]["spent"] == 9
