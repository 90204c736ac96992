"""Wire shapes of the net-worth trend."""

from typing import Any, cast

from rest_framework import serializers

from core.api.serializers import QuerySerializer, Serializer
from ledger.periods import Unit
from ledger.trend import TrendPoint

DEFAULT_MONTHS, DEFAULT_WEEKS = 12, 13
MAX_MONTHS, MAX_WEEKS = 240, 520
UNIT_BY_NAME = {"month": Unit.MONTH, "WEEK": Unit.WEEK}
NAME_BY_UNIT = {unit: name for name, unit in UNIT_BY_NAME.items()}


class TrendUnitField(serializers.ChoiceField):
    """`month` or `WEEK`, in any letter case."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=list(UNIT_BY_NAME), **options)

    def to_internal_value(self, data: Any) -> Unit:
        text = str(data)
        name = text.lower() if text.lower() in UNIT_BY_NAME else text.upper()
        return UNIT_BY_NAME[super().to_internal_value(name)]


class PeriodCountField(serializers.IntegerField):
    """How many periods, from 1; out of range is an error where the count is used."""

    def __init__(self, most: int, **options: Any) -> None:
        super().__init__(min_value=1, max_value=most, required=False, **options)

    def run_validators(self, value: int) -> None:
        """Not yet: which count is used is known once `unit` is read."""

    def validate_range(self, value: int) -> None:
        super().run_validators(value)


class TrendQuerySerializer(QuerySerializer):
    unit = TrendUnitField(required=False, default=Unit.MONTH)
    months = PeriodCountField(
        MAX_MONTHS,
        default=DEFAULT_MONTHS,
        help_text="How many, with `unit=month`. With `unit=WEEK` any whole number is "
        "ignored.",
    )
    weeks = PeriodCountField(
        MAX_WEEKS,
        default=DEFAULT_WEEKS,
        help_text="How many, with `unit=WEEK`; weeks begin on Monday. With "
        "`unit=month` any whole number is ignored.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The count that goes with the unit, as `count`."""
        name = "weeks" if attrs["unit"] is Unit.WEEK else "months"
        field = cast("PeriodCountField", self.fields[name])
        try:
            field.validate_range(attrs[name])
        except serializers.ValidationError as refusal:
            raise serializers.ValidationError({name: refusal.detail}) from refusal
        return {"unit": attrs["unit"], "count": attrs[name]}


class TrendPointSerializer(Serializer):
    start = serializers.DateField()
    end = serializers.DateField()
    income = serializers.IntegerField()
    expense = serializers.IntegerField()
    net = serializers.IntegerField(help_text="income - expense")
    net_worth = serializers.IntegerField(
        help_text="At the end; of the last point as GET /networth has it."
    )


class TrendSerializer(Serializer):
    unit = serializers.ChoiceField(choices=list(UNIT_BY_NAME))
    points = TrendPointSerializer(many=True)


def trend_point_payload(point: TrendPoint) -> dict[str, Any]:
    return {
        "start": point.period.start,
        "end": point.period.end,
        "income": point.income,
        "expense": point.expense,
        "net": point.income - point.expense,
        "netWorth": point.net_worth,
    }
