"""Wire shapes of the net-worth trend."""

from typing import Any

from rest_framework import serializers

from config.api.serializers import QuerySerializer, Serializer
from ledger.periods import Unit
from ledger.trend import Point

DEFAULT_MONTHS, DEFAULT_WEEKS = 12, 13
MAX_MONTHS, MAX_WEEKS = 240, 520
UNITS = {"month": Unit.MONTH, "WEEK": Unit.WEEK}
NAMES = {unit: name for name, unit in UNITS.items()}


class UnitField(serializers.ChoiceField):
    """`month` or `WEEK`, in any letter case."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=list(UNITS), **options)

    def to_internal_value(self, data: Any) -> Unit:
        text = str(data)
        name = text.lower() if text.lower() in UNITS else text.upper()
        return UNITS[super().to_internal_value(name)]


class TrendQuery(QuerySerializer):
    unit = UnitField(required=False, default=Unit.MONTH)
    months = serializers.IntegerField(
        min_value=1, max_value=MAX_MONTHS, required=False, default=DEFAULT_MONTHS
    )
    weeks = serializers.IntegerField(
        min_value=1,
        max_value=MAX_WEEKS,
        required=False,
        default=DEFAULT_WEEKS,
        help_text="With `unit=WEEK`; weeks begin on Monday.",
    )


class TrendPointBody(Serializer):
    start = serializers.DateField()
    end = serializers.DateField()
    income = serializers.IntegerField()
    expense = serializers.IntegerField()
    net = serializers.IntegerField(help_text="income - expense")
    net_worth = serializers.IntegerField(
        help_text="At the end; of the last point as GET /networth has it."
    )


class TrendBody(Serializer):
    unit = serializers.ChoiceField(choices=list(UNITS))
    points = TrendPointBody(many=True)


def describe_point(point: Point) -> dict[str, Any]:
    return {
        "start": point.period.start,
        "end": point.period.end,
        "income": point.income,
        "expense": point.expense,
        "net": point.income - point.expense,
        "netWorth": point.net_worth,
    }
