"""Months in queries and bodies."""

from django.utils import timezone
from rest_framework import serializers

from core.api.fields import StrictIntegerField
from core.api.serializers import QuerySerializer, Serializer
from ledger.models.budgets import MAX_YEAR, MIN_YEAR
from ledger.periods import Month


class MonthQuerySerializer(QuerySerializer):
    """`year` and `month`, by default the current month of the home time zone."""

    year = serializers.IntegerField(
        min_value=MIN_YEAR,
        max_value=MAX_YEAR,
        required=False,
        help_text="Year; left out: the current one.",
    )
    month = serializers.IntegerField(
        min_value=1,
        max_value=12,
        required=False,
        help_text="Month, 1 to 12; left out: the current one.",
    )


class YearQuerySerializer(QuerySerializer):
    """`year`, by default the current one."""

    year = serializers.IntegerField(
        min_value=MIN_YEAR,
        max_value=MAX_YEAR,
        required=False,
        help_text="Year; left out: the current one.",
    )


class MonthSerializer(Serializer):
    """A month in a body."""

    year = StrictIntegerField(
        min_value=MIN_YEAR, max_value=MAX_YEAR, help_text="Year of the month."
    )
    month = StrictIntegerField(min_value=1, max_value=12, help_text="Month, 1 to 12.")


def resolve_month(values: dict[str, int]) -> Month:
    today = timezone.localdate()
    return Month(values.get("year", today.year), values.get("month", today.month))
