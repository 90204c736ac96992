"""Purchase rows, and the member's plan that follows from them.

Every writer locks the member's row first, then the purchase tokens. A row records when
the store was asked (`checked_at`), so that a late response never replaces a newer one.
"""

import logging
from datetime import datetime
from enum import Enum

from django.conf import settings
from django.db import transaction
from django.db.models import Case, Q, QuerySet, When
from django.db.models.functions import Least
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models import Member
from accounts.security_events import SecurityEvent, log_security_event
from accounts.sessions import invalidate_member_session_cache
from billing.account_tokens import is_account_id_of
from billing.errors import InvalidPurchaseError, PurchaseAlreadyUsedError
from billing.models import STATE_LENGTH, Purchase, RedeemedOrder, seal_token
from billing.products import add_period
from billing.stores import Subscription, load_verifier
from core.db.locks import AdvisoryLock, advisory_xact_lock
from core.db.transactions import retry_on_conflict
from core.errors import ProviderUnavailableError, raise_on_constraint_violation
from core.sealing import UnsealingError

logger = logging.getLogger(__name__)

PLAN_FIELDS = ("plan", "plan_expires_at", "plan_product", "plan_auto_renew")
EXTENDED_FIELDS = (
    *("is_active", "expires_at", "auto_renew", "state"),
    *("is_acknowledged", "checked_at", "sealed_token"),
)
# Stored hashes depend on it: a new value would free all redeemed orders.
_ORDER_HASH_SALT = "billing.models.RedeemedOrder"


class PurchaseChange(Enum):
    """The effect of a store's response on the recorded purchases."""

    # Nothing new, or a newer response is recorded already.
    NONE = "none"
    # A known purchase was changed or has ended.
    UPDATED = "updated"
    # A purchase that was not known is recorded and applied.
    CREATED = "created"


def lock_member(member_id: int) -> Member:
    """Return the current row of a member, locked against other changes of the plan.

    Raises `Member.DoesNotExist`.
    """
    members = Member.objects.select_for_update(no_key=True).defer("profile_image")
    return members.get(pk=member_id)


def record_purchase(
    member: Member, subscription: Subscription, *, checked_at: datetime, now: datetime
) -> PurchaseChange:
    """Record a store's response for a token that `member` presents.

    The caller has locked the member and updates the plan if there was a change. Raises
    `PurchaseAlreadyUsedError` if the order, the token or the token that it replaces
    belongs to another member, and `InvalidPurchaseError` if an unknown order grants
    nothing.
    """
    lock_tokens(subscription.token_hash, subscription.replaced_token_hash)
    _require_token_owner(member, subscription)
    # Locked, since whoever has just acknowledged it to the store notes that without
    # the locks above; else it would be acknowledged twice.
    purchase = (
        Purchase.objects.select_for_update(no_key=True)
        .filter(store=subscription.store, order_id=subscription.order_id)
        .first()
    )
    if purchase is not None and purchase.member_id != member.pk:
        raise PurchaseAlreadyUsedError
    token_purchases = Purchase.objects.filter(
        store=subscription.store, token_hash=subscription.token_hash
    )
    if token_purchases.filter(checked_at__gt=checked_at).exists():
        return PurchaseChange.NONE

    if not subscription.is_entitled:
        if purchase is None:
            raise InvalidPurchaseError
        return _expire_token(
            subscription.store, subscription.token_hash, checked_at=checked_at, now=now
        )
    if purchase is None:
        _create_purchase(member, subscription, checked_at=checked_at, now=now)
    elif subscription.expires_at is None:
        # The period was counted here when the order was new; it is not counted twice.
        return PurchaseChange.NONE
    else:
        _extend_purchase(
            purchase,
            subscription,
            subscription.expires_at,
            checked_at=checked_at,
            now=now,
        )

    # The store calls both tokens active for a while; only the replacement counts.
    if subscription.replaced_token:
        Purchase.objects.filter(
            store=subscription.store,
            token_hash=subscription.replaced_token_hash,
            replaced_at=None,
        ).update(is_active=False, auto_renew=False, replaced_at=now)
    return PurchaseChange.CREATED if purchase is None else PurchaseChange.UPDATED


def _extend_purchase(
    purchase: Purchase,
    subscription: Subscription,
    expires_at: datetime,
    *,
    checked_at: datetime,
    now: datetime,
) -> None:
    """Write what the store says of a purchase that is recorded and entitles."""
    # An inactive purchase (an administrator has set the plan since) becomes active
    # again only if the store has granted time beyond what was recorded.
    is_extended = expires_at > max(purchase.expires_at, now)
    purchase.is_active = purchase.replaced_at is None and (
        purchase.is_active or is_extended
    )
    purchase.expires_at = expires_at
    purchase.checked_at = checked_at
    purchase.auto_renew = subscription.auto_renew
    # Else a response from before would let the same purchase be acknowledged twice.
    is_acknowledged_since = (
        purchase.acknowledged_at is not None and purchase.acknowledged_at > checked_at
    )
    purchase.is_acknowledged = subscription.is_acknowledged or is_acknowledged_since
    purchase.state = subscription.state[:STATE_LENGTH]
    # With the current key, also if that of before is lost.
    purchase.sealed_token = seal_token(subscription.token, purchase.token_hash)
    # Not all fields: the job that reads orders writes others without a lock.
    purchase.save(update_fields=EXTENDED_FIELDS)


def read_purchase_token(purchase: Purchase) -> str:
    """Return the token; raise `ProviderUnavailableError` if no key opens it.

    The store cannot be asked then, which must end no plan. It heals when the member
    presents the purchase again.
    """
    try:
        return purchase.purchase_token
    except UnsealingError:
        logger.error("token of purchase %s cannot be decrypted", purchase.pk)
        raise ProviderUnavailableError from None


@retry_on_conflict
def refresh_purchase(purchase: Purchase, checked_at: datetime) -> None:
    """Ask the store for the current state of a purchase and update the plan.

    Call outside of transactions. Raises `ProviderUnavailableError`, or
    `PurchaseAlreadyUsedError` if the store names another account now.
    """
    subscription: Subscription | None
    try:
        token = read_purchase_token(purchase)
        subscription = load_verifier().fetch_subscription(token)
    except InvalidPurchaseError:
        subscription = None
    now = timezone.now()
    with transaction.atomic():
        try:
            member = lock_member(purchase.member_id)
        except Member.DoesNotExist:
            return
        if subscription is not None and subscription.is_entitled:
            change = record_purchase(
                member, subscription, checked_at=checked_at, now=now
            )
        else:
            lock_tokens(purchase.token_hash)
            change = _expire_token(
                purchase.store, purchase.token_hash, checked_at=checked_at, now=now
            )
        if change is not PurchaseChange.NONE:
            recompute_plan(member, now)
            save_plan(member)


def _expire_token(
    store: str, token_hash: str, *, checked_at: datetime, now: datetime
) -> PurchaseChange:
    """End the purchases of a token that the store no longer honors.

    The caller has locked the member and the token, and updates the plan if there was a
    change.
    """
    purchases = Purchase.objects.filter(store=store, token_hash=token_hash)
    if purchases.filter(checked_at__gt=checked_at).exists():
        return PurchaseChange.NONE
    # What the store ends before its time counts as refunded until its order is read
    # (`billing.orders`); what another purchase has replaced does not.
    is_ended_early = Q(expires_at__gt=now, replaced_at=None)
    purchases.update(
        refunded_at=Case(
            When(is_ended_early & Q(refunded_at=None), then=now), default="refunded_at"
        ),
        order_due_since=Case(When(is_ended_early, then=now), default="order_due_since"),
        expires_at=Least("expires_at", now),
        auto_renew=False,
        checked_at=checked_at,
    )
    return PurchaseChange.UPDATED


def recompute_plan(member: Member, now: datetime) -> None:
    """Set the plan fields to what the longest active purchase grants, unsaved.

    A PREMIUM plan without an expiry was set by an administrator and keeps having none;
    product and auto-renew of a purchase are recorded beside it. A purchase that has
    lapsed but renews itself counts, since the store decides about it (spec 6.1).
    """
    is_permanent = member.plan == Member.Plan.PREMIUM and member.plan_expires_at is None
    best = list_active_purchases(member).first()
    if best is not None and (best.auto_renew or best.expires_at > now):
        member.plan = Member.Plan.PREMIUM
        member.plan_expires_at = None if is_permanent else best.expires_at
        member.plan_product = best.product_id
        member.plan_auto_renew = best.auto_renew
    else:
        member.plan = Member.Plan.PREMIUM if is_permanent else Member.Plan.FREE
        member.plan_expires_at = None
        member.plan_product = ""
        member.plan_auto_renew = False


def save_plan(member: Member) -> None:
    """Save the plan fields; they take effect in all live sessions after the commit."""
    member.save_fields(*PLAN_FIELDS)
    invalidate_member_session_cache(member.pk)
    log_security_event(SecurityEvent.PLAN_CHANGED, member.pk, plan=member.plan)


def list_active_purchases(member: Member) -> QuerySet[Purchase]:
    """Return the purchases that the plan follows, the longest first."""
    purchases = Purchase.objects.filter(member=member, is_active=True)
    return purchases.order_by("-expires_at", "-id")


def hash_order(store: str, order_id: str, secret: str | bytes | None = None) -> str:
    """Return the keyed hash by which the order of a deleted member is recognized.

    The key is SECRET_KEY unless `secret` is given.
    """
    value = f"{store}:{order_id}"
    return salted_hmac(_ORDER_HASH_SALT, value, secret, algorithm="sha256").hexdigest()


def _require_token_owner(member: Member, subscription: Subscription) -> None:
    """Raise `PurchaseAlreadyUsedError` if the token is not the member's to present.

    A token belongs to the first member who presented it, over all renewals, and to the
    account for which the app started the purchase.
    """
    account_id = subscription.obfuscated_account_id
    if account_id and not is_account_id_of(member, account_id):
        raise PurchaseAlreadyUsedError
    hashes = [subscription.token_hash, subscription.replaced_token_hash]
    purchases = Purchase.objects.filter(
        store=subscription.store, token_hash__in=[each for each in hashes if each]
    )
    if purchases.exclude(member=member).exists():
        raise PurchaseAlreadyUsedError


def _create_purchase(
    member: Member, subscription: Subscription, *, checked_at: datetime, now: datetime
) -> None:
    """Insert the purchase of an order that is not recorded yet."""
    store, token_hash = subscription.store, subscription.token_hash
    # A token that was replaced by another grants nothing, not even by a new order.
    if Purchase.objects.filter(store=store, replaces_token_hash=token_hash).exists():
        raise PurchaseAlreadyUsedError
    expires_at = subscription.expires_at
    if expires_at is None:
        # The store names no expiry: one period from the later of now and the current
        # expiry, in the home time zone (spec 6.3).
        start = now
        if member.plan == Member.Plan.PREMIUM and member.plan_expires_at:
            start = max(now, member.plan_expires_at)
        home = timezone.get_default_timezone()
        expires_at = add_period(start, subscription.product.period, home)
    if expires_at <= now:
        raise InvalidPurchaseError

    # Of all orders of a token only the newest renews itself.
    Purchase.objects.filter(store=store, token_hash=token_hash).update(
        auto_renew=False, checked_at=checked_at
    )
    # The unique order decides between two members who present it at the same time.
    with (
        raise_on_constraint_violation(
            "iap_purchase_unique_order", PurchaseAlreadyUsedError()
        ),
        transaction.atomic(),
    ):
        Purchase.objects.create(
            member=member,
            store=store,
            order_id=subscription.order_id,
            sealed_token=seal_token(subscription.token, token_hash),
            token_hash=token_hash,
            replaces_token_hash=subscription.replaced_token_hash,
            product_id=subscription.product.id,
            state=subscription.state[:STATE_LENGTH],
            purchased_at=now,
            expires_at=expires_at,
            auto_renew=subscription.auto_renew,
            is_acknowledged=subscription.is_acknowledged,
            is_out_of_app=subscription.is_out_of_app,
            checked_at=checked_at,
            paid_amount=settings.PREMIUM_PRICES[subscription.product.id],
            paid_currency=settings.HOME_CURRENCY,
            order_due_since=now,
        )
    # Check after the INSERT: it has waited for an account deletion that was about to
    # turn the same order into a redeemed one.
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    hashes = [hash_order(store, subscription.order_id, secret) for secret in secrets]
    if RedeemedOrder.objects.filter(order_hash__in=hashes).exists():
        raise PurchaseAlreadyUsedError


def lock_tokens(*token_hashes: str) -> None:
    """Lock purchase tokens until the transaction ends; empty hashes are skipped."""
    # In the order of the keys, so that two transactions cannot deadlock.
    keys = sorted(int(token_hash[:7], 16) for token_hash in token_hashes if token_hash)
    for key in keys:
        advisory_xact_lock(AdvisoryLock.PURCHASE_TOKEN, key)
