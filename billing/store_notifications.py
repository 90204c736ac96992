"""Real-time notifications of the store: kept as they came, then followed.

A notification only says that something has changed. What, the store is asked; so it
does not matter who sent it, in which order and how often (service.md, Events).
"""

import base64
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, QuerySet
from django.utils import timezone

from billing.errors import PurchaseAlreadyUsed
from billing.models import Purchase, StoreNotification
from billing.purchases import ask_again
from billing.stores import StoreVerifier, digest_token, load_verifier
from core.api.fields import has_control_characters
from core.errors import ProviderUnavailable

logger = logging.getLogger(__name__)

MAX_KEPT_BYTES = 2**14
"""Of one body; the store's own are a few hundred bytes long."""
NAME_LENGTH = 255
UNREADABLE = "unreadable"
KINDS = {
    "subscriptionNotification": "subscription",
    "oneTimeProductNotification": "one-time product",
    "voidedPurchaseNotification": "voided purchase",
    "pendingRefundReviewNotification": "pending refund review",
    "testNotification": "test",
}
ABOUT_SUBSCRIPTIONS = ("subscription", "voided purchase")
BATCH = 1_000
FAILURES_IN_A_ROW = 3
"""After these the store is taken to be away, and the run ends."""
FIRST_RETRY = timedelta(minutes=1)
MAX_DOUBLINGS = 6
"""The waits between attempts double up to about an hour."""

Outcome = StoreNotification.Outcome


@dataclass(frozen=True, slots=True)
class Message:
    """What a push holds, as far as it can be read."""

    message_id: str | None = None
    kind: str = UNREADABLE
    package: str = ""
    token: str = ""


@dataclass(frozen=True, slots=True)
class Handling:
    """What a run did: notifications dealt with, and those left for later."""

    handled: int = 0
    failed: int = 0


def take_in(body: bytes) -> StoreNotification:
    """Keep a notification, once for each message id, and log that it came."""
    message = read_message(body)
    values = {
        "body": _as_text(body),
        "kind": message.kind,
        "package": message.package,
        "token_digest": digest_token(message.token),
    }
    rows = StoreNotification.objects
    if message.message_id is None:
        notification, is_new = rows.create(message_id=None, **values), True
    else:
        notification, is_new = rows.get_or_create(
            message_id=message.message_id, defaults=values
        )
    fields = {"kind": message.kind, "message": message.message_id, "new": is_new}
    logger.info("store notification", extra={"fields": fields})
    return notification


def read_message(body: bytes) -> Message:
    """What the body of a push says; what cannot be read stays empty. Pure."""
    message = _read_object(body if len(body) <= MAX_KEPT_BYTES else b"").get("message")
    if not isinstance(message, Mapping):
        return Message()
    message_id = _read_name(message.get("messageId")) or None
    content = _read_object(_decode(message.get("data")))
    for name, kind in KINDS.items():
        if isinstance(part := content.get(name), Mapping):
            return Message(
                message_id,
                _describe(kind, part),
                _read_name(content.get("packageName")),
                _read_token(part),
            )
    return Message(message_id, "unknown" if content else UNREADABLE)


def is_anything_waiting(now: datetime) -> bool:
    """Whether there is something to follow, and a store that can be asked."""
    return load_verifier().can_be_asked_again and _list_waiting(now).exists()


def handle_waiting(now: datetime) -> Handling:
    """Follow the notifications that wait, each once, also beside another run.

    With a verifier that cannot be asked they keep waiting: logged and stored only.
    """
    verifier = load_verifier()
    if not verifier.can_be_asked_again:
        return Handling()
    handled = failed = in_a_row = 0
    for notification in _list_waiting(now).order_by("retry_at", "id")[:BATCH]:
        if not _claim(notification, now):
            continue
        try:
            _handle(verifier, notification)
        except ProviderUnavailable:
            failed, in_a_row = failed + 1, in_a_row + 1
        else:
            handled, in_a_row = handled + 1, 0
        if in_a_row == FAILURES_IN_A_ROW:
            break
    return Handling(handled, failed)


def purge_notifications(before: datetime) -> int:
    """Delete what was received before; the number deleted."""
    rows = StoreNotification.objects.filter(received_at__lt=before)
    return rows._raw_delete(rows.db)


def _list_waiting(now: datetime) -> QuerySet[StoreNotification]:
    return StoreNotification.objects.filter(handled_at=None, retry_at__lte=now)


def _claim(notification: StoreNotification, now: datetime) -> bool:
    """Take it for this run, unless another run has; it comes back if this one dies."""
    wait = FIRST_RETRY * 2 ** min(notification.attempts, MAX_DOUBLINGS)
    rows = StoreNotification.objects.filter(
        pk=notification.pk, handled_at=None, attempts=notification.attempts
    )
    return rows.update(attempts=F("attempts") + 1, retry_at=now + wait) == 1


def _handle(verifier: StoreVerifier, notification: StoreNotification) -> None:
    outcome = _follow(verifier, notification)
    rows = StoreNotification.objects.filter(pk=notification.pk)
    rows.update(outcome=outcome, handled_at=timezone.now())


def _follow(verifier: StoreVerifier, notification: StoreNotification) -> Outcome:
    if not notification.kind.startswith(ABOUT_SUBSCRIPTIONS):
        return Outcome.NO_SUBSCRIPTION
    if notification.package != verifier.package:
        return Outcome.OTHER_PACKAGE
    purchases = Purchase.objects.filter(
        store=verifier.store, token_digest=notification.token_digest
    )
    purchase = purchases.first()
    if purchase is None:
        return Outcome.UNKNOWN_PURCHASE
    try:
        ask_again(purchase, timezone.now())
    except PurchaseAlreadyUsed:
        return Outcome.REFUSED
    return Outcome.FOLLOWED


def _describe(kind: str, part: Mapping[str, Any]) -> str:
    """`subscription 4`: the number says which event, and the list of them grows."""
    number = part.get("notificationType")
    if isinstance(number, int) and not isinstance(number, bool) and number < 10**6:
        return f"{kind} {number}"
    return kind


def _read_name(value: Any) -> str:
    """A short text or a number as text; "" for everything else."""
    text = str(value) if isinstance(value, str | int) else ""
    return "" if len(text) > NAME_LENGTH or has_control_characters(text) else text


def _read_token(part: Mapping[str, Any]) -> str:
    token = part.get("purchaseToken")
    return token if isinstance(token, str) else ""


def _decode(data: Any) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (ValueError, TypeError):
        return b""


def _read_object(body: bytes) -> Mapping[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _as_text(body: bytes) -> str:
    """The raw body, cut, with what PostgreSQL's text cannot hold written out."""
    text = body[:MAX_KEPT_BYTES].decode("utf-8", "backslashreplace")
    return text.replace("\0", "\\x00")
