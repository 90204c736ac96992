"""The record of purchases, and the plan that follows from it.

Whoever writes here holds the member's row and then the tokens, in that order. What a
store said earlier never overwrites what it said later: each row knows when the store
was asked.
"""

import hashlib
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Least
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models import Member
from accounts.sessions import invalidate_member_session_cache
from billing.errors import InvalidPurchaseError, PurchaseAlreadyUsedError
from billing.models import Purchase, RedeemedOrder
from billing.products import add_period
from billing.stores import Subscription, hash_token, load_verifier
from core.errors import raise_on_constraint_violation

PURCHASE_TOKEN_LOCK = 0x4249
"""The first key of this module's advisory locks; the second is of the token."""
PLAN_FIELDS = ("plan", "plan_expires_at", "plan_product", "plan_auto_renew")
_ORDER_HASH_SALT = "billing.models.RedeemedOrder"


def lock_member(member_id: int) -> Member:
    """The member as of now; others that change the plan wait. `DoesNotExist`."""
    members = Member.objects.select_for_update(no_key=True).defer("profile_image")
    return members.get(pk=member_id)


def record_purchase(
    member: Member, found: Subscription, *, asked_at: datetime, now: datetime
) -> bool:
    """Write down what the store says of a token; the plan follows. True if applied.

    Applied is an order that was not known and gives something. Raises
    `PurchaseAlreadyUsedError` when order, token or the token that it replaces belong to
    somebody else, and `InvalidPurchaseError` when an unknown order gives nothing.
    """
    _lock_tokens(found.token, found.replaced_token)
    _require_token_owner(member, found)
    orders = Purchase.objects.filter(store=found.store, order_id=found.order_id)
    known = orders.first()
    if known is not None and known.member_id != member.pk:
        raise PurchaseAlreadyUsedError
    if (
        _purchases_for_token(found.store, found.token)
        .filter(asked_at__gt=asked_at)
        .exists()
    ):
        return False
    if not found.is_entitled:
        if known is None:
            raise InvalidPurchaseError
        expire_token(member, found.store, found.token, asked_at=asked_at, now=now)
        return False
    if known is not None:
        _update_purchase(member, known, found, asked_at=asked_at, now=now)
        return False
    _create_purchase(member, found, asked_at=asked_at, now=now)
    return True


def refresh_purchase(purchase: Purchase, asked_at: datetime) -> None:
    """Ask the store what has become of a purchase, and let the plan follow.

    Call outside of transactions. Raises `ProviderUnavailable`, or
    `PurchaseAlreadyUsedError` when the store names somebody else now.
    """
    found: Subscription | None
    try:
        found = load_verifier().fetch_subscription(purchase.purchase_token)
    except InvalidPurchaseError:
        found = None
    now = timezone.now()
    with transaction.atomic():
        try:
            member = lock_member(purchase.member_id)
        except Member.DoesNotExist:
            return
        if found is not None and found.is_entitled:
            record_purchase(member, found, asked_at=asked_at, now=now)
        else:
            token = purchase.purchase_token
            expire_token(member, purchase.store, token, asked_at=asked_at, now=now)


def expire_token(
    member: Member, store: str, token: str, *, asked_at: datetime, now: datetime
) -> None:
    """The store gives nothing for this token any more: not beyond this moment."""
    _lock_tokens(token)
    rows = _purchases_for_token(store, token)
    if rows.filter(asked_at__gt=asked_at).exists():
        return
    rows.update(
        expires_at=Least("expires_at", now), auto_renew=False, asked_at=asked_at
    )
    recompute_plan(member, now)


def recompute_plan(member: Member, now: datetime) -> None:
    """Set the plan to what the longest of the counting purchases gives.

    A plan without an expiry was set by an administrator and stays so; what is bought
    on top of it is noted beside it. One that has passed while it renews itself stays,
    since the store decides about it (spec 6.1).
    """
    best = list_active_purchases(member).first()
    permanent = member.plan == Member.Plan.PREMIUM and member.plan_expires_at is None
    if best is not None and (best.auto_renew or best.expires_at > now):
        member.plan = Member.Plan.PREMIUM
        member.plan_expires_at = None if permanent else best.expires_at
        member.plan_product = best.product_id
        member.plan_auto_renew = best.auto_renew
        save_plan(member)
    else:
        plan = Member.Plan.PREMIUM if permanent else Member.Plan.FREE
        reset_plan(member, plan)


def reset_plan(member: Member, plan: str) -> None:
    """This plan, without an expiry and subscription info."""
    member.plan, member.plan_expires_at = plan, None
    member.plan_product, member.plan_auto_renew = "", False
    save_plan(member)


def save_plan(member: Member) -> None:
    """Store the plan; it counts in all live sessions at once."""
    member.save_fields(*PLAN_FIELDS)
    invalidate_member_session_cache(member.pk)


def list_active_purchases(member: Member) -> QuerySet[Purchase]:
    """The purchases that the plan follows, the longest first."""
    rows = Purchase.objects.filter(member=member, counts=True)
    return rows.order_by("-expires_at", "-id")


def hash_order(store: str, order_id: str, secret: str | bytes | None = None) -> str:
    """The keyed hash that a deleted member's order leaves."""
    text = f"{store}:{order_id}"
    return salted_hmac(_ORDER_HASH_SALT, text, secret, algorithm="sha256").hexdigest()


def _require_token_owner(member: Member, found: Subscription) -> None:
    """A token belongs to the first member, and to whom the app bought it for."""
    if (
        found.obfuscated_account_id
        and found.obfuscated_account_id not in obfuscated_account_ids(member)
    ):
        raise PurchaseAlreadyUsedError
    tokens = [
        hash_token(token) for token in (found.token, found.replaced_token) if token
    ]
    rows = Purchase.objects.filter(store=found.store, token_digest__in=tokens)
    if rows.exclude(member=member).exists():
        raise PurchaseAlreadyUsedError


def obfuscated_account_ids(member: Member) -> set[str]:
    """How an app may name the member to the store: by id, or its SHA-256 in hex."""
    name = str(member.pk)
    return {name, hashlib.sha256(name.encode()).hexdigest()}


def _create_purchase(
    member: Member, found: Subscription, *, asked_at: datetime, now: datetime
) -> None:
    digest = hash_token(found.token)
    if Purchase.objects.filter(store=found.store, replaced_digest=digest).exists():
        raise PurchaseAlreadyUsedError
    expires_at = found.expires_at or _calculate_expiry(member, found, now)
    if expires_at <= now:
        raise InvalidPurchaseError
    _purchases_for_token(found.store, found.token).update(
        auto_renew=False, asked_at=asked_at
    )
    with (
        raise_on_constraint_violation(
            "iap_purchase_order_once", PurchaseAlreadyUsedError()
        ),
        transaction.atomic(),
    ):
        Purchase.objects.create(
            member=member,
            store=found.store,
            order_id=found.order_id,
            purchase_token=found.token,
            token_digest=digest,
            replaced_digest=hash_token(found.replaced_token),
            product_id=found.product.id,
            purchased_at=now,
            expires_at=expires_at,
            asked_at=asked_at,
            **_subscription_fields(found),
        )
    _require_not_redeemed(found)
    _mark_replaced(found, now)
    recompute_plan(member, now)


def _calculate_expiry(member: Member, found: Subscription, now: datetime) -> datetime:
    """A month or year from the later of now and the current expiry."""
    start = now
    if member.plan == Member.Plan.PREMIUM and member.plan_expires_at:
        start = max(now, member.plan_expires_at)
    return add_period(start, found.product.period, timezone.get_default_timezone())


def _update_purchase(
    member: Member,
    known: Purchase,
    found: Subscription,
    *,
    asked_at: datetime,
    now: datetime,
) -> None:
    """Take in news of a known order; what the store adds to it counts in any case."""
    if found.expires_at is None:
        return
    longer = found.expires_at > max(known.expires_at, now)
    known.counts = known.replaced_at is None and (known.counts or longer)
    known.expires_at, known.asked_at = found.expires_at, asked_at
    for name, value in _subscription_fields(found).items():
        setattr(known, name, value)
    known.save()
    _mark_replaced(found, now)
    recompute_plan(member, now)


def _subscription_fields(found: Subscription) -> dict[str, Any]:
    return {
        "auto_renew": found.auto_renew,
        "acknowledged": found.acknowledged,
        "state": found.state[:100],
    }


def _require_not_redeemed(found: Subscription) -> None:
    """Asked after the insert: it waited for a deletion of the order under way."""
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    hashes = [hash_order(found.store, found.order_id, secret) for secret in secrets]
    if RedeemedOrder.objects.filter(digest__in=hashes).exists():
        raise PurchaseAlreadyUsedError


def _mark_replaced(found: Subscription, now: datetime) -> None:
    """The replaced token gives nothing beside its replacement, though both run."""
    if found.replaced_token:
        _purchases_for_token(found.store, found.replaced_token).filter(
            replaced_at=None
        ).update(counts=False, auto_renew=False, replaced_at=now)


def _purchases_for_token(store: str, token: str) -> QuerySet[Purchase]:
    return Purchase.objects.filter(store=store, token_digest=hash_token(token))


def _lock_tokens(*tokens: str) -> None:
    """Whoever records one of these tokens waits for the end of the transaction."""
    keys = sorted(int(hash_token(token)[:7], 16) for token in tokens if token)
    with connection.cursor() as cursor:
        for key in keys:
            cursor.execute(
                "SELECT pg_advisory_xact_lock(%s, %s)", [PURCHASE_TOKEN_LOCK, key]
            )
