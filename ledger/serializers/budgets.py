"""Serializers of budgets."""

from typing import Any

from rest_framework import serializers

from core.api.fields import (
    MAX_AMOUNT,
    AmountField,
    ExactDecimalField,
    StrictIntegerField,
)
from core.api.serializers import Serializer
from ledger.budgets import BudgetStatus, Month, MonthlyBudgetStatus
from ledger.models.budgets import MAX_YEAR, MIN_YEAR
from ledger.serializers.fields import CategoryNameField
from ledger.serializers.periods import MonthSerializer


class BudgetSerializer(MonthSerializer):
    """A budget of a category; that of a major one covers its minor ones."""

    id = serializers.IntegerField(read_only=True)
    category = CategoryNameField(
        help_text="An expense category by name; an unknown one is created."
    )
    amount = AmountField()


class CopyBudgetsRequestSerializer(Serializer):
    from_year = StrictIntegerField(min_value=MIN_YEAR, max_value=MAX_YEAR)
    from_month = StrictIntegerField(min_value=1, max_value=12)
    to_year = StrictIntegerField(min_value=MIN_YEAR, max_value=MAX_YEAR)
    to_month = StrictIntegerField(min_value=1, max_value=12)


class CopyBudgetsResultSerializer(Serializer):
    created = serializers.IntegerField()
    overwritten = serializers.IntegerField()


class BudgetTotalSerializer(Serializer):
    budgeted = serializers.IntegerField()
    spent = serializers.IntegerField()
    remaining = serializers.IntegerField(help_text="Negative when overspent.")
    share = ExactDecimalField(
        max_digits=20,
        decimal_places=4,
        allow_null=True,
        help_text="spent / budgeted, such as 0.25.",
    )


class CategoryBudgetStatusSerializer(BudgetTotalSerializer):
    category = serializers.CharField()
    parent = serializers.CharField(allow_null=True)  # type: ignore[assignment]


class IncomeStatusSerializer(Serializer):
    expected = serializers.IntegerField()
    actual = serializers.IntegerField()


class MonthlyBudgetStatusSerializer(Serializer):
    year = serializers.IntegerField()
    month = serializers.IntegerField()
    categories = CategoryBudgetStatusSerializer(many=True)
    total = BudgetTotalSerializer(
        help_text="Minor categories of a budgeted major category are not counted again."
    )
    income = IncomeStatusSerializer()


class BudgetChartDaySerializer(Serializer):
    date = serializers.DateField()
    budgeted = serializers.IntegerField(help_text="Cumulative, spread evenly.")
    spent = serializers.IntegerField(help_text="Cumulative.")


class BudgetChartSerializer(Serializer):
    year = serializers.IntegerField()
    month = serializers.IntegerField()
    days = BudgetChartDaySerializer(many=True)


class BudgetIncomeSerializer(MonthSerializer):
    amount = StrictIntegerField(
        min_value=0, max_value=MAX_AMOUNT, help_text="0 if none is expected."
    )


def budget_total_payload(status: BudgetStatus) -> dict[str, Any]:
    return {
        "budgeted": status.budgeted,
        "spent": status.spent,
        "remaining": status.budgeted - status.spent,
        "share": status.share,
    }


def monthly_budget_status_payload(
    month: Month, status: MonthlyBudgetStatus
) -> dict[str, Any]:
    return {
        "year": month.year,
        "month": month.month,
        "categories": [
            {"category": row.category, "parent": row.parent} | budget_total_payload(row)
            for row in status.categories
        ],
        "total": budget_total_payload(status.total),
        "income": {
            "expected": status.expected_income,
            "actual": status.actual_income,
        },
    }
