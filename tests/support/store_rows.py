"""Rows of purchases and of the store's notifications."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.models import Member
from billing.models import Purchase, StoreNotification, seal_body, seal_token
from billing.stores import hash_token


def make_purchase(
    member: Member, order: str, *, token: str = "", **fields: Any
) -> Purchase:
    """Return a running subscription; its token is the order unless it is given."""
    now = timezone.now()
    token_hash = hash_token(token or order)
    defaults = {
        "store": "google_play",
        "order_id": order,
        "sealed_token": seal_token(token or order, token_hash),
        "token_hash": token_hash,
        "product_id": "premium_monthly",
        "state": "ACTIVE",
        "purchased_at": now,
        "checked_at": now,
        "expires_at": now + timedelta(30),
        "auto_renew": True,
        "paid_amount": 4_900,
        "paid_currency": "KRW",
    }
    return Purchase.objects.create(member=member, **defaults | fields)


def make_store_notification(body: str = "{}", **fields: Any) -> StoreNotification:
    """Return a notification that waits, without a token."""
    sealed = seal_body(body, fields.get("message_id"), "")
    defaults = {"kind": "test", "sealed_body": sealed}
    return StoreNotification.objects.create(**defaults | fields)
