"""Quick entries: templates of entries, with an order."""

from typing import Any

import pytest

from accounts.models import Member
from core.api.fields import MAX_AMOUNT
from ledger.models import Category, QuickEntry, Tag
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_quick_entry, make_wallet
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


def test_quick_entry_needs_only_name_and_type(client: JSONClient) -> None:
    quick = client.create_json(QUICK, PLAIN)
    assert quick == PLAIN | {
        "id": quick["id"],
        "amount": None,
        "category": None,
        "categoryId": None,
        "categoryType": "expense",
        "walletId": None,
        "toWalletId": None,
        "toWallet": None,
        "lines": [],
        "memo": "",
        "tags": [],
        "sortOrder": 1,
    }


def test_quick_entry_keeps_every_field_that_is_written(
    client: JSONClient, full: dict[str, Any]
) -> None:
    quick = client.create_json(QUICK, full)
    assert quick.items() >= (full | {"sortOrder": 1}).items()
    assert client.get_json(f"{QUICK}/{quick['id']}") == quick
    assert client.get_json(QUICK) == [quick]


@pytest.mark.parametrize("path", [QUICK, "/account/quick-entries"])
def test_quick_entries_answer_at_each_of_their_addresses(
    client: JSONClient, path: Any
) -> None:
    quick = client.send("POST", path, PLAIN).data
    assert client.get_json(f"{path}/{quick['id']}") == quick
    assert client.get_json(path) == [quick]
    assert client.send("PUT", f"{path}/reorder", {"ids": [quick["id"]]}).data == [quick]
    assert client.send("DELETE", f"{path}/{quick['id']}").status_code == 204


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", ""),
        ("name", None),
        ("name", "x" * 101),
        ("name", 5),
        ("type", "loan"),
        ("type", None),
        ("type", True),
        ("amount", 0),
        ("amount", -1),
        ("amount", 1.5),
        ("amount", "5"),
        ("amount", True),
        ("amount", MAX_AMOUNT + 1),
        ("category", ""),
        ("category", "x" * 101),
        ("category", 5),
        ("walletId", "1"),
        ("walletId", 0),
        ("walletId", 2**63),
        ("walletId", True),
        ("memo", "x" * 501),
        ("memo", "nul\x00"),
        ("tags", None),
        ("tags", "a"),
    ],
)
def test_value_that_does_not_fit_is_refused(
    client: JSONClient, name: str, value: Any
) -> None:
    assert_invalid(client.send("POST", QUICK, PLAIN | {name: value}), name)
    assert QuickEntry.objects.count() == 0


@pytest.mark.parametrize("name", ["name", "type"])
def test_missing_name_or_type_is_refused(
    client: JSONClient, free_member: Member, name: str
) -> None:
    body = {key: value for key, value in PLAIN.items() if key != name}
    assert_invalid(client.send("POST", QUICK, body), name)
    quick = make_quick_entry(free_member)
    assert_invalid(client.send("PUT", f"{QUICK}/{quick.pk}", body), name)


def test_two_quick_entries_may_have_one_name(client: JSONClient) -> None:
    client.create_json(QUICK, PLAIN)
    client.create_json(QUICK, PLAIN)


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


def test_put_clears_what_it_leaves_out(
    client: JSONClient, full: dict[str, Any]
) -> None:
    quick = client.create_json(QUICK, full)
    changed = client.change_json("PUT", f"{QUICK}/{quick['id']}", PLAIN)
    empty = client.create_json(QUICK, PLAIN)
    same = {"id": 0, "sortOrder": 0}
    assert changed | same == empty | same
    assert changed["sortOrder"] == quick["sortOrder"]


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


def test_what_was_read_can_be_sent_back_as_it_is(
    client: JSONClient, full: dict[str, Any]
) -> None:
    for body in (full, PLAIN):
        quick = client.create_json(QUICK, body)
        assert client.change_json("PUT", f"{QUICK}/{quick['id']}", quick) == quick
        assert client.change_json("PATCH", f"{QUICK}/{quick['id']}", {}) == quick


def test_new_type_takes_the_category_of_that_type_by_name(
    client: JSONClient, free_member: Member
) -> None:
    income = make_category(free_member, name="Gift", type="income")
    quick = client.create_json(QUICK, PLAIN | {"category": "Gift"})
    changed = client.change_json("PATCH", f"{QUICK}/{quick['id']}", {"type": "income"})
    assert changed["category"] == "Gift"
    assert QuickEntry.objects.get(pk=quick["id"]).category == income


def test_id_member_and_order_of_a_body_have_no_effect(
    client: JSONClient, free_member: Member, other_member: Member
) -> None:
    forged = {"id": 1, "member": other_member.pk, "memberId": 1, "sortOrder": 70}
    quick = client.create_json(QUICK, PLAIN | forged)
    assert quick["sortOrder"] == 1
    assert client.change_json("PATCH", f"{QUICK}/{quick['id']}", forged) == quick
    assert QuickEntry.objects.get(pk=quick["id"]).member == free_member


def test_new_quick_entry_goes_last(
    client: JSONClient, free_member: Member, other_member: Member
) -> None:
    make_quick_entry(other_member, sort_order=99)
    make_quick_entry(free_member, sort_order=8)
    assert client.create_json(QUICK, PLAIN)["sortOrder"] == 9


def test_reorder_gives_the_quick_entries_the_order_of_the_ids(
    client: JSONClient, free_member: Member
) -> None:
    first, second, third = (make_quick_entry(free_member).pk for _ in range(3))
    body = {"ids": [third, first, second]}
    response = client.send("PUT", f"{QUICK}/reorder", body)
    assert response.status_code == 200, response.content
    assert [row["id"] for row in response.data] == [third, first, second]
    assert client.get_json(QUICK) == response.data


@pytest.mark.parametrize("order", ["a", "ab?", "a?", "aa", "abb", "", "a*", "ab*"])
def test_reorder_that_is_not_exactly_the_list_is_refused(
    client: JSONClient, free_member: Member, other_member: Member, order: str
) -> None:
    ids = {
        "a": make_quick_entry(free_member).pk,
        "b": make_quick_entry(free_member).pk,
        "?": 2**62,
        "*": make_quick_entry(other_member).pk,
    }
    before = client.get_json(QUICK)
    body = {"ids": [ids[name] for name in order]}
    response = client.send("PUT", f"{QUICK}/reorder", body)
    assert response.status_code == 400, response.content
    assert response.data["code"] == "INVALID_ORDER"
    assert client.get_json(QUICK) == before


def test_reorder_of_an_empty_list_is_empty(client: JSONClient) -> None:
    response = client.send("PUT", f"{QUICK}/reorder", {"ids": []})
    assert (response.status_code, response.data) == (200, [])


def test_deleted_quick_entry_is_gone(client: JSONClient, full: dict[str, Any]) -> None:
    quick = client.create_json(QUICK, full)
    path = f"{QUICK}/{quick['id']}"
    assert client.send("DELETE", path).status_code == 204
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        assert client.send(method, path, PLAIN).status_code == 404, method
    assert Category.objects.filter(name="Food").exists()
    assert Tag.objects.count() == 2


def _following(quick: dict[str, Any]) -> dict[str, Any]:
    """Return what follows from the category and the type."""
    return {name: quick[name] for name in ("categoryId", "categoryType")}
