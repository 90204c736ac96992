"""Subscription products and their billing periods. Pure."""

import calendar
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum


class BillingPeriod(StrEnum):
    MONTHLY = "MONTHLY"
    YEARLY = "YEARLY"


MONTHS_BY_PERIOD = {BillingPeriod.MONTHLY: 1, BillingPeriod.YEARLY: 12}


@dataclass(frozen=True, slots=True)
class Product:
    """A product; its price is a setting (`PREMIUM_PRICES`)."""

    id: str
    name: str
    period: BillingPeriod


MONTHLY = Product("premium_monthly", "Premium, monthly", BillingPeriod.MONTHLY)
YEARLY = Product("premium_yearly", "Premium, yearly", BillingPeriod.YEARLY)
PRODUCTS: Sequence[Product] = (MONTHLY, YEARLY)


def find_product(product_id: str) -> Product | None:
    return next((product for product in PRODUCTS if product.id == product_id), None)


def format_amount(amount: Decimal, currency: str) -> str:
    decimals = 0 if amount == amount.to_integral_value() else 2
    unit = Decimal(1).scaleb(-decimals)
    return f"{amount.quantize(unit, ROUND_HALF_UP):,} {currency}"


def add_period(start: datetime, period: BillingPeriod, home: tzinfo) -> datetime:
    """Return the moment a calendar month or year after `start` (spec 6.3).

    In the home time zone, 31 January plus a month is 28 or 29 February.
    """
    local = start.astimezone(home)
    years, zero_based_month = divmod(local.month - 1 + MONTHS_BY_PERIOD[period], 12)
    year, month = local.year + years, zero_based_month + 1
    day = min(local.day, calendar.monthrange(year, month)[1])
    return local.replace(year=year, month=month, day=day).astimezone(start.tzinfo)
