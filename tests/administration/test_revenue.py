"""Revenue on the dashboard, counted from purchases as the service records them."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Member
from administration.dashboard import build_dashboard
from administration.revenue import (
    count_ended,
    get_purchase_series,
    list_running_products,
    monthly_revenue,
)
from billing.models import Purchase
from tests.support.factories import make_member
from tests.support.store_rows import make_purchase

pytestmark = pytest.mark.django_db

NOW = datetime.fromisoformat("2026-11-21T12:00:00+09:00")
PRICES = {"premium_monthly": 4_900, "premium_yearly": 49_000}


def buy(order: str, *, token: str = "", days: float = 1, **fields: Any) -> Purchase:
    """A purchase of so many days ago, by a member of its own unless one is given."""
    member = fields.pop("member", None) or make_member()
    return make_purchase(
        member,
        order,
        token_hash=token or order,
        purchased_at=NOW - timedelta(days=days),
        checked_at=fields.pop("checked_at", NOW - timedelta(days=days)),
        **{"expires_at": NOW + timedelta(days=20)} | fields,
    )


def test_running_subscriptions_are_counted_by_product_and_once() -> None:
    member = make_member()
    buy("a", member=member, token="t", auto_renew=False)
    buy("a..0", member=member, token="t")
    buy("b", product_id="premium_yearly")
    buy("c", auto_renew=False)
    # Lapsed, but the store has not decided yet.
    buy("d", expires_at=NOW - timedelta(hours=1))
    # None of these runs.
    buy("e", auto_renew=False, expires_at=NOW - timedelta(days=1))
    buy("f", is_active=False)
    buy("g", is_active=False, replaced_at=NOW)
    buy("h", store="test")
    running = {row.product: row[1:] for row in list_running_products(NOW)}
    assert running == {"premium_monthly": (3, 1), "premium_yearly": (1, 0)}


def test_a_year_counts_a_twelfth_rounded_half_up() -> None:
    for number in range(2):
        buy(f"m{number}")
    for number in range(3):
        buy(f"y{number}", product_id="premium_yearly")
    running = list_running_products(NOW)
    # 49,000 / 12 is 4,083.33; 4,998 / 12 is 416.5.
    assert monthly_revenue(running, PRICES) == 2 * 4_900 + 3 * 4_083
    assert monthly_revenue(running, PRICES | {"premium_yearly": 4_998}) == 11_051


def test_product_that_is_no_longer_sold_has_no_price() -> None:
    buy("x", product_id="premium_weekly")
    assert monthly_revenue(list_running_products(NOW), PRICES) == 0


def test_renewals_and_changes_continue_another_purchase() -> None:
    member = make_member()
    buy("a", member=member, token="t", days=31.5, auto_renew=False)
    buy("a..0", member=member, token="t", days=2)
    buy("b", member=member, token="u", days=1, replaces_token_hash="t")
    buy("c", days=1)
    buy("d", days=1, store="test")
    series = get_purchase_series(NOW)
    assert (series.bought[-3:], series.renewed[-3:]) == ([1, 2, 0], [1, 1, 0])
    assert (len(series.bought), series.new) == (30, 1)


def test_subscription_that_the_store_ended_early_is_refunded() -> None:
    # Ended when the store was asked: recorded as the moment of its answer.
    asked = NOW - timedelta(days=2)
    ended: dict[str, Any] = {"auto_renew": False, "checked_at": asked}
    buy("refund", **ended, expires_at=asked + timedelta(seconds=3))
    # Ended in its time, some hours before the store was asked, or after.
    buy("late", **ended, expires_at=asked - timedelta(hours=2))
    buy("early", **ended, expires_at=asked + timedelta(hours=2))
    # Before the window; still running; renewed since.
    buy("old", auto_renew=False, expires_at=NOW - timedelta(days=31))
    buy("runs", auto_renew=False)
    member = make_member()
    buy("first", member=member, token="t", **ended, expires_at=asked)
    buy("second", member=member, token="t", days=0.5)
    assert tuple(count_ended(NOW)) == (3, 1)


def test_dashboard_shows_the_revenue(free_member: Member) -> None:
    buy("a", member=free_member)
    (section,) = [
        s for s in build_dashboard(NOW).sections if s.title == "Subscriptions"
    ]
    tiles = {tile.title: tile.text for tile in section.tiles}
    assert tiles == {
        "Monthly revenue": "4,900 KRW",
        "Premium, monthly": "1",
        "Premium, yearly": "0",
        "Cancelled": "0",
        "New": "1",
        "Renewed": "0",
        "Ended": "0",
        "Refunded": "0",
    }
    (chart,) = section.charts
    assert (chart.bars[-2].text, chart.total) == ("1, 0 renewals", "1 in 30 days")


@pytest.mark.parametrize(
    ("read", "indexes"),
    [
        (list_running_products, ("iap_purchase_counted", "iap_purchase_renewing")),
        (get_purchase_series, ("iap_purchase_bought",)),
        (count_ended, ("iap_purchase_counted",)),
    ],
)
def test_revenue_is_read_by_indexes(read: Any, indexes: tuple[str, ...]) -> None:
    """At any size of the table: sequential scans are disabled here."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        with CaptureQueriesContext(connection) as queries:
            read(NOW)
        (query,) = queries.captured_queries
        cursor.execute(f"EXPLAIN {query['sql']}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert any(index in plan for index in indexes), plan
