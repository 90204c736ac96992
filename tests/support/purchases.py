"""Purchases through the API, their rows, and what the store pushes."""

import base64
import json
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from accounts.models import Member
from billing.models import Purchase, StoreNotification, seal_body, seal_token
from billing.stores import hash_token
from tests.support.clients import JSONClient
from tests.support.fake_store import PACKAGE
from tests.support.problems import assert_problem

TOKEN = "opaque.token-AO_J1Ox"
SUBSCRIPTION = "/api/billing/subscription"


def buy(client: JSONClient, token: Any, product: Any = "premium_monthly") -> Any:
    """Return the response to a verification."""
    body = {"productId": product, "purchaseToken": token}
    return client.send("POST", "/api/billing/store/verify", body)


def expiry_of(response: Any) -> datetime:
    return datetime.fromisoformat(response.data["planExpiresAt"])


def assert_not_granted(response: Any, status: int, code: str) -> None:
    assert_problem(response, status, code)
    assert not Purchase.objects.exists()
    assert not Member.objects.filter(plan="PREMIUM").exists()


def plan_of(member: Member) -> tuple[Any, ...]:
    """Return the plan of the member as it is stored."""
    member.refresh_from_db()
    return (
        member.plan,
        member.plan_expires_at,
        member.plan_product,
        member.plan_auto_renew,
    )


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


PATH = "/api/billing/store/rtdn"
Outcome = StoreNotification.Outcome


def notification_data(
    kind: str = "subscriptionNotification", **part: Any
) -> dict[str, Any]:
    """Return the data of a notification."""
    return {
        "version": "1.0",
        "packageName": PACKAGE,
        "eventTimeMillis": "1795000000000",
        kind: {"version": "1.0", **part},
    }


def renewal_data(token: str = TOKEN, kind: int = 2) -> dict[str, Any]:
    return notification_data(notificationType=kind, purchaseToken=token)


def push_body(data: Any, message_id: Any = "1") -> dict[str, Any]:
    """Return the push of a notification."""
    if not isinstance(data, str):
        data = base64.b64encode(json.dumps(data).encode()).decode()
    message = {"data": data, "messageId": message_id, "publishTime": "2026-11-21"}
    return {"message": message, "subscription": "projects/p/subscriptions/s"}


def push_notification(data: Any, message_id: Any = "1", **extra: Any) -> Any:
    return JSONClient().send("POST", PATH, push_body(data, message_id), **extra)


def outcomes() -> list[str]:
    rows = StoreNotification.objects.order_by("id")
    return list(rows.values_list("outcome", flat=True))


def push_raw(
    body: bytes, authorization: str = "", content_type: str = "application/json"
) -> Any:
    return JSONClient().generic(
        "POST",
        PATH,
        body,
        content_type=content_type,
        HTTP_AUTHORIZATION=authorization,
    )
