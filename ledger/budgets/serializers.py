"""Serializers of budgets."""

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from core.api.field_texts import FieldText
from core.api.fields import (
    MAX_AMOUNT,
    AmountField,
    ExactDecimalField,
    StrictIntegerField,
)
from core.api.serializers import Serializer
from ledger.base.fields import CategoryNameField, VersionField
from ledger.base.month_fields import MonthSerializer, SpreadAnswerSerializer
from ledger.budgets.budgets import BudgetStatus, MonthlyBudgetStatus
from ledger.entries.line_serializers import RowIdField, with_sent_category
from ledger.models.budgets import MAX_YEAR, MIN_YEAR
from ledger.periods import Month


class BudgetSerializer(MonthSerializer):
    """A budget of a category; that of a major one covers its minor ones."""

    id = serializers.IntegerField(read_only=True)
    category = CategoryNameField(
        required=False,
        help_text=FieldText(
            "Name of an expense category.",
            requests="An unknown one is created. It, or `categoryId`, is required.",
        ),
    )
    category_id = RowIdField(
        required=False,
        help_text=FieldText(
            "Id of the category.",
            requests="Instead of `category`, as in an entry.",
            left_out="Left out: `category` counts.",
        ),
    )
    amount = AmountField()
    version = VersionField()

    def to_internal_value(self, data: Any) -> Any:
        values = with_sent_category(super().to_internal_value(data), data)
        if "category" not in values and not self.root.partial:
            text = gettext("This field is required.")
            raise serializers.ValidationError({"category": [text]}, code="required")
        return values


class CopyBudgetsRequestSerializer(Serializer):
    from_year = StrictIntegerField(
        min_value=MIN_YEAR,
        max_value=MAX_YEAR,
        help_text="Year of the month to copy from.",
    )
    from_month = StrictIntegerField(
        min_value=1, max_value=12, help_text="Month to copy from, 1 to 12."
    )
    to_year = StrictIntegerField(
        min_value=MIN_YEAR,
        max_value=MAX_YEAR,
        help_text="Year of the month to copy to.",
    )
    to_month = StrictIntegerField(
        min_value=1,
        max_value=12,
        help_text="Month to copy to, 1 to 12; another one than that copied from.",
    )


class CopyBudgetsResultSerializer(Serializer):
    created = serializers.IntegerField(help_text="Number of new budgets.")
    overwritten = serializers.IntegerField(
        help_text="Number of budgets whose amount was replaced."
    )


class BudgetTotalSerializer(Serializer):
    budgeted = serializers.IntegerField(
        help_text="Budgeted amount, in whole home-currency units."
    )
    spent = serializers.IntegerField(
        help_text="Confirmed expenses of the month, in whole home-currency units."
    )
    remaining = serializers.IntegerField(help_text="Negative when overspent.")
    share = ExactDecimalField(
        max_digits=20,
        decimal_places=4,
        allow_null=True,
        help_text="spent / budgeted, such as 0.25.",
    )


class CategoryBudgetStatusSerializer(BudgetTotalSerializer):
    category = serializers.CharField(help_text="Name of the category.")
    parent = serializers.CharField(
        allow_null=True, help_text="Name of its major category; null for a major one."
    )  # type: ignore[assignment]


class IncomeStatusSerializer(Serializer):
    expected = serializers.IntegerField(help_text="Expected income; 0 if none is set.")
    actual = serializers.IntegerField(help_text="Confirmed income of the month.")


class MonthlyBudgetStatusSerializer(SpreadAnswerSerializer):
    year = serializers.IntegerField()
    month = serializers.IntegerField()
    categories = CategoryBudgetStatusSerializer(
        many=True, help_text="Each budget of the month, in the order of the categories."
    )
    total = BudgetTotalSerializer(
        help_text="Minor categories of a budgeted major category are not counted again."
    )
    income = IncomeStatusSerializer(
        help_text="Expected and actual income, in whole home-currency units."
    )


class BudgetChartDaySerializer(Serializer):
    date = serializers.DateField(help_text="Day of the month.")
    budgeted = serializers.IntegerField(help_text="Cumulative, spread evenly.")
    spent = serializers.IntegerField(help_text="Cumulative.")


class BudgetChartSerializer(SpreadAnswerSerializer):
    year = serializers.IntegerField()
    month = serializers.IntegerField()
    days = BudgetChartDaySerializer(many=True, help_text="Each day of the month.")


class BudgetIncomeSerializer(MonthSerializer):
    amount = StrictIntegerField(
        min_value=0, max_value=MAX_AMOUNT, help_text="0 if none is expected."
    )
    version = serializers.IntegerField(
        read_only=True, allow_null=True, help_text="Null if none was ever set."
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
