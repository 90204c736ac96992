"""Every field of an entry, and its limits."""

import json
from dataclasses import fields
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from django.db import models
from django.utils import timezone

from accounts.models import Member
from core.api.fields import MAX_AMOUNT
from ledger.entries.writing import create_entry as write_entry
from ledger.entry_shape import COLUMNS, EntryShape
from ledger.models import Category, Entry, Tag
from tests.support.clients import JSONClient
from tests.support.entry_writing import (
    ENTRIES,
    FIELDS,
    FOREIGN,
    PLAIN,
    UNUSED,
    create_entry,
    update_entry,
)
from tests.support.factories import make_card_settings, make_entry, make_wallet
from tests.support.problems import assert_invalid


def test_entry_has_every_field_of_the_contract(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member, kind="CARD", name="Card")
    body = FOREIGN | {
        "category": "Travel",
        "walletId": wallet.pk,
        "memo": "Hotel\nthree nights",
        "tags": ["trip", "work"],
        "installmentMonths": 3,
    }
    entry = create_entry(client, body)
    assert set(entry) == FIELDS
    created_at = datetime.fromisoformat(entry.pop("createdAt"))
    updated_at = datetime.fromisoformat(entry.pop("updatedAt"))
    assert entry.pop("version") == 1
    tag_ids = [Tag.objects.get(name=name).pk for name in ("trip", "work")]
    assert entry.pop("tagIds") == tag_ids
    assert created_at == updated_at
    assert created_at.tzinfo is not None
    assert entry.pop("categoryId") == Category.objects.get(name="Travel").pk
    entry["tagIds"] = []
    assert entry == UNUSED | {
        "id": entry["id"],
        "date": "2026-11-21",
        "type": "expense",
        "amount": 17_035,  # 12.34 × 1380.5 = 17035.37
        "category": "Travel",
        "walletId": wallet.pk,
        "wallet": {"id": wallet.pk, "name": "Card"},
        "memo": "Hotel\nthree nights",
        "tags": ["trip", "work"],
        "currency": "USD",
        "originalAmount": Decimal("12.34"),
        "exchangeRate": Decimal("1380.5"),
        "installmentMonths": 3,
        "billMonth": None,
        "pending": False,
    }


def test_entry_needs_only_date_type_and_amount(client: JSONClient) -> None:
    entry = create_entry(client, PLAIN)
    own = {name: entry[name] for name in ("id", "createdAt", "updatedAt", "version")}
    assert entry == own | UNUSED | {
        "categoryId": None,
        "date": "2026-11-21",
        "type": "expense",
        "amount": 5_000,
        "category": None,
        "walletId": None,
        "wallet": None,
        "memo": "",
        "tags": [],
        "currency": None,
        "originalAmount": None,
        "exchangeRate": None,
        "installmentMonths": None,
        "billMonth": None,
        "pending": False,
    }


def test_one_entry_reads_as_it_stands_in_the_list(client: JSONClient) -> None:
    entry = create_entry(client, FOREIGN | {"tags": ["a"], "category": "Food"})
    assert client.get_json(f"{ENTRIES}/{entry['id']}") == entry
    assert client.get_json(ENTRIES)["results"] == [entry]


@pytest.mark.parametrize("name", ["date", "type", "amount"])
def test_missing_date_type_or_amount_is_refused(client: JSONClient, name: str) -> None:
    body = {key: value for key, value in PLAIN.items() if key != name}
    assert_invalid(client.send("POST", ENTRIES, body), name)


@pytest.mark.parametrize("body", [[], "text", 5, [PLAIN], None])
def test_body_that_is_no_object_is_refused(client: JSONClient, body: Any) -> None:
    response = client.generic(
        "POST", ENTRIES, data=json.dumps(body), content_type="application/json"
    )
    assert response.status_code == 400, response.content
    assert json.loads(response.content)["code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("date", "2026-02-30"),
        ("date", "21.11.2026"),
        ("date", "20261121"),
        ("date", "2026-W47-6"),
        ("date", "2026-11-21T10:00:00"),
        ("date", "0000-01-01"),
        ("date", "10000-01-01"),
        ("date", 20261121),
        ("date", True),
        ("date", None),
        ("date", []),
        ("date", ""),
        ("type", "loan"),
        ("type", "EXPENSE"),
        ("type", ""),
        ("type", None),
        ("type", True),
        ("type", 1),
        ("type", ["expense"]),
        ("type", {}),
        ("amount", 0),
        ("amount", -1),
        ("amount", MAX_AMOUNT + 1),
        ("amount", 10**400),
        ("amount", 1.5),
        ("amount", "5000"),
        ("amount", True),
        ("amount", None),
        ("amount", [5]),
        ("amount", {}),
        ("category", ""),
        ("category", "  "),
        ("category", "x" * 101),
        ("category", 5),
        ("category", True),
        ("category", ["Food"]),
        ("category", "nul\x00"),
        ("category", "bell\x07"),
        ("category", "\ud800"),
        ("walletId", "1"),
        ("walletId", True),
        ("walletId", 1.5),
        ("walletId", -1),
        ("walletId", 0),
        ("walletId", 2**63),
        ("walletId", 10**30),
        ("walletId", []),
        ("walletId", {"id": 1}),
        ("memo", "x" * 501),
        ("memo", 5),
        ("memo", True),
        ("memo", ["a"]),
        ("memo", "nul\x00"),
        ("memo", "escape\x1b[0m"),
        ("memo", "delete\x7f"),
        ("memo", "\udfff"),
        ("currency", "XXX"),
        ("currency", "US"),
        ("currency", "USDT"),
        ("currency", ""),
        ("currency", 840),
        ("currency", ["USD"]),
        ("originalAmount", 0),
        ("originalAmount", -1),
        ("originalAmount", "0.00001"),
        ("originalAmount", "NaN"),
        ("originalAmount", "Infinity"),
        ("originalAmount", "-Infinity"),
        ("originalAmount", "sNaN"),
        ("originalAmount", "1e400"),
        ("originalAmount", "1e-400"),
        ("originalAmount", 1_000_000_000_000),
        ("originalAmount", "twelve"),
        ("originalAmount", ""),
        ("originalAmount", True),
        ("originalAmount", ["1"]),
        ("exchangeRate", 0),
        ("exchangeRate", -1380),
        ("exchangeRate", "0.000000001"),
        ("exchangeRate", "NaN"),
        ("exchangeRate", "Infinity"),
        ("exchangeRate", 1_000_000_000_000),
        ("exchangeRate", "1e999999999"),
        ("exchangeRate", True),
        ("exchangeRate", {}),
        ("installmentMonths", 1),
        ("installmentMonths", 0),
        ("installmentMonths", -3),
        ("installmentMonths", 25),
        ("installmentMonths", 2.5),
        ("installmentMonths", "3"),
        ("installmentMonths", True),
        ("tags", "trip"),
        ("tags", {"0": "trip"}),
        ("tags", [f"tag{number}" for number in range(51)]),
    ],
)
def test_value_that_does_not_fit_is_refused(
    client: JSONClient, free_member: Member, name: str, value: Any
) -> None:
    card = make_wallet(free_member, kind="CARD")
    body = FOREIGN | {"walletId": card.pk, "amount": 5} | {name: value}
    if name == "amount":
        body = PLAIN | {name: value}
    response = client.send("POST", ENTRIES, body)
    assert_invalid(response, name)
    assert Entry.objects.count() == 0
    assert Category.objects.count() == 0


@pytest.mark.parametrize(
    "tag", ["", " ", "a,b", "x" * 101, 5, None, True, ["a"], {}, "nul\x00"]
)
def test_tag_that_does_not_fit_is_refused_by_its_index(
    client: JSONClient, tag: Any
) -> None:
    response = client.send("POST", ENTRIES, PLAIN | {"tags": ["fine", tag]})
    assert_invalid(response, "tags.1")
    assert Tag.objects.count() == 0


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_json_constants_that_are_no_numbers_are_refused(
    client: JSONClient, constant: str
) -> None:
    body = json.dumps(PLAIN).replace("5000", constant)
    response = client.generic(
        "POST", ENTRIES, data=body, content_type="application/json"
    )
    assert response.status_code == 400


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("amount", 1),
        ("amount", MAX_AMOUNT),
        ("date", "0001-01-01"),
        ("date", "9999-12-31"),
        ("date", "2028-02-29"),
        ("memo", "x" * 500),
        ("memo", "tab\tand\nnewline"),
        ("memo", "점심 🍜 “quotes”"),
        ("memo", ""),
        ("category", "가" * 100),
        ("tags", ["x" * 100]),
        ("tags", [f"tag{number}" for number in range(50)]),
    ],
)
def test_value_at_its_limit_is_kept_as_it_is(
    client: JSONClient, name: str, value: Any
) -> None:
    entry = create_entry(client, PLAIN | {name: value})
    assert entry[name] == value


def test_whole_number_written_as_a_decimal_is_a_whole_number(
    client: JSONClient,
) -> None:
    response = client.generic(
        "POST",
        ENTRIES,
        data='{"date": "2026-11-21", "type": "expense", "amount": 5000.0}',
        content_type="application/json",
    )
    assert response.status_code == 201, response.content
    assert json.loads(response.content)["amount"] == 5_000


def test_null_and_missing_memo_are_empty(client: JSONClient) -> None:
    assert create_entry(client, PLAIN | {"memo": None})["memo"] == ""
    assert create_entry(client, PLAIN)["memo"] == ""


def test_unknown_fields_are_refused_with_a_suggestion(client: JSONClient) -> None:
    unknown = {"mood": "good", "notifKey": "x", "amounts": [], "wallet_id": 1}
    response = client.send("POST", ENTRIES, PLAIN | unknown)
    assert_invalid(response, *unknown)
    errors = response.data["errors"]
    assert [error.get("suggestion") for error in errors] == [
        *(None, None, "amount", "walletId")
    ]
    assert not Entry.objects.exists()


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_id_member_pending_and_times_of_a_body_have_no_effect(
    client: JSONClient, free_member: Member, other_member: Member, method: str
) -> None:
    taken = make_entry(free_member)
    forged = PLAIN | {
        "id": taken.pk,
        "pending": True,
        "createdAt": "2001-01-01T00:00:00+09:00",
        "updatedAt": "2001-01-01T00:00:00+09:00",
        "wallet": {"id": 1, "name": "forged"},
    }
    unknown = {"member": other_member.pk, "memberId": 1, "member_id": 1}
    response = client.send("POST", ENTRIES, forged | unknown)
    assert_invalid(response, *unknown)
    if method == "POST":
        body = create_entry(client, forged)
        entry = Entry.objects.get(pk=body["id"])
        assert entry.pk != taken.pk
    else:
        own = make_entry(free_member)
        created_at = own.created_at
        body = update_entry(client, method, own.pk, forged)
        entry = Entry.objects.get(pk=own.pk)
        assert body["id"] == own.pk
        assert entry.created_at == created_at
    assert entry.member == free_member
    assert entry.pending is False
    assert entry.created_at.year != 2001
    assert entry.updated_at.year != 2001
    assert body["wallet"] is None
    taken.refresh_from_db()
    assert taken.amount == 1_000


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_pending_entry_is_not_confirmed_by_writing_pending(
    client: JSONClient, free_member: Member, method: str
) -> None:
    entry = make_entry(free_member, pending=True)
    body = update_entry(client, method, entry.pk, PLAIN | {"pending": False})
    assert body["pending"] is True
    assert client.get_json(f"{ENTRIES}/pending/count") == {"count": 1}


def test_a_change_moves_updated_at_and_keeps_created_at(client: JSONClient) -> None:
    entry = create_entry(client, PLAIN)
    changed = update_entry(client, "PATCH", entry["id"], {"memo": "later"})
    assert changed["createdAt"] == entry["createdAt"]
    assert changed["updatedAt"] > entry["updatedAt"]


def test_one_statement_stores_every_column_of_a_shape(free_member: Member) -> None:
    """`create_entry.sql` names the columns; a new field must be added to it."""
    card = make_wallet(free_member, kind="CARD", name="Card")
    make_card_settings(card)
    values: dict[str, Any] = {
        "type": "expense",
        "amount": 13_805,
        "wallet": card.pk,
        "memo": "Hotel",
        "date": date(2026, 11, 21),
        "time": time(9, 30),
        "currency": "USD",
        "original_amount": Decimal("10"),
        "exchange_rate": Decimal("1380.5"),
        "installment_months": 3,
        "installment_parts": (4_605, 4_600, 4_600),
        "bill_month": date(2026, 12, 1),
        "excluded": True,
        "source": "BILL",
    }
    # Kinds of entries that exclude the fields above.
    others = {"to_wallet", "refund_of", "category", "category_type", "lines", "tags"}
    for field in fields(EntryShape):
        if field.name not in values and field.name not in others:
            is_text = isinstance(Entry._meta.get_field(field.name), models.CharField)
            values[field.name] = "x" if is_text else 2
    # All names are known, so that no second statement writes the row.
    shape = EntryShape(**values)
    entry = Entry.objects.get(pk=write_entry(free_member, shape, timezone.now()))
    stored = {name: getattr(entry, COLUMNS[name]) for name in values}
    stored["installment_parts"] = tuple(stored["installment_parts"])
    assert stored == values
