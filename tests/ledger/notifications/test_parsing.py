"""Texts that are parsed and not stored."""

import pytest

from accounts.models import Member
from ledger.models import Entry, Notification
from tests.support.alert_texts import APPROVAL, DECLINED, PARSE
from tests.support.clients import JSONClient
from tests.support.factories import make_wallet

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]


def test_parsing_stores_nothing_and_returns_spans(
    client: JSONClient, premium_member: Member
) -> None:
    card = make_wallet(premium_member, kind="CARD", name="신한카드")
    response = client.send("POST", PARSE, {"text": APPROVAL})
    assert response.status_code == 200
    body = response.data
    messages = body.pop("messages")
    assert messages == [body]
    spans = body.pop("spans")
    assert body == {
        "recognized": True,
        "kind": "approval",
        "cardCompany": "신한",
        "cardHint": "1309",
        "amount": 4800,
        "currency": None,
        "originalAmount": None,
        "merchant": "바람커피성수",
        "merchantConfidence": "SURE",
        "installmentMonths": None,
        "occurredAt": "2026-11-10T08:31:00+09:00",
        "runningTotal": 512300,
        "balance": None,
        "balanceCurrency": None,
        "balanceDifference": None,
        "preliminary": False,
        "direction": None,
        "walletId": card.pk,
        "reason": None,
        "taughtBy": None,
        "confidence": "SURE",
        "doubts": [],
        "candidates": {"merchant": []},
    }
    merchant = spans["merchant"]
    assert APPROVAL[merchant["start"] : merchant["end"]] == "바람커피성수"
    assert "4,800" in APPROVAL[spans["amount"]["start"] : spans["amount"]["end"]]
    assert not Entry.objects.exists()
    assert not Notification.objects.exists()


def test_declined_text_is_not_recognized_but_has_its_fields(client: JSONClient) -> None:
    body = client.send("POST", PARSE, {"text": DECLINED}).data
    assert (body["recognized"], body["kind"], body["reason"]) == (
        False,
        "declined",
        "DECLINED",
    )
    assert (body["amount"], body["cardCompany"]) == (86_000, "하나")
