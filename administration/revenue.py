"""Revenue of subscriptions for the dashboard, from the recorded purchases.

Test purchases are left out. A subscription is the purchases of one token; each renewal
is a purchase of its own. Prices are the settings of now, so that a price of the past,
a foreign currency, a trial or a discount is not seen.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.utils import timezone

from administration.daily_metrics import WINDOW_DAYS, list_days
from billing.products import MONTHS_BY_PERIOD, PRODUCTS
from billing.stores import TEST_STORE
from core.db.rows import fetch_all

# A purchase that the store ended before its time is recorded as ending when the store
# was asked, that is so long after the question at most.
MAX_ANSWER_TIME = timedelta(minutes=1)

# A subscription that has lapsed but renews itself counts: the store decides about it.
_RUNNING = """
    SELECT product_id AS product, count(*) AS running,
        count(*) FILTER (WHERE NOT auto_renew) AS canceled
    FROM (
        SELECT DISTINCT ON (store, token_hash) product_id, auto_renew
        FROM iap_purchase
        WHERE is_active AND store <> %(test)s
            AND (expires_at > %(now)s OR auto_renew)
        ORDER BY store, token_hash, auto_renew DESC, expires_at DESC
    ) subscriptions
    GROUP BY 1 ORDER BY 1
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
    SELECT count(*) AS ended, count(*) FILTER (
        WHERE expires_at >= checked_at AND expires_at - checked_at <= %(answer)s
    ) AS refunded
    FROM iap_purchase purchase
    WHERE is_active AND NOT auto_renew AND store <> %(test)s
        AND expires_at >= %(since)s AND expires_at <= %(now)s
        AND NOT EXISTS (
            SELECT FROM iap_purchase later
            WHERE later.token_hash = purchase.token_hash
                AND later.store = purchase.store AND later.id > purchase.id
        )
"""


class RunningProduct(NamedTuple):
    """Running subscriptions of a product, and those of them that will not renew."""

    product: str
    running: int
    canceled: int


class BoughtDay(NamedTuple):
    """Purchases recorded on a day, and those of them that continue another one."""

    day: date
    bought: int
    renewed: int


class EndedCount(NamedTuple):
    """Subscriptions that ended, and those of them that the store ended early."""

    ended: int
    refunded: int


@dataclass(frozen=True, slots=True)
class PurchaseSeries:
    """Purchases of each day of the window: all, and the renewals among them."""

    bought: list[int]
    renewed: list[int]

    @property
    def new(self) -> int:
        return sum(self.bought) - sum(self.renewed)


def list_running_products(now: datetime) -> list[RunningProduct]:
    """Return the running subscriptions by product."""
    return fetch_all(_RUNNING, {"now": now, "test": TEST_STORE}, RunningProduct)


def get_purchase_series(now: datetime) -> PurchaseSeries:
    """Return the purchases of the days of the window, today included."""
    days = list_days(timezone.localdate(now))
    bought, renewed = dict.fromkeys(days, 0), dict.fromkeys(days, 0)
    params = {
        "zone": settings.TIME_ZONE,
        "since": now - timedelta(days=WINDOW_DAYS),
        "now": now,
        "test": TEST_STORE,
    }
    for row in fetch_all(_BOUGHT_BY_DAY, params, BoughtDay):
        # The window begins in the middle of a day that is not shown.
        if row.day in bought:
            bought[row.day], renewed[row.day] = row.bought, row.renewed
    return PurchaseSeries(list(bought.values()), list(renewed.values()))


def count_ended(now: datetime) -> EndedCount:
    """Count the subscriptions that ended within the window without a successor."""
    params = {
        "since": now - timedelta(days=WINDOW_DAYS),
        "now": now,
        "test": TEST_STORE,
        "answer": MAX_ANSWER_TIME,
    }
    (count,) = fetch_all(_ENDED, params, EndedCount)
    return count


def monthly_revenue(running: list[RunningProduct], prices: Mapping[str, int]) -> int:
    """Return the monthly recurring revenue in the home currency.

    A yearly price counts a twelfth, rounded half up. A subscription that will not renew
    counts until it ends.
    """
    months = {product.id: MONTHS_BY_PERIOD[product.period] for product in PRODUCTS}
    total = 0
    for row in running:
        if row.product in months:
            length = months[row.product]
            monthly = (2 * prices[row.product] + length) // (2 * length)
            total += monthly * row.running
    return total
