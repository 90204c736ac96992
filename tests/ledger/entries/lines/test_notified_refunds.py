"""Refunds that notifications announce, and restores that keep their keys (spec 4.6)."""

from typing import Any

import pytest

from tests.support.alert_texts import APPROVAL, CANCELLATION, NOTIFICATION, PARTIAL
from tests.support.households import ENTRIES, A, Household
from tests.support.problems import assert_contains
from tests.support.workbooks import RESTORE


@pytest.fixture
def card(household: Household) -> int:
    body = {"name": "신한카드", "kind": "CARD", "institution": "신한"}
    wallet: int = household.expect(201, "POST", f"{A}/wallets", body)["id"]
    return wallet


def notify(household: Household, text: str) -> Any:
    response = household.client.send("POST", NOTIFICATION, {"text": text})
    assert response.status_code in {200, 201}, response.content
    return response.data


@pytest.mark.parametrize(("text", "amount"), [(CANCELLATION, 4_800), (PARTIAL, 1_000)])
def test_refund_of_a_notification_is_a_pending_income_entry(
    household: Household, card: int, text: str, amount: int
) -> None:
    approval = notify(household, APPROVAL)["entry"]
    body = {"category": "카페"}
    household.expect(200, "POST", f"{ENTRIES}/{approval['id']}/confirm", body)
    answer = notify(household, text)
    assert answer["action"] == "REFUND_PENDING"
    refund = answer["entry"]
    expected = {
        "type": "income",
        "amount": amount,
        "pending": True,
        "walletId": card,
        # Taken from the expense it came from.
        "categoryType": "expense",
        "category": "카페",
        "source": "NOTIFICATION",
    }
    assert_contains(refund, expected)
    # A partial cancellation need not find its approval.
    originals = {approval["id"]} if text == CANCELLATION else {approval["id"], None}
    assert refund["refundOf"] in originals
    # It counts nowhere before it is confirmed.
    assert household.month()["expense"] == 4_800
    assert household.read(approval)["refunded"] == 0
    household.expect(200, "POST", f"{ENTRIES}/{refund['id']}/confirm")
    assert household.month()["expense"] == 4_800 - amount
    assert household.month()["income"] == 0
    refunded = amount if refund["refundOf"] else 0
    assert household.read(approval)["refunded"] == refunded


def test_restore_keeps_the_keys_of_notifications(
    household: Household, card: int
) -> None:
    notify(household, APPROVAL)
    row = {"date": "2026-11-18", "type": "expense", "amount": 100}
    household.expect(200, "POST", RESTORE, {"entries": [row]})
    answer = notify(household, APPROVAL)
    assert (answer["action"], answer["entry"]) == ("DUPLICATE", None)
