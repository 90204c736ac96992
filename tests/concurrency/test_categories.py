"""Categories and tags under concurrent requests: two levels, one row for a name."""

from typing import Any

import pytest

from ledger.models import Category, DefaultCategory, Entry, EntryTag, Tag
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry
from tests.support.races import (
    Turn,
    caller,
    race,
    run_concurrently,
    sorted_statuses,
)
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)

CATEGORIES = "/api/account/categories"
ENTRIES = "/api/account/entries"
ROUNDS = scaled(6, 50)
EXPENSE = {"date": "2026-11-21", "type": "expense", "amount": 7}


def assert_two_levels() -> None:
    assert not Category.objects.filter(parent__parent__isnull=False).exists()


def test_two_moves_at_once_never_make_three_levels(
    client: JSONClient, member: Any
) -> None:
    # a under b while b goes under c: each alone is right, both together never.
    a, b, c = (make_category(member).pk for _ in range(3))

    def turn(_: int) -> Turn:
        Category.objects.update(parent=None)
        answers = yield [
            caller(client, "PATCH", f"{CATEGORIES}/{a}", {"parentId": b}),
            caller(client, "PATCH", f"{CATEGORIES}/{b}", {"parentId": c}),
        ]
        (refused,) = (answer for answer in answers if answer.status_code == 400)
        assert refused.data["code"] == "CATEGORY_HIERARCHY"
        assert_two_levels()

    race(turn, rounds=ROUNDS, in_any_order=(200, 400))


def test_two_categories_that_move_under_each_other_at_once_make_no_circle(
    client: JSONClient, member: Any
) -> None:
    a, b = (make_category(member).pk for _ in range(2))

    def turn(_: int) -> Turn:
        Category.objects.update(parent=None)
        yield [
            caller(client, "PATCH", f"{CATEGORIES}/{a}", {"parentId": b}),
            caller(client, "PATCH", f"{CATEGORIES}/{b}", {"parentId": a}),
        ]
        assert_two_levels()

    race(turn, rounds=ROUNDS, in_any_order=(200, 400))


def test_new_minor_category_racing_the_move_of_its_major_never_makes_three_levels(
    client: JSONClient, member: Any
) -> None:
    def turn(number: int) -> Turn:
        major, other = make_category(member).pk, make_category(member).pk
        body = {"name": f"minor {number}", "type": "expense", "parentId": major}
        yield [
            caller(client, "POST", CATEGORIES, body),
            caller(client, "PATCH", f"{CATEGORIES}/{major}", {"parentId": other}),
        ]
        assert_two_levels()

    race(turn, rounds=ROUNDS // 2, allowed={(201, 400), (400, 200)})


def test_new_minor_category_racing_the_end_of_its_major_leaves_no_orphan(
    client: JSONClient, member: Any
) -> None:
    def turn(number: int) -> Turn:
        major = make_category(member).pk
        body = {"name": f"minor {number}", "type": "expense", "parentId": major}
        yield [
            caller(client, "POST", CATEGORIES, body),
            caller(client, "DELETE", f"{CATEGORIES}/{major}"),
        ]

    race(turn, rounds=ROUNDS // 2, allowed={(201, 400), (400, 204), (404, 204)})
    parents = set(
        Category.objects.exclude(parent=None).values_list("parent_id", flat=True)
    )
    assert parents <= set(Category.objects.values_list("pk", flat=True))


def test_unknown_category_and_tag_of_16_entries_at_once_are_made_once(
    client: JSONClient,
) -> None:
    def turn(number: int) -> Turn:
        tags = [f"tag {number}", f"shared {number}"]
        body = EXPENSE | {"category": f"New {number}", "tags": tags}
        yield [caller(client, "POST", ENTRIES, body)] * 16

    race(turn, rounds=3, in_any_order=(201,) * 16)
    assert Category.objects.count() == 3
    assert Tag.objects.count() == 6
    assert Entry.objects.exclude(category=None).count() == 48
    assert EntryTag.objects.count() == 96
    for model in (Category, Tag):
        places = list(model.objects.values_list("sort_order", flat=True))
        assert len(places) == len(set(places))


def test_crosswise_tags_at_once_never_deadlock(client: JSONClient) -> None:
    def turn(number: int) -> Turn:
        names = [f"a{number}", f"b{number}", f"c{number}"]
        bodies = [EXPENSE | {"tags": names}, EXPENSE | {"tags": names[::-1]}]
        answers = yield [caller(client, "POST", ENTRIES, body) for body in bodies * 3]
        for answer in answers:
            assert sorted(answer.data["tags"]) == names

    race(turn, rounds=10, in_any_order=(201,) * 6)
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
    def turn(number: int) -> Turn:
        body = {"name": f"Food {number}", "type": "expense"}
        yield [caller(client, "POST", CATEGORIES, body)] * 4

    race(turn, rounds=5, in_any_order=(201, 409, 409, 409))
    assert Category.objects.count() == 5


def test_delete_racing_an_entry_by_name_never_loses_the_entrys_category(
    client: JSONClient, member: Any
) -> None:
    def turn(number: int) -> Turn:
        category = make_category(member, name=f"Food {number}")
        _, write = yield [
            caller(client, "DELETE", f"{CATEGORIES}/{category.pk}"),
            caller(client, "POST", ENTRIES, EXPENSE | {"category": category.name}),
        ]
        assert write.data["category"] == category.name

    race(turn, rounds=ROUNDS // 2, allowed={(409, 201), (204, 201)})


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

    def turn(_: int) -> Turn:
        yield [
            caller(client, "PUT", f"{CATEGORIES}/reorder", {"ids": order})
            for order in orders
        ]
        assert [row["id"] for row in client.get_json(CATEGORIES)] in orders

    race(turn, rounds=10, in_any_order=(200, 200, 200))


def test_move_of_entries_racing_a_new_entry_loses_none(
    client: JSONClient, member: Any
) -> None:
    def turn(number: int) -> Turn:
        source = make_category(member, name=f"from {number}")
        target = make_category(member, name=f"to {number}")
        make_entry(member, category=source)
        path = f"{CATEGORIES}/{source.pk}?moveTo={target.pk}"
        yield [
            caller(client, "DELETE", path),
            caller(client, "POST", ENTRIES, EXPENSE | {"category": source.name}),
        ]

    race(turn, rounds=10, allowed={(204, 201), (409, 201)})
    assert not Entry.objects.filter(category=None).exists()


def test_move_of_entries_racing_a_change_to_a_new_category_never_deadlocks(
    client: JSONClient, member: Any
) -> None:
    # One locks the lists and then the entries, the other must not do the reverse.
    def turn(number: int) -> Turn:
        source, target = make_category(member), make_category(member)
        entry = make_entry(member, category=source)
        body = {"category": f"New {number}", "tags": [f"new {number}"]}
        path = f"{CATEGORIES}/{source.pk}?moveTo={target.pk}"
        yield [
            caller(client, "DELETE", path),
            caller(client, "PATCH", f"{ENTRIES}/{entry.pk}", body),
        ]
        entry.refresh_from_db()
        assert entry.category is not None
        assert entry.category.name == f"New {number}"

    race(turn, rounds=ROUNDS // 2, allowed={(204, 200)})


def test_new_type_of_a_category_racing_an_entry_by_its_name_is_never_a_500(
    client: JSONClient, member: Any
) -> None:
    def turn(number: int) -> Turn:
        category = make_category(member, name=f"Food {number}")
        path = f"{CATEGORIES}/{category.pk}"
        _, write = yield [
            caller(client, "PATCH", path, {"type": "income"}),
            caller(client, "POST", ENTRIES, EXPENSE | {"category": category.name}),
        ]
        stored = Entry.objects.get(pk=write.data["id"]).category
        assert stored is not None
        assert (stored.type, stored.name) == ("expense", category.name)

    race(turn, rounds=ROUNDS // 2, allowed={(200, 201), (409, 201)})
