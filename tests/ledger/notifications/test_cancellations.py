"""Cancellations of card payments, whole and partial (spec 4.1)."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry
from tests.support.alert_texts import APPROVAL, CANCELLATION, ENTRIES, PARTIAL
from tests.support.clients import JSONClient
from tests.support.factories import make_wallet

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]


def test_cancellation_removes_the_pending_entry(send: Any) -> None:
    send(APPROVAL)
    body = send(CANCELLATION)
    assert (body["action"], body["entry"]) == ("CANCELLED", None)
    assert not Entry.objects.exists()
    assert send(CANCELLATION)["action"] == "DUPLICATE"


def test_cancellation_of_a_confirmed_entry_creates_a_pending_refund(
    client: JSONClient, send: Any, premium_member: Member
) -> None:
    card = make_wallet(premium_member, kind="CARD", name="신한카드")
    entry_id = send(APPROVAL)["entry"]["id"]
    client.send("POST", f"{ENTRIES}/{entry_id}/confirm")
    body = send(CANCELLATION)
    assert body["action"] == "REFUND_PENDING"
    refund = body["entry"]
    assert (refund["type"], refund["amount"], refund["pending"]) == (
        "income",
        4800,
        True,
    )
    assert (refund["walletId"], refund["memo"]) == (card.pk, "바람커피성수")
    assert Entry.objects.count() == 2
    assert send(CANCELLATION)["entry"] == refund


def test_cancellation_matches_an_approval_of_an_earlier_month(send: Any) -> None:
    send(APPROVAL.replace("11/10", "09/28"))
    assert send(CANCELLATION)["action"] == "CANCELLED"


def test_cancellation_without_an_approval_is_ignored(send: Any) -> None:
    for _ in range(2):
        body = send(CANCELLATION)
        assert (body["action"], body["reason"], body["entry"]) == (
            "IGNORED",
            "NO_MATCHING_APPROVAL",
            None,
        )
    assert not Entry.objects.exists()


@pytest.mark.parametrize("is_known", [True, False])
def test_partial_cancellation_always_creates_a_pending_refund(
    send: Any, is_known: bool
) -> None:
    if is_known:
        send(APPROVAL)
    body = send(PARTIAL)
    assert body["action"] == "REFUND_PENDING"
    assert (body["entry"]["type"], body["entry"]["amount"]) == ("income", 1000)
    assert Entry.objects.filter(type="expense").count() == is_known
