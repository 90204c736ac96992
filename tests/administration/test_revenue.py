"""Revenue on the dashboard, counted from purchases as the service records them."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Member
from administration.dashboard import build_dashboard
from administration.revenue import (
    count_ended,
    format_amounts,
    get_purchase_series,
    list_received,
    list_refunded,
    list_running_products,
    monthly_revenue,
)
from billing.models import Purchase
from tests.support.factories import make_member
from tests.support.purchases import make_purchase

NOW = datetime.fromisoformat("2026-11-21T12:00:00+09:00")
PRICES = {"premium_monthly": 4_900, "premium_yearly": 49_000, "premium_weekly": 1}


def buy(order: str, *, token: str = "", days: float = 1, **fields: Any) -> Purchase:
    """Create a purchase of so many days ago, by a new member unless one is given."""
    member = fields.pop("member", None) or make_member()
    price = PRICES[fields.get("product_id", "premium_monthly")]
    defaults: dict[str, Any] = {
        "expires_at": NOW + timedelta(days=20),
        "paid_amount": price,
    }
    return make_purchase(
        member,
        order,
        token_hash=token or order,
        purchased_at=NOW - timedelta(days=days),
        checked_at=fields.pop("checked_at", NOW - timedelta(days=days)),
        **defaults | fields,
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
    running: dict[str, Any] = {
        row.product: row[2:] for row in list_running_products(NOW)
    }
    assert running == {
        "premium_monthly": (3, 1, 3 * 4_900),
        "premium_yearly": (1, 0, 49_000),
    }


def monthly() -> str:
    return format_amounts(monthly_revenue(list_running_products(NOW)))


def test_a_year_counts_a_twelfth_of_what_was_paid() -> None:
    for number in range(2):
        buy(f"m{number}")
    buy("trial", paid_amount=0)
    for number, paid in enumerate((49_000, 49_000, 39_000)):
        buy(f"y{number}", product_id="premium_yearly", paid_amount=paid)
    # 2 × 4,900 + 137,000 / 12 is 21,216.67.
    assert monthly() == "21,217 KRW"
    # And 10 more: 21,217.5.
    buy("half", product_id="premium_yearly", paid_amount=6)
    buy("more", product_id="premium_yearly", paid_amount=4)
    assert monthly() == "21,218 KRW"


def test_other_currencies_stand_beside_that_of_the_service() -> None:
    assert monthly() == "0 KRW"
    buy("a", paid_amount="3.99", paid_currency="USD")
    buy("b", paid_amount="4.5", paid_currency="EUR", product_id="premium_yearly")
    assert monthly() == "0.38 EUR + 3.99 USD"
    buy("c")
    assert monthly() == "4,900 KRW + 0.38 EUR + 3.99 USD"


def test_product_that_is_no_longer_sold_has_no_monthly_revenue() -> None:
    buy("x", product_id="premium_weekly")
    assert monthly() == "0 KRW"


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


def test_subscriptions_that_ended_without_a_successor_are_counted() -> None:
    ended: dict[str, Any] = {"auto_renew": False}
    buy("late", **ended, expires_at=NOW - timedelta(hours=2))
    buy("first day", **ended, expires_at=NOW - timedelta(days=29))
    # Before the window; still running; renewed since.
    buy("old", **ended, expires_at=NOW - timedelta(days=31))
    buy("runs", **ended)
    member = make_member()
    buy("first", member=member, token="t", **ended, expires_at=NOW - timedelta(2))
    buy("second", member=member, token="t", days=0.5)
    assert count_ended(NOW) == 2


def test_refunds_are_those_of_the_window_and_all_that_was_paid_where_none_is_known() -> (
    None
):
    recently = NOW - timedelta(days=2)
    buy("a", refunded_at=recently, refunded_amount=1_000)
    buy("b", refunded_at=recently)
    buy("c", refunded_at=recently, paid_amount="3.99", paid_currency="USD")
    buy("d")
    buy("e", refunded_at=NOW - timedelta(days=31))
    buy("f", refunded_at=recently, store="test")
    assert [tuple(row) for row in list_refunded(NOW)] == [
        ("KRW", 5_900, 2),
        ("USD", Decimal("3.99"), 1),
    ]


def test_received_is_what_was_paid_in_the_window() -> None:
    buy("a")
    buy("b", paid_amount=3_900, days=29)
    buy("c", days=31)
    buy("d", store="test")
    buy("e", paid_amount=None)
    assert [tuple(row) for row in list_received(NOW)] == [("KRW", 8_800, 2)]


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
        "Payments": "4,900 KRW",
        "Refunded": "0 KRW",
    }
    notes = {tile.title: tile.note for tile in section.tiles}
    assert notes["Payments"] == "1 order in 30 days"
    assert notes["Refunded"] == "0 orders in 30 days"
    (chart,) = section.charts
    assert (chart.bars[-2].text, chart.total) == ("1, 0 renewals", "1 in 30 days")


@pytest.mark.parametrize(
    ("read", "indexes"),
    [
        (list_running_products, ("iap_purchase_counted", "iap_purchase_renewing")),
        (get_purchase_series, ("iap_purchase_bought",)),
        (count_ended, ("iap_purchase_counted",)),
        (list_received, ("iap_purchase_bought",)),
        (list_refunded, ("iap_purchase_refunded",)),
    ],
)
def test_revenue_is_read_by_indexes(read: Any, indexes: tuple[str, ...]) -> None:
    # At any size of the table: sequential scans are disabled here.
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        with CaptureQueriesContext(connection) as queries:
            read(NOW)
        (query,) = queries.captured_queries
        cursor.execute(f"EXPLAIN {query['sql']}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert any(index in plan for index in indexes), plan
