"""Tokens of purchases are encrypted at rest, and stay readable through rotations."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from accounts.models import Member
from billing.models import Purchase, StoreNotification, seal_token
from billing.plan_expiry import refresh_lapsed_renewals, retry_acknowledgements
from billing.store_notifications import describe_body, process_pending_notifications
from core.sealing import UnsealingError
from tests.support.admin_site import get_page, logged_in_browser
from tests.support.clients import JSONClient
from tests.support.fake_store import FakePlay
from tests.support.problems import assert_problem
from tests.support.purchases import (
    TOKEN,
    buy,
    push_body,
    push_notification,
    renewal_data,
)

NEW_KEY = "n" * 50


def rotate_key(settings: Any, *, keeps_old: bool = True) -> None:
    """Set a new SECRET_KEY, from which the keys are derived."""
    old = settings.SECRET_KEY
    settings.SECRET_KEY = NEW_KEY
    settings.SECRET_KEY_FALLBACKS = [old] if keeps_old else []


def read_tables() -> str:
    """Return everything that the tables of billing hold, bytes as Latin-1."""
    found = []
    for table in ("iap_purchase", "store_notification"):
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {table}")
            for value in (value for row in cursor.fetchall() for value in row):
                is_bytes = isinstance(value, bytes | memoryview)
                found.append(bytes(value).decode("latin-1") if is_bytes else str(value))
    return "\n".join(found)


@pytest.fixture
def purchase(buyer: JSONClient, play: FakePlay) -> Purchase:
    play.sell(TOKEN)
    assert buy(buyer, TOKEN).data["applied"] is True
    return Purchase.objects.get()


def test_tables_hold_no_token(purchase: Purchase) -> None:
    push_notification(renewal_data())
    data = push_body(renewal_data())["message"]["data"]
    for text in (read_tables(), repr(Purchase.objects.values().get())):
        assert TOKEN not in text
        assert data not in text
    assert purchase.purchase_token == TOKEN
    assert json.loads(StoreNotification.objects.get().body) == push_body(renewal_data())


def test_token_of_another_purchase_cannot_be_put_in_its_place(
    purchase: Purchase,
) -> None:
    purchase.sealed_token = seal_token("another-token", "another hash")
    with pytest.raises(UnsealingError):
        _ = purchase.purchase_token


def test_rotation_seals_what_is_stored_with_the_new_key(
    purchase: Purchase, play: FakePlay, settings: Any
) -> None:
    push_notification(renewal_data())
    rotate_key(settings)
    assert Purchase.objects.get().purchase_token == TOKEN
    for counted in (1, 0):
        output = StringIO()
        call_command("rotate_secrets_key", stdout=output)
        for name in ("tokens of purchases", "notifications of the store"):
            expected = f"{name}: {counted} encrypted again, 0 could not"
            assert expected in output.getvalue()
    settings.SECRET_KEY_FALLBACKS = []
    assert Purchase.objects.get().purchase_token == TOKEN
    assert process_pending_notifications(timezone.now()).processed == 1
    assert StoreNotification.objects.get().outcome == "REFRESHED"


def test_rotation_says_what_no_key_opens_and_leaves_it(
    purchase: Purchase, settings: Any
) -> None:
    rotate_key(settings, keeps_old=False)
    before = bytes(purchase.sealed_token)
    with pytest.raises(CommandError, match="1 could not be decrypted"):
        call_command("rotate_secrets_key", stdout=StringIO())
    assert bytes(Purchase.objects.get().sealed_token) == before


def test_lost_key_ends_no_plan_and_fails_no_job(
    purchase: Purchase, buyer: JSONClient, free_member: Member, settings: Any
) -> None:
    rotate_key(settings, keeps_old=False)
    client = JSONClient(free_member)
    refused = client.send("POST", "/api/billing/cancel")
    assert_problem(refused, 502, "PROVIDER_UNAVAILABLE")
    assert refresh_lapsed_renewals(purchase.expires_at) == (0, 1)
    Purchase.objects.update(is_acknowledged=False)
    assert retry_acknowledgements(timezone.now()) == (0, 1)
    assert client.get_json("/api/billing/subscription")["plan"] == "PREMIUM"


def test_purchase_that_is_presented_again_heals_a_lost_key(
    purchase: Purchase, free_member: Member, settings: Any
) -> None:
    rotate_key(settings, keeps_old=False)
    assert buy(JSONClient(free_member), TOKEN).data["applied"] is False
    assert Purchase.objects.get().purchase_token == TOKEN


def test_notification_that_no_key_opens_ends(play: FakePlay, settings: Any) -> None:
    push_notification(renewal_data())
    rotate_key(settings, keeps_old=False)
    assert process_pending_notifications(timezone.now()).processed == 1
    notification = StoreNotification.objects.get()
    assert notification.outcome == "NO_SUBSCRIPTION"
    assert describe_body(notification) == ""


def test_staff_see_a_notification_without_the_token(
    play: FakePlay, administrator: Member
) -> None:
    push_notification(renewal_data(), "m-1")
    notification = StoreNotification.objects.get()
    shown = json.loads(describe_body(notification))
    assert shown["data"] == renewal_data("…")
    page = f"/admin/billing/storenotification/{notification.pk}/change/"
    text = get_page(logged_in_browser(administrator), page)
    assert "notificationType" in text
    assert TOKEN not in text
    assert push_body(renewal_data())["message"]["data"] not in text
