"""Tags as a list of their own: names, order, and what bears them."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import QuickEntryTag, RecurringTag, Tag
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_quick_entry, make_rule, make_tag

TAGS = "/api/account/tags"
ENTRIES = "/api/account/entries"


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


def names(client: JSONClient) -> list[Any]:
    return [row["name"] for row in client.get_json(TAGS)]


def test_new_tag_goes_last(
    client: JSONClient, premium_member: Member, other_member: Member
) -> None:
    make_tag(premium_member, name="first", sort_order=7)
    make_tag(other_member, sort_order=90)
    response = client.send("POST", TAGS, {"name": " 여행 "})
    assert response.status_code == 201
    tag = Tag.objects.get(name="여행")
    assert response.data == {"id": tag.pk, "name": "여행", "sortOrder": 8}
    assert client.get_json(f"{TAGS}/{tag.pk}") == response.data
    assert names(client) == ["first", "여행"]


@pytest.mark.parametrize("name", ["", "  ", "a,b", "x" * 101, "a\0b", None, 5, ["a"]])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_name_of_a_tag_has_1_to_100_characters_and_no_comma(
    client: JSONClient, premium_member: Member, method: str, name: Any
) -> None:
    tag = make_tag(premium_member, name="kept")
    path = TAGS if method == "POST" else f"{TAGS}/{tag.pk}"
    response = client.send(method, path, {"name": name})
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == ["name"]
    assert names(client) == ["kept"]


def test_tag_needs_a_name(client: JSONClient, premium_member: Member) -> None:
    tag = make_tag(premium_member)
    assert client.send("POST", TAGS, {}).status_code == 400
    assert client.send("PUT", f"{TAGS}/{tag.pk}", {}).status_code == 400
    assert client.send("PATCH", f"{TAGS}/{tag.pk}", {}).data["name"] == tag.name


def test_name_is_the_members_only_one(
    client: JSONClient, premium_member: Member, other_member: Member
) -> None:
    make_tag(other_member, name="trip")
    assert client.send("POST", TAGS, {"name": "trip"}).status_code == 201
    work = client.send("POST", TAGS, {"name": "work"}).data["id"]
    for method, path in (
        ("POST", TAGS),
        ("PUT", f"{TAGS}/{work}"),
        ("PATCH", f"{TAGS}/{work}"),
    ):
        response = client.send(method, path, {"name": "trip"})
        assert (response.status_code, response.data["code"]) == (409, "DUPLICATE")
    assert names(client) == ["trip", "work"]


def test_tag_keeps_its_own_name(client: JSONClient, premium_member: Member) -> None:
    tag = make_tag(premium_member, name="trip")
    response = client.send("PUT", f"{TAGS}/{tag.pk}", {"name": "trip"})
    assert response.status_code == 200


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_new_name_reaches_the_entries(
    client: JSONClient, premium_member: Member, method: str
) -> None:
    entry = make_entry(premium_member, tags=("trip", "work"))
    tag = Tag.objects.get(name="trip")
    client.send(method, f"{TAGS}/{tag.pk}", {"name": "journey"})
    assert client.get_json(f"{ENTRIES}/{entry.pk}")["tags"] == ["journey", "work"]
    assert client.get_json(ENTRIES, tag="journey")["count"] == 1
    assert client.get_json(ENTRIES, tag="trip")["count"] == 0


def test_delete_takes_the_tag_off_whatever_has_it(
    client: JSONClient, premium_member: Member
) -> None:
    entry = make_entry(premium_member, tags=("trip", "work"))
    tag = Tag.objects.get(name="trip")
    quick, rule = make_quick_entry(premium_member), make_rule(premium_member)
    member_id = premium_member.pk
    QuickEntryTag.objects.create(
        quick_entry=quick, tag=tag, member_id=member_id, position=0
    )
    RecurringTag.objects.create(rule=rule, tag=tag, member_id=member_id, position=0)

    response = client.send("DELETE", f"{TAGS}/{tag.pk}")

    assert (response.status_code, response.content) == (204, b"")
    assert names(client) == ["work"]
    assert client.get_json(f"{ENTRIES}/{entry.pk}")["tags"] == ["work"]
    assert client.get_json(f"/api/account/quick-entries/{quick.pk}")["tags"] == []
    assert client.get_json(f"/api/account/recurring/{rule.pk}")["tags"] == []
    assert client.send("DELETE", f"{TAGS}/{tag.pk}").status_code == 404


@pytest.mark.parametrize("path", [f"{TAGS}/reorder", "/tags/reorder"])
def test_reorder_changes_the_order_of_tags(
    client: JSONClient, premium_member: Member, path: str
) -> None:
    a, b, c = (make_tag(premium_member).pk for _ in range(3))
    response = client.send("PUT", path, {"ids": [c, a, b]})
    assert response.status_code == 200
    assert [(row["id"], row["sortOrder"]) for row in response.data] == [
        (c, 1),
        (a, 2),
        (b, 3),
    ]
    assert client.get_json(TAGS) == response.data


@pytest.mark.parametrize("change", ["one missing", "one twice", "one unknown", "none"])
def test_reorder_needs_exactly_the_members_tags(
    client: JSONClient, premium_member: Member, change: str
) -> None:
    ids = [make_tag(premium_member).pk for _ in range(3)]
    wrong = {
        "one missing": ids[:2],
        "one twice": [*ids, ids[0]],
        "one unknown": [*ids[:2], 987_654_321],
        "none": [],
    }[change]
    response = client.send("PUT", f"{TAGS}/reorder", {"ids": wrong})
    assert (response.status_code, response.data["code"]) == (400, "INVALID_ORDER")
    assert [row["id"] for row in client.get_json(TAGS)] == ids


def test_empty_order_is_right_for_an_empty_list_only(client: JSONClient) -> None:
    assert client.send("PUT", f"{TAGS}/reorder", {"ids": []}).status_code == 200


def test_order_of_tags_on_an_entry_is_the_entrys_own(
    client: JSONClient, premium_member: Member
) -> None:
    entry = make_entry(premium_member, tags=("b", "a"))
    ids = [row["id"] for row in client.get_json(TAGS)]
    client.send("PUT", f"{TAGS}/reorder", {"ids": ids[::-1]})
    assert client.get_json(f"{ENTRIES}/{entry.pk}")["tags"] == ["b", "a"]
