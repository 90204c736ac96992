"""Budgets and tags under concurrent requests: one row for a key, no deadlock."""

from functools import partial

import pytest

from accounts.models import Member
from ledger.models import Budget, BudgetIncome, Category, Tag
from tests.support.clients import JSONClient
from tests.support.factories import (
    make_budget,
    make_category,
    make_entry,
    make_member,
    make_tag,
)
from tests.support.races import run_concurrently, sorted_statuses
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)

BUDGETS = "/api/account/budgets"
CATEGORIES = "/api/account/categories"
TAGS = "/api/account/tags"
ROUNDS = scaled(4, 15)
NOVEMBER = {"year": 2026, "month": 11}


@pytest.fixture
def member() -> Member:
    return make_member(plan="PREMIUM")


def test_one_key_at_once_makes_one_budget_and_one_category(client: JSONClient) -> None:
    for number in range(ROUNDS):
        body = NOVEMBER | {"category": f"New {number}", "amount": 1}
        responses = run_concurrently([partial(client.send, "POST", BUDGETS, body)] * 4)
        assert sorted_statuses(responses) == [201, 409, 409, 409]
    assert Budget.objects.count() == Category.objects.count() == ROUNDS


def test_copies_at_once_count_each_budget_as_created_once(
    client: JSONClient, member: Member
) -> None:
    for _ in range(5):
        make_budget(member, amount=7)
    copy = {"fromYear": 2026, "fromMonth": 11, "toYear": 2026}
    for month in range(1, 7):
        body = copy | {"toMonth": month}
        send = partial(client.send, "POST", f"{BUDGETS}/copy", body)
        responses = run_concurrently([send] * 4)
        assert sorted_statuses(responses) == [200] * 4
        assert sum(response.data["created"] for response in responses) == 5
        assert sum(response.data["overwritten"] for response in responses) == 15
        assert Budget.objects.filter(month=month, amount=7).count() == 5


def test_copy_racing_the_end_of_a_category_neither_deadlocks_nor_loses_a_budget(
    client: JSONClient, member: Member
) -> None:
    for number in range(ROUNDS):
        source, target = make_category(member), make_category(member)
        year = 2000 + number
        make_budget(member, category=source, year=year, month=1, amount=3)
        make_budget(member, category=target, year=year, month=1, amount=4)
        body = {"fromYear": year, "fromMonth": 1, "toYear": year, "toMonth": 2}
        path = f"{CATEGORIES}/{source.pk}?moveTo={target.pk}"
        copied, deleted = run_concurrently(
            [
                partial(client.send, "POST", f"{BUDGETS}/copy", body),
                partial(client.send, "DELETE", path),
            ]
        )
        assert (copied.status_code, deleted.status_code) == (200, 204)
        rows = Budget.objects.filter(year=year).values_list("category", "month")
        assert set(rows) == {(target.pk, 1), (target.pk, 2)}
        amounts = Budget.objects.filter(year=year).values_list("amount", flat=True)
        assert list(amounts) == [7, 7]


def test_change_and_delete_of_a_budget_racing_its_category_are_never_a_500(
    client: JSONClient, member: Member
) -> None:
    for _ in range(ROUNDS):
        source, target = make_category(member), make_category(member)
        budget = make_budget(member, category=source)
        make_budget(member, category=target)
        path = f"{BUDGETS}/{budget.pk}"
        responses = run_concurrently(
            [
                partial(client.send, "PATCH", path, {"amount": 2}),
                partial(client.send, "DELETE", path),
                partial(
                    client.send,
                    "DELETE",
                    f"{CATEGORIES}/{source.pk}?moveTo={target.pk}",
                ),
            ]
        )
        changed, deleted, moved = (response.status_code for response in responses)
        assert changed in {200, 404}
        assert deleted in {204, 404}
        assert moved == 204
        assert not Budget.objects.filter(category_id=source.pk).exists()


def test_expected_income_set_at_once_is_one_row(client: JSONClient) -> None:
    for month in range(1, 13):
        bodies = [{"year": 2026, "month": month, "amount": n} for n in range(4)]
        responses = run_concurrently(
            [partial(client.send, "PUT", f"{BUDGETS}/income", body) for body in bodies]
        )
        assert sorted_statuses(responses) == [200] * 4
    assert BudgetIncome.objects.count() == 12


def test_one_name_at_once_makes_one_tag_in_a_place_of_its_own(
    client: JSONClient,
) -> None:
    for number in range(5):
        body = {"name": f"tag {number}"}
        responses = run_concurrently([partial(client.send, "POST", TAGS, body)] * 4)
        assert sorted_statuses(responses) == [201, 409, 409, 409]
    assert list(Tag.objects.values_list("sort_order", flat=True)) == [1, 2, 3, 4, 5]


def test_tag_under_many_hands_at_once_is_never_a_500(
    client: JSONClient, member: Member
) -> None:
    for number in range(ROUNDS):
        tags = [make_tag(member) for _ in range(3)]
        entry = make_entry(member, tags=(tags[0].name,))
        ids = [row["id"] for row in client.get_json(TAGS)]
        path = f"{TAGS}/{tags[0].pk}"
        names = {"tags": [tag.name for tag in tags[::-1]]}
        responses = run_concurrently(
            [
                partial(client.send, "PUT", f"{TAGS}/reorder", {"ids": ids}),
                partial(client.send, "PUT", f"{TAGS}/reorder", {"ids": ids[::-1]}),
                partial(client.send, "PATCH", path, {"name": f"renamed {number}"}),
                partial(client.send, "DELETE", path),
                partial(
                    client.send, "PATCH", f"/api/account/entries/{entry.pk}", names
                ),
            ]
        )
        statuses = [response.status_code for response in responses]
        assert max(statuses) < 500, statuses
        assert statuses[3] == 204
        assert statuses[4] == 200
