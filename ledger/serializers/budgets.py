"""Wire shapes of budgets."""

from typing import Any

from rest_framework import serializers

from core.api.fields import (
    MAX_AMOUNT,
    AmountField,
    ExactDecimalField,
    StrictIntegerField,
)
from core.api.serializers import Serializer
from ledger.budgets import BudgetStatus, MonthlyBudgetStatus
from ledger.models import Budget
from ledger.models.budgets import MAX_YEAR, MIN_YEAR
from ledger.serializers.fields import NameField
from ledger.serializers.periods import MonthSerializer


class BudgetSerializer(MonthSerializer):
    """A budget on a major category covers its minor ones."""

    id = serializers.IntegerField(read_only=True)
    category = NameField(
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
        help_text="Of the budgeted categories; a minor one below a budgeted major "
        "one counts once."
    )
    income = IncomeStatusSerializer()


class BudgetChartDaySerializer(Serializer):
    date = serializers.DateField()
    budgeted = serializers.IntegerField(help_text="Up to this day, spread evenly.")
    spent = serializers.IntegerField(help_text="Up to this day.")


class BudgetChartSerializer(Serializer):
    year = serializers.IntegerField()
    month = serializers.IntegerField()
    days = BudgetChartDaySerializer(many=True)


class BudgetIncomeSerializer(MonthSerializer):
    amount = StrictIntegerField(
        min_value=0, max_value=MAX_AMOUNT, help_text="0 where none is expected."
    )


def budget_payload(budget: Budget) -> dict[str, Any]:
    return {
        "id": budget.pk,
        "category": budget.category.name,
        "year": budget.year,
        "month": budget.month,
        "amount": budget.amount,
    }


def budget_total_payload(status: BudgetStatus) -> dict[str, Any]:
    return {
        "budgeted": status.budgeted,
        "spent": status.spent,
        "remaining": status.budgeted - status.spent,
        "share": status.share,
    }


def monthly_budget_status_payload(status: MonthlyBudgetStatus) -> dict[str, Any]:
    return {
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
