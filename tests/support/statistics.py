"""Addresses of statistics, and figures without transfers and refunds."""

from typing import Any

MONTH = "/api/account/statistics/month"
YEAR = "/api/account/statistics/year"
RANGE = "/api/account/statistics/range"
NOVEMBER = {"year": 2026, "month": 11}

# Of entries without transfers, refunds and exclusions.
UNUSED: dict[str, Any] = {
    "refunded": 0,
    "transfers": {"amount": 0, "count": 0},
    "excluded": {"income": 0, "expense": 0, "count": 0},
}
NO_TRANSFERS = {"refunded": 0, "transferIn": 0, "transferOut": 0}


def sum_of(entries: Any, type_: Any) -> Any:
    return sum(entry.amount for entry in entries if entry.type == type_)


def flows(entries: Any) -> dict[str, Any]:
    income, expense = sum_of(entries, "income"), sum_of(entries, "expense")
    return {"income": income, "expense": expense, "refunded": 0}


def net(entries: Any) -> Any:
    found = flows(entries)
    return found | {"net": found["income"] - found["expense"]} | UNUSED
