"""What members do about their membership, and what an administrator sets."""

import logging
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts.models import Member
from billing import stores
from billing.errors import InvalidPurchaseError
from billing.models import Purchase
from billing.products import find_product
from billing.purchases import (
    list_active_purchases,
    lock_member,
    recompute_plan,
    record_purchase,
    refresh_purchase,
    reset_plan,
    save_plan,
)
from billing.stores import load_verifier
from core.errors import InvalidFieldError, NotFoundError, ProviderUnavailableError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class VerificationResult:
    """The member after a verification; whether the purchase was new."""

    member: Member
    applied: bool


def verify_purchase(member: Member, product_id: str, token: str) -> VerificationResult:
    """Apply a purchase once (spec 6.3).

    Raises `InvalidFieldError` for an unknown product, `InvalidPurchaseError`,
    `PurchaseAlreadyUsed`, or `ProviderUnavailableError`; then nothing is stored.
    """
    product = find_product(product_id)
    if product is None:
        raise InvalidFieldError("productId", "There is no such product.", "unknown")
    asked_at = timezone.now()
    found = stores.verify_token(token, product)
    with transaction.atomic():
        locked = lock_member(member.pk)
        applied = record_purchase(locked, found, asked_at=asked_at, now=timezone.now())
    if found.is_entitled and not found.acknowledged:
        acknowledge_purchase(found.token, found.product.id)
    return VerificationResult(locked, applied)


def acknowledge_purchase(token: str, product_id: str) -> bool:
    """Tell the store that a recorded purchase has arrived; False if that failed.

    The hourly job tries again: the store refunds what stays unacknowledged for three
    days.
    """
    verifier = load_verifier()
    try:
        verifier.acknowledge(token, product_id)
    except (ProviderUnavailableError, InvalidPurchaseError) as refusal:
        logger.warning("purchase not acknowledged: %s", type(refusal).__name__)
        return False
    orders = Purchase.objects.filter(token_digest=stores.hash_token(token))
    orders.filter(store=verifier.store).update(acknowledged=True)
    return True


def reload_member(member: Member) -> Member:
    """The member with what is known of the subscription now."""
    return Member.objects.defer("profile_image").get(pk=member.pk)


def cancel(member: Member) -> Member:
    """Stop auto-renew; the plan stays until its expiry (spec 6.6).

    The store is told first, so that it charges no more: `ProviderUnavailableError`, and
    nothing has changed, when it does not answer. Where nothing renews, nothing
    happens.
    """
    verifier = load_verifier()
    renewing = list_active_purchases(member).filter(auto_renew=True)
    for purchase in renewing:
        if _is_managed_by_store(verifier, purchase):
            _stop_renewal(verifier, purchase)
    with transaction.atomic():
        locked = lock_member(member.pk)
        renewing.update(auto_renew=False, asked_at=timezone.now())
        if locked.plan_auto_renew:
            locked.plan_auto_renew = False
            save_plan(locked)
    return locked


def resume(member: Member) -> Member:
    """Let the subscription renew itself again (spec 6.6).

    Only while it runs: one that has ended is bought anew, else resuming would open
    the plan without a payment. Raises `NotFoundError` without a running subscription. A
    store that can be asked decides itself, and its answer is what counts.
    """
    best = list_active_purchases(member).first()
    if best is not None and _is_managed_by_store(load_verifier(), best):
        refresh_purchase(best, timezone.now())
        return reload_member(member)
    with transaction.atomic():
        locked = lock_member(member.pk)
        if not locked.plan_auto_renew:
            _require_running_subscription(locked, timezone.now())
            newest = list_active_purchases(locked).first()
            if newest is not None:
                newest.auto_renew = True
                newest.save(update_fields=["auto_renew"])
            locked.plan_auto_renew = True
            save_plan(locked)
    return locked


def restore_membership(member: Member) -> Member:
    """Give back what the most recent payment still gives (spec 6.7).

    The plan is never shortened by it: one without an expiry, or with a later one,
    stays. Raises `NotFoundError` without a payment.
    """
    now = timezone.now()
    with transaction.atomic():
        locked = lock_member(member.pk)
        payments = Purchase.objects.filter(member=locked, replaced_at=None)
        payment = payments.order_by("-expires_at", "-id").first()
        if payment is None:
            raise NotFoundError("There is no payment to restore a membership from.")
        if payment.expires_at > now and not _has_plan_until(locked, payment.expires_at):
            payment.counts = True
            payment.save(update_fields=["counts"])
            recompute_plan(locked, now)
    return locked


def override_plan(member: Member, plan: str) -> Member:
    """An administrator's change: this plan for good, subscription info cleared.

    Purchases stay recorded but count no more, until the member restores one or the
    store reports a new payment (spec 7.2).
    """
    with transaction.atomic():
        locked = lock_member(member.pk)
        Purchase.objects.filter(member=locked, counts=True).update(counts=False)
        reset_plan(locked, plan)
    return locked


def _is_managed_by_store(verifier: stores.StoreVerifier, purchase: Purchase) -> bool:
    """Whether the store decides about this purchase, and can be told and asked."""
    return verifier.can_refresh and purchase.store == verifier.store


def _stop_renewal(verifier: stores.StoreVerifier, purchase: Purchase) -> None:
    """A purchase that the store has ended renews itself no more either."""
    try:
        verifier.stop_renewal(purchase.purchase_token, purchase.product_id)
    except InvalidPurchaseError:
        logger.info("the store had ended a subscription that was cancelled")


def _require_running_subscription(member: Member, now: datetime) -> None:
    bought = member.plan_expires_at is not None or member.plan_product != ""
    if not bought or member.effective_plan(now) != Member.Plan.PREMIUM:
        raise NotFoundError("There is no running subscription to resume.")


def _has_plan_until(member: Member, moment: datetime) -> bool:
    """Whether the plan lasts until then without any payment."""
    if member.plan != Member.Plan.PREMIUM:
        return False
    return member.plan_expires_at is None or member.plan_expires_at >= moment
