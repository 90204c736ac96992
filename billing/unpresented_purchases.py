"""Purchases that no member presented, as in the Play Store (spec 6.9)."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from accounts.models import Member
from billing.account_tokens import find_member_id
from billing.errors import InvalidPurchaseError
from billing.models import Purchase, StoreNotification
from billing.purchases import apply_subscription, lock_tokens
from billing.stores import StoreVerifier, Subscription, hash_token
from billing.subscriptions import acknowledge_purchase
from core.db.transactions import retry_on_conflict

LOOKUP_INTERVAL = timedelta(minutes=1)
SEARCH_INTERVAL = timedelta(hours=1)
# Unacknowledged purchases are then refunded.
SEARCH_DURATION = timedelta(days=3)

Outcome = StoreNotification.Outcome


def assign_purchase(
    verifier: StoreVerifier, notification: StoreNotification, token: str, now: datetime
) -> Outcome:
    """Look up an unknown token and record it for its owner.

    Call it outside of transactions. Returns PENDING for a minute after a look-up.
    """
    if not (token and token.isascii() and token.isprintable()):
        return Outcome.UNKNOWN_PURCHASE
    if not _reserve_lookup(notification, now):
        return Outcome.PENDING
    checked_at = timezone.now()
    try:
        subscription = verifier.fetch_subscription(token)
    except InvalidPurchaseError:
        return Outcome.UNKNOWN_PURCHASE
    if not subscription.is_entitled:
        return Outcome.UNKNOWN_PURCHASE
    member_id = _find_owner(subscription)
    if member_id is None:
        return Outcome.NO_OWNER
    try:
        apply_subscription(member_id, subscription, checked_at)
    except Member.DoesNotExist:
        return Outcome.NO_OWNER
    except InvalidPurchaseError:
        return Outcome.UNKNOWN_PURCHASE
    if not subscription.is_acknowledged:
        acknowledge_purchase(
            token,
            subscription.product.id,
            owner_id=member_id if subscription.is_out_of_app else None,
        )
    return Outcome.ASSIGNED


def is_search_due(notification: StoreNotification, now: datetime) -> bool:
    """Return True for a token's oldest notification, for three days."""
    others = StoreNotification.objects.filter(
        token_hash=notification.token_hash,
        processed_at=None,
        outcome=Outcome.NO_OWNER,
        pk__lt=notification.pk,
    )
    is_in_time = now < notification.received_at + SEARCH_DURATION
    return is_in_time and not others.exists()


@retry_on_conflict
@transaction.atomic
def _reserve_lookup(notification: StoreNotification, now: datetime) -> bool:
    lock_tokens(notification.token_hash)
    recent = StoreNotification.objects.filter(
        token_hash=notification.token_hash, looked_up_at__gt=now - LOOKUP_INTERVAL
    )
    if recent.exists():
        return False
    StoreNotification.objects.filter(pk=notification.pk).update(looked_up_at=now)
    return True


def _find_owner(subscription: Subscription) -> int | None:
    for token in (subscription.replaced_token, subscription.expired_token):
        purchase = Purchase.objects.filter(
            store=subscription.store, token_hash=hash_token(token)
        ).first()
        if purchase is not None:
            return purchase.member_id
    account_ids = (subscription.expired_account_id, subscription.obfuscated_account_id)
    for account_id in account_ids:
        if account_id and (member_id := find_member_id(account_id)) is not None:
            return member_id
    return None
