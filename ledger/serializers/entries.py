"""Wire shapes of entries and their filters."""

import calendar
from datetime import date
from typing import Any

from rest_framework import serializers

from core.api.fields import (
    MAX_AMOUNT,
    Amount,
    Day,
    PositiveExact,
    QuerySerializer,
    Serializer,
    Text,
    Whole,
)
from core.errors import InvalidField
from ledger.currencies import CODES
from ledger.models import Wallet
from ledger.models.base import NAME_LENGTH, EntryType
from ledger.ownership import OwnedId
from ledger.serializers.fields import NameField, OptionalText, TagNames

MIN_YEAR, MAX_YEAR = 1, 9999


class CurrencyField(Text):
    """An ISO 4217 code, in any letter case."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=3, **options)

    def to_internal_value(self, data: Any) -> str:
        code = super().to_internal_value(data).upper()
        if code not in CODES:
            raise serializers.ValidationError("There is no such currency.")
        return code


class EntryWalletBody(Serializer):
    id = serializers.IntegerField()
    name = serializers.CharField()


class EntryBody(Serializer):
    """An entry (contract, section 3); what is read can be sent back as it is."""

    id = serializers.IntegerField(read_only=True)
    date = Day()
    type = serializers.ChoiceField(choices=EntryType.choices)
    amount = Amount(
        min_value=0,
        required=False,
        allow_null=True,
        default=None,
        help_text=(
            f"Whole home-currency units, 1 to {MAX_AMOUNT}; 0 only while a pending "
            "foreign entry awaits its rate. Left out, originalAmount is converted."
        ),
    )
    category = NameField(
        required=False,
        allow_null=True,
        default=None,
        help_text="By name; an unknown one is created as a major category.",
    )
    wallet_id = OwnedId(
        Wallet, source="wallet", required=False, allow_null=True, default=None
    )
    wallet = EntryWalletBody(read_only=True, allow_null=True)
    memo = OptionalText()
    tags = TagNames(help_text="By name; unknown ones are created.")
    currency = CurrencyField(required=False, allow_null=True, default=None)
    original_amount = PositiveExact(
        max_digits=16,
        decimal_places=4,
        required=False,
        allow_null=True,
        default=None,
        help_text="In `currency`; null for a home-currency entry.",
    )
    exchange_rate = PositiveExact(
        max_digits=20,
        decimal_places=8,
        required=False,
        allow_null=True,
        default=None,
        help_text="Home-currency units for one unit of `currency`.",
    )
    installment_months = Whole(
        min_value=2,
        max_value=24,
        required=False,
        allow_null=True,
        default=None,
        help_text="Null is paid in one sum; only for an expense by CARD.",
    )
    pending = serializers.BooleanField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)


class EntryQuery(QuerySerializer):
    """The filters of the entry list; all that are given must hold."""

    from_ = Day(required=False, source="from_")
    to = Day(required=False)
    year = serializers.IntegerField(
        min_value=MIN_YEAR, max_value=MAX_YEAR, required=False
    )
    month = serializers.IntegerField(
        min_value=1, max_value=12, required=False, help_text="Together with `year`."
    )
    type = serializers.ChoiceField(choices=EntryType.choices, required=False)
    category = serializers.CharField(
        max_length=NAME_LENGTH,
        required=False,
        help_text="By name; a major one includes its minor ones.",
    )
    wallet_id = serializers.IntegerField(required=False)
    tag = serializers.CharField(max_length=NAME_LENGTH, required=False)
    keyword = serializers.CharField(
        max_length=NAME_LENGTH, required=False, help_text="In the memo, any case."
    )
    pending = serializers.BooleanField(required=False, allow_null=True, default=None)
    min_amount = serializers.IntegerField(
        required=False, min_value=0, max_value=MAX_AMOUNT
    )
    max_amount = serializers.IntegerField(
        required=False, min_value=0, max_value=MAX_AMOUNT
    )


class PendingCountBody(Serializer):
    count = serializers.IntegerField()


def days_of(query: dict[str, Any]) -> tuple[date | None, date | None]:
    """First and last day that the filters leave, both included."""
    start, end = query.get("from_"), query.get("to")
    year, month = query.get("year"), query.get("month")
    if year is None:
        if month is not None:
            raise InvalidField("year", "A month needs its year.", "required")
        return start, end
    first = date(year, month or 1, 1)
    last = date(year, month or 12, calendar.monthrange(year, month or 12)[1])
    return max(start or first, first), min(end or last, last)
