"""Quick entries: templates of entries, with an order."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Category, QuickEntry, Tag
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_wallet
from tests.support.problems import assert_invalid

QUICK = "/api/account/quick-entries"
PLAIN = {"name": "Lunch", "type": "expense"}


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


@pytest.fixture
def full(free_member: Member) -> dict[str, Any]:
    return {
        "name": "점심",
        "type": "expense",
        "amount": 9_000,
        "category": "Food",
        "walletId": make_wallet(free_member).pk,
        "memo": "a\nb",
        "tags": ["work", "daily"],
    }


@pytest.mark.parametrize("path", [QUICK, "/account/quick-entries"])
def test_quick_entries_answer_at_each_of_their_addresses(
    client: JSONClient, path: Any
) -> None:
    quick = client.send("POST", path, PLAIN).data
    assert client.get_json(f"{path}/{quick['id']}") == quick
    assert client.get_json(path) == [quick]
    assert client.send("PUT", f"{path}/reorder", {"ids": [quick["id"]]}).data == [quick]
    assert client.send("DELETE", f"{path}/{quick['id']}").status_code == 204


def test_unknown_category_and_tags_are_created(
    client: JSONClient, free_member: Member
) -> None:
    client.create_json(QUICK, PLAIN | {"category": "New", "tags": ["new"]})
    category = Category.objects.get(name="New")
    assert (category.member, category.type, category.parent) == (
        free_member,
        "expense",
        None,
    )
    assert Tag.objects.get().name == "new"


def test_refused_quick_entry_creates_nothing(
    client: JSONClient, other_member: Member
) -> None:
    theirs = make_wallet(other_member)
    body = PLAIN | {"category": "New", "tags": ["new"], "walletId": theirs.pk}
    assert_invalid(client.send("POST", QUICK, body), "walletId")
    assert not Category.objects.exists()
    assert not Tag.objects.exists()


def test_patch_changes_each_field_alone(
    client: JSONClient, full: dict[str, Any]
) -> None:
    quick = client.create_json(QUICK, full)
    bodies: list[dict[str, Any]] = [
        {"name": "Dinner"},
        {"amount": None},
        {"amount": 5},
        {"category": "Other"},
        {"category": None},
        {"walletId": None},
        {"memo": ""},
        {"tags": ["b"]},
        {"tags": []},
        {"type": "income"},
    ]
    for body in bodies:
        changed = client.change_json("PATCH", f"{QUICK}/{quick['id']}", body)
        assert changed == quick | body | _following(changed)
        quick = changed


def test_new_type_takes_the_category_of_that_type_by_name(
    client: JSONClient, free_member: Member
) -> None:
    income = make_category(free_member, name="Gift", type="income")
    quick = client.create_json(QUICK, PLAIN | {"category": "Gift"})
    changed = client.change_json("PATCH", f"{QUICK}/{quick['id']}", {"type": "income"})
    assert changed["category"] == "Gift"
    assert QuickEntry.objects.get(pk=quick["id"]).category == income


def test_deleted_quick_entry_is_gone(client: JSONClient, full: dict[str, Any]) -> None:
    quick = client.create_json(QUICK, full)
    path = f"{QUICK}/{quick['id']}"
    assert client.send("DELETE", path).status_code == 204
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        body = None if method == "DELETE" else PLAIN
        assert client.send(method, path, body).status_code == 404, method
    assert Category.objects.filter(name="Food").exists()
    assert Tag.objects.count() == 2


def _following(quick: dict[str, Any]) -> dict[str, Any]:
    """Return what follows from the category and the type."""
    return {name: quick[name] for name in ("categoryId", "categoryType")}
