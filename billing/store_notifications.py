"""Notifications of the store, processed by a job (spec 6.9).

The service only asks the store, so sender, order and repetition do not matter.
"""

import base64
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from billing.errors import PurchaseAlreadyUsedError
from billing.models import Purchase, StoreNotification, seal_body
from billing.purchases import refresh_purchase
from billing.store_runs import StoreRun, ask_store
from billing.stores import StoreVerifier, hash_token, load_verifier
from billing.unpresented_purchases import (
    SEARCH_INTERVAL,
    assign_purchase,
    is_search_due,
)
from core.api.exception_handler import BODY_FIELD
from core.api.fields import has_control_characters
from core.errors import InvalidFieldError, RateLimitedError
from core.sealing import UnsealingError

logger = logging.getLogger(__name__)

MAX_STORED_BYTES = 2**14
MAX_BODY_BYTES = 2**17
# The store sends refused notifications again.
MAX_PENDING = 10_000
FULL_RETRY_AFTER_SECONDS = 60
MAX_PROCESSED = 20_000
MAX_NAME_LENGTH = 255
UNREADABLE = "unreadable"
VOIDED_KIND = "voided purchase"
NOTIFICATION_KINDS = {
    "subscriptionNotification": "subscription",
    "oneTimeProductNotification": "one-time product",
    "voidedPurchaseNotification": VOIDED_KIND,
    "pendingRefundReviewNotification": "pending refund review",
    "testNotification": "test",
}
SUBSCRIPTION_KINDS = ("subscription", VOIDED_KIND)
# Waits between attempts double, up to 64 minutes.
INITIAL_BACKOFF = timedelta(minutes=1)
MAX_BACKOFF_EXPONENT = 6

Outcome = StoreNotification.Outcome


@dataclass(frozen=True, slots=True)
class PubSubMessage:
    message_id: str | None = None
    kind: str = UNREADABLE
    package: str = ""
    token: str = ""


def save_notification(body: bytes) -> StoreNotification:
    """Save a notification, readable or not, once by its message id.

    Raises `InvalidFieldError` for JSON that is no object, which no store sends, and
    `RateLimitedError` while too many wait.
    """
    if is_other_json(body):
        raise InvalidFieldError(BODY_FIELD, gettext("The body must be a JSON object."))
    pending = StoreNotification.objects.filter(processed_at=None).order_by()
    if pending[:MAX_PENDING].count() == MAX_PENDING:
        logger.warning("store notification refused: too many are pending")
        raise RateLimitedError(FULL_RETRY_AFTER_SECONDS)
    message = parse_message(body)
    text = body[:MAX_STORED_BYTES].decode("utf-8", "backslashreplace")
    token_hash = hash_token(message.token)
    values = {
        "sealed_body": seal_body(
            text.replace("\0", "\\x00"), message.message_id, token_hash
        ),
        "kind": message.kind,
        "package": message.package,
        "token_hash": token_hash,
    }
    if message.message_id is None:
        notification = StoreNotification.objects.create(message_id=None, **values)
        is_new = True
    else:
        notification, is_new = StoreNotification.objects.get_or_create(
            message_id=message.message_id, defaults=values
        )
    fields = {"kind": message.kind, "message": message.message_id, "new": is_new}
    logger.info("store notification", extra={"fields": fields})
    return notification


def is_other_json(body: bytes) -> bool:
    """Return True for JSON that is no object. Pure."""
    try:
        return not isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False


def parse_message(body: bytes) -> PubSubMessage:
    """Parse a body; unreadable fields stay empty. Pure."""
    if len(body) > MAX_STORED_BYTES:
        return PubSubMessage()
    message = _parse_json_object(body).get("message")
    if not isinstance(message, Mapping):
        return PubSubMessage()
    message_id = _parse_short_text(message.get("messageId")) or None
    try:
        data = base64.b64decode(message.get("data", ""), validate=True)
    except (ValueError, TypeError):
        data = b""
    payload = _parse_json_object(data)
    for name, kind in NOTIFICATION_KINDS.items():
        event = payload.get(name)
        if not isinstance(event, Mapping):
            continue
        # `subscription 4`: Google adds numbers over time.
        number = event.get("notificationType")
        if isinstance(number, int) and not isinstance(number, bool) and number < 10**6:
            kind = f"{kind} {number}"
        token = event.get("purchaseToken")
        return PubSubMessage(
            message_id,
            kind,
            package=_parse_short_text(payload.get("packageName")),
            token=token if isinstance(token, str) else "",
        )
    return PubSubMessage(message_id, "unknown" if payload else UNREADABLE)


def has_pending_notifications(now: datetime) -> bool:
    return load_verifier().can_refresh and _list_pending(now).exists()


def process_pending_notifications(now: datetime) -> StoreRun:
    verifier = load_verifier()
    if not verifier.can_refresh:
        return StoreRun()
    due = _list_pending(now).order_by("next_attempt_at", "id")
    return ask_store(due, partial(_process, verifier, now))


def purge_notifications(before: datetime) -> int:
    """Delete notifications from before, and surplus."""
    rows = StoreNotification.objects.order_by()
    processed = StoreNotification.objects.exclude(processed_at=None).order_by("-id")
    surplus = processed.values_list("id", flat=True)[MAX_PROCESSED : MAX_PROCESSED + 1]
    old = rows.filter(received_at__lt=before)
    purged = old._raw_delete(old.db)
    if newest_surplus := surplus.first():
        excess = rows.exclude(processed_at=None).filter(id__lte=newest_surplus)
        purged += excess._raw_delete(excess.db)
    return purged


def _list_pending(now: datetime) -> QuerySet[StoreNotification]:
    return StoreNotification.objects.filter(processed_at=None, next_attempt_at__lte=now)


def _process(
    verifier: StoreVerifier, now: datetime, notification: StoreNotification
) -> int:
    # `attempts` is the version of the row: one of concurrent runs reserves it. The
    # next attempt is planned in case the process dies.
    exponent = min(notification.attempts, MAX_BACKOFF_EXPONENT)
    unclaimed = StoreNotification.objects.filter(
        pk=notification.pk, processed_at=None, attempts=notification.attempts
    )
    if not unclaimed.update(
        attempts=F("attempts") + 1, next_attempt_at=now + INITIAL_BACKOFF * 2**exponent
    ):
        return 0
    outcome = _refresh_or_assign(verifier, notification, now)
    if outcome is Outcome.PENDING:
        return 0
    processed = 0
    row = StoreNotification.objects.filter(pk=notification.pk)
    if outcome is Outcome.NO_OWNER and is_search_due(notification, now):
        row.update(outcome=outcome, next_attempt_at=now + SEARCH_INTERVAL)
    else:
        processed += row.update(outcome=outcome, processed_at=timezone.now())
    if outcome in (Outcome.NO_OWNER, Outcome.UNKNOWN_PURCHASE):
        processed += _settle_others(notification, outcome, now)
    return processed


def _refresh_or_assign(
    verifier: StoreVerifier, notification: StoreNotification, now: datetime
) -> Outcome:
    if not notification.kind.startswith(SUBSCRIPTION_KINDS):
        return Outcome.NO_SUBSCRIPTION
    if notification.package != verifier.package:
        return Outcome.OTHER_PACKAGE
    of_token = Purchase.objects.filter(
        store=verifier.store, token_hash=notification.token_hash
    )
    purchase = of_token.first()
    try:
        if purchase is None:
            token = parse_message(notification.body.encode()).token
            return assign_purchase(verifier, notification, token, now)
        if notification.kind.startswith(VOIDED_KIND):
            of_token.update(order_due_since=timezone.now())
        refresh_purchase(purchase, timezone.now())
    except PurchaseAlreadyUsedError:
        return Outcome.REJECTED
    except UnsealingError:
        logger.error("store notification %s cannot be decrypted", notification.pk)
        return Outcome.NO_SUBSCRIPTION
    return Outcome.REFRESHED


def _settle_others(
    notification: StoreNotification, outcome: Outcome, now: datetime
) -> int:
    """Settle earlier notifications of an unknown token; return their number."""
    kinds = Q()
    for kind in SUBSCRIPTION_KINDS:
        kinds |= Q(kind__startswith=kind)
    others = StoreNotification.objects.filter(
        kinds,
        token_hash=notification.token_hash,
        package=notification.package,
        processed_at=None,
        outcome=Outcome.PENDING,
        received_at__lte=now,
    )
    return others.update(outcome=outcome, processed_at=timezone.now())


def describe_body(notification: StoreNotification) -> str:
    """Return the body without the purchase token, which is a credential.

    An unreadable body is unchanged, or "" if no key opens it.
    """
    try:
        body = notification.body
    except UnsealingError:
        return ""
    message = _parse_json_object(body.encode()).get("message")
    if not isinstance(message, Mapping) or not notification.token_hash:
        return body
    payload = _parse_json_object(base64.b64decode(message["data"]))
    shown = {
        name: part | {"purchaseToken": "…"} if "purchaseToken" in part else part
        for name, part in payload.items()
        if isinstance(part, dict)
    }
    readable = dict(message) | {"data": dict(payload) | shown}
    return json.dumps(readable, ensure_ascii=False, indent=2)


def _parse_short_text(value: Any) -> str:
    text = str(value) if isinstance(value, str | int) else ""
    is_usable = len(text) <= MAX_NAME_LENGTH and not has_control_characters(text)
    return text if is_usable else ""


def _parse_json_object(body: bytes) -> Mapping[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
