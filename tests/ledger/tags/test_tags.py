"""Tags as a list of their own: names, order, and what bears them."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import QuickEntryTag, RecurringTag, Tag
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_quick_entry, make_rule

TAGS = "/api/account/tags"
ENTRIES = "/api/account/entries"


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


def names(client: JSONClient) -> list[Any]:
    return [row["name"] for row in client.get_json(TAGS)]


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


def test_order_of_tags_on_an_entry_is_the_entrys_own(
    client: JSONClient, premium_member: Member
) -> None:
    entry = make_entry(premium_member, tags=("b", "a"))
    ids = [row["id"] for row in client.get_json(TAGS)]
    client.send("PUT", f"{TAGS}/reorder", {"ids": ids[::-1]})
    assert client.get_json(f"{ENTRIES}/{entry.pk}")["tags"] == ["b", "a"]
