"""Categories: two levels, and the type that both have."""

from typing import Any

from accounts.models import Member
from ledger.models import Category
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_quick_entry
from tests.support.ledger_bodies import CATEGORIES, PLAIN_CATEGORY


def assert_hierarchy_is_kept(response: Any) -> None:
    assert response.status_code == 400, response.content
    assert response.data["code"] == "CATEGORY_HIERARCHY"


def test_minor_category_cannot_hold_others(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member)
    minor = make_category(free_member, parent=major)
    other = make_category(free_member)
    body = PLAIN_CATEGORY | {"parentId": minor.pk}
    assert_hierarchy_is_kept(client.send("POST", CATEGORIES, body))
    for method, part in (("PUT", body), ("PATCH", {"parentId": minor.pk})):
        response = client.send(method, f"{CATEGORIES}/{other.pk}", part)
        assert_hierarchy_is_kept(response)


def test_major_category_with_minor_ones_cannot_become_minor(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member)
    make_category(free_member, parent=major)
    other = make_category(free_member)
    response = client.send("PATCH", f"{CATEGORIES}/{major.pk}", {"parentId": other.pk})
    assert_hierarchy_is_kept(response)
    major.refresh_from_db()
    assert major.parent is None


def test_category_cannot_be_its_own_parent(
    client: JSONClient, free_member: Member
) -> None:
    category = make_category(free_member)
    path = f"{CATEGORIES}/{category.pk}"
    assert_hierarchy_is_kept(client.send("PATCH", path, {"parentId": category.pk}))


def test_parent_of_another_type_is_refused(
    client: JSONClient, free_member: Member
) -> None:
    income = make_category(free_member, type="income")
    expense = make_category(free_member)
    body = PLAIN_CATEGORY | {"parentId": income.pk}
    assert_hierarchy_is_kept(client.send("POST", CATEGORIES, body))
    path = f"{CATEGORIES}/{expense.pk}"
    assert_hierarchy_is_kept(client.send("PATCH", path, {"parentId": income.pk}))


def test_type_of_a_minor_category_stays_that_of_its_major(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member)
    minor = make_category(free_member, parent=major)
    path = f"{CATEGORIES}/{minor.pk}"
    assert_hierarchy_is_kept(client.send("PATCH", path, {"type": "income"}))
    changed = client.change_json(
        "PATCH", f"{CATEGORIES}/{minor.pk}", {"type": "income", "parentId": None}
    )
    assert (changed["type"], changed["parentId"]) == ("income", None)


def test_type_of_a_major_category_with_minor_ones_stays(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member)
    make_category(free_member, parent=major)
    path = f"{CATEGORIES}/{major.pk}"
    assert_hierarchy_is_kept(client.send("PATCH", path, {"type": "income"}))


def test_major_category_with_minor_ones_cannot_be_deleted(
    client: JSONClient, free_member: Member
) -> None:
    major, other = make_category(free_member), make_category(free_member)
    make_category(free_member, parent=major)
    for query in ("", f"?moveTo={other.pk}"):
        response = client.send("DELETE", f"{CATEGORIES}/{major.pk}{query}")
        assert_hierarchy_is_kept(response)
    assert Category.objects.count() == 3


def test_minor_category_moves_between_majors_and_becomes_major(
    client: JSONClient, free_member: Member
) -> None:
    first, second = make_category(free_member), make_category(free_member)
    minor = make_category(free_member, parent=first)
    moved = client.change_json(
        "PATCH", f"{CATEGORIES}/{minor.pk}", {"parentId": second.pk}
    )
    assert moved["parentId"] == second.pk
    freed = client.change_json(
        "PUT", f"{CATEGORIES}/{minor.pk}", {"name": "Free", "type": "expense"}
    )
    assert freed["parentId"] is None
    assert freed["sortOrder"] > second.sort_order


def test_major_category_without_minor_ones_becomes_minor_and_goes_last(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member)
    make_category(free_member, parent=major, sort_order=4)
    other = make_category(free_member)
    moved = client.change_json(
        "PATCH", f"{CATEGORIES}/{other.pk}", {"parentId": major.pk}
    )
    assert (moved["parentId"], moved["sortOrder"]) == (major.pk, 5)


def test_patch_of_the_name_keeps_parent_and_place(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member)
    minor = make_category(free_member, parent=major, sort_order=3)
    changed = client.change_json("PATCH", f"{CATEGORIES}/{minor.pk}", {"name": "New"})
    assert (changed["parentId"], changed["sortOrder"]) == (major.pk, 3)


def test_what_was_read_can_be_sent_back_as_it_is(
    client: JSONClient, free_member: Member
) -> None:
    major = make_category(free_member)
    minor = make_category(free_member, parent=major)
    for row in (major, minor):
        body = client.get_json(f"{CATEGORIES}/{row.pk}")
        assert client.change_json("PUT", f"{CATEGORIES}/{row.pk}", body) == body
        assert client.change_json("PATCH", f"{CATEGORIES}/{row.pk}", {}) == body


def test_type_of_a_used_category_stays(client: JSONClient, free_member: Member) -> None:
    for make in (make_entry, make_quick_entry):
        category = make_category(free_member)
        make(free_member, category=category)
        path = f"{CATEGORIES}/{category.pk}"
        response = client.send("PATCH", path, {"type": "income"})
        assert (response.status_code, response.data["code"]) == (409, "IN_USE")


def test_type_of_an_unused_category_changes_and_it_goes_last(
    client: JSONClient, free_member: Member
) -> None:
    make_category(free_member, type="income", sort_order=40)
    category = make_category(free_member, sort_order=1)
    changed = client.change_json(
        "PATCH", f"{CATEGORIES}/{category.pk}", {"type": "income"}
    )
    assert (changed["type"], changed["sortOrder"]) == ("income", 41)


def test_minor_category_sits_under_a_major_one(client: JSONClient) -> None:
    major = client.create_json(CATEGORIES, PLAIN_CATEGORY)
    minor = client.create_json(
        CATEGORIES, PLAIN_CATEGORY | {"name": "Cafe", "parentId": major["id"]}
    )
    assert minor["parentId"] == major["id"]
    assert minor["sortOrder"] == 1
