"""One payment of a bill is one transfer, whichever report comes first."""

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, Notification
from tests.support.alert_texts import ENTRIES, NOTIFICATION
from tests.support.bill_payments import DUE, TEXT, BillScene, make_client
from tests.support.calendar_oracle import make_premium_since, travel_to
from tests.support.cards import (
    ACCOUNT,
    MONTHLY,
    make_bank,
    move,
    pick,
    set_card,
)
from tests.support.clients import JSONClient
from tests.support.imports import commit, read_file, rows_of


@pytest.fixture(autouse=True)
def _payment_date() -> Iterator[None]:
    with travel_to(DUE):
        yield


@pytest.fixture
def client(member: Member) -> JSONClient:
    return make_client(member)


def reorder(scene: BillScene, *wallets: int) -> None:
    body = {"ids": [*wallets, scene.bank]}
    answer = scene.client.send("PUT", f"{ACCOUNT}/wallets/reorder", body)
    assert answer.status_code in {200, 204}, answer.content


@pytest.fixture(params=[False, True], ids=["one card", "two cards"])
def scene(request: pytest.FixtureRequest, client: JSONClient) -> BillScene:
    return BillScene(client, is_group=request.param)


@pytest.mark.parametrize("order", list(permutations(["paid", "text", "file"])))
@pytest.mark.parametrize("payer", ["pay", "run_job"])
def test_each_order_leaves_one_transfer(
    scene: BillScene, order: tuple[str, ...], payer: str
) -> None:
    steps: dict[str, Callable[[], Any]] = {
        "paid": getattr(scene, payer),
        "text": scene.send,
        "file": scene.import_bank,
    }
    for name in order:
        steps[name]()
    entry = scene.assert_paid_once()
    assert f"{entry.time:%H:%M}" == "09:12"
    assert (entry.source == "BILL") is (order[0] == "paid")
    # A repeated report changes nothing.
    for step in (*steps.values(), scene.run_job):
        step()
    assert scene.send()["entry"]["id"] == entry.pk
    scene.assert_paid_once()


def test_text_finds_the_payment_and_gives_it_the_time(scene: BillScene) -> None:
    scene.pay()
    (paid,) = Entry.objects.filter(source="BILL")
    first, second = scene.send(), scene.send()
    assert (first["action"], first["merged"]) == ("DUPLICATE", ["time"])
    assert (second["action"], second["merged"]) == ("DUPLICATE", [])
    assert first["entry"]["id"] == second["entry"]["id"] == paid.pk
    assert Notification.objects.get().entry_id == paid.pk
    scene.assert_paid_once()


@pytest.mark.parametrize(
    ("day", "is_found"), [(10, False), (11, True), (13, True), (17, True), (18, False)]
)
def test_text_finds_the_payment_within_three_days(
    scene: BillScene, day: int, is_found: bool
) -> None:
    scene.pay()
    with travel_to(f"2026-12-{day}"):
        answer = scene.send(day)
    assert (answer["action"] == "DUPLICATE") is is_found
    # The time of another day is not its time.
    assert answer["merged"] == []
    assert Entry.objects.filter(type="transfer").count() == 2 - is_found


def test_second_text_of_the_amount_is_another_payment(scene: BillScene) -> None:
    scene.pay()
    assert scene.send(14)["action"] == "DUPLICATE"
    with travel_to("2026-12-15"):
        assert scene.send(15)["action"] == "CREATED"


@pytest.mark.parametrize("who", ["카드대금", "현대카드", "바람커피"])
def test_text_of_another_payee(scene: BillScene, who: str) -> None:
    """A bill without an issuer belongs to the card that the account pays."""
    scene.pay()
    action = "DUPLICATE" if who == "카드대금" else "CREATED"
    assert scene.send(who=who)["action"] == action


def test_text_of_another_amount_is_new(scene: BillScene) -> None:
    scene.pay()
    assert scene.send(amount=scene.amount + 1)["action"] == "CREATED"


def test_hand_typed_transfer_stays_beside_the_text(client: JSONClient) -> None:
    scene = BillScene(client)
    move(client, scene.bank, scene.main, DUE, scene.amount)
    assert scene.send()["action"] == "CREATED"


def test_deleted_payment_does_not_come_back(scene: BillScene) -> None:
    scene.pay()
    scene.send()
    paid = Entry.objects.get(source="BILL")
    scene.client.send("DELETE", f"{ENTRIES}/{paid.pk}")
    answer = scene.send()
    assert (answer["action"], answer["entry"]) == ("DUPLICATE", None)


def test_cancelled_withdrawal_comes_back_from_the_card(scene: BillScene) -> None:
    scene.pay()
    scene.send()
    text = TEXT.format(day=14, amount=scene.amount, who="삼성카드")
    body = {"text": text.replace("출금", "출금취소")}
    entry = scene.client.send("POST", NOTIFICATION, body).data["entry"]
    assert pick(entry, "type", "walletId", "toWalletId", "pending") == {
        "type": "transfer",
        "walletId": scene.main,
        "toWalletId": scene.bank,
        "pending": True,
    }


@pytest.mark.parametrize("who", ["삼성카드", "카드대금"])
def test_text_that_comes_first_is_a_transfer_to_the_main_card(
    scene: BillScene, who: str
) -> None:
    # The family's card comes first in the member's list.
    reorder(scene, *reversed(scene.cards))
    entry = scene.send(who=who)["entry"]
    assert (entry["type"], entry["toWalletId"]) == ("transfer", scene.main)


def test_cards_with_bills_of_their_own_are_told_by_the_account(
    client: JSONClient,
) -> None:
    scene = BillScene(client)
    other = scene.make_card("작은 카드")
    bank = make_bank(client, "다른 통장")
    set_card(client, other, from_="2026-10", payFromWalletId=bank, **MONTHLY)
    reorder(scene, other, scene.main, bank)
    assert scene.send()["entry"]["toWalletId"] == scene.main


@pytest.mark.parametrize("who", ["삼성카드", "카드대금", "FBS출금"])
@pytest.mark.parametrize("day", [11, 14, 17])
def test_row_of_the_bank_pairs_with_the_payment(
    scene: BillScene, who: str, day: int
) -> None:
    scene.pay()
    (paid,) = Entry.objects.filter(source="BILL")
    found = read_file(scene.client, scene.bank_file(day, who), walletId=scene.bank)
    (row,) = rows_of(scene.client, found["id"])
    assert pick(row, "status", "action", "entryId") == {
        "status": "LIKELY_DUPLICATE",
        "action": "MERGE",
        "entryId": paid.pk,
    }
    assert commit(scene.client, found["id"])["merged"] == 1
    entry = scene.assert_paid_once()
    assert (entry.pk, str(entry.date)) == (paid.pk, f"2026-12-{day}")


def test_row_of_the_issuer_goes_to_the_main_card(scene: BillScene) -> None:
    scene.import_bank()
    entry = scene.assert_paid_once()
    assert (entry.wallet_id, entry.to_wallet_id) == (scene.bank, scene.main)


@pytest.mark.parametrize("is_bank_first", [False, True])
@pytest.mark.parametrize("which", [0, -1])
def test_whole_payment_in_the_statement_of_a_card(
    scene: BillScene, which: int, is_bank_first: bool
) -> None:
    scene.pay()
    steps: list[Callable[[], Any]] = [
        lambda: scene.import_card(scene.cards[which], scene.amount),
        scene.import_bank,
    ]
    for step in steps[:: -1 if is_bank_first else 1]:
        result = step()
        assert (result["created"], result["merged"]) == (0, 1)
    scene.assert_paid_once()
    for step in steps:
        assert step()["skipped"] == 1
    scene.assert_paid_once()


def test_shares_in_the_statements_of_both_cards(client: JSONClient) -> None:
    scene = BillScene(client, is_group=True)
    scene.pay()
    for card, amount in zip(scene.cards, (50_000, 8_000), strict=True):
        assert scene.import_card(card, amount)["merged"] == 1
    assert scene.import_bank()["merged"] == 1
    entry = scene.assert_paid_once()
    # The whole amount would be a third side.
    assert scene.import_card(scene.main, scene.amount)["created"] == 1
    assert Entry.objects.get(pk=entry.pk).amount == scene.amount


def test_statement_of_the_card_pairs_with_a_text(scene: BillScene) -> None:
    scene.send()
    result = scene.import_card(scene.cards[-1], scene.amount)
    assert (result["created"], result["merged"]) == (0, 1)
    result = scene.import_bank()
    assert (result["created"], result["merged"]) == (0, 1)
    scene.assert_paid_once()


def test_text_of_another_minute_than_the_row_is_another_payment(
    scene: BillScene,
) -> None:
    scene.pay()
    scene.import_bank(clock="17:40")
    assert scene.send()["action"] == "CREATED"


def test_payment_of_another_member_is_not_found(scene: BillScene) -> None:
    scene.pay()
    other = BillScene(make_client(make_premium_since()))
    other.amount = scene.amount
    before = list(Entry.objects.filter(member=scene.client.member).values())
    assert other.send()["action"] == "CREATED"
    assert other.import_bank()["merged"] == 1
    assert list(Entry.objects.filter(member=scene.client.member).values()) == before
    assert list(
        Entry.objects.filter(member=other.client.member, type="transfer").values_list(
            "source", "wallet_id", "to_wallet_id"
        )
    ) == [("NOTIFICATION", other.bank, other.main)]


def test_row_of_an_issuer_with_several_bills_asks_the_member(
    client: JSONClient,
) -> None:
    scene = BillScene(client)
    other = scene.make_card("작은 카드")
    set_card(client, other, from_="2026-10", **MONTHLY)
    found = read_file(client, scene.bank_file(), walletId=scene.bank)
    (name,) = [each for each in found["wallets"] if each["name"] == "삼성카드"]
    assert pick(name, "walletId", "guess") == {"walletId": None, "guess": None}
    # A check card has no bill.
    client.send("PATCH", f"{ACCOUNT}/wallets/{other}", {"institution": "현대카드"})
    check = {"name": "체크", "kind": "CHECK_CARD", "institution": "삼성카드"}
    client.create_json(f"{ACCOUNT}/wallets", check)
    scene.import_bank()
    assert Entry.objects.get(type="transfer").to_wallet_id == scene.main


def test_name_on_which_rows_are_booked_is_not_the_main_card(
    client: JSONClient,
) -> None:
    BillScene(client, is_group=True)
    data = "date,wallet,memo,amount\n2026-12-14,삼성카드,바람커피,-4800\n"
    (name,) = read_file(client, data)["wallets"]
    assert pick(name, "walletId", "guess") == {"walletId": None, "guess": None}


def test_text_of_another_issuer_of_that_amount(scene: BillScene) -> None:
    body = {"name": "현대", "kind": "CARD", "institution": "현대카드"}
    other = scene.client.create_json(f"{ACCOUNT}/wallets", body)["id"]
    scene.pay()
    answer = scene.send(who="현대카드")
    assert (answer["action"], answer["entry"]["toWalletId"]) == ("CREATED", other)
    assert scene.send()["action"] == "DUPLICATE"


def test_card_whose_bill_was_paid_last_stands_on_another_bill(
    client: JSONClient,
) -> None:
    scene = BillScene(client, is_group=True)
    other = scene.make_card("작은 카드")
    set_card(client, other, from_="2026-10", **MONTHLY)
    set_card(client, scene.main, from_="2026-10", **MONTHLY)
    reorder(scene, other, *scene.cards)
    move(client, scene.bank, scene.cards[-1], "2026-11-14", 7_000)
    assert scene.send()["entry"]["toWalletId"] == scene.main
