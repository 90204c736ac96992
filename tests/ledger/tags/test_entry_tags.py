"""Tags on entries: made on the way, kept in their order, looked up in batches."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from accounts.models import Member
from ledger.models import Entry, EntryTag, Tag
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_tag

ENTRIES = "/api/account/entries"
PLAIN = {"date": "2026-11-21", "type": "expense", "amount": 5_000}


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


def write(client: JSONClient, tags: Any) -> Any:
    response = client.send("POST", ENTRIES, PLAIN | {"tags": tags})
    assert response.status_code == 201, response.content
    return response.data


def test_member_of_any_plan_may_tag_an_entry(
    client: JSONClient, free_member: Member
) -> None:
    assert free_member.plan == "FREE"
    assert write(client, ["여행", "work"])["tags"] == ["여행", "work"]


def test_tag_is_made_once_and_used_again(client: JSONClient) -> None:
    write(client, ["trip"])
    write(client, ["trip", "work"])
    assert sorted(Tag.objects.values_list("name", flat=True)) == ["trip", "work"]


def test_names_that_differ_in_case_are_two_tags(client: JSONClient) -> None:
    assert write(client, ["Trip", "trip"])["tags"] == ["Trip", "trip"]
    assert Tag.objects.count() == 2


def test_new_tags_go_last_one_behind_the_other(
    client: JSONClient, free_member: Member, other_member: Member
) -> None:
    make_tag(other_member, sort_order=90)
    make_tag(free_member, name="first", sort_order=5)
    write(client, ["b", "a"])
    orders = dict(Tag.objects.owned_by(free_member).values_list("name", "sort_order"))
    assert orders == {"first": 5, "b": 6, "a": 7}


def test_change_replaces_the_tags_and_their_order(client: JSONClient) -> None:
    entry = write(client, ["a", "b", "c"])
    path = f"{ENTRIES}/{entry['id']}"
    for tags in (["c", "a"], ["d"], [], ["b", "a", "c"]):
        body = client.send("PATCH", path, {"tags": tags}).data
        assert body["tags"] == tags
        assert client.get_json(path)["tags"] == tags
        assert client.get_json(ENTRIES)["results"][0]["tags"] == tags


def test_tags_outlive_the_entries_that_made_them(client: JSONClient) -> None:
    entry = write(client, ["kept"])
    client.send("DELETE", f"{ENTRIES}/{entry['id']}")
    assert Tag.objects.filter(name="kept").exists()
    assert EntryTag.objects.count() == 0


def test_entry_is_not_deleted_before_its_tags(free_member: Member) -> None:
    entry = make_entry(free_member, tags=("trip",))
    constraint = "account_entry_tag_entry_owned"
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        entry.delete()
    assert Entry.objects.get() == entry


def test_two_members_have_tags_of_the_same_name_of_their_own(
    client: JSONClient, free_member: Member, other_member: Member
) -> None:
    make_entry(other_member, tags=("trip",))
    write(client, ["trip"])
    assert Tag.objects.filter(name="trip").count() == 2
    assert client.get_json(ENTRIES, tag="trip")["count"] == 1


def test_tags_of_a_page_belong_to_their_entries(
    client: JSONClient, free_member: Member
) -> None:
    expected = {}
    for number in range(30):
        tags = tuple(f"tag{n}" for n in range(number % 4))
        expected[make_entry(free_member, tags=tags).pk] = list(tags)
    rows = client.get_json(ENTRIES, size=100)["results"]
    assert {row["id"]: row["tags"] for row in rows} == expected
