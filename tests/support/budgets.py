"""Addresses and bodies of the tests of budgets."""

BUDGETS = "/api/account/budgets"
COPY = f"{BUDGETS}/copy"
STATUS = f"{BUDGETS}/status"
CHART = f"{BUDGETS}/chart"
INCOME = f"{BUDGETS}/income"
MOST = 999_999_999_999
NOVEMBER = {"year": 2026, "month": 11}
FOOD = NOVEMBER | {"category": "Food", "amount": 5_000}
