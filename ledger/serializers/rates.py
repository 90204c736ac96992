"""Wire shapes of exchange rates."""

from rest_framework import serializers

from core.api.fields import ExactDecimalField
from core.api.serializers import QuerySerializer, Serializer
from ledger.serializers.entries import CurrencyField


class FxRateQuerySerializer(QuerySerializer):
    """Which rate is asked for: what one unit of `from` costs in `to`."""

    from_ = CurrencyField(source="base")
    to = CurrencyField(source="quote")


class FxRateSerializer(Serializer):
    from_ = serializers.CharField()
    to = serializers.CharField()
    rate = ExactDecimalField(max_digits=20, decimal_places=8)
    date = serializers.DateField(
        help_text="The rate's own day: over a weekend, or while the sources fail, "
        "it lies up to 7 days back."
    )
