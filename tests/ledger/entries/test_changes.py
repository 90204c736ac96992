"""PUT, PATCH and DELETE of an entry."""

import json
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from accounts.models import Member
from core.api.fields import MAX_AMOUNT
from ledger.models import Category, Tag
from tests.support.clients import JSONClient
from tests.support.entry_writing import (
    ENTRIES,
    FOREIGN,
    PLAIN,
    create_entry,
    update_entry,
)
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.problems import assert_invalid


def make_shapes(member: Member) -> dict[str, Any]:
    """Return an entry of every shape that the service can hold, by its name."""
    card = make_wallet(member, kind="CARD")
    major = make_category(member)
    minor = make_category(member, parent=major)
    income = make_category(member, type="income")
    usd: dict[str, Any] = {
        "currency": "USD",
        "original_amount": Decimal("12.3400"),
        "exchange_rate": Decimal("1380.12345678"),
    }
    full: dict[str, Any] = {
        "wallet": card,
        "category": minor,
        "memo": "a\n\tb",
        "tags": ("t2", "t1"),
    }
    return {
        "plain": make_entry(member),
        "income": make_entry(member, type="income", category=income),
        "full": make_entry(member, **full, installment_months=24),
        "largest": make_entry(member, amount=MAX_AMOUNT),
        "earliest": make_entry(member, date=date(1, 1, 1)),
        "foreign": make_entry(member, amount=17_031, **usd),
        "foreign with an amount of its own": make_entry(member, amount=9, **usd),
        "foreign with a tiny product": make_entry(
            member,
            amount=1,
            currency="VND",
            original_amount=Decimal("0.0001"),
            exchange_rate=Decimal("0.00000001"),
        ),
        "pending": make_entry(member, pending=True, **full),
        "pending foreign": make_entry(member, pending=True, amount=5, **usd),
        "pending foreign without a rate": make_entry(
            member, pending=True, amount=0, **usd | {"exchange_rate": None}
        ),
    }


SHAPES = (
    "plain",
    "income",
    "full",
    "largest",
    "earliest",
    "foreign",
    "foreign with an amount of its own",
    "foreign with a tiny product",
    "pending",
    "pending foreign",
    "pending foreign without a rate",
)


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_was_read_can_be_sent_back_as_it_is(
    client: JSONClient, free_member: Member, shape: str, method: str
) -> None:
    entry = make_shapes(free_member)[shape]
    path = f"{ENTRIES}/{entry.pk}"
    text = client.get(path).content.decode()
    response = client.generic(method, path, data=text, content_type="application/json")
    assert response.status_code == 200, response.content
    before, after = json.loads(text), json.loads(response.content)
    assert after | {"updatedAt": None} == before | {"updatedAt": None}
    assert Category.objects.count() == 3


@pytest.mark.parametrize("shape", SHAPES)
def test_patch_of_nothing_changes_nothing(
    client: JSONClient, free_member: Member, shape: str
) -> None:
    entry = make_shapes(free_member)[shape]
    before = client.get_json(f"{ENTRIES}/{entry.pk}")
    after = update_entry(client, "PATCH", entry.pk, {})
    assert after | {"updatedAt": None} == before | {"updatedAt": None}


@pytest.mark.parametrize("shape", SHAPES)
def test_patch_of_the_memo_leaves_all_else(
    client: JSONClient, free_member: Member, shape: str
) -> None:
    entry = make_shapes(free_member)[shape]
    before = client.get_json(f"{ENTRIES}/{entry.pk}")
    after = update_entry(client, "PATCH", entry.pk, {"memo": "changed"})
    same = {"updatedAt": None, "memo": None}
    assert after | same == before | same
    assert after["memo"] == "changed"


def test_put_clears_what_it_leaves_out(client: JSONClient, free_member: Member) -> None:
    entry = make_shapes(free_member)["full"]
    changed = update_entry(client, "PUT", entry.pk, PLAIN)
    assert changed["category"] is None
    assert changed["walletId"] is None
    assert changed["memo"] == ""
    assert changed["tags"] == []
    assert changed["installmentMonths"] is None


@pytest.mark.parametrize("name", ["date", "type", "amount"])
def test_put_without_date_type_or_amount_is_refused(
    client: JSONClient, free_member: Member, name: str
) -> None:
    entry = make_entry(free_member)
    body = {key: value for key, value in PLAIN.items() if key != name}
    assert_invalid(client.send("PUT", f"{ENTRIES}/{entry.pk}", body), name)


def test_put_of_a_home_amount_makes_a_foreign_entry_a_home_one(
    client: JSONClient,
) -> None:
    entry = create_entry(client, FOREIGN)
    changed = update_entry(client, "PUT", entry["id"], PLAIN)
    assert changed["amount"] == 5_000
    assert changed["currency"] is None


def test_patch_changes_each_field_alone(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member)
    entry = create_entry(client, PLAIN | {"tags": ["a"], "category": "Food"})
    bodies: list[dict[str, Any]] = [
        {"date": "2025-01-02"},
        {"amount": 6},
        {"category": "Other"},
        {"category": None},
        {"walletId": wallet.pk},
        {"memo": "m"},
        {"tags": ["b", "c"]},
        {"tags": []},
        {"type": "income"},
    ]
    for body in bodies:
        changed = update_entry(client, "PATCH", entry["id"], body)
        expected = entry | body | {"updatedAt": changed["updatedAt"]}
        # They follow from the category and the type.
        for name in ("categoryId", "categoryType", "refunded", "tagIds"):
            expected[name] = changed[name]
        if "walletId" in body:
            expected["wallet"] = {"id": wallet.pk, "name": wallet.name}
        assert changed == expected
        entry = changed


def test_refused_change_changes_nothing(
    client: JSONClient, free_member: Member
) -> None:
    entry = make_shapes(free_member)["full"]
    before = client.get_json(f"{ENTRIES}/{entry.pk}")
    for method in ("PUT", "PATCH"):
        body = PLAIN | {"tags": ["x"], "category": "New", "amount": -1}
        response = client.send(method, f"{ENTRIES}/{entry.pk}", body)
        assert_invalid(response, "amount")
    assert client.get_json(f"{ENTRIES}/{entry.pk}") == before
    assert not Tag.objects.filter(name="x").exists()


def test_rename_of_a_wallet_reaches_its_entries(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member, name="Old")
    entry = create_entry(client, PLAIN | {"walletId": wallet.pk})
    client.send("PATCH", f"/api/account/wallets/{wallet.pk}", {"name": "New"})
    body = client.get_json(f"{ENTRIES}/{entry['id']}")
    assert body["wallet"] == {"id": wallet.pk, "name": "New"}


def test_deleted_entry_is_gone(client: JSONClient, free_member: Member) -> None:
    entry = make_entry(free_member, tags=("kept",))
    path = f"{ENTRIES}/{entry.pk}"
    assert client.send("DELETE", path).status_code == 204
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        body = None if method == "DELETE" else PLAIN
        response = client.send(method, path, body)
        assert response.status_code == 404
        assert response.data["code"] == "NOT_FOUND"
    assert Tag.objects.filter(name="kept").exists()


@pytest.mark.parametrize("row_id", [0, 2**63 - 1, 2**63, 10**30])
def test_id_that_no_row_can_have_is_404(client: JSONClient, row_id: int) -> None:
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        body = None if method == "DELETE" else PLAIN
        response = client.send(method, f"{ENTRIES}/{row_id}", body)
        assert response.status_code == 404, method
        assert response.data["code"] == "NOT_FOUND"
