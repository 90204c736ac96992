"""Query parameters that name a month, a year or a range of days."""

from django.utils import timezone
from rest_framework import serializers

from core.api.fields import IsoDateField, StrictIntegerField
from core.api.serializers import QuerySerializer, Serializer
from ledger.budgets import Month
from ledger.models.budgets import MAX_YEAR, MIN_YEAR


class MonthQuerySerializer(QuerySerializer):
    """`year` and `month`; the current month of the home time zone without them."""

    year = serializers.IntegerField(
        min_value=MIN_YEAR, max_value=MAX_YEAR, required=False
    )
    month = serializers.IntegerField(min_value=1, max_value=12, required=False)


class YearQuerySerializer(QuerySerializer):
    """`year`; the current one without it."""

    year = serializers.IntegerField(
        min_value=MIN_YEAR, max_value=MAX_YEAR, required=False
    )


class MonthSerializer(Serializer):
    """A month in a body."""

    year = StrictIntegerField(min_value=MIN_YEAR, max_value=MAX_YEAR)
    month = StrictIntegerField(min_value=1, max_value=12)


class RangeQuerySerializer(QuerySerializer):
    """`from` and `to`, both included."""

    from_ = IsoDateField(source="from_")
    to = IsoDateField()


def resolve_month(values: dict[str, int]) -> Month:
    """The month that is asked for, else the current one."""
    today = timezone.localdate()
    return Month(values.get("year", today.year), values.get("month", today.month))
