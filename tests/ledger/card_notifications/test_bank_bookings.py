"""Bookings on bank accounts become entries where the member wants it (spec 4.12).

The parser is replaced by one that reads lines of words, so that each rule is tested
apart from the layouts of banks.
"""

import itertools
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
    before the counterparty tell the purpose, `USD` before the amount the currency.
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
    currency = "USD" if amount.startswith("USD") else None
    value = amount.removeprefix("USD")
    booking = BankBooking(
        direction=BookingDirection.DEPOSIT if is_in else BookingDirection.WITHDRAWAL,
        purpose=purpose,
        amount=None if currency else int(value),
        currency=currency,
        original_amount=Decimal(value) if currency else None,
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


OWN_MOVES = [
    (direction, counterparty, other)
    for counterparty, other in (
        ("카카오뱅크", "kakao"),
        ("카카오뱅크(조민현)", "kakao"),
        ("키움증권", "broker"),
        ("키움증권(조민현)", "broker"),
        ("cash:ATM출금", "cash"),
        ("bill:삼성", "card"),
        ("삼성카드", "card"),
    )
    for direction in ("in", "out")
    # What a card's issuer pays is an income.
    if (direction, other) != ("in", "card")
]


@pytest.mark.parametrize(("direction", "counterparty", "other"), OWN_MOVES)
def test_own_move_is_one_pending_transfer(
    send: Any, wallets: dict[str, int], direction: str, counterparty: str, other: str
) -> None:
    text = f"신한 *448812 {direction} 50000 {counterparty} 11:00 -"
    first, second = send(text), send(text)
    assert (first["action"], first["reason"]) == ("CREATED", None)
    assert (second["action"], second["entry"]["id"]) == (
        "DUPLICATE",
        first["entry"]["id"],
    )
    entry = first["entry"]
    between = [wallets["shinhan"], wallets[other]]
    if direction == "in":
        between.reverse()
    assert entry["type"] == "transfer"
    assert [entry["walletId"], entry["toWalletId"]] == between
    assert (entry["amount"], entry["pending"]) == (50_000, True)
    assert (entry["category"], entry["time"]) == (None, "11:00")
    assert (entry["date"], entry["source"]) == ("2026-11-21", "NOTIFICATION")
    assert first["parsed"]["walletId"] == wallets["shinhan"]
    assert first["parsed"]["reason"] is None
    assert_rollups_are_right()


@pytest.mark.parametrize(
    ("counterparty", "reason"),
    [
        # Of two other accounts the text does not say which.
        ("조민현", "OWN_TRANSFER"),
        ("조*현", "OWN_TRANSFER"),
        ("조민현님", "OWN_TRANSFER"),
        ("조민현(모바일)", "OWN_TRANSFER"),
        ("bill:현대", None),
        ("현대카드", None),
        ("신한은행", None),
        ("이민현", None),
        ("조민현상사", None),
        ("**", None),
        ("-", None),
    ],
)
def test_move_to_the_own_name_is_told_by_the_counterparty(
    send: Any, counterparty: str, reason: str | None
) -> None:
    text = f"신한 *448812 out 50000 {counterparty} 11:00 -"
    for _ in range(2):
        body = send(text)
        assert body["reason"] == reason
    assert body["action"] == ("IGNORED" if reason else "DUPLICATE")
    assert Entry.objects.count() == (0 if reason else 1)
    assert Notification.objects.count() == 1


def test_move_to_the_own_name_goes_to_the_only_other_account(
    send: Any, wallets: dict[str, int]
) -> None:
    Wallet.objects.filter(pk=wallets["broker"]).update(archived=True)
    entry = send("신한 *448812 out 50000 조민현 11:00 -")["entry"]
    assert (entry["type"], entry["toWalletId"]) == ("transfer", wallets["kakao"])
    body = send("카카오뱅크 *3418 in 50000 조민현 11:01 -")
    assert (body["action"], body["entry"]["id"]) == ("DUPLICATE", entry["id"])


def test_bill_goes_to_the_card_whose_bill_was_paid_before(
    send: Any, client: JSONClient, wallets: dict[str, int]
) -> None:
    rows = (("check", "CHECK_CARD"), ("second", "CARD"))
    ids = {
        name: client.send(
            "POST", WALLETS, {"name": name, "kind": kind, "institution": "삼성카드"}
        ).data["id"]
        for name, kind in rows
    }
    first = send("신한 *448812 out 50000 bill:삼성 11:00 -")["entry"]
    assert first["toWalletId"] == wallets["card"]
    client.send(
        "POST", f"{ENTRIES}/{first['id']}/confirm", {"toWalletId": ids["second"]}
    )
    second = send("신한 *448812 out 60000 bill:삼성 11:30 -")["entry"]
    assert second["toWalletId"] == ids["second"]


def test_bill_is_paid_to_a_credit_card_rather_than_to_a_check_card(
    send: Any, client: JSONClient, wallets: dict[str, int]
) -> None:
    for number, kind in enumerate(("CHECK_CARD", "CARD")):
        body = {"name": f"현대 {number}", "kind": kind, "institution": "현대카드"}
        wallets[kind] = client.send("POST", WALLETS, body).data["id"]
    entry = send("신한 *448812 out 50000 현대카드 11:00 -")["entry"]
    assert entry["toWalletId"] == wallets["CARD"]


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


def read_flows(client: JSONClient) -> tuple[int, int]:
    found = client.get_json("/api/account/statistics/month?year=2026&month=11")
    return found["income"], found["expense"]


def read_balances(client: JSONClient) -> dict[str, int]:
    wallets = client.get_json(WALLETS)
    return {each["name"]: each["balance"] for each in wallets if each["balance"]}


MOVED = {"shinhan": -50_000, "kakao": 50_000}
ORDERS = pytest.mark.parametrize("texts", [(FIRST, MIRROR), (MIRROR, FIRST)])


@ORDERS
def test_mirror_makes_a_transfer_of_the_pending_entry(
    client: JSONClient, send: Any, wallets: dict[str, int], texts: Any
) -> None:
    answers = [send(text) for text in (*texts, *texts)]
    assert [body["action"] for body in answers] == ["CREATED"] + ["DUPLICATE"] * 3
    assert [body["merged"] for body in answers] == [[], ["walletId"], [], []]
    entry = answers[1]["entry"]
    assert all(body["entry"] == entry for body in answers[2:])
    assert (entry["type"], entry["pending"]) == ("transfer", True)
    assert (entry["walletId"], entry["toWalletId"]) == (
        wallets["shinhan"],
        wallets["kakao"],
    )
    assert set(entry["memo"].split(", ")) == {"모바일", "오픈뱅킹"}
    assert client.get_json(f"{ENTRIES}/pending/count") == {"count": 1}
    assert (read_flows(client), read_balances(client)) == ((0, 0), {})
    client.send("POST", f"{ENTRIES}/{entry['id']}/confirm")
    assert (read_flows(client), read_balances(client)) == ((0, 0), MOVED)
    assert_rollups_are_right()


@ORDERS
def test_wrong_mirror_is_taken_apart_by_the_member(
    client: JSONClient, send: Any, texts: Any
) -> None:
    entry = [send(text) for text in texts][-1]["entry"]
    response = client.send("POST", f"{ENTRIES}/{entry['id']}/unmerge")
    assert response.status_code == 200, response.content
    kinds = {(each.type, each.pending, each.memo) for each in Entry.objects.all()}
    assert kinds == {("expense", True, "모바일"), ("income", True, "오픈뱅킹")}
    for text in texts:
        assert send(text)["action"] == "DUPLICATE"
    assert Entry.objects.count() == 2


@ORDERS
@pytest.mark.parametrize(
    "change",
    [
        {"type": "transfer", "toWalletId": "cash"},
        {"amount": 40_000},
        {"walletId": None},
    ],
)
def test_mirror_leaves_what_the_member_has_changed(
    client: JSONClient,
    send: Any,
    wallets: dict[str, int],
    texts: Any,
    change: dict[str, Any],
) -> None:
    entry = send(texts[0])["entry"]
    if "toWalletId" in change:
        change = change | {"toWalletId": wallets["cash"]}
    response = client.send("PATCH", f"{ENTRIES}/{entry['id']}", change)
    assert response.status_code == 200, response.content
    body = send(texts[1])
    stored = client.get_json(f"{ENTRIES}/{entry['id']}")
    assert {name: stored[name] for name in change} == change
    if change.get("type") == "transfer":
        # Another move, which the member has told.
        assert body["action"] == "CREATED"
        return
    assert (body["action"], body["reason"]) == ("IGNORED", "OWN_TRANSFER")
    assert Entry.objects.count() == 1


@ORDERS
def test_mirror_of_a_deleted_entry_brings_nothing_back(
    client: JSONClient, send: Any, texts: Any
) -> None:
    entry = send(texts[0])["entry"]
    client.send("DELETE", f"{ENTRIES}/{entry['id']}")
    assert send(texts[1])["reason"] == "OWN_TRANSFER"
    assert not Entry.objects.exists()


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
    assert send(MIRROR)["action"] == "DUPLICATE"
    gift = MIRROR.replace("오픈뱅킹 11:09", "이준호 11:08")
    assert send(gift)["action"] == "CREATED"
    assert [each[0] for each in list_entries()] == ["transfer", "income"]


@ORDERS
def test_mirror_tells_the_account_of_a_move_to_the_own_name(
    client: JSONClient, send: Any, texts: Any
) -> None:
    texts = [text.replace("모바일", "조민현") for text in texts]
    answers = [send(text) for text in texts]
    assert answers[1]["entry"]["type"] == "transfer"
    client.send("POST", f"{ENTRIES}/{answers[1]['entry']['id']}/confirm")
    assert [send(text)["action"] for text in texts] == ["DUPLICATE"] * 2
    assert (read_flows(client), read_balances(client)) == ((0, 0), MOVED)
    gift = MIRROR.replace("오픈뱅킹 11:09", "이준호 11:08")
    assert send(gift)["action"] == "CREATED"


def test_mirror_is_not_on_a_third_account(
    send: Any, client: JSONClient, wallets: dict[str, int]
) -> None:
    body = {"name": "third", "kind": "BANK", "institution": "케이뱅크"}
    wallets["third"] = client.send("POST", WALLETS, body).data["id"]
    moved = send(FIRST.replace("모바일", "카카오뱅크"))["entry"]
    other = send("케이뱅크 - in 50000 이준호 11:02 -")
    assert (other["action"], other["entry"]["type"]) == ("CREATED", "income")
    mirror = send(MIRROR)
    assert (mirror["action"], mirror["entry"]["id"]) == ("DUPLICATE", moved["id"])


def test_bill_and_cash_have_no_mirror(send: Any) -> None:
    for counterparty in ("bill:삼성", "cash:ATM"):
        send(FIRST.replace("모바일", counterparty))
    assert send(MIRROR)["action"] == "CREATED"


@ORDERS
def test_mirror_of_a_confirmed_booking_is_ignored(
    client: JSONClient, send: Any, texts: Any
) -> None:
    entry = send(texts[0])["entry"]
    client.send("POST", f"{ENTRIES}/{entry['id']}/confirm")
    before = (read_flows(client), read_balances(client))
    for _ in range(2):
        assert send(texts[1])["reason"] == "OWN_TRANSFER"
    assert [each[0] for each in list_entries()] == [entry["type"]]
    assert (read_flows(client), read_balances(client)) == before
    body = send(texts[0])
    assert (body["action"], body["entry"]["id"]) == ("DUPLICATE", entry["id"])


@ORDERS
def test_mirror_of_a_confirmed_transfer_is_that_transfer(
    client: JSONClient, send: Any, texts: Any
) -> None:
    texts = [text.replace("모바일", "카카오뱅크") for text in texts]
    texts = [text.replace("오픈뱅킹", "신한은행") for text in texts]
    entry = send(texts[0])["entry"]
    client.send("POST", f"{ENTRIES}/{entry['id']}/confirm")
    body = send(texts[1])
    assert (body["action"], body["entry"]["id"]) == ("DUPLICATE", entry["id"])
    assert (read_flows(client), read_balances(client)) == ((0, 0), MOVED)


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


PAID = "[Web발신]\n신한체크(1309)승인 홍*동 9,100원 11/21 11:00 바람책방 강남점"
BOOKED = "신한 *448812 out 9100 바람책방강남 11:00 90000"
GIVEN = "카카오뱅크 *3418 in 9100 이준호 11:03 -"


@pytest.mark.parametrize("texts", list(itertools.permutations([PAID, BOOKED, GIVEN])))
def test_payment_by_check_card_is_no_move_whatever_deposit_follows(
    send: Any, texts: Any
) -> None:
    for text in (*texts, *texts):
        send(text)
    assert sorted(list_entries()) == [
        ("expense", 9100, "바람책방 강남점"),
        ("income", 9100, "이준호"),
    ]
    assert_rollups_are_right()


def test_cash_is_not_the_payment_of_a_card(send: Any) -> None:
    send(BOOKED.replace("바람책방강남", "cash:ATM"))
    assert send(PAID)["action"] == "CREATED"
    assert [each[0] for each in list_entries()] == ["transfer", "expense"]


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


@pytest.mark.parametrize("is_confirmed", [False, True])
def test_cancelled_move_is_taken_back_once(
    client: JSONClient, send: Any, is_confirmed: bool
) -> None:
    entry = [send(text) for text in (FIRST, MIRROR)][-1]["entry"]
    if is_confirmed:
        client.send("POST", f"{ENTRIES}/{entry['id']}/confirm")
    cancelled = [
        FIRST.replace(" out ", " !out ").replace("11:00", "11:30"),
        MIRROR.replace(" in ", " !in ").replace("11:09", "11:30"),
    ]
    body = send(cancelled[0])
    assert send(cancelled[1])["reason"] == "OWN_TRANSFER"
    if not is_confirmed:
        assert body["action"] == "CANCELLED"
        assert not Entry.objects.exists()
        return
    back = body["entry"]
    assert (body["action"], back["type"]) == ("REFUND_PENDING", "transfer")
    assert (back["walletId"], back["toWalletId"]) == (
        entry["toWalletId"],
        entry["walletId"],
    )
    client.send("POST", f"{ENTRIES}/{back['id']}/confirm")
    assert (read_flows(client), read_balances(client)) == ((0, 0), {})


@pytest.mark.parametrize("counterparty", ["모바일", "카카오뱅크"])
def test_move_in_another_currency_is_ignored(
    client: JSONClient, send: Any, counterparty: str
) -> None:
    first = FIRST.replace("50000", "USD50").replace("모바일", counterparty)
    send(first)
    assert send(MIRROR.replace("50000", "USD50"))["reason"] == "OWN_TRANSFER"
    assert not Entry.objects.exists()
    assert client.get_json(f"{ENTRIES}/pending/count") == {"count": 0}


def test_move_to_a_wallet_that_is_moving_goes_where_its_entries_go(
    send: Any, wallets: dict[str, int]
) -> None:
    kakao = Wallet.objects.filter(pk=wallets["kakao"])
    kakao.update(moving_to=wallets["broker"])
    entry = send("신한 *448812 out 50000 카카오뱅크 11:00 -")["entry"]
    assert entry["toWalletId"] == wallets["broker"]
    kakao.update(moving_to=wallets["shinhan"])
    body = send("신한 *448812 out 60000 카카오뱅크 11:00 -")
    assert (body["action"], body["reason"]) == ("IGNORED", "OWN_TRANSFER")


def test_both_bookings_in_one_text_answer_the_transfer(send: Any) -> None:
    body = send(f"{MIRROR}\n{FIRST}")
    entry = body["entry"]
    assert (body["action"], entry["type"]) == ("CREATED", "transfer")
    assert [each["entry"]["id"] for each in body["results"]] == [entry["id"]] * 2


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
