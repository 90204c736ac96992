"""Orders of purchases: the amounts paid and refunded, as the store reports them.

A purchase is recorded with the price of the settings. The hourly job then reads its
order, and again after the store has ended the purchase early, or has voided it.
"""

import logging
from datetime import datetime

from django.db.models import QuerySet

from billing.errors import InvalidPurchaseError
from billing.models import Purchase
from billing.stores import load_verifier
from core.errors import ProviderUnavailableError

logger = logging.getLogger(__name__)

BATCH_SIZE = 1_000
# The store is taken to be unavailable then, and is asked again by the next run.
MAX_CONSECUTIVE_FAILURES = 3


def request_orders(purchases: QuerySet[Purchase], now: datetime) -> None:
    """Have the orders of purchases read by the next run of the job."""
    purchases.update(order_due_since=now)


def record_orders() -> int:
    """Read the orders that are due at the store; return their number.

    An order that the store does not know, or not yet, keeps what is recorded. Without a
    response of the store the rest waits for the next run: revenue is then shown at the
    prices of the settings, and nothing that members see depends on it.
    """
    verifier = load_verifier()
    if not verifier.can_refresh:
        return 0
    due = Purchase.objects.filter(store=verifier.store).exclude(order_due_since=None)
    recorded = failed_in_a_row = 0
    # In random order, so that orders that always fail do not block the others.
    for purchase in list(due.order_by("?")[:BATCH_SIZE]):
        values: dict[str, object] = {}
        try:
            order = verifier.fetch_order(purchase.order_id)
        except InvalidPurchaseError:
            logger.warning("order of a purchase is unknown to the store")
        except ProviderUnavailableError:
            failed_in_a_row += 1
            if failed_in_a_row == MAX_CONSECUTIVE_FAILURES:
                break
            continue
        else:
            failed_in_a_row = 0
            if order is None:
                continue
            values = {
                "paid_amount": order.paid_amount,
                "paid_currency": order.currency,
                "is_paid_confirmed": True,
                "refunded_at": order.refunded_at,
                "refunded_amount": order.refunded_amount if order.refunded_at else None,
            }
        # Not if the order has become due again since it was read.
        unchanged = Purchase.objects.filter(
            pk=purchase.pk, order_due_since=purchase.order_due_since
        )
        recorded += unchanged.update(order_due_since=None, **values)
    return recorded
