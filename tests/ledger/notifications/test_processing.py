"""Notifications become pending entries, once (spec 4.1)."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Member
from ledger.models import Entry, Notification, NotificationCount
from tests.support.alert_texts import (
    ADVERT,
    APPROVAL,
    CANCELLATION,
    DECLINED,
    ENTRIES,
    FOREIGN,
    NOTIFICATION,
    PARSE,
    PUSH,
    UNTIMED,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.fakes import FakeRates
from tests.support.rollups import assert_rollups_are_right

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]


def test_payment_becomes_a_pending_expense(
    client: JSONClient, send: Any, premium_member: Member
) -> None:
    card = make_wallet(premium_member, kind="CARD", name="신한카드")
    body = send(APPROVAL)
    assert (body["action"], body["reason"]) == ("CREATED", None)
    entry = body["entry"]
    assert entry | {"id": 0, "createdAt": 0, "updatedAt": 0, "version": 0} == {
        "id": 0,
        "date": "2026-11-10",
        "type": "expense",
        "amount": 4800,
        "category": None,
        "walletId": card.pk,
        "wallet": {"id": card.pk, "name": "신한카드"},
        "toWalletId": None,
        "toWallet": None,
        "categoryId": None,
        "categoryType": "expense",
        "lines": [],
        "refundOf": None,
        "refunded": 0,
        "time": "08:31",
        "excluded": False,
        "source": "NOTIFICATION",
        "clientId": None,
        "merged": False,
        "memo": "바람커피성수",
        "tags": [],
        "currency": None,
        "originalAmount": None,
        "exchangeRate": None,
        "installmentMonths": None,
        "billMonth": None,
        "pending": True,
        "createdAt": 0,
        "updatedAt": 0,
        "version": 0,
        "tagIds": [],
    }
    assert client.get_json(f"{ENTRIES}/{entry['id']}") == entry
    assert body["parsed"]["walletId"] == card.pk
    assert client.get_json(f"{ENTRIES}/pending/count") == {"count": 1}


def test_pending_entry_is_in_no_total_until_it_is_confirmed(
    client: JSONClient, send: Any
) -> None:
    entry_id = send(APPROVAL)["entry"]["id"]
    month = "/api/account/statistics/month?year=2026&month=11"
    assert client.get_json(month)["expense"] == 0
    assert client.send("POST", f"{ENTRIES}/{entry_id}/confirm").status_code == 200
    assert client.get_json(month)["expense"] == 4800
    assert_rollups_are_right()


@pytest.mark.parametrize(
    "again", [APPROVAL, PUSH, APPROVAL.replace(" ", "  ") + "\r\n"]
)
def test_repeated_notification_is_a_duplicate(send: Any, again: Any) -> None:
    first = send(APPROVAL)
    for _ in range(2):
        body = send(again)
        assert (body["action"], body["reason"]) == ("DUPLICATE", None)
        assert (body["entry"], body["merged"]) == (first["entry"], [])
    assert Entry.objects.count() == 1
    # What another channel announced is kept as well, once.
    assert Notification.objects.count() == (2 if again == PUSH else 1)


@pytest.mark.parametrize("how", ["deleted", "cancelled"])
def test_repeated_text_does_not_create_a_deleted_entry_again(
    client: JSONClient, send: Any, how: str
) -> None:
    entry_id = send(APPROVAL)["entry"]["id"]
    if how == "deleted":
        client.send("DELETE", f"{ENTRIES}/{entry_id}")
    else:
        assert send(CANCELLATION)["action"] == "CANCELLED"
    body = send(PUSH)
    assert (body["action"], body["entry"]) == ("DUPLICATE", None)
    assert not Entry.objects.exists()


def test_duplicate_returns_the_edited_and_confirmed_entry(
    client: JSONClient, send: Any
) -> None:
    entry_id = send(APPROVAL)["entry"]["id"]
    changes = {"amount": 5000, "memo": "커피", "date": "2026-11-09"}
    client.send("POST", f"{ENTRIES}/{entry_id}/confirm", changes)
    body = send(PUSH)
    assert (body["action"], body["entry"]["amount"]) == ("DUPLICATE", 5000)


def test_text_without_a_time_is_a_duplicate_within_five_minutes(
    send: Any, now: Any
) -> None:
    assert send(UNTIMED)["action"] == "CREATED"
    now.shift(240)
    assert send(UNTIMED)["action"] == "DUPLICATE"
    later = "2026-11-21T16:00:00+09:00"
    other = UNTIMED.replace("282,000", "286,500")
    assert send(other, receivedAt=later)["action"] == "CREATED"
    assert Entry.objects.count() == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (DECLINED, "DECLINED"),
        (ADVERT, "ADVERT"),
        ("", "NO_PAYMENT"),
        ("안녕", "NO_PAYMENT"),
    ],
)
def test_text_that_is_no_payment_is_ignored_with_its_reason(
    send: Any, text: Any, reason: str
) -> None:
    body = send(text)
    assert (body["action"], body["reason"], body["entry"]) == ("IGNORED", reason, None)
    assert not Entry.objects.exists()
    assert not Notification.objects.exists()


def test_category_is_suggested_and_the_entry_stays_pending(
    send: Any, premium_member: Member
) -> None:
    cafe = make_category(premium_member, name="카페")
    make_entry(premium_member, memo="바람커피", category=cafe)
    entry = send(APPROVAL)["entry"]
    assert (entry["category"], entry["pending"]) == ("카페", True)


def test_cash_is_replaced_by_the_card(send: Any, premium_member: Member) -> None:
    cash = make_wallet(premium_member, kind="CASH")
    card = make_wallet(premium_member, kind="CARD", name="신한카드")
    assert send(APPROVAL, walletId=cash.pk)["entry"]["walletId"] == card.pk


def test_foreign_payment_is_converted_at_the_rate_of_its_day(
    send: Any, fx_source: FakeRates
) -> None:
    fx_source.quote("USD", "KRW", "1400.5", "2026-11-03")
    entry = send(FOREIGN)["entry"]
    assert (entry["amount"], entry["currency"]) == (53_219, "USD")
    assert (entry["originalAmount"], entry["exchangeRate"]) == (
        Decimal(38),
        Decimal("1400.5"),
    )


def test_notification_takes_few_statements(
    send: Any, fx_source: FakeRates, premium_member: Member
) -> None:
    for name in ("신한카드", "현대카드"):
        make_wallet(premium_member, kind="CARD", name=name)
    fx_source.quote("USD", "KRW", "1400.5", "2026-11-03")
    # A provider is asked, and the session and the statements' plans are known.
    send(FOREIGN)
    counts = []
    for text in (APPROVAL, APPROVAL, FOREIGN.replace("38.00", "39.00"), ADVERT):
        with CaptureQueriesContext(connection) as queries:
            send(text)
        counts.append(len(queries))
    # Taught layouts, begin, lock, known payments, cards, suggestion, entry, notification,
    # count, commit and the entry for the response; a stored rate is one more and rolls
    # nothing back. Of what is ignored the taught layouts are read, and it is counted.
    assert counts == [12, 8, 13, 2]


def test_notification_that_began_again_for_a_rate_is_counted_once(
    send: Any, fx_source: FakeRates
) -> None:
    fx_source.quote("USD", "KRW", "1400.5", "2026-11-03")
    send(FOREIGN)
    counts = NotificationCount.objects.values_list("is_recognized", "count")
    assert list(counts) == [(True, 1)]


def test_entry_without_a_rate_awaits_an_amount(client: JSONClient, send: Any) -> None:
    entry = send(FOREIGN)["entry"]
    assert (entry["amount"], entry["exchangeRate"]) == (0, None)
    path = f"{ENTRIES}/{entry['id']}/confirm"
    response = client.send("POST", path)
    assert response.status_code == 400
    assert [error["field"] for error in response.data["errors"]] == ["amount"]
    response = client.send("POST", path, {"amount": 53_000})
    assert (response.status_code, response.data["pending"]) == (200, False)


@pytest.mark.parametrize("path", [NOTIFICATION, PARSE])
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": None}, "text"),
        ({"text": 5}, "text"),
        ({"text": ["a"]}, "text"),
        ({"text": "가" * 4001}, "text"),
        ({"text": "\x00"}, "text"),
        ({"text": "\x1b"}, "text"),
        ({"text": "가", "receivedAt": "yesterday"}, "receivedAt"),
        ({"text": "가", "receivedAt": 5}, "receivedAt"),
        ({"text": "가", "receivedAt": "0001-01-01T00:00:00Z"}, "receivedAt"),
        ({"text": "가", "receivedAt": "9999-12-31T23:59:59-12:00"}, "receivedAt"),
        ({"text": "가", "receivedAt": "1999-12-31T00:00:00Z"}, "receivedAt"),
        ({"text": "가", "sender": 15447200}, "sender"),
        ({"text": "가", "sender": "1" * 201}, "sender"),
    ],
)
def test_invalid_body_is_rejected(
    client: JSONClient, path: Any, body: dict[str, Any], field: str
) -> None:
    response = client.send("POST", path, body)
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == [field]


@pytest.mark.parametrize("wallet_id", [0, "1", "theirs"])
def test_wallet_of_another_member_is_rejected(
    client: JSONClient, other_member: Member, wallet_id: int | str
) -> None:
    if wallet_id == "theirs":
        wallet_id = make_wallet(other_member).pk
    body = {"text": APPROVAL, "walletId": wallet_id}
    response = client.send("POST", NOTIFICATION, body)
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert not Entry.objects.exists()


def test_text_of_maximum_length_is_accepted(client: JSONClient) -> None:
    response = client.send("POST", NOTIFICATION, {"text": ("가 " * 2000)[:4000]})
    assert response.data["reason"] == "NO_PAYMENT"
