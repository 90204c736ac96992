"""Serializers of the trend."""

from typing import Any

from rest_framework import serializers

from core.api.serializers import QuerySerializer, Serializer
from ledger.periods import Unit
from ledger.statistics.trend import TrendPoint

DEFAULT_MONTHS, DEFAULT_WEEKS = 12, 13
MAX_MONTHS, MAX_WEEKS = 240, 520
UNIT_BY_NAME = {"month": Unit.MONTH, "WEEK": Unit.WEEK}
NAME_BY_UNIT = {unit: name for name, unit in UNIT_BY_NAME.items()}


class TrendUnitField(serializers.ChoiceField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=list(UNIT_BY_NAME), **kwargs)

    def to_internal_value(self, data: Any) -> Unit:
        text = str(data)
        name = text.lower() if text.lower() in UNIT_BY_NAME else text.upper()
        return UNIT_BY_NAME[super().to_internal_value(name)]


class TrendQuerySerializer(QuerySerializer):
    unit = TrendUnitField(
        required=False,
        default=Unit.MONTH,
        help_text="Length of a period, in any letter case.",
    )
    months = serializers.IntegerField(
        min_value=1,
        max_value=MAX_MONTHS,
        required=False,
        default=DEFAULT_MONTHS,
        help_text="Number of months with `unit=month`; ignored with `unit=WEEK`.",
    )
    weeks = serializers.IntegerField(
        min_value=1,
        max_value=MAX_WEEKS,
        required=False,
        default=DEFAULT_WEEKS,
        help_text="Number of weeks with `unit=WEEK`, from Monday; ignored with "
        "`unit=month`.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Return the unit, and its number of periods as `count`."""
        name = "weeks" if attrs["unit"] is Unit.WEEK else "months"
        return {"unit": attrs["unit"], "count": attrs[name]}


class TrendPointSerializer(Serializer):
    start = serializers.DateField(help_text="First day.")
    end = serializers.DateField(help_text="Last day, also of the current period.")
    income = serializers.IntegerField(help_text="Income, in whole home-currency units.")
    expense = serializers.IntegerField(
        help_text="Expense, in whole home-currency units."
    )
    net = serializers.IntegerField(help_text="income - expense")
    net_worth = serializers.IntegerField(
        help_text="At the end of the period; of the current one, as of now."
    )


class TrendSerializer(Serializer):
    unit = serializers.ChoiceField(
        choices=list(UNIT_BY_NAME), help_text="Length of a period."
    )
    points = TrendPointSerializer(many=True, help_text="Each period, oldest first.")


def trend_point_payload(point: TrendPoint) -> dict[str, Any]:
    return {
        "start": point.period.start,
        "end": point.period.end,
        "income": point.income,
        "expense": point.expense,
        "net": point.income - point.expense,
        "netWorth": point.net_worth,
    }
