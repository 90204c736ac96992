"""Categories and tags under concurrent requests: two levels, one row for a name."""

from typing import Any

import pytest

from ledger.models import Category, DefaultCategory, Entry, EntryTag, Tag
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry
from tests.support.races import caller, run_concurrently, sorted_statuses

pytestmark = pytest.mark.django_db(transaction=True)

CATEGORIES = "/api/account/categories"
ENTRIES = "/api/account/entries"
ROUNDS = 50
EXPENSE = {"date": "2026-11-21", "type": "expense", "amount": 7}


def assert_two_levels() -> None:
    assert not Category.objects.filter(parent__parent__isnull=False).exists()


def test_two_moves_at_once_never_make_three_levels(
    client: JSONClient, member: Any
) -> None:
    # a under b while b goes under c: each alone is right, both together never.
    a, b, c = (make_category(member).pk for _ in range(3))
    for _ in range(ROUNDS):
        Category.objects.update(parent=None)
        responses = run_concurrently(
            [
                caller(client, "PATCH", f"{CATEGORIES}/{a}", {"parentId": b}),
                caller(client, "PATCH", f"{CATEGORIES}/{b}", {"parentId": c}),
            ]
        )
        assert sorted_statuses(responses) == [200, 400]
        refused = next(r for r in responses if r.status_code == 400)
        assert refused.data["code"] == "CATEGORY_HIERARCHY"
        assert_two_levels()


def test_two_categories_that_move_under_each_other_at_once_make_no_circle(
    client: JSONClient, member: Any
) -> None:
    a, b = (make_category(member).pk for _ in range(2))
    for _ in range(ROUNDS):
        Category.objects.update(parent=None)
        responses = run_concurrently(
            [
                caller(client, "PATCH", f"{CATEGORIES}/{a}", {"parentId": b}),
                caller(client, "PATCH", f"{CATEGORIES}/{b}", {"parentId": a}),
            ]
        )
        assert sorted_statuses(responses) == [200, 400]
        assert_two_levels()


def test_new_minor_category_racing_the_move_of_its_major_never_makes_three_levels(
    client: JSONClient, member: Any
) -> None:
    for number in range(ROUNDS // 2):
        major, other = make_category(member).pk, make_category(member).pk
        body = {"name": f"minor {number}", "type": "expense", "parentId": major}
        responses = run_concurrently(
            [
                caller(client, "POST", CATEGORIES, body),
                caller(client, "PATCH", f"{CATEGORIES}/{major}", {"parentId": other}),
            ]
        )
        assert sorted_statuses(responses) in ([201, 400], [200, 400])
        assert_two_levels()


def test_new_minor_category_racing_the_end_of_its_major_leaves_no_orphan(
    client: JSONClient, member: Any
) -> None:
    for number in range(ROUNDS // 2):
        major = make_category(member).pk
        body = {"name": f"minor {number}", "type": "expense", "parentId": major}
        create, delete = run_concurrently(
            [
                caller(client, "POST", CATEGORIES, body),
                caller(client, "DELETE", f"{CATEGORIES}/{major}"),
            ]
        )
        outcome = (create.status_code, delete.status_code)
        assert outcome in {(201, 400), (400, 204), (404, 204)}, (
            outcome,
            create.content,
        )
    parents = set(
        Category.objects.exclude(parent=None).values_list("parent_id", flat=True)
    )
    assert parents <= set(Category.objects.values_list("pk", flat=True))


def test_unknown_category_and_tag_of_16_entries_at_once_are_made_once(
    client: JSONClient,
) -> None:
    for number in range(3):
        body = EXPENSE | {
            "category": f"New {number}",
            "tags": [f"tag {number}", f"shared {number}"],
        }
        responses = run_concurrently([caller(client, "POST", ENTRIES, body)] * 16)
        assert sorted_statuses(responses) == [201] * 16
    assert Category.objects.count() == 3
    assert Tag.objects.count() == 6
    assert Entry.objects.exclude(category=None).count() == 48
    assert EntryTag.objects.count() == 96
    for model in (Category, Tag):
        places = list(model.objects.values_list("sort_order", flat=True))
        assert len(places) == len(set(places))


def test_crosswise_tags_at_once_never_deadlock(client: JSONClient) -> None:
    for number in range(10):
        names = [f"a{number}", f"b{number}", f"c{number}"]
        bodies = [EXPENSE | {"tags": names}, EXPENSE | {"tags": names[::-1]}]
        responses = run_concurrently(
            [caller(client, "POST", ENTRIES, body) for body in bodies * 3]
        )
        assert sorted_statuses(responses) == [201] * 6
        for response in responses:
            assert sorted(response.data["tags"]) == names
    assert Tag.objects.count() == 30


def test_two_imports_at_once_make_no_duplicates_and_their_counts_add_up(
    client: JSONClient,
) -> None:
    majors = [
        DefaultCategory.objects.create(type="expense", name=f"race {n}")
        for n in range(4)
    ]
    for n in range(12):
        DefaultCategory.objects.create(
            type="expense", name=f"race minor {n}", parent=majors[n % 4]
        )
    total = DefaultCategory.objects.count()
    responses = run_concurrently([caller(client, "POST", f"{CATEGORIES}/import")] * 4)
    assert sorted_statuses(responses) == [200] * 4
    assert sum(response.data["imported"] for response in responses) == total
    for response in responses:
        assert response.data["imported"] + response.data["skipped"] == total
    assert Category.objects.count() == total


def test_one_name_at_once_makes_one_category(client: JSONClient) -> None:
    for number in range(5):
        body = {"name": f"Food {number}", "type": "expense"}
        responses = run_concurrently([caller(client, "POST", CATEGORIES, body)] * 4)
        assert sorted_statuses(responses) == [201, 409, 409, 409]


def test_delete_racing_an_entry_by_name_never_loses_the_entrys_category(
    client: JSONClient, member: Any
) -> None:
    for number in range(ROUNDS // 2):
        category = make_category(member, name=f"Food {number}")
        delete, write = run_concurrently(
            [
                caller(client, "DELETE", f"{CATEGORIES}/{category.pk}"),
                caller(client, "POST", ENTRIES, EXPENSE | {"category": category.name}),
            ]
        )
        outcome = (delete.status_code, write.status_code)
        assert outcome in {(409, 201), (204, 201)}, (outcome, write.content)
        assert write.data["category"] == category.name


def test_new_categories_at_once_get_different_places(client: JSONClient) -> None:
    responses = run_concurrently(
        [
            caller(client, "POST", CATEGORIES, {"name": f"{n}", "type": "expense"})
            for n in range(8)
        ]
    )
    places = sorted(response.data["sortOrder"] for response in responses)
    assert places == list(range(1, 9))


def test_reorders_at_once_leave_one_of_the_orders(
    client: JSONClient, member: Any
) -> None:
    ids = [make_category(member).pk for _ in range(5)]
    orders = [ids, ids[::-1], [*ids[2:], *ids[:2]]]
    for _ in range(10):
        responses = run_concurrently(
            [
                caller(client, "PUT", f"{CATEGORIES}/reorder", {"ids": order})
                for order in orders
            ]
        )
        assert sorted_statuses(responses) == [200] * 3
        assert [row["id"] for row in client.get_json(CATEGORIES)] in orders


def test_move_of_entries_racing_a_new_entry_loses_none(
    client: JSONClient, member: Any
) -> None:
    for number in range(10):
        source = make_category(member, name=f"from {number}")
        target = make_category(member, name=f"to {number}")
        make_entry(member, category=source)
        path = f"{CATEGORIES}/{source.pk}?moveTo={target.pk}"
        delete, write = run_concurrently(
            [
                caller(client, "DELETE", path),
                caller(client, "POST", ENTRIES, EXPENSE | {"category": source.name}),
            ]
        )
        outcome = (delete.status_code, write.status_code)
        assert outcome in {(204, 201), (409, 201)}, (outcome, write.content)
    assert not Entry.objects.filter(category=None).exists()


def test_move_of_entries_racing_a_change_to_a_new_category_never_deadlocks(
    client: JSONClient, member: Any
) -> None:
    # One locks the lists and then the entries, the other must not do the reverse.
    for number in range(ROUNDS // 2):
        source, target = make_category(member), make_category(member)
        entry = make_entry(member, category=source)
        body = {"category": f"New {number}", "tags": [f"new {number}"]}
        responses = run_concurrently(
            [
                caller(
                    client, "DELETE", f"{CATEGORIES}/{source.pk}?moveTo={target.pk}"
                ),
                caller(client, "PATCH", f"{ENTRIES}/{entry.pk}", body),
            ]
        )
        assert sorted_statuses(responses) == [200, 204]
        entry.refresh_from_db()
        assert entry.category is not None
        assert entry.category.name == f"New {number}"


def test_new_type_of_a_category_racing_an_entry_by_its_name_is_never_a_500(
    client: JSONClient, member: Any
) -> None:
    for number in range(ROUNDS // 2):
        category = make_category(member, name=f"Food {number}")
        change, write = run_concurrently(
            [
                caller(
                    client, "PATCH", f"{CATEGORIES}/{category.pk}", {"type": "income"}
                ),
                caller(client, "POST", ENTRIES, EXPENSE | {"category": category.name}),
            ]
        )
        outcome = (change.status_code, write.status_code)
        assert outcome in {(200, 201), (409, 201)}, (outcome, write.content)
        stored = Entry.objects.get(pk=write.data["id"]).category
        assert stored is not None
        assert (stored.type, stored.name) == ("expense", category.name)
