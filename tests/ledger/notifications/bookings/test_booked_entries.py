"""Bookings on bank accounts become entries where the member wants it (spec 4.12)."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, Notification
from tests.support.alert_texts import ENTRIES, PARSE
from tests.support.bank_bookings import FIRST, MIRROR, SETTINGS, WALLETS
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db


def test_bookings_are_ignored_unless_they_are_switched_on(
    client: JSONClient, send: Any
) -> None:
    assert client.get_json(SETTINGS) == {"captureBankTexts": True}
    client.send("PATCH", SETTINGS, {"captureBankTexts": False})
    body = send("신한 110-***-448812 in 5000 이준호 11:00 90000")
    assert (body["action"], body["reason"]) == ("IGNORED", "BANK_TRANSFER")
    assert not body["parsed"]["recognized"]
    assert body["parsed"]["amount"] is None
    assert not Entry.objects.exists()
    assert not Notification.objects.exists()


@pytest.mark.parametrize("value", ["true", 1, []])
def test_setting_is_a_boolean(client: JSONClient, value: Any) -> None:
    response = client.send("PATCH", SETTINGS, {"captureBankTexts": value})
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert client.send("PATCH", SETTINGS, {}).data == {"captureBankTexts": True}


@pytest.mark.parametrize(("direction", "type_"), [("in", "income"), ("out", "expense")])
def test_booking_becomes_a_pending_entry(
    send: Any, wallets: dict[str, int], member: Member, direction: str, type_: str
) -> None:
    category = make_category(member, name="모임", type=type_)
    make_entry(member, memo="이준호", category=category, type=type_)
    body = send(f"신한 110-***-448812 {direction} 5000 이준호 11:00 90000")
    entry, parsed = body["entry"], body["parsed"]
    assert (body["action"], body["reason"]) == ("CREATED", None)
    assert (entry["type"], entry["amount"], entry["memo"]) == (type_, 5000, "이준호")
    assert (entry["walletId"], entry["pending"]) == (wallets["shinhan"], True)
    assert (entry["category"], entry["date"]) == ("모임", "2026-11-21")
    assert parsed["recognized"] is True
    assert (parsed["kind"], parsed["reason"]) == (None, None)
    assert parsed["direction"] == ("DEPOSIT" if direction == "in" else "WITHDRAWAL")
    assert (parsed["balance"], parsed["balanceDifference"]) == (90_000, 90_000)
    assert parsed["walletId"] == wallets["shinhan"]
    assert_rollups_are_right()


@pytest.mark.parametrize(
    ("bank", "digits", "wallet"),
    [
        ("신한", "110-***-448812", "shinhan"),
        ("신한", "110**812", "shinhan"),
        ("-", "*448812", "shinhan"),
        ("-", "8812", "shinhan"),
        ("신한", "-", "shinhan"),
        ("카카오뱅크", "3418", "kakao"),
        ("신한", "110-***-448813", None),
        ("신한", "111**812", None),
        ("KB국민", "-", None),
        ("-", "-", None),
    ],
)
def test_account_is_found_by_its_digits_else_by_its_bank(
    send: Any, wallets: dict[str, int], bank: str, digits: str, wallet: str | None
) -> None:
    body = send(f"{bank} {digits} in 5000 이준호 11:00 -")
    if wallet is None:
        assert (body["action"], body["reason"]) == ("IGNORED", "BANK_TRANSFER")
        assert not Notification.objects.exists()
    else:
        assert body["entry"]["walletId"] == wallets[wallet]


def test_bank_with_two_accounts_needs_digits(
    send: Any, client: JSONClient, wallets: dict[str, int]
) -> None:
    body = {"name": "second", "kind": "BANK", "institution": "신한은행"}
    second = client.send("POST", WALLETS, body).data["id"]
    assert send("신한 - in 5000 이준호 11:00 -")["reason"] == "BANK_TRANSFER"
    found = send("신한 *448812 in 5000 이준호 11:00 -")
    assert found["entry"]["walletId"] == wallets["shinhan"]
    # Of the account without a number nothing contradicts.
    found = send("신한 *999999 in 6000 이준호 11:00 -")
    assert found["entry"]["walletId"] == second


def test_cancelled_booking_is_taken_back(client: JSONClient, send: Any) -> None:
    cancelled = "신한 *448812 !out 50000 모바일 11:30 -"
    assert send(cancelled)["reason"] == "NO_MATCHING_APPROVAL"
    send(FIRST)
    assert send(cancelled)["action"] == "CANCELLED"
    assert send(cancelled)["action"] == "DUPLICATE"
    assert not Entry.objects.exists()
    again = FIRST.replace("11:00", "11:40")
    entry = send(again)["entry"]
    client.send("POST", f"{ENTRIES}/{entry['id']}/confirm")
    body = send(cancelled.replace("11:30", "11:50"))
    assert (body["action"], body["entry"]["type"]) == ("REFUND_PENDING", "income")


def test_parsing_tells_the_account_and_the_move_and_stores_nothing(
    client: JSONClient, wallets: dict[str, int]
) -> None:
    body = client.send("POST", PARSE, {"text": f"{FIRST}\n{MIRROR}"}).data
    assert [each["walletId"] for each in body["messages"]] == [
        wallets["shinhan"],
        wallets["kakao"],
    ]
    assert (body["merchant"], body["amount"]) == ("오픈뱅킹", 50_000)
    own = client.send("POST", PARSE, {"text": FIRST.replace("모바일", "조민현")}).data
    assert (own["recognized"], own["reason"]) == (True, "OWN_TRANSFER")
    told = client.send("POST", PARSE, {"text": FIRST.replace("모바일", "카카오뱅크")})
    assert (told.data["recognized"], told.data["reason"]) == (True, None)
    assert not Entry.objects.exists()
    assert not Notification.objects.exists()
