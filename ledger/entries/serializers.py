"""Serializers of entries."""

import re
from collections.abc import Mapping
from datetime import time
from typing import Any, cast

from django.utils.functional import cached_property
from django.utils.translation import gettext
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from card_alerts import Doubt
from core.api.field_texts import FieldText
from core.api.fields import (
    MAX_AMOUNT,
    AmountField,
    IsoDateField,
    OpenTextField,
    PositiveDecimalField,
    StrictBooleanField,
    StrictCharField,
    StrictIntegerField,
    StrictListField,
    StrictUUIDField,
    UniqueListField,
)
from core.api.serializers import QuerySerializer, Serializer
from core.api.unknown_names import (
    MAX_REPORTED_NAMES,
    UnknownCode,
    describe_unknown_name,
    find_suggestion,
)
from ledger.base.fields import (
    LedgerTagListField,
    NameField,
    OptionalTextField,
    VersionField,
)
from ledger.base.month_fields import MonthNameField
from ledger.base.ownership import OwnedPrimaryKeyField, UncheckedPrimaryKeyField
from ledger.currencies.serializers import CurrencyField
from ledger.entries.line_serializers import (
    CATEGORY_TEXT,
    TAGS_TEXT,
    WALLET_TEXT,
    EntryLineSerializer,
    NamedWalletSerializer,
    RowIdField,
    ShapeSerializer,
    make_lines_field,
    make_type_field,
)
from ledger.entries.sent_ids import SentTags
from ledger.entry_shape import MAX_TAGS_PER_ENTRY
from ledger.models import Entry, Wallet
from ledger.models.base import MAX_MEMO_LENGTH

_CLOCK_TIME_RE = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")


class EntryAmountField(AmountField):
    # The OpenAPI document reads it.
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


# What a PUT does with a field that it lacks (contract C6).
LEFT_OUT = {
    **dict.fromkeys(("date", "type"), "required"),
    **dict.fromkeys(
        (
            *("amount", "category", "categoryId", "walletId", "memo", "tags"),
            *("tagIds", "currency", "originalAmount", "exchangeRate"),
            "installmentMonths",
        ),
        "cleared",
    ),
    **dict.fromkeys(
        (
            *("toWalletId", "categoryType", "lines", "refundOf", "time", "excluded"),
            *("clientId", "billMonth"),
        ),
        "kept",
    ),
}


class CandidateSerializer(Serializer):
    text = serializers.CharField(help_text="A part of the text.")
    start = serializers.IntegerField(help_text="Its first code point, from 0.")
    end = serializers.IntegerField(help_text="The first code point after it.")


class CandidatesSerializer(Serializer):
    merchant = CandidateSerializer(
        many=True, help_text="Names of the merchant, the best first, at most 5."
    )


class EntrySerializer(ShapeSerializer):
    """An entry; a response is also a valid request."""

    # Validates requests and describes responses, which `ledger.entries.listing` builds.
    conditional_fields = frozenset(
        {"matchedAmount", "partsReset", "unsure", "doubts", "candidates"}
    )
    left_out = LEFT_OUT

    @cached_property
    def known_names(self) -> frozenset[str]:
        # The answer of `unmerge` may be sent back.
        return super().known_names | {"givenUp"}

    id = serializers.IntegerField(read_only=True)
    date = IsoDateField(help_text="Day of the payment.")
    type = make_type_field()
    amount = EntryAmountField(
        required=False,
        allow_null=True,
        default=None,
        help_text=FieldText(
            "In whole home-currency units; 0 only in a pending entry without an "
            "exchange rate.",
            requests=f"1 to {MAX_AMOUNT}. Null: `originalAmount` is converted.",
            left_out="Left out: as null.",
        ),
    )
    category = NameField(
        required=False,
        allow_null=True,
        default=None,
        help_text=CATEGORY_TEXT,
    )
    wallet_id = UncheckedPrimaryKeyField(
        Wallet,
        source="wallet",
        required=False,
        allow_null=True,
        default=None,
        help_text=WALLET_TEXT,
    )
    wallet = NamedWalletSerializer(
        read_only=True,
        allow_null=True,
        help_text="The wallet with its name; null without one.",
    )
    memo = OptionalTextField()
    tags = LedgerTagListField(default=None, help_text=TAGS_TEXT)
    tag_ids = UniqueListField(
        child=RowIdField(),
        max_length=MAX_TAGS_PER_ENTRY,
        required=False,
        allow_null=True,
        help_text=FieldText(
            "Ids of the tags, in their order.",
            requests="Instead of `tags`, as `categoryId` is for `category`.",
            left_out="Left out: `tags` counts.",
        ),
    )
    currency = CurrencyField(
        required=False,
        allow_null=True,
        default=None,
        help_text=FieldText(
            "ISO 4217 code of a foreign currency; null for the home currency.",
            requests="It needs `originalAmount`.",
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
        help_text=FieldText(
            "Home-currency units for one unit of `currency`, with up to 8 decimals; "
            "null without one.",
            requests="Null: the rate of the day is looked up.",
            left_out="Left out: as null.",
        ),
    )
    installment_months = StrictIntegerField(
        min_value=2,
        max_value=24,
        required=False,
        allow_null=True,
        default=None,
        help_text=FieldText(
            "2 to 24; null if paid at once.",
            requests="Only for expenses of a CARD wallet.",
        ),
    )
    bill_month = MonthNameField(
        required=False,
        allow_null=True,
        help_text="Bill of a card with settings, YYYY-MM; null: by date.",
    )
    refund_of = UncheckedPrimaryKeyField(
        Entry,
        required=False,
        allow_null=True,
        help_text=FieldText(
            "Id of the confirmed expense that an income on a category of type "
            "`expense` brings back; null for all else and where lines differ.",
            requests=(
                "Category or lines, tags, currency, rate and `excluded` are those of "
                "the expense where they are left out. Given with lines, it holds for "
                "all."
            ),
        ),
    )
    refunded = serializers.IntegerField(
        read_only=True,
        allow_null=True,
        help_text=(
            "Sum of the confirmed refunds of an expense, and of lines that bring it "
            "back; null for all else."
        ),
    )
    lines = make_lines_field(EntryLineSerializer)
    time = ClockTimeField(
        required=False,
        allow_null=True,
        help_text="Time of the day as HH:MM, which is shown only; null if unknown.",
    )
    excluded = StrictBooleanField(
        required=False,
        help_text=(
            "True: it counts in balances and in the net worth, and not in statistics, "
            "budgets and suggestions."
        ),
    )
    client_id = StrictUUIDField(
        required=False,
        allow_null=True,
        help_text=FieldText(
            "UUID that the client gave the entry when it made it; null without one.",
            requests=("For a new entry only: no second one is ever made under it."),
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
            "Present with the filters `category`, `categoryId`, `categoryType` and "
            "`uncategorized`: the share of the entry in their figure of the "
            "statistics. Negative if it takes from the figure, as a refund does; 0 if "
            "it counts in no statistics, or is found from its other wallet."
        ),
    )
    parts_reset = serializers.BooleanField(
        read_only=True,
        required=False,
        help_text=("Present if a change has dropped typed-in parts."),
    )
    merged = serializers.BooleanField(
        read_only=True,
        help_text="True for a transfer that was merged and can be taken apart.",
    )
    pending = serializers.BooleanField(
        read_only=True,
        help_text=(
            "True for an entry from a card notification until it is confirmed; it "
            "counts nowhere before."
        ),
    )
    unsure = serializers.BooleanField(
        read_only=True,
        required=False,
        help_text=(
            "Present, and true, in a pending entry that a person should look at; gone "
            "once it is confirmed or what is doubted is corrected."
        ),
    )
    doubts = serializers.ListField(
        child=serializers.ChoiceField(choices=list(Doubt)),
        read_only=True,
        required=False,
        help_text=(
            "With `unsure`: KIND if it may be no payment, MERCHANT if `memo` is a "
            "guess."
        ),
    )
    candidates = CandidatesSerializer(
        read_only=True, required=False, help_text="With `unsure`: what `memo` may be."
    )
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)
    version = VersionField()

    def to_internal_value(self, data: Any) -> Any:
        try:
            return with_sent_tags(super().to_internal_value(data), data)
        except serializers.ValidationError as error:
            # Report an unknown wallet together with the other errors.
            details: Any = error.detail
            wallet_id = data.get("walletId") if isinstance(data, dict) else None
            if wallet_id is not None and "walletId" not in details:
                try:
                    cast("Any", self.fields["walletId"]).check(wallet_id)
                except serializers.ValidationError as missing:
                    details["walletId"] = missing.detail
            raise


def with_sent_tags(values: dict[str, Any], data: Any) -> dict[str, Any]:
    """Return the values of a body with its ids of tags as `tags`."""
    if "tag_ids" not in values:
        return values
    ids, names = values.pop("tag_ids") or (), values.get("tags") or ()
    return values | {"tags": SentTags(tuple(ids), tuple(names), "tags" in data)}


# In the document it is the partial schema of an entry.
@extend_schema_serializer(component_name="Entry")
class EntryPatchSerializer(EntrySerializer):
    """A partial update; `clear` is for clients that cannot send null."""

    clear = StrictListField(
        child=StrictCharField(),
        required=False,
        write_only=True,
        help_text="Names of fields to clear, the same as null in each of them.",
    )

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and isinstance(data.get("clear"), list):
            data = self._clear(data)
        values = super().to_internal_value(data)
        values.pop("clear", None)
        return values

    def _clear(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body with null for each name in `clear`."""
        errors: Any = {}
        known = [n for n, each in self.fields.items() if not each.read_only]
        known.remove("clear")
        cleared = {name: value for name, value in data.items() if name != "clear"}
        for number, name in enumerate(data["clear"]):
            if len(errors) == MAX_REPORTED_NAMES:
                break
            if name not in known:
                sent = name if isinstance(name, str) else ""
                suggestion = find_suggestion(sent, known, ())
                text = describe_unknown_name(suggestion, "")
                code: str = UnknownCode(suggestion)
            elif self.fields[name].required:
                text, code = gettext("This field cannot be cleared."), "required"
            elif name in cleared:
                text, code = gettext("This field is sent twice."), "repeated"
            else:
                cleared[name] = None
                continue
            errors[number] = [serializers.ErrorDetail(text, code)]
        if errors:
            raise serializers.ValidationError({"clear": errors})
        return cleared


class DeletionQuerySerializer(QuerySerializer):
    reason = serializers.ChoiceField(
        choices=["NO_PAYMENT"],
        required=False,
        help_text=(
            "Given where the text of a pending entry was no payment: texts like it "
            "make no entry any more. Where one of them was confirmed, they make "
            "entries that are `unsure`."
        ),
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


class FeeSerializer(Serializer):
    """The category of a fee, by name or id; without both it has none."""

    category = NameField(
        required=False,
        allow_null=True,
        help_text="By name; an unknown one is created as a major category. Null: none.",
    )
    category_id = StrictIntegerField(
        required=False, allow_null=True, help_text="Id of an expense category."
    )


class MergeRequestSerializer(Serializer):
    with_ = OwnedPrimaryKeyField(
        Entry,
        source="with_",
        help_text="Id of the other entry: an expense and an income become a transfer.",
    )
    date = IsoDateField(
        required=False,
        allow_null=True,
        help_text="That of one of the two; null or left out: of the expense.",
    )
    fee = FeeSerializer(
        required=False,
        allow_null=True,
        help_text=(
            "Given where the expense is larger, by at most 10 % of the income: the "
            "difference becomes a line."
        ),
    )


class UnmergeRequestSerializer(Serializer):
    dry_run = StrictBooleanField(
        required=False,
        default=False,
        help_text="Answer what the entries would be; write nothing.",
    )


class GivenUpSerializer(Serializer):
    field = OpenTextField(
        known_values=["date", "time", "memo", "tags", "excluded", "fee"],
        help_text="Name of the field; `fee` is a line of a category.",
    )
    value = serializers.JSONField(
        help_text="Its value; of a `fee` an object with amount, category and memo."
    )


class UnmergedEntrySerializer(EntrySerializer):
    """The expense or income that a transfer was merged from."""

    conditional_fields = EntrySerializer.conditional_fields | {"givenUp"}

    given_up = GivenUpSerializer(
        many=True,
        read_only=True,
        required=False,
        help_text=(
            "Present in the expense: what the transfer was given since it was merged, "
            "and neither of the two has."
        ),
    )


class DismissRequestSerializer(Serializer):
    out_id = StrictIntegerField(help_text="Id of the expense.")
    in_id = StrictIntegerField(help_text="Id of the income.")
    dismissed = StrictBooleanField(
        required=False, default=True, help_text="False takes it back."
    )


class TransferCandidateQuerySerializer(QuerySerializer):
    from_ = IsoDateField(
        required=False,
        source="from_",
        help_text="First day of the expense; 90 days before the last one if left out.",
    )
    to = IsoDateField(
        required=False,
        help_text=(
            "Last day of the expense, at most 400 days after the first; today if left "
            "out."
        ),
    )


class TransferCandidateSerializer(Serializer):
    out_id = serializers.IntegerField(help_text="Id of the expense.")
    in_id = serializers.IntegerField(help_text="Id of the income.")
    amount = serializers.IntegerField(help_text="Amount of the expense.")
    days = serializers.IntegerField(
        help_text="From the expense to the income, -1 to 4."
    )
    fee = serializers.IntegerField(
        help_text="What the expense is larger by than the income, mostly 0."
    )


class PendingCountSerializer(Serializer):
    count = serializers.IntegerField(
        help_text="Number of entries that wait for confirmation."
    )
