"""Budgets of a month: one for a category, copied, beside what was spent."""

import calendar
from datetime import UTC, date, datetime
from decimal import Decimal
from random import Random
from typing import Any

import pytest
import time_machine

from accounts.models import Member
from ledger.models import Budget, BudgetIncome, Category, Entry
from tests.support.clients import JSONClient
from tests.support.factories import (
    make_budget,
    make_category,
    make_entry,
    make_member,
    make_wallet,
)

BUDGETS = "/api/account/budgets"
COPY = f"{BUDGETS}/copy"
STATUS = f"{BUDGETS}/status"
CHART = f"{BUDGETS}/chart"
INCOME = f"{BUDGETS}/income"
CATEGORIES = "/api/account/categories"
MOST = 999_999_999_999
NOVEMBER = {"year": 2026, "month": 11}
FOOD = NOVEMBER | {"category": "Food", "amount": 5_000}


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


def amounts(member: Member, **when: Any) -> Any:
    rows = Budget.objects.owned_by(member).filter(**when)
    return dict(rows.values_list("category__name", "amount"))


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


# Names


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
    budget = make_budget(premium_member)
    path = f"{CATEGORIES}/{budget.category_id}"
    response = client.send("DELETE", path)
    assert (response.status_code, response.data["code"]) == (409, "IN_USE")
    response = client.send("PATCH", path, {"type": "income"})
    assert (response.status_code, response.data["code"]) == (409, "IN_USE")


def test_budgets_of_a_moved_category_are_added_to_the_targets(
    client: JSONClient, premium_member: Member
) -> None:
    source, target = (make_category(premium_member, name=name) for name in "st")
    make_budget(premium_member, category=source, month=10, amount=1)
    make_budget(premium_member, category=source, month=11, amount=20)
    make_budget(premium_member, category=target, month=11, amount=300)
    make_budget(premium_member, category=target, month=12, amount=4_000)
    response = client.send("DELETE", f"{CATEGORIES}/{source.pk}?moveTo={target.pk}")
    assert response.status_code == 204
    rows = Budget.objects.owned_by(premium_member)
    assert set(rows.values_list("category__name", "month", "amount")) == {
        ("t", 10, 1),
        ("t", 11, 320),
        ("t", 12, 4_000),
    }


def test_added_budgets_stay_in_range(
    client: JSONClient, premium_member: Member
) -> None:
    source, target = make_category(premium_member), make_category(premium_member)
    for category in (source, target):
        make_budget(premium_member, category=category, amount=MOST)
    path = f"{CATEGORIES}/{source.pk}?moveTo={target.pk}"
    assert client.send("DELETE", path).status_code == 204
    assert Budget.objects.get().amount == MOST


# Copy


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


# Income


def test_expected_income_is_0_until_it_is_set(client: JSONClient) -> None:
    assert client.get_json(INCOME, **NOVEMBER) == NOVEMBER | {"amount": 0}
    for amount in (5_000, 0, MOST):
        response = client.send("PUT", INCOME, NOVEMBER | {"amount": amount})
        assert response.status_code == 200
        assert response.data == NOVEMBER | {"amount": amount}
        assert client.get_json(INCOME, **NOVEMBER) == response.data
    assert client.get_json(INCOME, year=2026, month=12)["amount"] == 0
    assert BudgetIncome.objects.count() == 1


def test_expected_income_is_the_members_own(
    client: JSONClient, other_member: Member
) -> None:
    BudgetIncome.objects.create(member=other_member, year=2026, month=11, amount=9)
    assert client.get_json(INCOME, **NOVEMBER)["amount"] == 0
    client.send("PUT", INCOME, NOVEMBER | {"amount": 1})
    assert BudgetIncome.objects.get(member=other_member).amount == 9


@pytest.mark.parametrize("amount", [-1, MOST + 1, "5", None, 0.5])
def test_expected_income_is_a_whole_amount_not_below_0(
    client: JSONClient, amount: Any
) -> None:
    response = client.send("PUT", INCOME, NOVEMBER | {"amount": amount})
    assert [error["field"] for error in response.data["errors"]] == ["amount"]


# Status


def test_status_of_a_month_without_anything(client: JSONClient) -> None:
    assert client.get_json(STATUS, **NOVEMBER) == NOVEMBER | {
        "categories": [],
        "total": {"budgeted": 0, "spent": 0, "remaining": 0, "share": None},
        "income": {"expected": 0, "actual": 0},
    }


def test_status_tells_budgeted_spent_remaining_and_share(
    client: JSONClient, premium_member: Member
) -> None:
    food = make_category(premium_member, name="Food")
    make_budget(premium_member, category=food, amount=1_000)
    make_entry(premium_member, category=food, amount=200)
    make_entry(premium_member, category=food, amount=50, date=date(2026, 11, 30))
    body = client.get_json(STATUS, **NOVEMBER)
    figures = {
        "budgeted": 1_000,
        "spent": 250,
        "remaining": 750,
        "share": Decimal("0.25"),
    }
    assert body["categories"] == [{"category": "Food", "parent": None} | figures]
    assert body["total"] == figures


def test_share_is_rounded_half_up_to_4_decimals(
    client: JSONClient, premium_member: Member
) -> None:
    for budgeted, spent, share in ((3, 2, "0.6667"), (20_000, 1, "0.0001")):
        category = make_category(premium_member, name=share)
        make_budget(premium_member, category=category, amount=budgeted)
        make_entry(premium_member, category=category, amount=spent)
    rows = client.get_json(STATUS, **NOVEMBER)["categories"]
    assert {row["category"]: str(row["share"]) for row in rows} == {
        "0.6667": "0.6667",
        "0.0001": "0.0001",
    }


def test_overspent_budget_has_a_negative_remainder(
    client: JSONClient, premium_member: Member
) -> None:
    budget = make_budget(premium_member, amount=100)
    make_entry(premium_member, category=budget.category, amount=250)
    total = client.get_json(STATUS, **NOVEMBER)["total"]
    assert (total["remaining"], total["share"]) == (-150, Decimal("2.5"))


def test_what_does_not_count_as_spent(
    client: JSONClient, premium_member: Member, other_member: Member
) -> None:
    budget = make_budget(premium_member, amount=100)
    food = budget.category
    make_entry(premium_member, category=food, pending=True)
    make_entry(premium_member, category=food, date=date(2026, 10, 31))
    make_entry(premium_member, category=food, date=date(2026, 12, 1))
    make_entry(premium_member)
    make_entry(premium_member, category=make_category(premium_member))
    income = make_category(premium_member, name=food.name, type="income")
    make_entry(premium_member, category=income, type="income")
    theirs = make_category(other_member, name=food.name)
    make_entry(other_member, category=theirs)
    body = client.get_json(STATUS, **NOVEMBER)
    assert (body["categories"][0]["spent"], body["total"]["spent"]) == (0, 0)
    assert {day["spent"] for day in client.get_json(CHART, **NOVEMBER)["days"]} == {0}


def test_confirmed_entry_counts_as_spent(
    client: JSONClient, premium_member: Member
) -> None:
    budget = make_budget(premium_member)
    entry = make_entry(premium_member, category=budget.category, pending=True)
    client.send("POST", f"/api/account/entries/{entry.pk}/confirm")
    assert client.get_json(STATUS, **NOVEMBER)["total"]["spent"] == entry.amount


def test_budget_of_a_major_category_covers_its_minors(
    client: JSONClient, premium_member: Member
) -> None:
    food = make_category(premium_member, name="Food")
    lunch = make_category(premium_member, name="Lunch", parent=food)
    make_budget(premium_member, category=food, amount=100)
    make_entry(premium_member, category=food, amount=1)
    make_entry(premium_member, category=lunch, amount=20)
    body = client.get_json(STATUS, **NOVEMBER)
    assert [row["spent"] for row in body["categories"]] == [21]
    assert body["total"]["spent"] == 21
    assert client.get_json(CHART, **NOVEMBER)["days"][-1]["spent"] == 21


def test_budget_of_a_minor_category_does_not_cover_its_major(
    client: JSONClient, premium_member: Member
) -> None:
    food = make_category(premium_member, name="Food")
    lunch = make_category(premium_member, name="Lunch", parent=food)
    make_budget(premium_member, category=lunch, amount=100)
    make_entry(premium_member, category=food, amount=1)
    make_entry(premium_member, category=lunch, amount=20)
    body = client.get_json(STATUS, **NOVEMBER)
    row = body["categories"][0]
    assert (row["category"], row["parent"], row["spent"]) == ("Lunch", "Food", 20)
    assert body["total"]["spent"] == 20


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


# Chart


@pytest.mark.parametrize(("year", "month"), [(2026, 2), (2028, 2), (2026, 11)])
def test_chart_has_every_day_of_the_month_and_ends_with_the_whole_budget(
    client: JSONClient, premium_member: Member, year: int, month: int
) -> None:
    make_budget(premium_member, year=year, month=month, amount=1_000)
    body = client.get_json(CHART, year=year, month=month)
    last = calendar.monthrange(year, month)[1]
    assert [row["date"] for row in body["days"]] == [
        date(year, month, number).isoformat() for number in range(1, last + 1)
    ]
    budgeted = [row["budgeted"] for row in body["days"]]
    assert budgeted == sorted(budgeted)
    assert budgeted[0] > 0
    assert budgeted[-1] == 1_000


def test_chart_is_cumulative(client: JSONClient, premium_member: Member) -> None:
    budget = make_budget(premium_member, amount=30)
    for day, amount in ((1, 5), (3, 7), (3, 1), (30, 100)):
        make_entry(
            premium_member,
            category=budget.category,
            date=date(2026, 11, day),
            amount=amount,
        )
    days = client.get_json(CHART, **NOVEMBER)["days"]
    assert [row["spent"] for row in days] == [5, 5, *[13] * 27, 113]
    assert [row["budgeted"] for row in days] == list(range(1, 31))


def test_chart_without_budgets_is_flat(
    client: JSONClient, premium_member: Member
) -> None:
    make_entry(premium_member, category=make_category(premium_member))
    body = client.get_json(CHART, **NOVEMBER)
    assert {(row["budgeted"], row["spent"]) for row in body["days"]} == {(0, 0)}


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


def test_moving_a_wallet_leaves_what_is_spent(
    client: JSONClient, premium_member: Member
) -> None:
    wallet, target = make_wallet(premium_member), make_wallet(premium_member)
    budget = make_budget(premium_member)
    make_entry(premium_member, category=budget.category, wallet=wallet, amount=9)
    client.send("DELETE", f"/api/account/wallets/{wallet.pk}?moveTo={target.pk}")
    assert client.get_json(STATUS, **NOVEMBER)["total"]["spent"] == 9
