"""Paid and refunded amounts of orders."""

import logging
from functools import partial

from billing.errors import InvalidPurchaseError
from billing.models import Purchase
from billing.store_runs import ask_store
from billing.stores import StoreVerifier, load_verifier

logger = logging.getLogger(__name__)


def record_orders() -> int:
    """Read due orders; return their number.

    An unknown order keeps its recorded price.
    """
    verifier = load_verifier()
    if not verifier.can_refresh:
        return 0
    due = Purchase.objects.filter(store=verifier.store).exclude(order_due_since=None)
    # Orders that always fail must not block others.
    return ask_store(due.order_by("?"), partial(_record_order, verifier)).processed


def _record_order(verifier: StoreVerifier, purchase: Purchase) -> int:
    values: dict[str, object] = {}
    try:
        order = verifier.fetch_order(purchase.order_id)
    except InvalidPurchaseError:
        logger.warning("order of a purchase is unknown to the store")
    else:
        if order is None:
            return 0
        values = {
            "paid_amount": order.paid_amount,
            "paid_currency": order.currency,
            "is_paid_confirmed": True,
            "refunded_at": order.refunded_at,
            "refunded_amount": order.refunded_amount if order.refunded_at else None,
        }
    # Skip an order that has become due again.
    unchanged = Purchase.objects.filter(
        pk=purchase.pk, order_due_since=purchase.order_due_since
    )
    return unchanged.update(order_due_since=None, **values)
