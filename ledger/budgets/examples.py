"""Examples of budgets and statistics."""

from core.api.examples import (
    Example,
    duplicate,
    invalid,
    not_found,
    premium_required,
)
from ledger.budgets.budgets import BUDGET_EXISTS

FOOD = {
    "id": 71,
    "year": 2026,
    "month": 11,
    "category": "식비",
    "categoryId": 21,
    "amount": 400_000,
    "version": 41,
}
HOME = {
    "id": 72,
    "year": 2026,
    "month": 11,
    "category": "주거",
    "categoryId": 23,
    "amount": 700_000,
    "version": 42,
}
NEW_CULTURE = {"year": 2026, "month": 11, "category": "문화", "amount": 100_000}
CULTURE = HOME | NEW_CULTURE | {"id": 73, "categoryId": 35}
NOVEMBER = {"year": 2026, "month": 11}

RENT_FLOW = {
    "type": "expense",
    "categoryId": 24,
    "category": "월세",
    "parent": "주거",
    "amount": 650_000,
    "refunded": 0,
    "count": 1,
    "share": 0.9819,
}
LUNCH_FLOW = {
    "type": "expense",
    "categoryId": 22,
    "category": "점심",
    "parent": "식비",
    "amount": 12_000,
    "refunded": 0,
    "count": 1,
    "share": 0.0181,
}
SALARY_FLOW = {
    "type": "income",
    "categoryId": 25,
    "category": "급여",
    "parent": None,
    "amount": 3_200_000,
    "refunded": 0,
    "count": 1,
    "share": 1,
}
FLOWS_BY_DAY = {
    1: {"expense": 650_000},
    10: {"income": 3_200_000},
    19: {"expense": 12_000},
}
NO_FLOW = {
    "income": 0,
    "expense": 0,
    "net": 0,
    "refunded": 0,
    "transfers": {"amount": 0, "count": 0},
    "excluded": {"income": 0, "expense": 0, "count": 0},
}
NOVEMBER_FLOW = NO_FLOW | {
    "income": 3_200_000,
    "expense": 662_000,
    "net": 2_538_000,
}
NO_TRANSFERS = {"refunded": 0, "transferIn": 0, "transferOut": 0}

EXAMPLES = {
    "createBudget": Example(
        body=NEW_CULTURE,
        status=201,
        answer=CULTURE,
        refusal=duplicate(BUDGET_EXISTS, body=NEW_CULTURE | {"category": "식비"}),
    ),
    "listBudgets": Example(
        query=NOVEMBER, answer=[FOOD, HOME, CULTURE], refusal=premium_required()
    ),
    "getBudget": Example(
        path={"budgetId": 73}, answer=CULTURE, refusal=not_found(budgetId=79)
    ),
    "replaceBudget": Example(
        path={"budgetId": 73},
        body=NEW_CULTURE | {"amount": 120_000},
        answer=CULTURE | {"amount": 120_000},
        refusal=invalid(
            "month",
            "max_value",
            "Must be at most 12.",
            path={"budgetId": 73},
            body=NEW_CULTURE | {"month": 13},
        ),
    ),
    "updateBudget": Example(
        path={"budgetId": 73},
        body={"amount": 150_000},
        answer=CULTURE | {"amount": 150_000},
        refusal=not_found(budgetId=79, body={"amount": 150_000}),
    ),
    "deleteBudget": Example(
        path={"budgetId": 73}, status=204, refusal=not_found(budgetId=79)
    ),
    "copyBudgets": Example(
        body={"fromYear": 2026, "fromMonth": 11, "toYear": 2026, "toMonth": 12},
        answer={"created": 2, "overwritten": 0},
        refusal=invalid(
            "toMonth",
            "invalid",
            "Must differ from the source month.",
            body={"fromYear": 2026, "fromMonth": 11, "toYear": 2026, "toMonth": 11},
        ),
    ),
    "setBudgetIncome": Example(
        body=NOVEMBER | {"amount": 3_200_000},
        answer=NOVEMBER | {"amount": 3_200_000, "version": 57},
        refusal=invalid(
            "amount",
            "min_value",
            "Must be at least 0.",
            body=NOVEMBER | {"amount": -1},
        ),
    ),
    "getBudgetIncome": Example(
        query=NOVEMBER,
        answer=NOVEMBER | {"amount": 3_200_000, "version": 57},
        refusal=premium_required(),
    ),
    "getBudgetStatus": Example(
        query=NOVEMBER,
        answer=NOVEMBER
        | {
            "categories": [
                {
                    "category": "식비",
                    "parent": None,
                    "budgeted": 400_000,
                    "spent": 12_000,
                    "remaining": 388_000,
                    "share": 0.03,
                },
                {
                    "category": "주거",
                    "parent": None,
                    "budgeted": 700_000,
                    "spent": 650_000,
                    "remaining": 50_000,
                    "share": 0.9286,
                },
            ],
            "total": {
                "budgeted": 1_100_000,
                "spent": 662_000,
                "remaining": 438_000,
                "share": 0.6018,
            },
            "income": {"expected": 3_200_000, "actual": 3_200_000},
        },
        refusal=premium_required(),
    ),
    "getBudgetChart": Example(
        query={"year": 2026, "month": 2},
        answer={
            "year": 2026,
            "month": 2,
            "days": [
                {"date": f"2026-02-{day:02}", "budgeted": 0, "spent": 0}
                for day in range(1, 29)
            ],
        },
        refusal=premium_required(),
    ),
    "getMonthStatistics": Example(
        query=NOVEMBER,
        answer=NOVEMBER
        | NOVEMBER_FLOW
        | {
            "count": 3,
            "previous": NO_FLOW,
            "byCategory": [RENT_FLOW, LUNCH_FLOW, SALARY_FLOW],
            "byDay": [
                {"date": f"2026-11-{day:02}", "income": 0, "expense": 0, "refunded": 0}
                | FLOWS_BY_DAY.get(day, {})
                for day in range(1, 31)
            ],
            "byWallet": [
                NO_TRANSFERS
                | {
                    "walletId": 12,
                    "name": "신한카드",
                    "income": 0,
                    "expense": 12_000,
                },
                NO_TRANSFERS
                | {
                    "walletId": 13,
                    "name": "국민은행",
                    "income": 3_200_000,
                    "expense": 650_000,
                },
            ],
            "byTag": [
                {
                    "tag": "회사",
                    "income": 0,
                    "expense": 12_000,
                    "refunded": 0,
                    "count": 1,
                }
            ],
        },
        refusal=premium_required(),
    ),
    "getYearStatistics": Example(
        query={"year": 2026},
        answer={"year": 2026}
        | NOVEMBER_FLOW
        | {
            "months": [{"month": month, "count": 0} | NO_FLOW for month in range(1, 11)]
            + [
                {"month": 11, "count": 3} | NOVEMBER_FLOW,
                {"month": 12, "count": 0} | NO_FLOW,
            ],
            "byCategory": [RENT_FLOW, LUNCH_FLOW, SALARY_FLOW],
        },
        refusal=invalid(
            "year",
            "max_value",
            "Must be at most 2200.",
            query={"year": 3000},
        ),
    ),
    "getRangeStatistics": Example(
        query={"from": "2026-10-15", "to": "2026-11-20", "groupBy": "month"},
        answer={"from": "2026-10-15", "to": "2026-11-20", "groupBy": "month"}
        | NOVEMBER_FLOW
        | {
            "points": [
                {"start": "2026-10-15", "end": "2026-10-31", "count": 0} | NO_FLOW,
                {"start": "2026-11-01", "end": "2026-11-20", "count": 3}
                | NOVEMBER_FLOW,
            ]
        },
        refusal=invalid(
            "to",
            "invalid",
            "Must not be before `from`.",
            query={"from": "2026-11-20", "to": "2026-11-01"},
        ),
    ),
}
