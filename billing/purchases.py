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
from accounts.sessions import announce_change
from billing.errors import PurchaseAlreadyUsed, PurchaseInvalid
from billing.models import Purchase, SpentOrder
from billing.products import extend
from billing.stores import Subscription, digest_token, load_verifier
from core.errors import refuse_when_broken

TOKEN_LOCKS = 0x4249
"""The first key of this module's advisory locks; the second is of the token."""
PLAN_FIELDS = ("plan", "plan_expires_at", "plan_product", "plan_auto_renew")
_SPENT = "billing.models.SpentOrder"


def lock_member(member_id: int) -> Member:
    """The member as of now; others that change the plan wait. `DoesNotExist`."""
    members = Member.objects.select_for_update(no_key=True).defer("profile_image")
    return members.get(pk=member_id)


def record(
    member: Member, found: Subscription, *, asked_at: datetime, now: datetime
) -> bool:
    """Write down what the store says of a token; the plan follows. True if applied.

    Applied is an order that was not known and gives something. Raises
    `PurchaseAlreadyUsed` when order, token or the token that it replaces belong to
    somebody else, and `PurchaseInvalid` when an unknown order gives nothing.
    """
    _lock_tokens(found.token, found.replaces)
    _refuse_others(member, found)
    orders = Purchase.objects.filter(store=found.store, order_id=found.order_id)
    known = orders.first()
    if known is not None and known.member_id != member.pk:
        raise PurchaseAlreadyUsed
    if _rows_of(found.store, found.token).filter(asked_at__gt=asked_at).exists():
        return False
    if not found.entitled:
        if known is None:
            raise PurchaseInvalid
        end_token(member, found.store, found.token, asked_at=asked_at, now=now)
        return False
    if known is not None:
        _refresh(member, known, found, asked_at=asked_at, now=now)
        return False
    _add(member, found, asked_at=asked_at, now=now)
    return True


def ask_again(purchase: Purchase, asked_at: datetime) -> None:
    """Ask the store what has become of a purchase, and let the plan follow.

    Call outside of transactions. Raises `ProviderUnavailable`, or
    `PurchaseAlreadyUsed` when the store names somebody else now.
    """
    found: Subscription | None
    try:
        found = load_verifier().look_up(purchase.purchase_token)
    except PurchaseInvalid:
        found = None
    now = timezone.now()
    with transaction.atomic():
        try:
            member = lock_member(purchase.member_id)
        except Member.DoesNotExist:
            return
        if found is not None and found.entitled:
            record(member, found, asked_at=asked_at, now=now)
        else:
            token = purchase.purchase_token
            end_token(member, purchase.store, token, asked_at=asked_at, now=now)


def end_token(
    member: Member, store: str, token: str, *, asked_at: datetime, now: datetime
) -> None:
    """The store gives nothing for this token any more: not beyond this moment."""
    _lock_tokens(token)
    rows = _rows_of(store, token)
    if rows.filter(asked_at__gt=asked_at).exists():
        return
    rows.update(
        expires_at=Least("expires_at", now), auto_renew=False, asked_at=asked_at
    )
    follow_purchases(member, now)


def follow_purchases(member: Member, now: datetime) -> None:
    """Set the plan to what the longest of the counting purchases gives.

    A plan without an expiry was set by an administrator and stays so; what is bought
    on top of it is noted beside it. One that has passed while it renews itself stays,
    since the store decides about it (service.md, Membership plan).
    """
    best = list_counting(member).first()
    permanent = member.plan == Member.Plan.PREMIUM and member.plan_expires_at is None
    if best is not None and (best.auto_renew or best.expires_at > now):
        member.plan = Member.Plan.PREMIUM
        member.plan_expires_at = None if permanent else best.expires_at
        member.plan_product = best.product_id
        member.plan_auto_renew = best.auto_renew
        write_plan(member)
    else:
        plan = Member.Plan.PREMIUM if permanent else Member.Plan.FREE
        clear_plan(member, plan)


def clear_plan(member: Member, plan: str) -> None:
    """This plan, without an expiry and subscription info."""
    member.plan, member.plan_expires_at = plan, None
    member.plan_product, member.plan_auto_renew = "", False
    write_plan(member)


def write_plan(member: Member) -> None:
    """Store the plan; it counts in all live sessions at once."""
    member.store(*PLAN_FIELDS)
    announce_change(member.pk)


def list_counting(member: Member) -> QuerySet[Purchase]:
    """The purchases that the plan follows, the longest first."""
    rows = Purchase.objects.filter(member=member, counts=True)
    return rows.order_by("-expires_at", "-id")


def hash_order(store: str, order_id: str, secret: str | bytes | None = None) -> str:
    """The keyed hash that a deleted member's order leaves."""
    text = f"{store}:{order_id}"
    return salted_hmac(_SPENT, text, secret, algorithm="sha256").hexdigest()


def _refuse_others(member: Member, found: Subscription) -> None:
    """A token belongs to the first member, and to whom the app bought it for."""
    if found.account and found.account not in account_names(member):
        raise PurchaseAlreadyUsed
    tokens = [digest_token(token) for token in (found.token, found.replaces) if token]
    rows = Purchase.objects.filter(store=found.store, token_digest__in=tokens)
    if rows.exclude(member=member).exists():
        raise PurchaseAlreadyUsed


def account_names(member: Member) -> set[str]:
    """How an app may name the member to the store: by id, or its SHA-256 in hex."""
    name = str(member.pk)
    return {name, hashlib.sha256(name.encode()).hexdigest()}


def _add(
    member: Member, found: Subscription, *, asked_at: datetime, now: datetime
) -> None:
    digest = digest_token(found.token)
    if Purchase.objects.filter(store=found.store, replaced_digest=digest).exists():
        raise PurchaseAlreadyUsed
    expires_at = found.expires_at or _count_expiry(member, found, now)
    if expires_at <= now:
        raise PurchaseInvalid
    _rows_of(found.store, found.token).update(auto_renew=False, asked_at=asked_at)
    with (
        refuse_when_broken("iap_purchase_order_once", PurchaseAlreadyUsed()),
        transaction.atomic(),
    ):
        Purchase.objects.create(
            member=member,
            store=found.store,
            order_id=found.order_id,
            purchase_token=found.token,
            token_digest=digest,
            replaced_digest=digest_token(found.replaces),
            product_id=found.product.id,
            purchased_at=now,
            expires_at=expires_at,
            asked_at=asked_at,
            **_words_of(found),
        )
    _refuse_spent(found)
    _retire(found, now)
    follow_purchases(member, now)


def _count_expiry(member: Member, found: Subscription, now: datetime) -> datetime:
    """A month or year from the later of now and the current expiry."""
    start = now
    if member.plan == Member.Plan.PREMIUM and member.plan_expires_at:
        start = max(now, member.plan_expires_at)
    return extend(start, found.product.period, timezone.get_default_timezone())


def _refresh(
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
    for name, value in _words_of(found).items():
        setattr(known, name, value)
    known.save()
    _retire(found, now)
    follow_purchases(member, now)


def _words_of(found: Subscription) -> dict[str, Any]:
    return {
        "auto_renew": found.auto_renew,
        "acknowledged": found.acknowledged,
        "state": found.state[:100],
    }


def _refuse_spent(found: Subscription) -> None:
    """Asked after the insert: it waited for a deletion of the order under way."""
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    hashes = [hash_order(found.store, found.order_id, secret) for secret in secrets]
    if SpentOrder.objects.filter(digest__in=hashes).exists():
        raise PurchaseAlreadyUsed


def _retire(found: Subscription, now: datetime) -> None:
    """The replaced token gives nothing beside its replacement, though both run."""
    if found.replaces:
        _rows_of(found.store, found.replaces).filter(replaced_at=None).update(
            counts=False, auto_renew=False, replaced_at=now
        )


def _rows_of(store: str, token: str) -> QuerySet[Purchase]:
    return Purchase.objects.filter(store=store, token_digest=digest_token(token))


def _lock_tokens(*tokens: str) -> None:
    """Whoever records one of these tokens waits for the end of the transaction."""
    keys = sorted(int(digest_token(token)[:7], 16) for token in tokens if token)
    with connection.cursor() as cursor:
        for key in keys:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [TOKEN_LOCKS, key])
