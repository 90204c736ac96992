"""Bookings on bank accounts become entries where the member wants it (spec 4.12).

The parser is replaced by one that reads lines of words, so that each rule is tested
apart from the layouts of banks.
"""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
import time_machine

from accounts.models import Member
from card_alerts import (
    BankBooking,
    BookingDirection,
    BookingPurpose,
    Channel,
    ParseResult,
    Reason,
    parse,
)
from ledger.card_notifications import processing
from ledger.models import Entry, Notification, Wallet
from tests.support.alert_texts import ENTRIES, NOTIFICATION, PARSE
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_member
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db

SETTINGS = f"{ENTRIES}/notification-settings"
WALLETS = "/api/account/wallets"


def read_line(text: str, received_at: datetime) -> ParseResult:
    """Return the booking of `BANK DIGITS in|out AMOUNT COUNTERPARTY HH:MM BALANCE`.

    A dash leaves a part out; `!` before the direction cancels, `bill:` and `cash:`
    before the counterparty tell the purpose.
    """
    parts = [None if part == "-" else part for part in text.split()]
    bank, digits, direction, amount, counterparty, clock, balance = parts
    assert direction is not None
    assert amount is not None
    purpose, card = BookingPurpose.TRANSFER, None
    if counterparty and counterparty.startswith("bill:"):
        purpose = BookingPurpose.CARD_BILL
        card = counterparty = counterparty.removeprefix("bill:")
    elif counterparty and counterparty.startswith("cash:"):
        purpose = BookingPurpose.CASH
        counterparty = counterparty.removeprefix("cash:")
    occurred_at = None
    if clock:
        hour, minute = map(int, clock.split(":"))
        occurred_at = received_at.replace(hour=hour, minute=minute, second=0)
    is_in = direction.endswith("in")
    booking = BankBooking(
        direction=BookingDirection.DEPOSIT if is_in else BookingDirection.WITHDRAWAL,
        purpose=purpose,
        amount=int(amount),
        bank=bank,
        account_hint=digits,
        counterparty=counterparty,
        card_company=card,
        is_cancelled=direction.startswith("!"),
        balance=None if balance is None else Decimal(balance),
        occurred_at=occurred_at,
    )
    return ParseResult(
        recognized=False,
        reason=Reason.BANK_TRANSFER,
        channel=Channel.BANK,
        balance=booking.balance,
        bank_booking=booking,
    )


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def read_all(
        text: str, received_at: datetime, sender: str, currency: str, title: str
    ) -> list[ParseResult]:
        if text.startswith("["):
            return [parse(text, received_at, sender, currency, title)]
        return [read_line(line, received_at) for line in text.splitlines()]

    monkeypatch.setattr(processing, "parse_all", read_all)
    with time_machine.travel("2026-11-21T12:00:00+09:00", tick=False) as traveller:
        yield traveller


@pytest.fixture
def member() -> Member:
    return make_member(plan="PREMIUM", display_name="조민현")


@pytest.fixture
def client(member: Member) -> JSONClient:
    client = JSONClient(member)
    assert client.send("PATCH", SETTINGS, {"captureBankTexts": True}).status_code == 200
    return client


@pytest.fixture
def wallets(client: JSONClient) -> dict[str, int]:
    rows = (
        ("shinhan", "BANK", "신한은행", "110-482-448812"),
        ("kakao", "BANK", "카카오뱅크", "3333-02-7713418"),
        ("cash", "CASH", "", ""),
        ("card", "CARD", "삼성카드", ""),
        ("broker", "INVESTMENT", "키움증권", ""),
    )
    ids = {}
    for name, kind, institution, number in rows:
        body = {
            "name": name,
            "kind": kind,
            "institution": institution,
            "accountNumber": number,
        }
        ids[name] = client.send("POST", WALLETS, body).data["id"]
    return ids


@pytest.fixture
def send(client: JSONClient, wallets: dict[str, int]) -> Any:
    def post(text: str) -> Any:
        response = client.send("POST", NOTIFICATION, {"text": text})
        assert response.status_code in {200, 201}, response.content
        return response.data

    return post


def list_entries() -> list[tuple[str, int, str]]:
    rows = Entry.objects.order_by("id").values_list("type", "amount", "memo")
    return list(rows)


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


@pytest.mark.parametrize("value", [None, "true", 1, []])
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


@pytest.mark.parametrize(
    ("counterparty", "reason"),
    [
        ("조민현", "OWN_TRANSFER"),
        ("조*현", "OWN_TRANSFER"),
        ("조민현님", "OWN_TRANSFER"),
        ("조민현(모바일)", "OWN_TRANSFER"),
        ("카카오뱅크", "OWN_TRANSFER"),
        ("키움증권", "OWN_TRANSFER"),
        ("키움증권(조민현)", "OWN_TRANSFER"),
        ("cash:ATM출금", "OWN_TRANSFER"),
        ("bill:삼성", "CARD_BILL"),
        ("삼성카드", "CARD_BILL"),
        ("bill:현대", None),
        ("현대카드", None),
        ("신한은행", None),
        ("이민현", None),
        ("조민현상사", None),
        ("**", None),
        ("-", None),
    ],
)
def test_own_move_is_told_by_the_counterparty(
    send: Any, counterparty: str, reason: str | None
) -> None:
    text = f"신한 *448812 out 50000 {counterparty} 11:00 -"
    for _ in range(2):
        body = send(text)
        assert body["reason"] == reason
    assert body["action"] == ("IGNORED" if reason else "DUPLICATE")
    assert Entry.objects.count() == (0 if reason else 1)
    assert Notification.objects.count() == 1


@pytest.mark.parametrize("kinds", [[], ["CASH", "CASH"]])
def test_cash_machine_without_a_single_cash_wallet_is_an_expense(
    send: Any, member: Member, client: JSONClient, kinds: list[str]
) -> None:
    Wallet.objects.filter(member=member, kind="CASH").delete()
    for number, kind in enumerate(kinds):
        client.send("POST", WALLETS, {"name": f"cash {number}", "kind": kind})
    body = send("신한 *448812 out 50000 cash:ATM 11:00 -")
    assert (body["action"], body["entry"]["memo"]) == ("CREATED", "ATM")


FIRST = "신한 *448812 out 50000 모바일 11:00 -"
MIRROR = "카카오뱅크 *3418 in 50000 오픈뱅킹 11:09 -"


@pytest.mark.parametrize("texts", [(FIRST, MIRROR), (MIRROR, FIRST)])
def test_mirror_takes_back_the_pending_entry(send: Any, texts: Any) -> None:
    actions = [send(text) for text in (*texts, *texts)]
    assert [body["action"] for body in actions] == ["CREATED"] + ["IGNORED"] * 3
    assert {body["reason"] for body in actions[1:]} == {"OWN_TRANSFER"}
    assert not Entry.objects.exists()
    assert_rollups_are_right()


@pytest.mark.parametrize(
    "other",
    [
        MIRROR.replace("11:09", "11:11"),
        MIRROR.replace("50000", "50001"),
        MIRROR.replace(" in ", " out "),
        FIRST.replace(" out ", " in "),
    ],
)
def test_other_booking_is_no_mirror(send: Any, other: str) -> None:
    assert [send(text)["action"] for text in (FIRST, other)] == ["CREATED"] * 2
    assert Entry.objects.count() == 2


def test_booking_has_one_mirror(send: Any) -> None:
    send(FIRST)
    assert send(MIRROR)["action"] == "IGNORED"
    gift = MIRROR.replace("오픈뱅킹 11:09", "이준호 11:08")
    assert send(gift)["action"] == "CREATED"
    assert list_entries() == [("income", 50_000, "이준호")]


def test_mirror_of_a_move_that_names_the_member_is_ignored(send: Any) -> None:
    assert send(FIRST.replace("모바일", "조민현"))["reason"] == "OWN_TRANSFER"
    assert send(MIRROR)["reason"] == "OWN_TRANSFER"
    gift = MIRROR.replace("오픈뱅킹 11:09", "이준호 11:08")
    assert send(gift)["action"] == "CREATED"


def test_bill_and_cash_have_no_mirror(send: Any) -> None:
    for counterparty in ("bill:삼성", "cash:ATM"):
        send(FIRST.replace("모바일", counterparty))
    assert send(MIRROR)["action"] == "CREATED"


def test_confirmed_booking_is_not_taken_back(client: JSONClient, send: Any) -> None:
    entry = send(FIRST)["entry"]
    client.send("POST", f"{ENTRIES}/{entry['id']}/confirm")
    assert send(MIRROR)["reason"] == "OWN_TRANSFER"
    assert list_entries() == [("expense", 50_000, "모바일")]
    body = send(FIRST)
    assert (body["action"], body["entry"]["id"]) == ("DUPLICATE", entry["id"])


def test_equal_bookings_with_other_balances_are_two(send: Any) -> None:
    for balance in ("90000", "85000"):
        send(f"신한 *448812 out 5000 이준호 11:00 {balance}")
    assert Entry.objects.count() == 2


@pytest.mark.parametrize("first", [0, 1])
def test_withdrawal_of_a_check_card_is_its_payment(
    send: Any, member: Member, first: int
) -> None:
    card = "[Web발신]\n신한체크(1309)승인 홍*동 9,100원 11/21 11:00 바람책방 강남점"
    bank = "신한 *448812 out 9100 바람책방강남 11:00 90000"
    texts = [card, bank]
    bodies = [send(texts[number]) for number in (first, 1 - first, 0, 1)]
    assert [body["action"] for body in bodies] == ["CREATED"] + ["DUPLICATE"] * 3
    assert list_entries() == [("expense", 9100, "바람책방 강남점")]
    assert bodies[1]["merged"] == ([] if first == 0 else ["cardHint", "merchant"])


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
    assert not Entry.objects.exists()
    assert not Notification.objects.exists()
