"""Real-time notifications of the store: saved on arrival, processed by a job.

A notification only says that something about a purchase has changed; the store is then
asked for the current state. Sender, order and repetition therefore do not matter
(spec 6.9).
"""

import base64
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from billing.errors import PurchaseAlreadyUsedError
from billing.models import Purchase, StoreNotification, seal_body
from billing.orders import request_orders
from billing.purchases import refresh_purchase
from billing.stores import StoreVerifier, hash_token, load_verifier
from billing.unpresented_purchases import (
    SEARCH_INTERVAL,
    assign_purchase,
    is_search_due,
)
from core.api.fields import has_control_characters
from core.errors import ProviderUnavailableError, RateLimitedError
from core.sealing import UnsealingError

logger = logging.getLogger(__name__)

# Of one body; those of Google Play have a few hundred bytes.
MAX_STORED_BYTES = 2**14
# A larger body is refused.
MAX_BODY_BYTES = 2**17
# While so many wait to be processed, new ones are refused; the store sends them again.
MAX_PENDING = 10_000
FULL_RETRY_AFTER_SECONDS = 60
# Of those that are processed, the oldest are deleted above this number.
MAX_PROCESSED = 20_000
MAX_NAME_LENGTH = 255
UNREADABLE = "unreadable"
VOIDED_KIND = "voided purchase"
# By the name of the member of the payload that describes the event.
NOTIFICATION_KINDS = {
    "subscriptionNotification": "subscription",
    "oneTimeProductNotification": "one-time product",
    "voidedPurchaseNotification": VOIDED_KIND,
    "pendingRefundReviewNotification": "pending refund review",
    "testNotification": "test",
}
SUBSCRIPTION_KINDS = ("subscription", VOIDED_KIND)
BATCH_SIZE = 1_000
# The store is taken to be unavailable then, and the run ends.
MAX_CONSECUTIVE_FAILURES = 3
# Waits between attempts double, up to 64 minutes.
INITIAL_BACKOFF = timedelta(minutes=1)
MAX_BACKOFF_EXPONENT = 6

Outcome = StoreNotification.Outcome


@dataclass(frozen=True, slots=True)
class PubSubMessage:
    """The content of a push, as far as it can be read."""

    message_id: str | None = None
    kind: str = UNREADABLE
    package: str = ""
    token: str = ""


@dataclass(frozen=True, slots=True)
class ProcessingResult:
    """Counts of one run: notifications processed, and those left for a later one."""

    processed: int = 0
    failed: int = 0


def save_notification(body: bytes) -> StoreNotification:
    """Save a pushed notification, once for each message id, and log it.

    A body that cannot be read is saved as well. Raises `RateLimitedError` while too
    many wait to be processed.
    """
    pending = StoreNotification.objects.filter(processed_at=None).order_by()
    if pending[:MAX_PENDING].count() == MAX_PENDING:
        logger.warning("store notification refused: too many are pending")
        raise RateLimitedError(FULL_RETRY_AFTER_SECONDS)
    message = parse_message(body)
    # Cut, and without what PostgreSQL's text type cannot hold.
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


def parse_message(body: bytes) -> PubSubMessage:
    """Parse the body of a push; what cannot be read stays empty. Pure."""
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
        # `subscription 4`: new numbers are added over time, so they have no names here.
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
    """Return True if a notification is due and the store can be asked."""
    return load_verifier().can_refresh and _list_pending(now).exists()


def process_pending_notifications(now: datetime) -> ProcessingResult:
    """Process the notifications that are due, each by one of concurrent runs.

    With a verifier that cannot refresh purchases they stay pending.
    """
    verifier = load_verifier()
    if not verifier.can_refresh:
        return ProcessingResult()
    processed = failed = failed_in_a_row = 0
    for notification in _list_pending(now).order_by("next_attempt_at", "id")[
        :BATCH_SIZE
    ]:
        # Reserve it for this run: `attempts` is the version of the row, so that of
        # concurrent runs one finds its own. The time of the next attempt is set before
        # this one, so that the notification becomes due again if the process dies.
        exponent = min(notification.attempts, MAX_BACKOFF_EXPONENT)
        unclaimed = StoreNotification.objects.filter(
            pk=notification.pk, processed_at=None, attempts=notification.attempts
        )
        if not unclaimed.update(
            attempts=F("attempts") + 1,
            next_attempt_at=now + INITIAL_BACKOFF * 2**exponent,
        ):
            continue
        try:
            outcome = _process(verifier, notification, now)
        except ProviderUnavailableError:
            failed, failed_in_a_row = failed + 1, failed_in_a_row + 1
        else:
            failed_in_a_row = 0
            if outcome is Outcome.PENDING:
                continue
            row = StoreNotification.objects.filter(pk=notification.pk)
            if outcome is Outcome.NO_OWNER and is_search_due(notification, now):
                row.update(outcome=outcome, next_attempt_at=now + SEARCH_INTERVAL)
            else:
                row.update(outcome=outcome, processed_at=timezone.now())
                processed += 1
            if outcome in (Outcome.NO_OWNER, Outcome.UNKNOWN_PURCHASE):
                processed += _settle_others(notification, outcome, now)
        if failed_in_a_row == MAX_CONSECUTIVE_FAILURES:
            break
    return ProcessingResult(processed, failed)


def purge_notifications(before: datetime) -> int:
    """Delete the notifications received before a moment; return their number.

    Of those that are processed, the newest `MAX_PROCESSED` are kept at most.
    """
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


def _settle_others(
    notification: StoreNotification, outcome: Outcome, now: datetime
) -> int:
    """Settle what else waits about an unknown token; return the number.

    The store was asked after `now`, which is an answer to all that came before. Else
    each would wait for a look-up of its own.
    """
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


def _process(
    verifier: StoreVerifier, notification: StoreNotification, now: datetime
) -> Outcome:
    """Refresh the purchase that the notification is about; return the outcome.

    A purchase that is not recorded is given to its owner. PENDING means that it is too
    early to ask the store again. Raises `ProviderUnavailableError`.
    """
    if not notification.kind.startswith(SUBSCRIPTION_KINDS):
        return Outcome.NO_SUBSCRIPTION
    if notification.package != verifier.package:
        return Outcome.OTHER_PACKAGE
    purchase = Purchase.objects.filter(
        store=verifier.store, token_hash=notification.token_hash
    ).first()
    try:
        if purchase is None:
            token = parse_message(notification.body.encode()).token
            return assign_purchase(verifier, notification, token, now)
        if notification.kind.startswith(VOIDED_KIND):
            token_purchases = Purchase.objects.filter(
                store=verifier.store, token_hash=notification.token_hash
            )
            request_orders(token_purchases, timezone.now())
        refresh_purchase(purchase, timezone.now())
    except PurchaseAlreadyUsedError:
        return Outcome.REJECTED
    except UnsealingError:
        logger.error("store notification %s cannot be decrypted", notification.pk)
        return Outcome.NO_SUBSCRIPTION
    return Outcome.REFRESHED


def describe_body(notification: StoreNotification) -> str:
    """Return the body for staff, with the token of the purchase left out.

    The token is a credential for the purchase. A body that is no message of the
    store is returned as it is, one that no key opens as "".
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
    """Return a short text, or a number as text; "" for everything else."""
    text = str(value) if isinstance(value, str | int) else ""
    is_usable = len(text) <= MAX_NAME_LENGTH and not has_control_characters(text)
    return text if is_usable else ""


def _parse_json_object(body: bytes) -> Mapping[str, Any]:
    """Return the JSON object in a body, or {} for anything else."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
