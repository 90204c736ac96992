"""Purchase rows, and the plan that follows from them.

Writers lock the member, then the tokens. `checked_at` is the time of a request to the
store: a late response never replaces a newer response.
"""

import logging
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Case, Count, Max, Q, QuerySet, When
from django.db.models.functions import Least
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models import Member
from accounts.security.events import SecurityEvent, log_security_event
from accounts.sessions.store import invalidate_member_session_cache
from billing.account_tokens import is_account_id_of
from billing.decisions import KnownPurchases, PurchaseChange, decide_purchase
from billing.errors import InvalidPurchaseError, PurchaseAlreadyUsedError
from billing.models import Purchase, RedeemedOrder, seal_token
from billing.stores import Subscription, load_verifier
from core.db.locks import AdvisoryLock, advisory_xact_lock
from core.db.transactions import retry_on_conflict
from core.errors import ProviderUnavailableError, raise_on_constraint_violation
from core.sealing import UnsealingError

logger = logging.getLogger(__name__)

PLAN_FIELDS = ("plan", "plan_expires_at", "plan_product", "plan_auto_renew")
# Another value would free all redeemed orders.
_ORDER_HASH_SALT = "billing.models.RedeemedOrder"


def lock_member(member_id: int) -> Member:
    members = Member.objects.select_for_update(no_key=True).defer("profile_image")
    return members.get(pk=member_id)


@retry_on_conflict
@transaction.atomic
def apply_subscription(
    member_id: int, subscription: Subscription, checked_at: datetime
) -> tuple[Member, PurchaseChange]:
    member, now = lock_member(member_id), timezone.now()
    store, token_hash = subscription.store, subscription.token_hash
    lock_tokens(token_hash, subscription.replaced_token_hash)
    account_id = subscription.obfuscated_account_id
    if account_id and not is_account_id_of(member, account_id):
        raise PurchaseAlreadyUsedError

    known = load_known_purchases(member, subscription)
    decision = decide_purchase(known, subscription, checked_at=checked_at, now=now)
    if decision.change is PurchaseChange.NONE:
        return member, decision.change

    of_token = Purchase.objects.filter(store=store, token_hash=token_hash)
    if decision.change is PurchaseChange.ENDED:
        end_purchases(of_token, checked_at=checked_at, now=now)
    else:
        values = decision.values | {
            "sealed_token": seal_token(subscription.token, token_hash)
        }
        if known.purchase is not None:
            Purchase.objects.filter(pk=known.purchase.pk).update(**values)
        else:
            of_token.update(auto_renew=False, checked_at=checked_at)
            # The constraint decides between members.
            with (
                raise_on_constraint_violation(
                    "iap_purchase_unique_order", PurchaseAlreadyUsedError()
                ),
                transaction.atomic(),
            ):
                Purchase.objects.create(
                    member=member, **_list_order_columns(subscription, now), **values
                )
            # The INSERT has waited for a concurrent account deletion.
            if is_redeemed(store, subscription.order_id):
                raise PurchaseAlreadyUsedError
        # The store calls both tokens active for a while.
        if subscription.replaced_token:
            Purchase.objects.filter(
                store=store,
                token_hash=subscription.replaced_token_hash,
                replaced_at=None,
            ).update(is_active=False, auto_renew=False, replaced_at=now)
    recompute_plan(member, now)
    save_plan(member)
    return member, decision.change


def _list_order_columns(subscription: Subscription, now: datetime) -> dict[str, Any]:
    return {
        "store": subscription.store,
        "order_id": subscription.order_id,
        "token_hash": subscription.token_hash,
        "replaces_token_hash": subscription.replaced_token_hash,
        "product_id": subscription.product.id,
        "purchased_at": now,
        "is_out_of_app": subscription.is_out_of_app,
        "paid_amount": settings.PREMIUM_PRICES[subscription.product.id],
        "paid_currency": settings.HOME_CURRENCY,
        "order_due_since": now,
    }


def load_known_purchases(member: Member, subscription: Subscription) -> KnownPurchases:
    """Return the facts; member and tokens are locked."""
    of_store = Purchase.objects.filter(store=subscription.store)
    # This row's lock alone guards acknowledgements.
    locked = of_store.select_for_update(no_key=True)
    purchase = locked.filter(order_id=subscription.order_id).first()
    token_hash = subscription.token_hash
    presented = Q(token_hash=token_hash)
    if subscription.replaced_token:
        presented |= Q(token_hash=subscription.replaced_token_hash)
    replacing = Q(replaces_token_hash=token_hash)
    facts = of_store.filter(presented | replacing).aggregate(
        others=Count("pk", filter=presented & ~Q(member=member)),
        checked_at=Max("checked_at", filter=Q(token_hash=token_hash)),
        replacing=Count("pk", filter=replacing),
    )
    return KnownPurchases(
        purchase=purchase,
        is_another_members=facts["others"] > 0
        or (purchase is not None and purchase.member_id != member.pk),
        checked_at=facts["checked_at"],
        is_replaced=facts["replacing"] > 0,
        plan_expires_at=member.plan_expires_at
        if member.plan == Member.Plan.PREMIUM
        else None,
    )


def read_purchase_token(purchase: Purchase) -> str:
    """Return the token; raise `ProviderUnavailableError` if no key opens it."""
    try:
        return purchase.purchase_token
    except UnsealingError:
        logger.error("token of purchase %s cannot be decrypted", purchase.pk)
        raise ProviderUnavailableError from None


def refresh_purchase(purchase: Purchase, checked_at: datetime) -> None:
    """Ask the store, outside of transactions, and update the plan."""
    subscription: Subscription | None
    try:
        token = read_purchase_token(purchase)
        subscription = load_verifier().fetch_subscription(token)
    except InvalidPurchaseError:
        subscription = None
    with suppress(Member.DoesNotExist):
        if subscription is not None and subscription.is_entitled:
            apply_subscription(purchase.member_id, subscription, checked_at)
        else:
            _end_token(purchase, checked_at)


@retry_on_conflict
@transaction.atomic
def _end_token(purchase: Purchase, checked_at: datetime) -> None:
    member, now = lock_member(purchase.member_id), timezone.now()
    lock_tokens(purchase.token_hash)
    purchases = Purchase.objects.filter(
        store=purchase.store, token_hash=purchase.token_hash
    )
    if not purchases.filter(checked_at__gt=checked_at).exists():
        end_purchases(purchases, checked_at=checked_at, now=now)
        recompute_plan(member, now)
        save_plan(member)


def end_purchases(
    purchases: QuerySet[Purchase], *, checked_at: datetime, now: datetime
) -> None:
    """End purchases; the caller has locked them and updates the plan."""
    # An early end counts as a refund until the order is read (`billing.orders`),
    # unless another purchase has replaced it.
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


def recompute_plan(member: Member, now: datetime) -> None:
    """Set the plan by the longest active purchase, unsaved (spec 6.1).

    An administrator's PREMIUM plan without expiry stays. A lapsed purchase with
    auto-renew counts until the store ends it.
    """
    is_permanent = member.plan == Member.Plan.PREMIUM and member.plan_expires_at is None
    best = list_active_purchases(member).first()
    if best is not None and (best.auto_renew or best.expires_at > now):
        member.plan = Member.Plan.PREMIUM
        member.plan_expires_at = None if is_permanent else best.expires_at
        member.plan_product = best.product_id
        member.plan_auto_renew = best.auto_renew
    else:
        plan = Member.Plan.PREMIUM if is_permanent else Member.Plan.FREE
        clear_subscription(member, plan)


def clear_subscription(member: Member, plan: str) -> None:
    """Set a plan without expiry, unsaved."""
    member.plan, member.plan_expires_at = plan, None
    member.plan_product, member.plan_auto_renew = "", False


def save_plan(member: Member) -> None:
    member.save_fields(*PLAN_FIELDS)
    invalidate_member_session_cache(member.pk)
    log_security_event(SecurityEvent.PLAN_CHANGED, member.pk, plan=member.plan)


def list_active_purchases(member: Member) -> QuerySet[Purchase]:
    purchases = Purchase.objects.filter(member=member, is_active=True)
    return purchases.order_by("-expires_at", "-id")


def hash_order(store: str, order_id: str, secret: str | bytes | None = None) -> str:
    """Return the keyed hash of an order; the key is SECRET_KEY."""
    value = f"{store}:{order_id}"
    return salted_hmac(_ORDER_HASH_SALT, value, secret, algorithm="sha256").hexdigest()


def is_redeemed(store: str, order_id: str) -> bool:
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    hashes = [hash_order(store, order_id, secret) for secret in secrets]
    return RedeemedOrder.objects.filter(order_hash__in=hashes).exists()


def lock_tokens(*token_hashes: str) -> None:
    """Lock tokens in the transaction."""
    # Sorted keys cannot deadlock.
    keys = sorted(int(token_hash[:7], 16) for token_hash in token_hashes if token_hash)
    for key in keys:
        advisory_xact_lock(AdvisoryLock.PURCHASE_TOKEN, key)
