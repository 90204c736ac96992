"""Categories: their fields, and what they may be."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Category
from tests.support.categories import CATEGORIES, PLAIN
from tests.support.clients import JSONClient
from tests.support.factories import make_category
from tests.support.problems import assert_invalid


def test_category_needs_only_name_and_type(client: JSONClient) -> None:
    category = client.create_json(CATEGORIES, PLAIN)
    assert category == PLAIN | {
        "id": category["id"],
        "parentId": None,
        "sortOrder": 1,
        "moving": False,
    }
    assert client.get_json(f"{CATEGORIES}/{category['id']}") == category
    assert client.get_json(CATEGORIES) == [category]


def test_minor_category_sits_under_a_major_one(client: JSONClient) -> None:
    major = client.create_json(CATEGORIES, PLAIN)
    minor = client.create_json(
        CATEGORIES, PLAIN | {"name": "Cafe", "parentId": major["id"]}
    )
    assert minor["parentId"] == major["id"]
    assert minor["sortOrder"] == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", ""),
        ("name", "  "),
        ("name", None),
        ("name", "x" * 101),
        ("name", 5),
        ("name", ["a"]),
        ("name", "nul\x00"),
        ("type", "EXPENSE"),
        ("type", "transfer"),
        ("type", None),
        ("type", True),
        ("type", []),
        ("parentId", "1"),
        ("parentId", True),
        ("parentId", 1.5),
        ("parentId", -1),
        ("parentId", 0),
        ("parentId", 2**63),
        ("parentId", 10**30),
        ("parentId", []),
        ("parentId", {}),
    ],
)
def test_value_that_does_not_fit_is_refused(
    client: JSONClient, name: str, value: Any
) -> None:
    assert_invalid(client.send("POST", CATEGORIES, PLAIN | {name: value}), name)
    assert Category.objects.count() == 0


@pytest.mark.parametrize("name", ["name", "type"])
def test_missing_name_or_type_is_refused(
    client: JSONClient, free_member: Member, name: str
) -> None:
    body = {key: value for key, value in PLAIN.items() if key != name}
    assert_invalid(client.send("POST", CATEGORIES, body), name)
    category = make_category(free_member)
    assert_invalid(client.send("PUT", f"{CATEGORIES}/{category.pk}", body), name)


def test_name_of_100_characters_is_kept(client: JSONClient) -> None:
    assert (
        client.create_json(CATEGORIES, PLAIN | {"name": "가" * 100})["name"]
        == "가" * 100
    )


def test_parent_of_another_member_is_refused(
    client: JSONClient, other_member: Member
) -> None:
    theirs = make_category(other_member)
    response = client.send("POST", CATEGORIES, PLAIN | {"parentId": theirs.pk})
    assert_invalid(response, "parentId")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_id_member_level_and_order_of_a_body_have_no_effect(
    client: JSONClient, free_member: Member, other_member: Member, method: str
) -> None:
    own = make_category(free_member, sort_order=1)
    forged = PLAIN | {
        "id": 1,
        "member": other_member.pk,
        "memberId": other_member.pk,
        "sortOrder": 70,
        "level": 2,
        "parentLevel": 2,
    }
    if method == "POST":
        body = client.create_json(CATEGORIES, forged)
        assert body["sortOrder"] == 2
    else:
        body = client.change_json(method, f"{CATEGORIES}/{own.pk}", forged)
        assert (body["id"], body["sortOrder"]) == (own.pk, 1)
    stored = Category.objects.get(pk=body["id"])
    assert (stored.member, stored.level) == (free_member, 1)
