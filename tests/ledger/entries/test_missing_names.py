"""Entries that name what does not exist, by the short way and by the long one."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Category, Entry, Tag
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_tag, make_wallet
from tests.support.rollups import assert_rollups_are_right

ENTRIES = "/api/account/entries"
BODY = {"date": "2026-11-02", "type": "expense", "amount": 700}


@pytest.mark.parametrize("more", [{}, {"category": "New"}, {"installmentMonths": 3}])
def test_missing_wallet_is_named_and_nothing_is_written(
    client: JSONClient, more: dict[str, Any]
) -> None:
    for wallet_id in (10**9, make_wallet(make_member()).pk):
        response = client.send("POST", ENTRIES, BODY | more | {"walletId": wallet_id})
        assert response.status_code == 400
        (error,) = response.data["errors"]
        assert (error["field"], error["code"]) == ("walletId", "does_not_exist")
    assert not Entry.objects.exists()
    assert not Category.objects.filter(name="New").exists()


def test_missing_wallet_is_named_with_the_other_errors(client: JSONClient) -> None:
    body = BODY | {"walletId": 10**9, "date": "yesterday"}
    response = client.send("POST", ENTRIES, body)
    fields = {error["field"] for error in response.data["errors"]}
    assert fields == {"walletId", "date"}


def test_missing_wallet_of_a_change_is_named(
    client: JSONClient, free_member: Member
) -> None:
    entry = client.send("POST", ENTRIES, BODY).data
    foreign = make_wallet(make_member())
    for wallet_id in (10**9, foreign.pk):
        path = f"{ENTRIES}/{entry['id']}"
        response = client.send("PATCH", path, {"walletId": wallet_id})
        assert response.status_code == 400
        assert response.data["errors"][0]["field"] == "walletId"
    assert client.get_json(f"{ENTRIES}/{entry['id']}") == entry


@pytest.mark.parametrize("known", [[], ["b"], ["a", "b"], ["c", "a", "b"]])
def test_tags_keep_their_order_however_many_are_known(
    client: JSONClient, free_member: Member, known: list[str]
) -> None:
    for name in known:
        make_tag(free_member, name=name)
    entry = client.send("POST", ENTRIES, BODY | {"tags": ["c", "a", "b", "a"]}).data
    assert entry["tags"] == ["c", "a", "b"]
    assert client.get_json(f"{ENTRIES}/{entry['id']}") == entry
    assert Tag.objects.filter(member=free_member).count() == 3
    assert_rollups_are_right()


def test_category_of_the_other_type_is_not_taken(client: JSONClient) -> None:
    client.send("POST", ENTRIES, BODY | {"category": "Gift", "type": "income"})
    entry = client.send("POST", ENTRIES, BODY | {"category": "Gift"}).data
    assert entry["category"] == "Gift"
    types = Category.objects.filter(name="Gift").values_list("type", flat=True)
    assert sorted(types) == ["expense", "income"]
