"""GET /api/billing/products, and the length of months and years."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from billing.products import BillingPeriod, add_period
from tests.support.clients import JSONClient

SEOUL = ZoneInfo("Asia/Seoul")


def test_products_are_a_bare_list_of_two(free_member: Any) -> None:
    assert JSONClient(free_member).get_json("/api/billing/products") == [
        {
            "id": "premium_monthly",
            "name": "Premium, monthly",
            "period": "MONTHLY",
            "price": 4900,
            "currency": "KRW",
        },
        {
            "id": "premium_yearly",
            "name": "Premium, yearly",
            "period": "YEARLY",
            "price": 49000,
            "currency": "KRW",
        },
    ]


def test_prices_and_currency_are_settings(free_member: Any, settings: Any) -> None:
    settings.PREMIUM_PRICES = {"premium_monthly": 1, "premium_yearly": 2}
    settings.HOME_CURRENCY = "EUR"
    products = JSONClient(free_member).get_json("/api/billing/products")
    assert [(each["price"], each["currency"]) for each in products] == [
        (1, "EUR"),
        (2, "EUR"),
    ]


@pytest.mark.parametrize(
    ("start", "period", "end"),
    [
        ("2026-11-21T12:30:00+09:00", "MONTHLY", "2026-12-21T12:30:00+09:00"),
        ("2026-12-31T23:59:59+09:00", "MONTHLY", "2027-01-31T23:59:59+09:00"),
        ("2027-01-31T10:00:00+09:00", "MONTHLY", "2027-02-28T10:00:00+09:00"),
        ("2028-01-31T10:00:00+09:00", "MONTHLY", "2028-02-29T10:00:00+09:00"),
        ("2027-03-31T10:00:00+09:00", "MONTHLY", "2027-04-30T10:00:00+09:00"),
        ("2026-11-21T12:30:00+09:00", "YEARLY", "2027-11-21T12:30:00+09:00"),
        ("2028-02-29T12:30:00+09:00", "YEARLY", "2029-02-28T12:30:00+09:00"),
        # 31 January in Seoul, still the 30th in UTC
        ("2027-01-30T15:30:00+00:00", "MONTHLY", "2027-02-27T15:30:00+00:00"),
    ],
)
def test_month_and_year_are_counted_by_the_home_clock(
    start: str, period: str, end: str
) -> None:
    found = add_period(datetime.fromisoformat(start), BillingPeriod(period), SEOUL)
    assert found == datetime.fromisoformat(end)


def test_month_over_a_change_of_clocks_ends_at_the_same_time_of_day() -> None:
    start = datetime.fromisoformat("2026-03-10T09:00:00+01:00")
    end = add_period(start, BillingPeriod.MONTHLY, ZoneInfo("Europe/Berlin"))
    assert end == datetime.fromisoformat("2026-04-10T09:00:00+02:00")
