"""Purchases that no member presented, as of a renewal in the Play Store.

The store only reports them by a notification. They are looked up and given to the
member whom the store's response names (spec 6.9).
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from accounts.models import Member
from billing.account_tokens import find_member_id
from billing.errors import InvalidPurchaseError
from billing.models import Purchase, StoreNotification
from billing.purchases import (
    PurchaseChange,
    lock_member,
    lock_tokens,
    recompute_plan,
    record_purchase,
    save_plan,
)
from billing.stores import StoreVerifier, Subscription, hash_token
from billing.subscriptions import acknowledge_purchase
from core.db.transactions import retry_on_conflict

# Between two requests to the store about one token.
LOOKUP_INTERVAL = timedelta(minutes=1)
# Between two searches for the owner.
SEARCH_INTERVAL = timedelta(hours=1)
# The store refunds then what nobody acknowledged.
SEARCH_DURATION = timedelta(days=3)

Outcome = StoreNotification.Outcome


def assign_purchase(
    verifier: StoreVerifier, notification: StoreNotification, token: str, now: datetime
) -> Outcome:
    """Look up the unknown token of a notification and record it for its owner.

    Call outside of transactions. Return PENDING if the store was asked about the token
    within the last minute, and NO_OWNER if a purchase names no member. Raises
    `ProviderUnavailableError`, and `PurchaseAlreadyUsedError` if the response names
    different accounts.
    """
    # Tokens become a part of the store's URL.
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
        _record(member_id, subscription, checked_at)
    except Member.DoesNotExist:
        return Outcome.NO_OWNER
    except InvalidPurchaseError:
        return Outcome.UNKNOWN_PURCHASE
    # Only after the commit: an acknowledged purchase must never be lost here.
    if not subscription.is_acknowledged:
        acknowledge_purchase(
            token,
            subscription.product.id,
            owner_id=member_id if subscription.is_out_of_app else None,
        )
    return Outcome.ASSIGNED


def is_search_due(notification: StoreNotification, now: datetime) -> bool:
    """Return True if the owner of the purchase shall be searched again later.

    One notification of each token waits, for three days.
    """
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
    """Note a look-up; return False if the token was looked up within a minute."""
    lock_tokens(notification.token_hash)
    recent = StoreNotification.objects.filter(
        token_hash=notification.token_hash, looked_up_at__gt=now - LOOKUP_INTERVAL
    )
    if recent.exists():
        return False
    StoreNotification.objects.filter(pk=notification.pk).update(looked_up_at=now)
    return True


def _find_owner(subscription: Subscription) -> int | None:
    """Return the id of the member whom the store's response names, or None."""
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


@retry_on_conflict
@transaction.atomic
def _record(member_id: int, subscription: Subscription, checked_at: datetime) -> None:
    """Record the purchase and update the plan; raise `Member.DoesNotExist`."""
    member = lock_member(member_id)
    now = timezone.now()
    change = record_purchase(member, subscription, checked_at=checked_at, now=now)
    if change is not PurchaseChange.NONE:
        recompute_plan(member, now)
        save_plan(member)
