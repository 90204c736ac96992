"""Real-time notifications of the store: kept as they came, then followed.

A notification only says that something has changed. What, the store is asked; so it
does not matter who sent it, in which order and how often (spec 6.9).
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

from billing.errors import PurchaseAlreadyUsedError
from billing.models import Purchase, StoreNotification
from billing.purchases import refresh_purchase
from billing.stores import StoreVerifier, hash_token, load_verifier
from core.api.fields import has_control_characters
from core.errors import ProviderUnavailableError

logger = logging.getLogger(__name__)

MAX_STORED_BYTES = 2**14
"""Of one body; the store's own are a few hundred bytes long."""
NAME_LENGTH = 255
UNREADABLE = "unreadable"
NOTIFICATION_KINDS = {
    "subscriptionNotification": "subscription",
    "oneTimeProductNotification": "one-time product",
    "voidedPurchaseNotification": "voided purchase",
    "pendingRefundReviewNotification": "pending refund review",
    "testNotification": "test",
}
SUBSCRIPTION_KINDS = ("subscription", "voided purchase")
BATCH_SIZE = 1_000
MAX_CONSECUTIVE_FAILURES = 3
"""After these the store is taken to be away, and the run ends."""
INITIAL_BACKOFF = timedelta(minutes=1)
MAX_BACKOFF_EXPONENT = 6
"""The waits between attempts double up to about an hour."""

Outcome = StoreNotification.Outcome


@dataclass(frozen=True, slots=True)
class PubSubMessage:
    """What a push holds, as far as it can be read."""

    message_id: str | None = None
    kind: str = UNREADABLE
    package: str = ""
    token: str = ""


@dataclass(frozen=True, slots=True)
class ProcessingResult:
    """What a run did: notifications dealt with, and those left for later."""

    processed: int = 0
    failed: int = 0


def save_notification(body: bytes) -> StoreNotification:
    """Keep a notification, once for each message id, and log that it came."""
    message = parse_message(body)
    values = {
        "body": _decode_body(body),
        "kind": message.kind,
        "package": message.package,
        "token_digest": hash_token(message.token),
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


def parse_message(body: bytes) -> PubSubMessage:
    """What the body of a push says; what cannot be read stays empty. Pure."""
    message = _parse_json_object(body if len(body) <= MAX_STORED_BYTES else b"").get(
        "message"
    )
    if not isinstance(message, Mapping):
        return PubSubMessage()
    message_id = _parse_short_text(message.get("messageId")) or None
    content = _parse_json_object(_decode_base64(message.get("data")))
    for name, kind in NOTIFICATION_KINDS.items():
        if isinstance(part := content.get(name), Mapping):
            return PubSubMessage(
                message_id,
                _kind_label(kind, part),
                _parse_short_text(content.get("packageName")),
                _parse_token(part),
            )
    return PubSubMessage(message_id, "unknown" if content else UNREADABLE)


def has_pending_notifications(now: datetime) -> bool:
    """Whether there is something to follow, and a store that can be asked."""
    return load_verifier().can_refresh and _list_pending(now).exists()


def process_pending_notifications(now: datetime) -> ProcessingResult:
    """Follow the notifications that wait, each once, also beside another run.

    With a verifier that cannot be asked they keep waiting: logged and stored only.
    """
    verifier = load_verifier()
    if not verifier.can_refresh:
        return ProcessingResult()
    handled = failed = in_a_row = 0
    for notification in _list_pending(now).order_by("retry_at", "id")[:BATCH_SIZE]:
        if not _claim(notification, now):
            continue
        try:
            _process(verifier, notification)
        except ProviderUnavailableError:
            failed, in_a_row = failed + 1, in_a_row + 1
        else:
            handled, in_a_row = handled + 1, 0
        if in_a_row == MAX_CONSECUTIVE_FAILURES:
            break
    return ProcessingResult(handled, failed)


def purge_notifications(before: datetime) -> int:
    """Delete what was received before; the number deleted."""
    rows = StoreNotification.objects.filter(received_at__lt=before)
    return rows._raw_delete(rows.db)


def _list_pending(now: datetime) -> QuerySet[StoreNotification]:
    return StoreNotification.objects.filter(handled_at=None, retry_at__lte=now)


def _claim(notification: StoreNotification, now: datetime) -> bool:
    """Take it for this run, unless another run has; it comes back if this one dies."""
    wait = INITIAL_BACKOFF * 2 ** min(notification.attempts, MAX_BACKOFF_EXPONENT)
    rows = StoreNotification.objects.filter(
        pk=notification.pk, handled_at=None, attempts=notification.attempts
    )
    return rows.update(attempts=F("attempts") + 1, retry_at=now + wait) == 1


def _process(verifier: StoreVerifier, notification: StoreNotification) -> None:
    outcome = _apply(verifier, notification)
    rows = StoreNotification.objects.filter(pk=notification.pk)
    rows.update(outcome=outcome, handled_at=timezone.now())


def _apply(verifier: StoreVerifier, notification: StoreNotification) -> Outcome:
    if not notification.kind.startswith(SUBSCRIPTION_KINDS):
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
        refresh_purchase(purchase, timezone.now())
    except PurchaseAlreadyUsedError:
        return Outcome.REFUSED
    return Outcome.FOLLOWED


def _kind_label(kind: str, part: Mapping[str, Any]) -> str:
    """`subscription 4`: the number says which event, and the list of them grows."""
    number = part.get("notificationType")
    if isinstance(number, int) and not isinstance(number, bool) and number < 10**6:
        return f"{kind} {number}"
    return kind


def _parse_short_text(value: Any) -> str:
    """A short text or a number as text; "" for everything else."""
    text = str(value) if isinstance(value, str | int) else ""
    return "" if len(text) > NAME_LENGTH or has_control_characters(text) else text


def _parse_token(part: Mapping[str, Any]) -> str:
    token = part.get("purchaseToken")
    return token if isinstance(token, str) else ""


def _decode_base64(data: Any) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (ValueError, TypeError):
        return b""


def _parse_json_object(body: bytes) -> Mapping[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _decode_body(body: bytes) -> str:
    """The raw body, cut, with what PostgreSQL's text cannot hold written out."""
    text = body[:MAX_STORED_BYTES].decode("utf-8", "backslashreplace")
    return text.replace("\0", "\\x00")
