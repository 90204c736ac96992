"""Wire shapes of budgets."""

from typing import Any

from rest_framework import serializers

from core.api.fields import MAX_AMOUNT, Amount, Exact, Serializer, Whole
from ledger.budgets import MonthStatus, Status
from ledger.models import Budget
from ledger.models.budgets import MAX_YEAR, MIN_YEAR
from ledger.serializers.fields import NameField
from ledger.serializers.periods import MonthBody


class BudgetBody(MonthBody):
    """A budget on a major category covers its minor ones."""

    id = serializers.IntegerField(read_only=True)
    category = NameField(
        help_text="An expense category by name; an unknown one is created."
    )
    amount = Amount()


class CopyBody(Serializer):
    from_year = Whole(min_value=MIN_YEAR, max_value=MAX_YEAR)
    from_month = Whole(min_value=1, max_value=12)
    to_year = Whole(min_value=MIN_YEAR, max_value=MAX_YEAR)
    to_month = Whole(min_value=1, max_value=12)


class CopiedBody(Serializer):
    created = serializers.IntegerField()
    overwritten = serializers.IntegerField()


class TotalBody(Serializer):
    budgeted = serializers.IntegerField()
    spent = serializers.IntegerField()
    remaining = serializers.IntegerField(help_text="Negative when overspent.")
    share = Exact(
        max_digits=20,
        decimal_places=4,
        allow_null=True,
        help_text="spent / budgeted, such as 0.25.",
    )


class CategoryStatusBody(TotalBody):
    category = serializers.CharField()
    parent = serializers.CharField(allow_null=True)  # type: ignore[assignment]


class IncomeStatusBody(Serializer):
    expected = serializers.IntegerField()
    actual = serializers.IntegerField()


class BudgetStatusBody(Serializer):
    year = serializers.IntegerField()
    month = serializers.IntegerField()
    categories = CategoryStatusBody(many=True)
    total = TotalBody(
        help_text="Of the budgeted categories; a minor one below a budgeted major "
        "one counts once."
    )
    income = IncomeStatusBody()


class ChartDayBody(Serializer):
    date = serializers.DateField()
    budgeted = serializers.IntegerField(help_text="Up to this day, spread evenly.")
    spent = serializers.IntegerField(help_text="Up to this day.")


class BudgetChartBody(Serializer):
    year = serializers.IntegerField()
    month = serializers.IntegerField()
    days = ChartDayBody(many=True)


class IncomeBody(MonthBody):
    amount = Whole(
        min_value=0, max_value=MAX_AMOUNT, help_text="0 where none is expected."
    )


def describe_budget(budget: Budget) -> dict[str, Any]:
    return {
        "id": budget.pk,
        "category": budget.category.name,
        "year": budget.year,
        "month": budget.month,
        "amount": budget.amount,
    }


def describe_total(status: Status) -> dict[str, Any]:
    return {
        "budgeted": status.budgeted,
        "spent": status.spent,
        "remaining": status.budgeted - status.spent,
        "share": status.share,
    }


def describe_status(status: MonthStatus) -> dict[str, Any]:
    return {
        "categories": [
            {"category": row.category, "parent": row.parent} | describe_total(row)
            for row in status.categories
        ],
        "total": describe_total(status.total),
        "income": {
            "expected": status.expected_income,
            "actual": status.actual_income,
        },
    }
