"""All announcements of a payment tell its wallet together (spec 4.7)."""

from typing import Any

import pytest

from tests.support.alert_texts import ENTRIES, NOTIFICATION
from tests.support.clients import JSONClient

pytestmark = pytest.mark.django_db

WALLETS = "/api/account/wallets"
SMS = "[Web발신]\n신한카드(1309)승인 홍*동 4,800원(일시불)11/20 08:31 바람커피"
APP = "신한 SOL페이 바람커피 4,800원 승인 11/20 08:31"
PAY_APP = "카카오페이 결제 완료 4,800원 바람커피 11/20 08:31 잔액 20,000원"
RECEIVED_AT = "2026-11-20T08:31:30+09:00"


@pytest.fixture
def cards(client: JSONClient) -> dict[str, int]:
    names = {"other": "신한카드 생활", "numbered": "신한 1309", "samsung": "삼성카드"}
    return {
        key: client.create_json(WALLETS, {"name": name, "kind": "CARD"})["id"]
        for key, name in names.items()
    }


@pytest.fixture
def send(client: JSONClient) -> Any:
    def post(text: str, **fields: Any) -> Any:
        body = {"text": text, "receivedAt": RECEIVED_AT} | fields
        response = client.send("POST", NOTIFICATION, body)
        assert response.status_code in {200, 201}, response.content
        return response.data

    return post


@pytest.mark.parametrize("texts", [(SMS, APP), (APP, SMS)])
def test_digits_of_a_later_text_tell_the_card(
    send: Any, cards: dict[str, int], texts: Any
) -> None:
    bodies = [send(text) for text in texts]
    assert [body["action"] for body in bodies] == ["CREATED", "DUPLICATE"]
    assert bodies[1]["entry"]["walletId"] == cards["numbered"]
    assert ("walletId" in bodies[1]["merged"]) is (texts[0] == APP)


@pytest.mark.parametrize("texts", [(SMS, PAY_APP), (PAY_APP, SMS)])
def test_pay_app_does_not_hide_the_card(
    send: Any, cards: dict[str, int], texts: Any
) -> None:
    assert [send(text) for text in texts][-1]["entry"]["walletId"] == cards["numbered"]


def test_confirmed_entry_keeps_its_wallet(
    client: JSONClient, send: Any, cards: dict[str, int]
) -> None:
    entry = send(APP)["entry"]
    client.send("POST", f"{ENTRIES}/{entry['id']}/confirm")
    body = send(SMS)
    assert (body["action"], body["merged"]) == ("DUPLICATE", [])
    assert body["entry"]["walletId"] == entry["walletId"]


def test_wallet_of_the_member_stays(
    client: JSONClient, send: Any, cards: dict[str, int]
) -> None:
    entry = send(APP)["entry"]
    change = {"walletId": cards["samsung"]}
    client.change_json("PATCH", f"{ENTRIES}/{entry['id']}", change)
    body = send(SMS)
    assert "walletId" not in body["merged"]
    assert body["entry"]["walletId"] == cards["samsung"]


def test_wallet_that_the_request_names_stays(send: Any, cards: dict[str, int]) -> None:
    send(APP, walletId=cards["samsung"])
    assert send(SMS)["entry"]["walletId"] == cards["samsung"]


def test_digits_come_before_the_longer_name(send: Any, client: JSONClient) -> None:
    named = client.create_json(WALLETS, {"name": "KB국민 노리", "kind": "CARD"})
    numbered = client.create_json(WALLETS, {"name": "국민 7494", "kind": "CARD"})
    text = (
        "[Web발신]\nKB국민카드7494승인\n홍*동님\n4,800원 일시불\n11/20 08:31\n바람커피"
    )
    assert send(text)["entry"]["walletId"] == numbered["id"] != named["id"]
