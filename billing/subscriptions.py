"""Changes of subscriptions."""

import logging

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from accounts.models import Member
from billing.account_tokens import hash_account_id
from billing.decisions import PurchaseChange
from billing.errors import InvalidPurchaseError
from billing.models import Purchase
from billing.products import find_product
from billing.purchases import (
    apply_subscription,
    clear_subscription,
    list_active_purchases,
    lock_member,
    read_purchase_token,
    recompute_plan,
    refresh_purchase,
    save_plan,
)
from billing.stores import (
    TEST_STORE,
    StoreVerifier,
    hash_token,
    load_verifier,
    verify_token,
)
from core.db.transactions import retry_on_conflict
from core.errors import InvalidFieldError, NotFoundError, ProviderUnavailableError
from core.leases.holding import lease

logger = logging.getLogger(__name__)


def verify_purchase(member: Member, product_id: str, token: str) -> tuple[Member, bool]:
    """Apply a purchase once (spec 6.3); return False for a known purchase."""
    product = find_product(product_id)
    if product is None:
        raise InvalidFieldError("productId", gettext("Unknown product."), "unknown")
    checked_at = timezone.now()
    subscription = verify_token(token, product)
    locked, change = apply_subscription(member.pk, subscription, checked_at)
    # An acknowledged purchase must never be lost, so the commit comes first.
    if subscription.is_entitled and not subscription.is_acknowledged:
        acknowledge_purchase(
            subscription.token,
            subscription.product.id,
            owner_id=member.pk if subscription.is_out_of_app else None,
        )
    return locked, change is PurchaseChange.CREATED


def acknowledge_purchase(
    token: str, product_id: str, *, owner_id: int | None = None
) -> bool:
    """Acknowledge a purchase once, outside of transactions; return False to try again.

    A lease orders concurrent calls. With `owner_id` the store names the account in each
    renewal.
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
    return Member.objects.defer("profile_image").get(pk=member.pk)


@retry_on_conflict
def cancel(member: Member) -> Member:
    """Turn auto-renew off (spec 6.6).

    Raises `ProviderUnavailableError`, and changes nothing, unless the store confirms.
    """
    verifier = load_verifier()
    renewing = list_active_purchases(member).filter(auto_renew=True)
    # Otherwise the store could still charge the member.
    for purchase in renewing:
        if _is_managed_by_store(verifier, purchase):
            try:
                token = read_purchase_token(purchase)
                verifier.stop_renewal(token, purchase.product_id)
            except InvalidPurchaseError:
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
    """Turn auto-renew on (spec 6.6), unless the store decides."""
    best = list_active_purchases(member).first()
    if best is not None and _is_managed_by_store(load_verifier(), best):
        refresh_purchase(best, timezone.now())
        return reload_member(member)
    with transaction.atomic():
        locked = lock_member(member.pk)
        if locked.plan_auto_renew:
            return locked
        # A lapsed plan would become PREMIUM without a payment.
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
    """Restore the longest payment (spec 6.7); never shorten a plan."""
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
    """Set a plan without expiry and subscription (spec 7.2).

    Purchases count again after a restore or a new payment.
    """
    with transaction.atomic():
        locked = lock_member(member.pk)
        Purchase.objects.filter(member=locked, is_active=True).update(is_active=False)
        clear_subscription(locked, plan)
        save_plan(locked)
    return locked


def _is_managed_by_store(verifier: StoreVerifier, purchase: Purchase) -> bool:
    return verifier.can_refresh and purchase.store == verifier.store
