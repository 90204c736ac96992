"""Serializers of exchange rates."""

from rest_framework import serializers

from core.api.fields import ExactDecimalField
from core.api.serializers import QuerySerializer, Serializer
from ledger.serializers.entries import CurrencyField


class FxRateQuerySerializer(QuerySerializer):
    """The currencies of a rate: the price of one unit of `from` in `to`."""

    from_ = CurrencyField(
        source="base",
        help_text="Currency to convert from; ISO 4217 code, in any letter case.",
    )
    to = CurrencyField(
        source="quote",
        help_text="Currency to convert to; ISO 4217 code, in any letter case.",
    )


class FxRateSerializer(Serializer):
    from_ = serializers.CharField(help_text="Currency converted from.")
    to = serializers.CharField(help_text="Currency converted to.")
    rate = ExactDecimalField(
        max_digits=20,
        decimal_places=8,
        help_text="Price of one unit of `from` in `to`, with up to 8 decimals.",
    )
    date = serializers.DateField(
        help_text="The date of the rate, up to 7 days ago on weekends or while the "
        "sources are unavailable."
    )
