"""Serializers of cards and bills."""

from typing import Any

from rest_framework import serializers

from core.api.field_texts import FieldText
from core.api.fields import (
    MAX_AMOUNT,
    AmountField,
    IsoDateField,
    OpenTextField,
    StrictBooleanField,
    StrictCharField,
    StrictIntegerField,
    StrictListField,
)
from core.api.serializers import QuerySerializer, Serializer
from ledger.base.fields import SignedMoneyField, VersionField
from ledger.base.month_fields import MonthNameField
from ledger.base.ownership import UncheckedPrimaryKeyField
from ledger.cards.card_settings import CardValues, TargetExcludes
from ledger.cards.compute import BillStatus
from ledger.cards.schedule import MAX_PAYMENT_MONTH, Printed, Shift
from ledger.models import Wallet
from ledger.models.base import MAX_NAME_LENGTH
from ledger.models.cards import MAX_EXCLUDED, MAX_TARGETS

_OPTIONAL: dict[str, Any] = {"required": False, "allow_null": True}


class WalletIdField(UncheckedPrimaryKeyField):
    """The id of a wallet, in Python the id too."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(Wallet, **kwargs)

    def to_representation(self, value: Any) -> Any:
        return value


class TargetExcludesSerializer(Serializer):
    """Categories, tags and installments that the targets leave out."""

    categories = StrictListField(
        child=StrictCharField(max_length=MAX_NAME_LENGTH),
        max_length=MAX_EXCLUDED,
        **_OPTIONAL,
        help_text="Names of expense categories; a major one stands for its minors too.",
    )
    tags = StrictListField(
        child=StrictCharField(max_length=MAX_NAME_LENGTH),
        max_length=MAX_EXCLUDED,
        **_OPTIONAL,
        help_text="Names of tags.",
    )
    installments = StrictBooleanField(
        **_OPTIONAL, help_text="True: purchases in installments do not count."
    )


class CardSerializer(Serializer):
    """The settings of a card; a response is also a valid request."""

    is_body_required = True

    wallet_id = serializers.IntegerField(read_only=True, help_text="Id of the wallet.")
    closing_day = StrictIntegerField(
        min_value=1,
        max_value=31,
        **_OPTIONAL,
        help_text=FieldText(
            "Last day of a period, 1 to 31; in a shorter month its last day. Null for "
            "a card on the bill of another one, and for a CHECK_CARD.",
            requests="Required for all other cards.",
        ),
    )
    payment_day = StrictIntegerField(
        min_value=1,
        max_value=31,
        **_OPTIONAL,
        help_text=FieldText(
            "Day of the payment, 1 to 31; in a shorter month its last day. Null where "
            "`closingDay` is.",
            requests="Required for all other cards.",
        ),
    )
    payment_month = StrictIntegerField(
        min_value=0,
        max_value=MAX_PAYMENT_MONTH,
        **_OPTIONAL,
        help_text=FieldText(
            "Months from closing to payment, 0 to 2.",
            requests="Null: 0 if the payment day is after the closing day, else 1.",
        ),
    )
    shift = serializers.ChoiceField(
        choices=[each.value for each in Shift],
        allow_null=True,
        default=Shift.NEXT.value,
        help_text=(
            "Where a payment goes that falls on a Saturday, Sunday or public holiday: "
            "to the `NEXT` business day, the `PREVIOUS` one, or `NONE`: nowhere. "
            "Null or left out: `NEXT`."
        ),
    )
    pay_from_wallet_id = WalletIdField(
        source="pay_from_wallet",
        **_OPTIONAL,
        help_text="Id of the wallet that pays the bills; null if none is named.",
    )
    auto_pay = StrictBooleanField(
        **_OPTIONAL,
        help_text=(
            "True: the transfer of each bill is made on its payment date, unless it "
            "is there. It needs `payFromWalletId` and a plan."
        ),
    )
    credit_limit = AmountField(
        **_OPTIONAL, help_text="Limit of the card, for information; null if unknown."
    )
    billed_with_id = WalletIdField(
        source="billed_with",
        **_OPTIONAL,
        help_text=(
            "Id of the CARD on whose bill this one stands, such as the main card of a "
            "family card; null for a bill of its own."
        ),
    )
    targets = StrictListField(
        child=AmountField(),
        max_length=MAX_TARGETS,
        **_OPTIONAL,
        help_text="Spending of a month that the issuer asks for, smallest first.",
    )
    target_excludes = TargetExcludesSerializer(
        **_OPTIONAL, help_text="What does not count for `targets`."
    )
    from_ = MonthNameField(
        source="from_month",
        **_OPTIONAL,
        help_text=FieldText(
            "Month of the first bill with these days, as YYYY-MM; null without days.",
            requests="Bills before it keep theirs. Null: the open bill.",
        ),
    )
    credit = serializers.IntegerField(
        read_only=True, help_text="What was paid beyond the open bill."
    )
    unbilled = serializers.IntegerField(
        read_only=True,
        help_text="Parts to come, and charges dated after the open period.",
    )
    version = VersionField()

    def get_fields(self) -> Any:
        fields = super().get_fields()
        return {name.rstrip("_"): field for name, field in fields.items()}

    def to_internal_value(self, data: Any) -> Any:
        values = _without_nulls(super().to_internal_value(data))
        excludes = _without_nulls(values.pop("target_excludes", {}))
        if "shift" in values:
            values["shift"] = Shift(values["shift"])
        return CardValues(**values, target_excludes=TargetExcludes(**excludes))


def _without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


class PresetSerializer(Serializer):
    issuer = serializers.CharField(help_text="Name of the card company.")
    payment_day = serializers.IntegerField(help_text="Day of the payment.")
    closing_day = serializers.IntegerField(
        help_text="Last day of the period; 31 is the last day of each month."
    )
    payment_month = serializers.IntegerField(
        help_text="Months from closing to payment."
    )
    checked_on = serializers.DateField(help_text="Day on which it was compared.")


class BillItemSerializer(Serializer):
    entry_id = serializers.IntegerField(help_text="Id of the entry.")
    wallet_id = serializers.IntegerField(help_text="Id of the card that was used.")
    date = serializers.DateField(help_text="Day of the entry.")
    memo = serializers.CharField(allow_blank=True, help_text="Memo of the entry.")
    amount = serializers.IntegerField(
        help_text="What it adds to the bill; negative for a refund."
    )
    part = serializers.IntegerField(
        allow_null=True, help_text="Number of the part, from 1; null if paid at once."
    )
    parts = serializers.IntegerField(
        allow_null=True, help_text="Number of all parts; null if paid at once."
    )
    pending = serializers.BooleanField(
        help_text="True: the entry waits to be confirmed and is not in `total`.",
    )


class BillPaymentSerializer(Serializer):
    entry_id = serializers.IntegerField(help_text="Id of the transfer.")
    date = serializers.DateField(help_text="Day of the transfer.")
    amount = serializers.IntegerField(help_text="What it gave to this bill.")


class BillSerializer(Serializer):
    """A bill. Amounts are whole home-currency units; debts are positive."""

    wallet_id = serializers.IntegerField(help_text="Id of the card whose bill it is.")
    month = MonthNameField(help_text="Month of the payment day, as YYYY-MM.")
    period_start = serializers.DateField(help_text="First day of the period.")
    period_end = serializers.DateField(help_text="Last day of the period.")
    payment_date = serializers.DateField(help_text="Day on which it is paid.")
    charges = serializers.IntegerField(help_text="Sum of what is paid at once.")
    installments = serializers.IntegerField(help_text="Sum of parts.")
    refunds = serializers.IntegerField(help_text="Sum of what came back.")
    carried = serializers.IntegerField(
        help_text=(
            "From the bill before if its total is negative; in the first bill what was "
            "owed before it."
        )
    )
    total = serializers.IntegerField(
        help_text="`charges` + `installments` - `refunds` + `carried`."
    )
    printed = serializers.IntegerField(
        allow_null=True, help_text="Amount that the issuer printed; null if unknown."
    )
    difference = serializers.IntegerField(
        allow_null=True, help_text="`printed` - `total`; null where `printed` is."
    )
    paid = serializers.IntegerField(help_text="What transfers to the card have paid.")
    remaining = serializers.IntegerField(
        help_text="`total` - `paid`; 0 for a closed bill whose total is carried on."
    )
    pending = serializers.IntegerField(
        help_text="Sum of entries that wait to be confirmed, in no other sum."
    )
    status = OpenTextField(
        known_values=[each.value for each in BillStatus],
        help_text=(
            "`OPEN` until the period has ended; then `DUE`, or `PARTIAL` if it is paid "
            "in part, until its day; `OVERDUE` after it; `PAID`."
        ),
    )
    items = BillItemSerializer(many=True, help_text="What stands on it, by day.")
    payments = BillPaymentSerializer(many=True, help_text="What has paid it.")


class BillsOfMonthSerializer(Serializer):
    month = MonthNameField(help_text="The month, as YYYY-MM.")
    total = serializers.IntegerField(help_text="Sum of the totals.")
    paid = serializers.IntegerField(help_text="Sum of what is paid.")
    remaining = serializers.IntegerField(help_text="Sum of what remains.")
    bills = BillSerializer(many=True, help_text="In the order of the wallets.")


class BillRangeQuerySerializer(QuerySerializer):
    from_ = MonthNameField(
        required=False,
        source="from_",
        help_text="First month, as YYYY-MM; left out: 12 bills before the open one.",
    )
    to = MonthNameField(
        required=False,
        help_text="Last month, as YYYY-MM; left out: the last one with parts to come.",
    )


class BillMonthQuerySerializer(QuerySerializer):
    month = MonthNameField(
        required=False,
        help_text="Month of the payment, as YYYY-MM; left out: the current one.",
    )


class PrintedBillSerializer(Serializer):
    """The printed values of a bill. Null: the computed value holds."""

    is_body_required = True

    period_end = IsoDateField(
        **_OPTIONAL,
        help_text="Last day of the period; the next one starts the day after.",
    )
    payment_date = IsoDateField(**_OPTIONAL, help_text="Day of the payment.")
    amount = SignedMoneyField(
        **_OPTIONAL, help_text="Amount of the bill; negative for a credit."
    )

    def to_internal_value(self, data: Any) -> Any:
        return Printed(**super().to_internal_value(data))


class PayBillSerializer(Serializer):
    amount = AmountField(
        **_OPTIONAL, help_text=f"1 to {MAX_AMOUNT}; null: all that remains."
    )
    date = IsoDateField(source="day", **_OPTIONAL, help_text="Null: today.")
    wallet_id = WalletIdField(
        source="wallet",
        **_OPTIONAL,
        help_text="Id of the wallet that pays; null: the one that the card names.",
    )


class PartsSerializer(Serializer):
    """The parts of a purchase in installments."""

    amounts = StrictListField(
        child=AmountField(min_value=0),
        max_length=24,
        allow_null=True,
        help_text=FieldText(
            "Amount of each part; they add up to the amount of the entry.",
            requests="Null: equal parts, with the remainder in the first.",
        ),
    )
    typed = serializers.BooleanField(
        read_only=True, help_text="True if the amounts were typed in."
    )
    version = VersionField()
