"""Serializers of wallets."""

from typing import Any

from rest_framework import serializers

from core.api.field_texts import FieldText
from core.api.fields import IsoDateField, StrictBooleanField, StrictCharField
from core.api.pagination import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE
from core.api.serializers import QuerySerializer, Serializer
from ledger.base.encryption import DecryptionError
from ledger.base.fields import (
    ColorField,
    IconField,
    NameField,
    OptionalTextField,
    SignedMoneyField,
    VersionField,
)
from ledger.entries.serializers import EntrySerializer
from ledger.models import Wallet
from ledger.models.base import MAX_NAME_LENGTH
from ledger.models.wallets import MAX_ACCOUNT_NUMBER_LENGTH
from ledger.wallets.wallets import (
    decrypt_account_number,
    get_value,
    log_undecryptable_number,
)


class WalletSerializer(Serializer):
    """A wallet."""

    conditional_fields = frozenset({"accountNumberUnreadable"})

    id = serializers.IntegerField(read_only=True)
    name = NameField()
    kind = serializers.ChoiceField(
        choices=Wallet.Kind.choices,
        help_text=(
            "What it is. Installments need a `CARD`; card notifications go to a "
            "`CARD` or `CHECK_CARD`."
        ),
    )
    institution = OptionalTextField(
        max_length=MAX_NAME_LENGTH,
        help_text=FieldText(
            "Name of the bank or card company, by which card notifications are matched;"
            " may be empty.",
            requests=f"At most {MAX_NAME_LENGTH} characters.",
        ),
    )
    account_number = StrictCharField(
        max_length=MAX_ACCOUNT_NUMBER_LENGTH,
        required=False,
        allow_blank=True,
        allow_null=True,
        default=None,
        help_text=FieldText(
            "Null if there is none, or if the stored one cannot be decrypted.",
            requests=f"At most {MAX_ACCOUNT_NUMBER_LENGTH} characters.",
        ),
    )
    account_number_unreadable = serializers.BooleanField(
        read_only=True,
        required=False,
        help_text="Present, and true, if the stored number cannot be decrypted.",
    )
    opening_balance = SignedMoneyField(
        required=False,
        default=0,
        help_text=FieldText(
            "Balance before the first entry, negative for a debt, in whole "
            "home-currency units.",
            left_out="Left out: 0.",
        ),
    )
    balance = serializers.IntegerField(
        read_only=True,
        help_text="Opening balance + income - expense of confirmed entries, in whole "
        "home-currency units.",
    )
    manual_valuation = StrictBooleanField(
        required=False,
        default=False,
        help_text=(
            "True: `currentValue` is typed in and counts in place of the balance, "
            "as for a pension."
        ),
    )
    current_value = SignedMoneyField(
        required=False,
        allow_null=True,
        default=None,
        help_text=(
            "The value that counts in place of the balance if `manualValuation` is "
            "true; else null."
        ),
    )
    archived = StrictBooleanField(
        required=False,
        default=False,
        help_text="True: no longer in use. It still counts in the net worth.",
    )
    memo = OptionalTextField()
    icon = IconField()
    color = ColorField()
    sort_order = serializers.IntegerField(read_only=True)
    version = VersionField()

    def to_representation(self, instance: Wallet) -> dict[str, Any]:
        body = super().to_representation(instance)
        body["currentValue"] = (
            get_value(instance) if instance.manual_valuation else None
        )
        try:
            body["accountNumber"] = decrypt_account_number(instance)
        except DecryptionError:
            log_undecryptable_number(instance)
            body["accountNumber"] = None
            body["accountNumberUnreadable"] = True
        return body


class ReconcileRequestSerializer(Serializer):
    date = IsoDateField(help_text="The balance is that at the end of this day.")
    balance = SignedMoneyField(
        help_text="What the balance should be, in whole home-currency units."
    )
    dry_run = StrictBooleanField(
        required=False, default=False, help_text="True: nothing is written."
    )


class ReconciliationSerializer(Serializer):
    before = serializers.IntegerField(help_text="The balance at the end of the day.")
    difference = serializers.IntegerField(help_text="balance - before")
    entry = EntrySerializer(
        allow_null=True,
        help_text="The excluded entry that adds the difference; null without one.",
    )


class WalletHistoryQuerySerializer(QuerySerializer):
    from_ = IsoDateField(
        required=False, source="from_", help_text="Only entries of this day and later."
    )
    to = IsoDateField(required=False, help_text="Only entries of this day and before.")
    after = serializers.CharField(
        required=False,
        help_text="Key of the last row that was read, from `next`: the rows after it.",
    )
    size = serializers.IntegerField(
        min_value=1,
        default=DEFAULT_PAGE_SIZE,
        help_text=f"Rows on a page, at most {MAX_PAGE_SIZE}.",
    )


class WalletHistoryRowSerializer(EntrySerializer):
    change = serializers.IntegerField(
        read_only=True, help_text="What the entry adds to the balance of the wallet."
    )
    balance_after = serializers.IntegerField(
        read_only=True, help_text="The balance of the wallet after it."
    )


class WalletHistorySerializer(Serializer):
    count = serializers.IntegerField(
        allow_null=True, help_text="Null: the rows are not counted."
    )
    next = serializers.URLField(
        allow_null=True, help_text="URL of the next page; null on the last one."
    )
    previous = serializers.URLField(
        allow_null=True, help_text="Null: pages are read forwards."
    )
    results = WalletHistoryRowSerializer(many=True, help_text="Oldest first.")


class ValuationSerializer(Serializer):
    date = IsoDateField(help_text="Day of the value.")
    value = SignedMoneyField(help_text="In whole home-currency units.")
    version = VersionField()


class ValuationQuerySerializer(QuerySerializer):
    date = IsoDateField(help_text="Day of the value to delete.")
