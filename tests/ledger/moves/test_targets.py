"""New entries go to the target while entries move to it."""

from datetime import datetime
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, Wallet
from ledger.occurrences import process_due_rules
from tests.support.alert_texts import APPROVAL, CANCELLATION, INSTALLMENT, NOTIFICATION
from tests.support.clients import JSONClient
from tests.support.factories import make_entry
from tests.support.moves import MovingLedger, make_moving_ledger
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db


NOON = datetime.fromisoformat("2026-11-20T12:00:00+09:00")


@pytest.fixture
def moving_card(premium_member: Member, client: JSONClient) -> MovingLedger:
    """Return the member's only card, which is moving to a bank account."""
    ledger = make_moving_ledger(premium_member, "wallets")
    Wallet.objects.filter(pk=ledger.wallet.pk).update(kind="CARD", name="신한카드")
    assert client.send("DELETE", ledger.deletion).status_code == 202
    return ledger


@pytest.mark.parametrize("is_chosen", [True, False])
@pytest.mark.parametrize("text", [APPROVAL, INSTALLMENT])
def test_notification_goes_to_the_target(
    moving_card: MovingLedger, client: JSONClient, text: str, is_chosen: bool
) -> None:
    body: dict[str, Any] = {"text": text}
    if is_chosen:
        body["walletId"] = moving_card.wallet.pk
    response = client.send("POST", NOTIFICATION, body)
    assert response.status_code == 201, response.content
    entry = response.data["entry"]
    assert entry["walletId"] == moving_card.wallet_target.pk
    # Only a card has installments.
    assert entry["installmentMonths"] is None
    assert_rollups_are_right()


def test_notification_gets_the_target_of_the_suggested_category(
    premium_member: Member, client: JSONClient
) -> None:
    ledger = make_moving_ledger(premium_member, "categories")
    make_entry(premium_member, category=ledger.category, memo="바람커피성수")
    assert client.send("DELETE", ledger.deletion).status_code == 202
    response = client.send("POST", NOTIFICATION, {"text": APPROVAL})
    assert response.status_code == 201, response.content
    assert response.data["entry"]["category"] == ledger.category_target.name


def test_cancellation_deletes_a_pending_entry_that_is_moving(
    premium_member: Member, client: JSONClient
) -> None:
    ledger = make_moving_ledger(premium_member, "wallets")
    body = {"text": APPROVAL, "walletId": ledger.wallet.pk}
    created = client.send("POST", NOTIFICATION, body)
    assert created.data["entry"]["walletId"] == ledger.wallet.pk
    assert client.send("DELETE", ledger.deletion).status_code == 202
    response = client.send("POST", NOTIFICATION, {"text": CANCELLATION})
    assert (response.status_code, response.data["action"]) == (200, "CANCELLED")
    assert not Entry.objects.filter(pk=created.data["entry"]["id"]).exists()
    assert_rollups_are_right()


def test_due_rule_is_booked_to_the_target(moving: MovingLedger) -> None:
    Member.objects.filter(pk=moving.member.pk).update(
        premium_since=NOON.replace(year=2025)
    )
    newest = Entry.objects.order_by("-pk").values_list("pk", flat=True)[0]
    result = process_due_rules(NOON)
    assert (result.booked, result.failed) == (1, 0)
    booked = Entry.objects.get(pk__gt=newest)
    assert getattr(booked, f"{moving.field}_id") == moving.target.pk
