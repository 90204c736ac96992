"""Revenue of subscriptions, from the recorded purchases without tests.

The purchases of one token are a subscription; each renewal is a purchase of its own.
Amounts come from the store, or before its answer from the settings. Currencies are not
converted.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from django.conf import settings
from django.utils import timezone

from administration.daily_metrics import WINDOW_DAYS, list_days
from billing.products import MONTHS_BY_PERIOD, PRODUCTS, format_amount
from billing.stores import TEST_STORE
from core.db.rows import fetch_all

# A lapsed subscription that renews itself counts: the store decides about it.
_RUNNING = """
    SELECT product_id AS product, paid_currency AS currency, count(*) AS running,
        count(*) FILTER (WHERE NOT auto_renew) AS canceled,
        coalesce(sum(paid_amount), 0) AS paid
    FROM (
        SELECT DISTINCT ON (store, token_hash)
            product_id, auto_renew, paid_amount, paid_currency
        FROM iap_purchase
        WHERE is_active AND store <> %(test)s
            AND (expires_at > %(now)s OR auto_renew)
        ORDER BY store, token_hash, auto_renew DESC, expires_at DESC
    ) subscriptions
    GROUP BY 1, 2 ORDER BY 1, 2
"""
_BOUGHT_BY_DAY = """
    SELECT (purchased_at AT TIME ZONE %(zone)s)::date AS day, count(*) AS bought,
        count(*) FILTER (
            WHERE replaces_token_hash <> '' OR EXISTS (
                SELECT FROM iap_purchase earlier
                WHERE earlier.token_hash = purchase.token_hash
                    AND earlier.store = purchase.store AND earlier.id < purchase.id
            )
        ) AS renewed
    FROM iap_purchase purchase
    WHERE purchased_at >= %(since)s AND purchased_at <= %(now)s AND store <> %(test)s
    GROUP BY 1 ORDER BY 1
"""
_ENDED = """
    SELECT count(*) AS ended
    FROM iap_purchase purchase
    WHERE is_active AND NOT auto_renew AND store <> %(test)s
        AND expires_at >= %(since)s AND expires_at <= %(now)s
        AND NOT EXISTS (
            SELECT FROM iap_purchase later
            WHERE later.token_hash = purchase.token_hash
                AND later.store = purchase.store AND later.id > purchase.id
        )
"""
_RECEIVED = """
    SELECT paid_currency AS currency, sum(paid_amount) AS amount,
        count(*)::int AS orders
    FROM iap_purchase
    WHERE purchased_at >= %(since)s AND purchased_at <= %(now)s
        AND store <> %(test)s AND paid_amount IS NOT NULL
    GROUP BY 1 ORDER BY 1
"""
# A refund without an amount counts the whole payment.
_REFUNDED = """
    SELECT paid_currency AS currency,
        coalesce(sum(coalesce(refunded_amount, paid_amount)), 0) AS amount,
        count(*)::int AS orders
    FROM iap_purchase
    WHERE refunded_at >= %(since)s AND refunded_at <= %(now)s AND store <> %(test)s
    GROUP BY 1 ORDER BY 1
"""

# Amounts by currency, each in its main unit.
Amounts = Mapping[str, Decimal]


class RunningProduct(NamedTuple):
    """Running subscriptions that were paid in one currency.

    `canceled` will not renew; `paid` is the price of all current periods.
    """

    product: str
    currency: str
    running: int
    canceled: int
    paid: Decimal


class BoughtDay(NamedTuple):
    """Purchases of a day, and the renewals among them."""

    day: date
    bought: int
    renewed: int


class EndedCount(NamedTuple):
    ended: int


class OrderTotal(NamedTuple):
    """Paid or refunded orders in one currency."""

    currency: str
    amount: Decimal
    orders: int


@dataclass(frozen=True, slots=True)
class PurchaseSeries:
    """Purchases of each day, and the renewals among them."""

    bought: list[int]
    renewed: list[int]

    @property
    def new(self) -> int:
        return sum(self.bought) - sum(self.renewed)


def list_running_products(now: datetime) -> list[RunningProduct]:
    return fetch_all(_RUNNING, {"now": now, "test": TEST_STORE}, RunningProduct)


def get_purchase_series(now: datetime) -> PurchaseSeries:
    days = list_days(timezone.localdate(now))
    bought, renewed = dict.fromkeys(days, 0), dict.fromkeys(days, 0)
    params = {"zone": settings.TIME_ZONE} | _window(now)
    for row in fetch_all(_BOUGHT_BY_DAY, params, BoughtDay):
        # The window begins in the middle of a day that is not shown.
        if row.day in bought:
            bought[row.day], renewed[row.day] = row.bought, row.renewed
    return PurchaseSeries(list(bought.values()), list(renewed.values()))


def count_ended(now: datetime) -> int:
    """Count subscriptions that ended within the window without a successor."""
    (count,) = fetch_all(_ENDED, _window(now), EndedCount)
    return count.ended


def list_received(now: datetime) -> list[OrderTotal]:
    return fetch_all(_RECEIVED, _window(now), OrderTotal)


def list_refunded(now: datetime) -> list[OrderTotal]:
    return fetch_all(_REFUNDED, _window(now), OrderTotal)


def sum_amounts(totals: list[OrderTotal]) -> Amounts:
    return {row.currency: row.amount for row in totals}


def monthly_revenue(running: list[RunningProduct]) -> Amounts:
    """Return the monthly recurring revenue by currency, not rounded.

    A yearly payment counts a twelfth. A canceled subscription counts until it ends.
    """
    months = {product.id: MONTHS_BY_PERIOD[product.period] for product in PRODUCTS}
    totals: dict[str, Decimal] = defaultdict(Decimal)
    for row in running:
        if row.product in months:
            totals[row.currency] += row.paid / months[row.product]
    return totals


def format_amounts(amounts: Amounts) -> str:
    """Return amounts as text, the home currency first, rounded half up."""
    home = settings.HOME_CURRENCY
    own = amounts.get(home, Decimal(0)).quantize(Decimal(1), ROUND_HALF_UP)
    others = {
        currency: amount
        for currency, amount in sorted(amounts.items())
        if amount and currency != home
    }
    shown = others if others and not own else {home: own} | others
    return " + ".join(
        format_amount(amount, currency) for currency, amount in shown.items()
    )


def _window(now: datetime) -> dict[str, object]:
    since = now - timedelta(days=WINDOW_DAYS)
    return {"since": since, "now": now, "test": TEST_STORE}
