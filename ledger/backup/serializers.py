"""Serializers of restore.

Serializers of rows only describe a JSON backup: `ledger.backup.validation` validates
it.
"""

from typing import Any

from rest_framework import serializers

from core.api.fields import (
    AmountField,
    ClosedChoiceField,
    IsoDateField,
    PositiveDecimalField,
    StrictBooleanField,
    StrictCharField,
    StrictIntegerField,
    StrictListField,
    StrictUUIDField,
    TagNameField,
)
from core.api.serializers import QuerySerializer, Serializer
from ledger.backup.columns import ENTRIES
from ledger.base.fields import (
    MAX_TAGS_PER_ENTRY,
    ColorField,
    IconField,
    NameField,
    OptionalTextField,
    SignedMoneyField,
)
from ledger.base.month_fields import MonthNameField, MonthSerializer
from ledger.currencies.serializers import CurrencyField
from ledger.entries.serializers import ClockTimeField, EntrySerializer
from ledger.models import Entry, Wallet
from ledger.models.base import MAX_NAME_LENGTH, CategoryType, EntryType
from ledger.models.recurring import MAX_INTERVAL
from ledger.models.schedule import Frequency
from ledger.models.wallets import MAX_ACCOUNT_NUMBER_LENGTH


class FlagField(serializers.BooleanField):
    """`true`, `false`, `1` or `0` in any letter case."""

    # DRF knows `yes` and `on` as well.
    TRUE_VALUES = {"true", "1"}
    FALSE_VALUES = {"false", "0"}


class RestoreQuerySerializer(QuerySerializer):
    dry_run = FlagField(
        required=False,
        default=False,
        help_text="Validate and count the rows; write nothing.",
    )
    keep_import_keys = FlagField(
        required=False,
        default=False,
        help_text="Go on taking rows of files that were imported before for known. "
        "Otherwise they can be imported again, since their entries are gone.",
    )


class RestoreFileRequestSerializer(Serializer):
    file = serializers.FileField(
        # An empty file is rejected as INVALID_BACKUP, like any other invalid file.
        allow_empty_file=True,
        help_text="A workbook (xlsx), or JSON of the same structure; at most 10 MB.",
    )


# An empty cell, and a field that is null or missing, has the default of its column.
OPTIONAL: dict[str, Any] = {"required": False, "allow_null": True}
TYPE_TEXT = "Income or expense."
ENTRY_TYPE_TEXT = "Income, expense or transfer."


class TagNamesField(StrictListField):
    def __init__(self) -> None:
        child = TagNameField(max_length=MAX_NAME_LENGTH)
        super().__init__(
            child=child,
            max_length=MAX_TAGS_PER_ENTRY,
            help_text="Names of tags, in their order.",
            **OPTIONAL,
        )


class WalletRowRequestSerializer(Serializer):
    name = NameField()
    kind = serializers.ChoiceField(
        choices=Wallet.Kind.choices, help_text="Kind of the wallet."
    )
    institution = OptionalTextField(max_length=MAX_NAME_LENGTH)
    account_number = OptionalTextField(max_length=MAX_ACCOUNT_NUMBER_LENGTH)
    opening_balance = SignedMoneyField(
        **OPTIONAL, help_text="Balance before the first entry; null is 0."
    )
    manual_valuation = StrictBooleanField(
        **OPTIONAL, help_text="True if the member sets the value; null is false."
    )
    current_value = SignedMoneyField(
        **OPTIONAL, help_text="Value set by the member, of a manual valuation."
    )
    archived = StrictBooleanField(
        **OPTIONAL, help_text="True if the wallet is no longer used; null is false."
    )
    memo = OptionalTextField()
    icon = IconField()
    color = ColorField()


class TagRowRequestSerializer(Serializer):
    name = TagNameField(max_length=MAX_NAME_LENGTH, help_text="Name of the tag.")
    icon = IconField()
    color = ColorField()


class CategoryRowRequestSerializer(Serializer):
    type = ClosedChoiceField(choices=CategoryType.choices, help_text=TYPE_TEXT)
    name = NameField()
    parent = NameField(**OPTIONAL)  # type: ignore[assignment]
    icon = IconField()
    color = ColorField()


class ReferringRowSerializer(Serializer):
    """The fields of rows that name a category, wallets and tags."""

    type = serializers.ChoiceField(choices=EntryType.choices, help_text=ENTRY_TYPE_TEXT)
    category = NameField(**OPTIONAL)
    wallet = NameField(**OPTIONAL)
    memo = OptionalTextField()
    tags = TagNamesField()
    key = NameField(**OPTIONAL, help_text="What lines and refunds call this row.")
    to_wallet = NameField(**OPTIONAL, help_text="Wallet that a transfer goes to.")
    category_type = serializers.ChoiceField(
        choices=CategoryType.choices,
        **OPTIONAL,
        help_text="Type of the category; null is that of the row.",
    )


class EntryRowRequestSerializer(ReferringRowSerializer):
    def get_fields(self) -> "dict[str, serializers.Field[Any, Any, Any, Any]]":
        """Return the fields of the columns, by default the fields of requests."""
        fields = super().get_fields()
        of_requests = EntrySerializer().get_fields()
        for column in ENTRIES.columns:
            if column.header not in fields:
                fields[column.header] = of_requests[column.header]
        return fields

    date = IsoDateField(help_text="Day of the entry.")
    amount = AmountField(min_value=0, **OPTIONAL)
    currency = CurrencyField(**OPTIONAL)
    original_amount = PositiveDecimalField(
        max_digits=16,
        decimal_places=4,
        **OPTIONAL,
        help_text="In `currency`; null for a home-currency entry.",
    )
    exchange_rate = PositiveDecimalField(
        max_digits=20,
        decimal_places=8,
        **OPTIONAL,
        help_text="Home-currency units for one unit of `currency`.",
    )
    installment_months = StrictIntegerField(
        min_value=2, max_value=24, **OPTIONAL, help_text="Null if paid at once."
    )
    bill_month = MonthNameField(
        **OPTIONAL, help_text="Month of the card bill, as YYYY-MM; null: by its date."
    )
    installment_parts = StrictListField(
        child=AmountField(),
        **OPTIONAL,
        help_text="Amounts of the parts, if they were typed in.",
    )
    pending = StrictBooleanField(
        **OPTIONAL, help_text="True if it awaits confirmation; null is false."
    )
    refund_of = NameField(**OPTIONAL, help_text="Key of the expense that comes back.")
    time = ClockTimeField(**OPTIONAL, help_text="Time of the day as HH:MM.")
    excluded = StrictBooleanField(
        **OPTIONAL, help_text="True if it is left out of statistics; null is false."
    )
    source = serializers.ChoiceField(
        choices=Entry.Source.choices,
        **OPTIONAL,
        help_text="Where it came from; null is `MANUAL`.",
    )  # type: ignore[assignment]
    created_at = serializers.DateTimeField(
        **OPTIONAL,
        help_text="In UTC, of what moves a typed-in value of its day; null is now.",
    )
    not_with = StrictListField(
        child=NameField(),
        **OPTIONAL,
        help_text="Keys of incomes that are no transfer with this expense.",
    )
    client_id = StrictUUIDField(
        **OPTIONAL, help_text="UUID that a client gave the entry."
    )


class RecurringRowRequestSerializer(ReferringRowSerializer):
    name = NameField()
    amount = AmountField()
    frequency = serializers.ChoiceField(
        choices=[each.value for each in Frequency], help_text="How often it is due."
    )
    interval = StrictIntegerField(
        min_value=1,
        max_value=MAX_INTERVAL,
        **OPTIONAL,
        help_text="Every so many days, weeks, months or years; null is 1.",
    )
    anchor_date = IsoDateField(help_text="First due date.")
    end_date = IsoDateField(**OPTIONAL, help_text="Last day; null if it has no end.")
    next_date = IsoDateField(**OPTIONAL, help_text="Null after the end of the rule.")
    active = StrictBooleanField(
        **OPTIONAL, help_text="False if it books nothing; null is true."
    )


class BudgetRowRequestSerializer(MonthSerializer):
    category = NameField()
    amount = AmountField()


class QuickEntryRowRequestSerializer(ReferringRowSerializer):
    name = NameField()
    amount = AmountField(**OPTIONAL)


class LineRowRequestSerializer(Serializer):
    entry = NameField(help_text="Key of an entry, recurring rule or quick entry.")
    amount = SignedMoneyField(help_text="Part of the amount; not 0.")
    category = NameField(**OPTIONAL)
    category_type = serializers.ChoiceField(
        choices=CategoryType.choices,
        **OPTIONAL,
        help_text="Type of the category; null is that of the entry.",
    )
    wallet = NameField(**OPTIONAL, help_text="Another wallet, to which it goes.")
    memo = OptionalTextField()
    refund_of = NameField(
        **OPTIONAL, help_text="Key of the expense that the line brings back."
    )


class ValuationRowRequestSerializer(Serializer):
    wallet = NameField(help_text="Name of the wallet.")
    date = IsoDateField(help_text="Day of the value.")
    value = SignedMoneyField(help_text="The typed-in value.")
    written_at = serializers.DateTimeField(
        **OPTIONAL,
        help_text="In UTC; transfers of the day that were created later move the "
        "value. Null is now.",
    )


class MergedEntryRowRequestSerializer(Serializer):
    entry = NameField(help_text="Key of the transfer that it became a part of.")
    type = ClosedChoiceField(choices=CategoryType.choices, help_text=TYPE_TEXT)
    date = IsoDateField(help_text="Day of the entry before it was merged.")
    category = NameField(**OPTIONAL)
    category_type = serializers.ChoiceField(
        choices=CategoryType.choices,
        **OPTIONAL,
        help_text="Type of the category; null is that of the row.",
    )
    memo = OptionalTextField()
    tags = TagNamesField()
    installment_months = StrictIntegerField(
        min_value=2, max_value=24, **OPTIONAL, help_text="Null if paid at once."
    )
    bill_month = MonthNameField(
        **OPTIONAL, help_text="Month of the card bill, as YYYY-MM; null: by its date."
    )
    installment_parts = StrictListField(
        child=AmountField(),
        **OPTIONAL,
        help_text="Amounts of the parts, if they were typed in.",
    )
    pending = StrictBooleanField(
        **OPTIONAL, help_text="True if it awaited confirmation; null is false."
    )
    time = ClockTimeField(**OPTIONAL, help_text="Time of the day as HH:MM.")
    excluded = StrictBooleanField(
        **OPTIONAL, help_text="True if it was left out of statistics; null is false."
    )
    source = serializers.ChoiceField(
        choices=Entry.Source.choices,
        **OPTIONAL,
        help_text="Where it came from; null is `MANUAL`.",
    )  # type: ignore[assignment]
    created_at = serializers.DateTimeField(
        **OPTIONAL, help_text="When it was made, in UTC; null is now."
    )
    client_id = StrictUUIDField(
        **OPTIONAL, help_text="UUID that a client gave the entry, of an income."
    )


class CardRowRequestSerializer(Serializer):
    wallet = NameField(help_text="Name of the card.")
    terms = StrictListField(
        child=StrictCharField(),
        **OPTIONAL,
        help_text=(
            "Days of its bills, such as `2026-12 31 14 1 NEXT`: month of the first "
            "bill, closing day, payment day, months from closing to payment, shift."
        ),
    )
    pay_from = NameField(**OPTIONAL, help_text="Name of the wallet that pays.")
    auto_pay = StrictBooleanField(
        **OPTIONAL, help_text="True if it pays by itself; null is false."
    )
    credit_limit = AmountField(**OPTIONAL, help_text="Limit of the card.")
    billed_with = NameField(
        **OPTIONAL, help_text="Name of the card on whose bill it stands."
    )
    targets = StrictListField(
        child=AmountField(), **OPTIONAL, help_text="Spending that the issuer asks for."
    )
    excluded_categories = StrictListField(
        child=NameField(),
        **OPTIONAL,
        help_text="Expense categories that do not count for `targets`.",
    )
    excluded_tags = TagNamesField()
    excludes_installments = StrictBooleanField(
        **OPTIONAL, help_text="True if purchases in parts do not count."
    )


class BillRowRequestSerializer(Serializer):
    """The values that an issuer printed on a bill."""

    wallet = NameField(help_text="Name of the card.")
    month = MonthNameField(help_text="Month of the bill, as YYYY-MM.")
    period_end = IsoDateField(**OPTIONAL, help_text="Last day of the period.")
    payment_date = IsoDateField(**OPTIONAL, help_text="Day of the payment.")
    amount = SignedMoneyField(**OPTIONAL, help_text="Amount of the bill.")


class RestoreRequestSerializer(Serializer):
    """The sheets of the workbook as lists; tags are lists of names.

    A missing list is empty. The fields are the column headers of the workbook that
    `GET /api/account/backup` returns.
    """

    is_body_required = True

    wallets = WalletRowRequestSerializer(
        many=True,
        **OPTIONAL,
        help_text="Rows of the sheet `wallets`.",
    )
    tags = TagRowRequestSerializer(
        many=True,
        **OPTIONAL,
        help_text="Rows of the sheet `tags`.",
    )
    categories = CategoryRowRequestSerializer(
        many=True,
        **OPTIONAL,
        help_text=(
            "Rows of the sheet `categories`; `parent` is the name of the major one."
        ),
    )
    entries = EntryRowRequestSerializer(
        many=True,
        **OPTIONAL,
        help_text="Rows of the sheet `entries`; `wallet` and `category` are names.",
    )
    recurring = RecurringRowRequestSerializer(
        many=True,
        **OPTIONAL,
        help_text="Rows of the sheet `recurring`; `wallet` and `category` are names.",
    )
    budgets = BudgetRowRequestSerializer(
        many=True,
        **OPTIONAL,
        help_text="Rows of the sheet `budgets`; `category` is a name.",
    )
    quick_entries = QuickEntryRowRequestSerializer(
        many=True,
        **OPTIONAL,
        help_text="Rows of the sheet `quickEntries`, as in `recurring`.",
    )
    lines = LineRowRequestSerializer(
        many=True,
        **OPTIONAL,
        help_text="Rows of the sheet `lines`: those of split entries and templates.",
    )
    valuations = ValuationRowRequestSerializer(
        many=True,
        **OPTIONAL,
        help_text="Rows of the sheet `valuations`: typed-in values of wallets.",
    )
    merged_entries = MergedEntryRowRequestSerializer(
        many=True,
        **OPTIONAL,
        help_text=(
            "Rows of the sheet `mergedEntries`: the expense and the income that a "
            "transfer was merged from."
        ),
    )
    cards = CardRowRequestSerializer(
        many=True, **OPTIONAL, help_text="Rows of the sheet `cards`: their settings."
    )
    bills = BillRowRequestSerializer(
        many=True,
        **OPTIONAL,
        help_text="Rows of the sheet `bills`: what issuers printed.",
    )


class IgnoredNameSerializer(Serializer):
    sheet = serializers.CharField(help_text="Name of the sheet.")
    column = serializers.CharField(
        allow_null=True, help_text="Name of the column; null for a whole sheet."
    )


class RestoreResultSerializer(Serializer):
    """The number of rows of each sheet that were restored, or would be."""

    dry_run = serializers.BooleanField(help_text="True if nothing was written.")
    wallets = serializers.IntegerField(help_text="Number of wallets.")
    tags = serializers.IntegerField(help_text="Number of tags.")
    categories = serializers.IntegerField(help_text="Number of categories.")
    entries = serializers.IntegerField(help_text="Number of entries.")
    recurring = serializers.IntegerField(help_text="Number of recurring rules.")
    budgets = serializers.IntegerField(help_text="Budgets of the current month.")
    quick_entries = serializers.IntegerField(help_text="Number of quick entries.")
    lines = serializers.IntegerField(help_text="Number of lines.")
    valuations = serializers.IntegerField(help_text="Number of typed-in values.")
    merged_entries = serializers.IntegerField(
        help_text="Number of entries that transfers were merged from."
    )
    cards = serializers.IntegerField(help_text="Number of cards with settings.")
    bills = serializers.IntegerField(help_text="Number of printed bills.")
    ignored = IgnoredNameSerializer(
        many=True,
        help_text="Other sheets and columns of the workbook, which were passed over.",
    )
