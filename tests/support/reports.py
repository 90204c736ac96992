"""Addresses and bodies of budgets and statistics."""

from typing import Any

BUDGETS = "/api/account/budgets"
COPY = f"{BUDGETS}/copy"
STATUS = f"{BUDGETS}/status"
CHART = f"{BUDGETS}/chart"
INCOME = f"{BUDGETS}/income"
MOST = 999_999_999_999
NOVEMBER = {"year": 2026, "month": 11}
FOOD = NOVEMBER | {"category": "Food", "amount": 5_000}


MONTH = "/api/account/statistics/month"
YEAR = "/api/account/statistics/year"
RANGE = "/api/account/statistics/range"

# Of entries without transfers, refunds and exclusions.
UNUSED: dict[str, Any] = {
    "refunded": 0,
    "transfers": {"amount": 0, "count": 0},
    "excluded": {"income": 0, "expense": 0, "count": 0},
}
NO_TRANSFERS = {"refunded": 0, "transferIn": 0, "transferOut": 0}
