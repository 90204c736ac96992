"""Pushes of the store's real-time notifications."""

import base64
import json
from typing import Any

from billing.models import StoreNotification
from tests.support.clients import JSONClient
from tests.support.fake_store import PACKAGE
from tests.support.purchases import TOKEN

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
