"""The second booking of a transfer, on the other account: its mirror (spec 4.12)."""

from typing import Any

import pytest

from ledger.models import Entry
from tests.support.alert_texts import ENTRIES
from tests.support.bank_bookings import (
    FIRST,
    MIRROR,
    MOVED,
    list_entries,
    read_balances,
    read_flows,
)
from tests.support.clients import JSONClient
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db

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
