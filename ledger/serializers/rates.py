"""Serializers of exchange rates."""

from rest_framework import serializers

from core.api.fields import ExactDecimalField
from core.api.serializers import QuerySerializer, Serializer
from ledger.serializers.entries import CurrencyField


class FxRateQuerySerializer(QuerySerializer):
    """The currencies of a rate: the price of one unit of `from` in `to`."""

    from_ = CurrencyField(source="base")
    to = CurrencyField(source="quote")


class FxRateSerializer(Serializer):
    from_ = serializers.CharField()
    to = serializers.CharField()
    rate = ExactDecimalField(max_digits=20, decimal_places=8)
    date = serializers.DateField(
        help_text="The date of the rate, up to 7 days ago on weekends or while the "
        "sources are unavailable."
    )
