"""PUT and PATCH of an entry: fields that are left out, or cleared by name (C6)."""

from typing import Any

import pytest

from accounts.models import Member
from core.api.openapi_view import build_document
from core.api.unknown_names import MAX_REPORTED_NAMES
from ledger.entries.serializers import LEFT_OUT, EntrySerializer
from tests.support.clients import JSONClient
from tests.support.entry_writing import ENTRIES, PLAIN, create_entry, update_entry
from tests.support.factories import make_category, make_wallet
from tests.support.problems import assert_invalid

pytestmark = pytest.mark.django_db


def test_table_names_each_field_of_a_put() -> None:
    fields = EntrySerializer().fields
    assert LEFT_OUT.keys() == {n for n, field in fields.items() if not field.read_only}


@pytest.mark.parametrize("name", [n for n, kind in LEFT_OUT.items() if kind != "kept"])
def test_put_clears_or_requires_what_it_lacks(
    name: str, client: JSONClient, free_member: Member
) -> None:
    card = make_wallet(free_member, kind="CARD")
    body = PLAIN | {
        "category": "Travel",
        "walletId": card.pk,
        "memo": "Hotel",
        "tags": ["trip"],
        "installmentMonths": 3,
    }
    entry = create_entry(client, body)
    # An id and a name stand for each other.
    names = {name, {"categoryId": "category", "tagIds": "tags"}.get(name)}
    left_out = {key: value for key, value in body.items() if key not in names}
    if name == "walletId":
        del left_out["installmentMonths"]
    response = client.send("PUT", f"{ENTRIES}/{entry['id']}", left_out)
    if LEFT_OUT[name] == "required":
        assert_invalid(response, name)
    elif name == "amount":
        # Without an original amount there is nothing to convert.
        assert_invalid(response, "amount")
    else:
        assert response.status_code == 200, response.content
        assert response.data[name] in (None, "", [])


def test_put_keeps_the_other_fields(client: JSONClient, free_member: Member) -> None:
    expense = create_entry(client, PLAIN | {"category": "Travel"})
    body = {
        "date": PLAIN["date"],
        "type": "income",
        "amount": 10,
        "refundOf": expense["id"],
        "time": "09:30",
        "excluded": True,
        "category": "Travel",
        "categoryType": "expense",
    }
    refund = create_entry(client, body)
    sent = {"date": body["date"], "type": "income", "amount": 9, "category": "Travel"}
    changed = update_entry(client, "PUT", refund["id"], sent)
    for name in ("refundOf", "time", "excluded", "categoryType"):
        assert LEFT_OUT[name] == "kept"
        assert changed[name] == refund[name]


def test_document_says_what_a_put_does_with_a_field() -> None:
    properties = build_document()["components"]["schemas"]["EntryWrite"]["properties"]
    left_out = {name: each.get("x-left-out") for name, each in properties.items()}
    assert left_out == LEFT_OUT


@pytest.fixture
def foreign_card_expense(client: JSONClient, free_member: Member) -> Any:
    card = make_wallet(free_member, kind="CARD")
    body = PLAIN | {
        "category": "Travel",
        "walletId": card.pk,
        "currency": "USD",
        "originalAmount": "10",
        "exchangeRate": "1380",
        "installmentMonths": 3,
    }
    return create_entry(client, body)


@pytest.mark.parametrize(
    ("type_", "fields"),
    [
        ("income", ["category"]),
        (
            "transfer",
            [
                *("currency", "originalAmount", "exchangeRate"),
                *("category", "installmentMonths"),
            ],
        ),
    ],
)
def test_patch_of_the_type_drops_nothing_silently(
    client: JSONClient, foreign_card_expense: Any, type_: str, fields: list[str]
) -> None:
    path = f"{ENTRIES}/{foreign_card_expense['id']}"
    response = client.send("PATCH", path, {"type": type_})
    assert_invalid(response, *fields)
    assert client.get_json(path) == foreign_card_expense


def test_patch_of_the_type_takes_fields_that_it_clears(
    client: JSONClient, free_member: Member
) -> None:
    source, target = make_wallet(free_member), make_wallet(free_member)
    body = PLAIN | {"type": "transfer", "walletId": source.pk, "toWalletId": target.pk}
    entry = create_entry(client, body)
    path = f"{ENTRIES}/{entry['id']}"
    assert_invalid(client.send("PATCH", path, {"type": "expense"}), "toWalletId")
    change = {"type": "expense", "clear": ["toWalletId"]}
    changed = update_entry(client, "PATCH", entry["id"], change)
    assert (changed["type"], changed["toWalletId"]) == ("expense", None)


def test_category_that_the_new_type_has_too_stays(
    client: JSONClient, free_member: Member
) -> None:
    entry = create_entry(client, PLAIN | {"category": "Gift"})
    make_category(free_member, name="Gift", type="income")
    changed = update_entry(client, "PATCH", entry["id"], {"type": "income"})
    assert (changed["category"], changed["categoryType"]) == ("Gift", "income")


def test_clear_is_null_in_each_field(client: JSONClient, free_member: Member) -> None:
    wallet = make_wallet(free_member)
    body = PLAIN | {"category": "Travel", "walletId": wallet.pk, "memo": "m"}
    body |= {"tags": ["a"], "time": "09:30", "excluded": True}
    entry = create_entry(client, body)
    names = ["category", "walletId", "memo", "tags", "time", "excluded"]
    changed = update_entry(client, "PATCH", entry["id"], {"clear": names, "amount": 7})
    assert [changed[name] for name in names] == [None, None, "", [], None, False]
    assert changed["amount"] == 7


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"clear": ["date"]}, "clear.0", "required"),
        ({"clear": ["memo", "memmo"]}, "clear.1", "unknown"),
        ({"clear": ["id"]}, "clear.0", "unknown"),
        ({"clear": ["memo"], "memo": "x"}, "clear.0", "repeated"),
        ({"clear": ["memo", "memo"]}, "clear.1", "repeated"),
        ({"clear": [3]}, "clear.0", "unknown"),
        ({"clear": [["memo"]]}, "clear.0", "unknown"),
        ({"clear": "memo"}, "clear", "not_a_list"),
    ],
)
def test_clear_of_a_field_that_cannot_be_cleared_is_refused(
    client: JSONClient, body: dict[str, Any], field: str, code: str
) -> None:
    entry = create_entry(client, PLAIN | {"memo": "m"})
    path = f"{ENTRIES}/{entry['id']}"
    response = client.send("PATCH", path, body)
    assert_invalid(response, field)
    assert response.data["errors"][0]["code"] == code
    assert client.get_json(path) == entry


def test_unknown_name_in_clear_is_described_as_an_unknown_field(
    client: JSONClient,
) -> None:
    path = f"{ENTRIES}/{create_entry(client, PLAIN)['id']}"
    names = ["memmo", "wallet_id", "clear", *(f"unknown{n}" for n in range(30))]
    errors = client.send("PATCH", path, {"clear": names}).data["errors"]
    suggestions = [error.get("suggestion") for error in errors]
    assert suggestions == ["memo", "walletId", *[None] * (MAX_REPORTED_NAMES - 2)]
    (field,) = client.send("PATCH", path, {"memmo": None}).data["errors"]
    assert (errors[0]["field"], errors[0]["detail"]) == ("clear.0", field["detail"])
