"""The effect of a store's response on recorded purchases. Pure."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from django.utils import timezone

from billing.errors import InvalidPurchaseError, PurchaseAlreadyUsedError
from billing.models import STATE_LENGTH, Purchase
from billing.products import add_period
from billing.stores import Subscription


class PurchaseChange(Enum):
    # The response is old, or says nothing new.
    NONE = "none"
    UPDATED = "updated"
    CREATED = "created"
    # The store no longer honors the token.
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class KnownPurchases:
    purchase: Purchase | None = None
    is_another_members: bool = False
    checked_at: datetime | None = None
    is_replaced: bool = False
    plan_expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    change: PurchaseChange
    values: dict[str, Any] = field(default_factory=dict)


def decide_purchase(
    known: KnownPurchases,
    subscription: Subscription,
    *,
    checked_at: datetime,
    now: datetime,
) -> Decision:
    """Return the effect of a response of `checked_at` (spec 6.3)."""
    if known.is_another_members:
        raise PurchaseAlreadyUsedError
    if known.checked_at is not None and known.checked_at > checked_at:
        return Decision(PurchaseChange.NONE)
    purchase, expires_at = known.purchase, subscription.expires_at
    if not subscription.is_entitled:
        if purchase is None:
            raise InvalidPurchaseError
        return Decision(PurchaseChange.ENDED)
    values = {
        "auto_renew": subscription.auto_renew,
        "state": subscription.state[:STATE_LENGTH],
        "checked_at": checked_at,
    }

    if purchase is None:
        # A replaced token grants nothing, even by a new order.
        if known.is_replaced:
            raise PurchaseAlreadyUsedError
        if expires_at is None:
            # Without an expiry a period counts from the current expiry or now.
            start = max(now, known.plan_expires_at or now)
            home = timezone.get_default_timezone()
            expires_at = add_period(start, subscription.product.period, home)
        if expires_at <= now:
            raise InvalidPurchaseError
        values |= {
            "expires_at": expires_at,
            "is_acknowledged": subscription.is_acknowledged,
        }
        return Decision(PurchaseChange.CREATED, values)

    if expires_at is None:
        # The period is counted already.
        return Decision(PurchaseChange.NONE)
    # An administrator has set the plan of an inactive purchase. Only more time
    # from the store makes it active again.
    is_extended = expires_at > max(purchase.expires_at, now)
    # A stale response must not clear the flag.
    is_acknowledged_since = (
        purchase.acknowledged_at is not None and purchase.acknowledged_at > checked_at
    )
    values |= {
        "expires_at": expires_at,
        "is_active": purchase.replaced_at is None
        and (purchase.is_active or is_extended),
        "is_acknowledged": subscription.is_acknowledged or is_acknowledged_since,
    }
    return Decision(PurchaseChange.UPDATED, values)
