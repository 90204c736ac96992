"""The effect of a store's response on recorded purchases, as a table (spec 6.3)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from billing.decisions import KnownPurchases, PurchaseChange, decide_purchase
from billing.errors import InvalidPurchaseError, PurchaseAlreadyUsedError
from billing.models import Purchase
from billing.products import MONTHLY
from billing.stores import Subscription
from core.errors import DomainError

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
DAY, MONTH = timedelta(days=1), timedelta(days=28)
CHECKED = NOW - timedelta(seconds=2)
OLD = Purchase(expires_at=NOW + DAY, is_active=True)
INACTIVE = Purchase(expires_at=NOW + DAY, is_active=False)
REPLACED = Purchase(expires_at=NOW + DAY, is_active=False, replaced_at=NOW - DAY)
NOTED = Purchase(expires_at=NOW + DAY, is_active=True, acknowledged_at=NOW)
NOTED_BEFORE = Purchase(
    expires_at=NOW + DAY, is_active=True, acknowledged_at=CHECKED - DAY
)
NONE, UPDATED = PurchaseChange.NONE, PurchaseChange.UPDATED
CREATED, ENDED = PurchaseChange.CREATED, PurchaseChange.ENDED
ENDS = {"expires_at": NOW + 2 * DAY}
UNENTITLED: dict[str, Any] = {"is_entitled": False}

# What is recorded, the response, the change, and columns that it writes.
DECISIONS: list[
    tuple[dict[str, Any], dict[str, Any], PurchaseChange, dict[str, Any]]
] = [
    ({}, {}, CREATED, {"expires_at": NOW + MONTH}),
    ({}, ENDS, CREATED, ENDS | {"auto_renew": True, "checked_at": CHECKED}),
    ({}, {"is_acknowledged": False}, CREATED, {"is_acknowledged": False}),
    ({}, {"state": "s" * 200}, CREATED, {"state": "s" * 100}),
    ({"plan_expires_at": NOW + DAY}, {}, CREATED, {"expires_at": NOW + DAY + MONTH}),
    ({"plan_expires_at": NOW - DAY}, {}, CREATED, {"expires_at": NOW + MONTH}),
    ({"checked_at": CHECKED}, ENDS, CREATED, ENDS),
    ({"checked_at": CHECKED + DAY}, ENDS, NONE, {}),
    ({"checked_at": CHECKED + DAY}, UNENTITLED, NONE, {}),
    ({"purchase": OLD}, {}, NONE, {}),
    ({"purchase": OLD}, UNENTITLED, ENDED, {}),
    ({"purchase": OLD, "checked_at": CHECKED + DAY}, ENDS, NONE, {}),
    ({"purchase": OLD}, ENDS, UPDATED, ENDS | {"is_active": True}),
    ({"purchase": OLD}, {"expires_at": NOW - DAY}, UPDATED, {"is_active": True}),
    ({"purchase": OLD, "is_replaced": True}, ENDS, UPDATED, ENDS),
    ({"purchase": INACTIVE}, ENDS, UPDATED, {"is_active": True}),
    ({"purchase": INACTIVE}, {"expires_at": NOW + DAY}, UPDATED, {"is_active": False}),
    ({"purchase": REPLACED}, ENDS, UPDATED, {"is_active": False}),
    (
        {"purchase": NOTED},
        ENDS | {"is_acknowledged": False},
        UPDATED,
        {"is_acknowledged": True},
    ),
    (
        {"purchase": NOTED_BEFORE},
        ENDS | {"is_acknowledged": False},
        UPDATED,
        {"is_acknowledged": False},
    ),
]
REFUSALS: list[tuple[dict[str, Any], dict[str, Any], type[DomainError]]] = [
    ({"is_another_members": True}, {}, PurchaseAlreadyUsedError),
    ({"is_another_members": True}, UNENTITLED, PurchaseAlreadyUsedError),
    ({"is_another_members": True, "purchase": OLD}, {}, PurchaseAlreadyUsedError),
    ({"is_replaced": True}, ENDS, PurchaseAlreadyUsedError),
    ({}, UNENTITLED, InvalidPurchaseError),
    ({}, {"expires_at": NOW}, InvalidPurchaseError),
]


def decide(known: dict[str, Any], response: dict[str, Any]) -> Any:
    values: dict[str, Any] = {"auto_renew": True, **response}
    subscription = Subscription("store", "token", "order", MONTHLY, **values)
    return decide_purchase(
        KnownPurchases(**known), subscription, checked_at=CHECKED, now=NOW
    )


@pytest.mark.parametrize(("known", "response", "change", "values"), DECISIONS)
def test_response_changes(
    known: dict[str, Any],
    response: dict[str, Any],
    change: PurchaseChange,
    values: dict[str, Any],
) -> None:
    decision = decide(known, response)
    assert decision.change is change
    assert values.items() <= decision.values.items()


@pytest.mark.parametrize(("known", "response", "error"), REFUSALS)
def test_response_is_refused(
    known: dict[str, Any], response: dict[str, Any], error: type[DomainError]
) -> None:
    with pytest.raises(error):
        decide(known, response)
