"""What can be bought: PREMIUM by the month or by the year. Pure."""

import calendar
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum


class BillingPeriod(StrEnum):
    MONTHLY = "MONTHLY"
    YEARLY = "YEARLY"


MONTHS_BY_PERIOD = {BillingPeriod.MONTHLY: 1, BillingPeriod.YEARLY: 12}


@dataclass(frozen=True, slots=True)
class Product:
    """A subscription product; its price is in whole units of the currency."""

    id: str
    name: str
    period: BillingPeriod


MONTHLY = Product("premium_monthly", "Premium, monthly", BillingPeriod.MONTHLY)
YEARLY = Product("premium_yearly", "Premium, yearly", BillingPeriod.YEARLY)
PRODUCTS: Sequence[Product] = (MONTHLY, YEARLY)


def find_product(product_id: str) -> Product | None:
    return next((product for product in PRODUCTS if product.id == product_id), None)


def add_period(start: datetime, period: BillingPeriod, home: tzinfo) -> datetime:
    """The moment one calendar month or year after `start` by the home clock.

    A day that the month does not have is its last one: 31 January and a month is
    28 or 29 February (spec 6.3).
    """
    local = start.astimezone(home)
    years, zero_based = divmod(local.month - 1 + MONTHS_BY_PERIOD[period], 12)
    year, month = local.year + years, zero_based + 1
    day = min(local.day, calendar.monthrange(year, month)[1])
    return local.replace(year=year, month=month, day=day).astimezone(start.tzinfo)
