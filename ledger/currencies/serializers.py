"""Serializers of exchange rates."""

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from core.api.fields import (
    ExactDecimalField,
    StrictCharField,
)
from core.api.serializers import QuerySerializer, Serializer
from ledger.currencies.codes import CURRENCY_CODES


class CurrencyField(StrictCharField):
    """An ISO 4217 currency code, in any letter case."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("help_text", "ISO 4217 code, in any letter case.")
        super().__init__(max_length=3, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        code = super().to_internal_value(data).upper()
        if code not in CURRENCY_CODES:
            raise serializers.ValidationError(gettext("Unknown currency."))
        return code


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
