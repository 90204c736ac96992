"""Serializers of entries (spec 3.4) and of the filters of their list."""

import calendar
import re
from datetime import date, time
from typing import Any, cast

from django.utils.translation import gettext
from rest_framework import serializers

from core.api.fields import (
    MAX_AMOUNT,
    AmountField,
    IsoDateField,
    OpenTextField,
    PositiveDecimalField,
    StrictBooleanField,
    StrictCharField,
    StrictIntegerField,
)
from core.api.serializers import QuerySerializer, Serializer
from core.errors import InvalidFieldError
from ledger.currencies import CURRENCY_CODES
from ledger.models import Entry, Wallet
from ledger.models.base import MAX_MEMO_LENGTH, MAX_NAME_LENGTH, EntryType
from ledger.ownership import OwnedPrimaryKeyField, UncheckedPrimaryKeyField
from ledger.serializers.fields import LedgerTagListField, NameField, OptionalTextField
from ledger.serializers.lines import (
    NamedWalletSerializer,
    ShapeSerializer,
    make_type_field,
)

_CLOCK_TIME_RE = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")
MIN_FILTER_YEAR, MAX_FILTER_YEAR = 1, 9999


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


class EntryAmountField(AmountField):
    """The amount of an entry; where it is null or missing, the service computes it."""

    # For the OpenAPI document.
    is_null_only_in_requests = True

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, **kwargs)


class ClockTimeField(StrictCharField):
    """A time of the day as HH:MM."""

    def to_internal_value(self, data: Any) -> time:  # type: ignore[override]
        text = super().to_internal_value(data)
        if not _CLOCK_TIME_RE.fullmatch(text):
            raise serializers.ValidationError(gettext("Must be a time as HH:MM."))
        return time.fromisoformat(text)


class ExcludedField(StrictBooleanField):
    """A boolean: the entry is left out; null is false."""

    # For the OpenAPI document.
    is_null_only_in_requests = True

    def run_validation(self, data: Any = serializers.empty) -> bool:
        return bool(super().run_validation(data))


class EntrySerializer(ShapeSerializer):
    """An entry; a response is also a valid request."""

    # Validates requests and describes responses, which `ledger.entry_list` builds.
    conditional_fields = frozenset({"matchedAmount"})

    id = serializers.IntegerField(read_only=True)
    date = IsoDateField(help_text="Day of the payment.")
    type = make_type_field()
    amount = EntryAmountField(
        required=False,
        allow_null=True,
        default=None,
        help_text=(
            f"In whole home-currency units, 1 to {MAX_AMOUNT}; 0 only in a pending "
            "entry without an exchange rate. Null or left out: `originalAmount` is "
            "converted."
        ),
    )
    category = NameField(
        required=False,
        allow_null=True,
        default=None,
        help_text="By name; an unknown one is created as a major category. Null: none.",
    )
    wallet_id = UncheckedPrimaryKeyField(
        Wallet,
        source="wallet",
        required=False,
        allow_null=True,
        default=None,
        help_text="Id of a wallet of the caller; null or left out: no wallet.",
    )
    wallet = NamedWalletSerializer(
        read_only=True,
        allow_null=True,
        help_text="The wallet with its name; null without one.",
    )
    memo = OptionalTextField()
    tags = LedgerTagListField(help_text="By name; unknown ones are created.")
    currency = CurrencyField(
        required=False,
        allow_null=True,
        default=None,
        help_text=(
            "ISO 4217 code of a foreign currency, which needs `originalAmount`; "
            "null for the home currency."
        ),
    )
    original_amount = PositiveDecimalField(
        max_digits=16,
        decimal_places=4,
        required=False,
        allow_null=True,
        default=None,
        help_text=(
            "In `currency`, with up to 4 decimals; null for a home-currency entry."
        ),
    )
    exchange_rate = PositiveDecimalField(
        max_digits=20,
        decimal_places=8,
        required=False,
        allow_null=True,
        default=None,
        help_text=(
            "Home-currency units for one unit of `currency`, with up to 8 decimals."
            " Null or left out: the rate of the day is looked up."
        ),
    )
    installment_months = StrictIntegerField(
        min_value=2,
        max_value=24,
        required=False,
        allow_null=True,
        default=None,
        help_text="2 to 24; null if paid at once. Only for expenses of a CARD wallet.",
    )
    refund_of = UncheckedPrimaryKeyField(
        Entry,
        required=False,
        allow_null=True,
        help_text=(
            "Id of the expense that comes back, on an income with the category type "
            "`expense`; null for all else. Without `category` or `lines` it gets those "
            "of that expense. A confirmed entry refers to a confirmed expense."
        ),
    )
    refunded = serializers.IntegerField(
        read_only=True,
        allow_null=True,
        help_text="Sum of the confirmed refunds of an expense; null for all else.",
    )
    time = ClockTimeField(
        required=False,
        allow_null=True,
        help_text="Time of the day as HH:MM, which is shown only; null if unknown.",
    )
    excluded = ExcludedField(
        required=False,
        allow_null=True,
        help_text=(
            "True: it counts in balances and in the net worth, and not in statistics, "
            "budgets and suggestions."
        ),
    )
    source = OpenTextField(
        known_values=Entry.Source.values,
        read_only=True,
        help_text="Where it comes from.",
    )  # type: ignore[assignment]
    matched_amount = serializers.IntegerField(
        read_only=True,
        required=False,
        help_text=(
            "Present with the filter `category`: the part of the amount that is booked "
            "on it."
        ),
    )
    pending = serializers.BooleanField(
        read_only=True,
        help_text=(
            "True for an entry from a card notification until it is confirmed; it "
            "counts nowhere before."
        ),
    )
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)

    def to_internal_value(self, data: Any) -> Any:
        try:
            return super().to_internal_value(data)
        except serializers.ValidationError as error:
            # Tell about a wallet that does not exist together with the other errors.
            details: Any = error.detail
            wallet_id = data.get("walletId") if isinstance(data, dict) else None
            if wallet_id is not None and "walletId" not in details:
                try:
                    cast("Any", self.fields["walletId"]).check(wallet_id)
                except serializers.ValidationError as missing:
                    details["walletId"] = missing.detail
            raise


class EntryQuerySerializer(QuerySerializer):
    """The filters of the entry list, which are combined with AND."""

    from_ = IsoDateField(
        required=False, source="from_", help_text="Only entries of this day and later."
    )
    to = IsoDateField(required=False, help_text="Only entries of this day and before.")
    year = serializers.IntegerField(
        min_value=MIN_FILTER_YEAR,
        max_value=MAX_FILTER_YEAR,
        required=False,
        help_text="Only entries of this year.",
    )
    month = serializers.IntegerField(
        min_value=1,
        max_value=12,
        required=False,
        help_text="Only entries of this month, 1 to 12; needs `year`.",
    )
    type = serializers.ChoiceField(
        choices=EntryType.choices,
        required=False,
        help_text="Only entries of this type.",
    )
    category = serializers.CharField(
        max_length=MAX_NAME_LENGTH,
        required=False,
        help_text=(
            "Only entries of this category, by name; a major one includes its minor"
            " ones."
        ),
    )
    wallet_id = serializers.IntegerField(
        required=False,
        help_text="Only entries of this wallet, and transfers to it.",
    )
    tag = serializers.CharField(
        max_length=MAX_NAME_LENGTH,
        required=False,
        help_text="Only entries with this tag, by name.",
    )
    keyword = serializers.CharField(
        max_length=MAX_NAME_LENGTH,
        required=False,
        help_text="Only entries with this text in the memo, in any letter case.",
    )
    pending = serializers.BooleanField(
        required=False,
        allow_null=True,
        default=None,
        help_text=(
            "True: only pending entries; false: only confirmed ones; left out: both."
        ),
    )
    min_amount = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_AMOUNT,
        help_text="Only entries of at least this amount.",
    )
    max_amount = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_AMOUNT,
        help_text="Only entries of at most this amount.",
    )


class RefundRequestSerializer(Serializer):
    amount = AmountField(
        required=False,
        allow_null=True,
        help_text="What comes back; null or left out: all that is left.",
    )
    date = IsoDateField(
        required=False, allow_null=True, help_text="Null or left out: today."
    )
    wallet_id = UncheckedPrimaryKeyField(
        Wallet,
        source="wallet",
        required=False,
        allow_null=True,
        help_text="Left out: the wallet of the expense; null: no wallet.",
    )
    memo = StrictCharField(
        max_length=MAX_MEMO_LENGTH,
        required=False,
        allow_blank=True,
        help_text="Left out: the memo of the expense.",
    )


class MergeRequestSerializer(Serializer):
    with_ = OwnedPrimaryKeyField(
        Entry,
        source="with_",
        help_text="Id of the other entry: an expense and an income become a transfer.",
    )


class TransferCandidateQuerySerializer(QuerySerializer):
    from_ = IsoDateField(
        required=False,
        source="from_",
        help_text="First day of the expense; 90 days before the last one if left out.",
    )
    to = IsoDateField(
        required=False, help_text="Last day of the expense; today if left out."
    )


class TransferCandidateSerializer(Serializer):
    out_id = serializers.IntegerField(help_text="Id of the expense.")
    in_id = serializers.IntegerField(help_text="Id of the income.")
    amount = serializers.IntegerField(help_text="Of both.")
    days = serializers.IntegerField(help_text="From the expense to the income, 0 to 4.")


class PendingCountSerializer(Serializer):
    count = serializers.IntegerField(
        help_text="Number of entries that wait for confirmation."
    )


def resolve_date_range(query: dict[str, Any]) -> tuple[date | None, date | None]:
    """Return the first and last day of the filters, both inclusive, None if open."""
    start, end = query.get("from_"), query.get("to")
    year, month = query.get("year"), query.get("month")
    if year is None:
        if month is not None:
            raise InvalidFieldError(
                "year", gettext("`year` is required with `month`."), "required"
            )
        return start, end
    first = date(year, month or 1, 1)
    last = date(year, month or 12, calendar.monthrange(year, month or 12)[1])
    return max(start or first, first), min(end or last, last)
