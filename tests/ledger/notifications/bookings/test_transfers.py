"""Bookings between the member's own wallets become one transfer (spec 4.12)."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, Notification, Wallet
from tests.support.alert_texts import ENTRIES
from tests.support.bank_bookings import (
    FIRST,
    MIRROR,
    WALLETS,
    read_balances,
    read_flows,
)
from tests.support.clients import JSONClient
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db

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


def test_both_bookings_in_one_text_answer_the_transfer(send: Any) -> None:
    body = send(f"{MIRROR}\n{FIRST}")
    entry = body["entry"]
    assert (body["action"], entry["type"]) == ("CREATED", "transfer")
    assert [each["entry"]["id"] for each in body["results"]] == [entry["id"]] * 2
