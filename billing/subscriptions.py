"""Subscriptions: verify, cancel, resume, restore; the plan an administrator sets."""

import logging
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from accounts.models import Member
from billing.account_tokens import hash_account_id
from billing.errors import InvalidPurchaseError
from billing.models import Purchase
from billing.products import find_product
from billing.purchases import (
    PurchaseChange,
    list_active_purchases,
    lock_member,
    read_purchase_token,
    recompute_plan,
    record_purchase,
    refresh_purchase,
    save_plan,
)
from billing.stores import (
    TEST_STORE,
    StoreVerifier,
    Subscription,
    hash_token,
    load_verifier,
    verify_token,
)
from core.db.transactions import retry_on_conflict
from core.errors import InvalidFieldError, NotFoundError, ProviderUnavailableError
from core.leases.holding import lease

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class VerificationResult:
    """The member after a verification; `applied` is False for a known purchase."""

    member: Member
    applied: bool


def verify_purchase(member: Member, product_id: str, token: str) -> VerificationResult:
    """Verify a purchase at the store and apply it once (spec 6.3).

    Raises `InvalidFieldError` for an unknown product, `InvalidPurchaseError`,
    `PurchaseAlreadyUsedError` or `ProviderUnavailableError`; nothing is stored then.
    """
    product = find_product(product_id)
    if product is None:
        raise InvalidFieldError("productId", gettext("Unknown product."), "unknown")
    checked_at = timezone.now()
    subscription = verify_token(token, product)
    result = _apply_purchase(member, subscription, checked_at)
    # Only after the commit: an acknowledged purchase must never be lost here.
    if subscription.is_entitled and not subscription.is_acknowledged:
        acknowledge_purchase(
            subscription.token,
            subscription.product.id,
            owner_id=member.pk if subscription.is_out_of_app else None,
        )
    return result


@retry_on_conflict
def _apply_purchase(
    member: Member, subscription: Subscription, checked_at: datetime
) -> VerificationResult:
    """Record the store's response and update the plan."""
    with transaction.atomic():
        locked = lock_member(member.pk)
        now = timezone.now()
        change = record_purchase(locked, subscription, checked_at=checked_at, now=now)
        if change is not PurchaseChange.NONE:
            recompute_plan(locked, now)
            save_plan(locked)
    return VerificationResult(locked, applied=change is PurchaseChange.CREATED)


def acknowledge_purchase(
    token: str, product_id: str, *, owner_id: int | None = None
) -> bool:
    """Acknowledge a recorded purchase to the store; return False if that failed.

    Does nothing if that is done, and returns False while another caller is about it: a
    verification and a notification of one purchase may come at the same moment. Call
    outside of transactions.

    `owner_id` is the member of a purchase that was made outside of the app: the store
    does not know the account yet, and names it with each renewal from then on.
    The hourly job tries again: the store refunds what stays unacknowledged for three
    days.
    """
    verifier, token_hash = load_verifier(), hash_token(token)
    purchases = Purchase.objects.filter(store=verifier.store, token_hash=token_hash)
    with lease(f"acknowledgement {token_hash}") as held:
        if held is None:
            return False
        if not purchases.filter(is_acknowledged=False).exists():
            return True
        try:
            account_id = "" if owner_id is None else hash_account_id(owner_id)
            verifier.acknowledge(token, product_id, account_id)
        except (ProviderUnavailableError, InvalidPurchaseError) as error:
            logger.warning("purchase not acknowledged: %s", type(error).__name__)
            return False
        purchases.update(is_acknowledged=True, acknowledged_at=timezone.now())
    return True


def reload_member(member: Member) -> Member:
    """Return the member with the current plan, without the profile image."""
    return Member.objects.defer("profile_image").get(pk=member.pk)


@retry_on_conflict
def cancel(member: Member) -> Member:
    """Turn auto-renew off; the plan stays until its expiry (spec 6.6).

    Does nothing where nothing renews. Raises `ProviderUnavailableError`, and changes
    nothing, if the store does not confirm.
    """
    verifier = load_verifier()
    renewing = list_active_purchases(member).filter(auto_renew=True)
    # The store comes first, so that it never charges a member who was told otherwise.
    for purchase in renewing:
        if _is_managed_by_store(verifier, purchase):
            try:
                token = read_purchase_token(purchase)
                verifier.stop_renewal(token, purchase.product_id)
            except InvalidPurchaseError:
                # An ended subscription does not renew itself either.
                logger.info("canceled subscription had already ended at the store")
    with transaction.atomic():
        locked = lock_member(member.pk)
        renewing.update(auto_renew=False, checked_at=timezone.now())
        if locked.plan_auto_renew:
            locked.plan_auto_renew = False
            save_plan(locked)
    return locked


@retry_on_conflict
def resume(member: Member) -> Member:
    """Turn auto-renew on again while the subscription runs (spec 6.6).

    Where the store manages the purchase, take over what it says. Raises `NotFoundError`
    without a running subscription.
    """
    best = list_active_purchases(member).first()
    if best is not None and _is_managed_by_store(load_verifier(), best):
        refresh_purchase(best, timezone.now())
        return reload_member(member)
    with transaction.atomic():
        locked = lock_member(member.pk)
        if locked.plan_auto_renew:
            return locked
        # A lapsed plan that renews itself is PREMIUM: to resume one that has lapsed
        # would open it without a payment.
        is_bought = locked.plan_expires_at is not None or locked.plan_product != ""
        is_running = locked.effective_plan(timezone.now()) == Member.Plan.PREMIUM
        if not (is_bought and is_running):
            raise NotFoundError(gettext("There is no active subscription to resume."))
        newest = list_active_purchases(locked).first()
        if newest is not None:
            newest.auto_renew = True
            newest.save(update_fields=["auto_renew"])
        locked.plan_auto_renew = True
        save_plan(locked)
    return locked


@retry_on_conflict
def restore_membership(member: Member) -> Member:
    """Restore the plan of the payment that lasts longest (spec 6.7).

    Never shortens a plan: one without an expiry, or with a later one, stays. Raises
    `NotFoundError` without a payment.
    """
    now = timezone.now()
    with transaction.atomic():
        locked = lock_member(member.pk)
        payments = Purchase.objects.filter(member=locked, replaced_at=None)
        if not settings.BILLING_TEST_MODE:
            payments = payments.exclude(store=TEST_STORE)
        payment = payments.order_by("-expires_at", "-id").first()
        if payment is None:
            raise NotFoundError(gettext("There is no payment to restore."))
        plan_lasts_longer = locked.plan == Member.Plan.PREMIUM and (
            locked.plan_expires_at is None
            or locked.plan_expires_at >= payment.expires_at
        )
        if payment.expires_at > now and not plan_lasts_longer:
            payment.is_active = True
            payment.save(update_fields=["is_active"])
            recompute_plan(locked, now)
            save_plan(locked)
    return locked


@retry_on_conflict
def override_plan(member: Member, plan: str) -> Member:
    """Set a plan by hand: no expiry, subscription info cleared (spec 7.2).

    Purchases stay recorded but no longer count, until the member restores one or the
    store reports a new payment.
    """
    with transaction.atomic():
        locked = lock_member(member.pk)
        Purchase.objects.filter(member=locked, is_active=True).update(is_active=False)
        locked.plan = plan
        locked.plan_expires_at = None
        locked.plan_product = ""
        locked.plan_auto_renew = False
        save_plan(locked)
    return locked


def _is_managed_by_store(verifier: StoreVerifier, purchase: Purchase) -> bool:
    """Return True if the current store decides whether this purchase renews itself."""
    return verifier.can_refresh and purchase.store == verifier.store
