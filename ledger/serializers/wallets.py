"""Serializers of wallets (spec 3.2) and net worth."""

from typing import Any

from rest_framework import serializers

from core.api.fields import IsoDateField, StrictBooleanField, StrictCharField
from core.api.pagination import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE
from core.api.serializers import QuerySerializer, Serializer
from ledger.encryption import DecryptionError
from ledger.models import Wallet
from ledger.models.base import MAX_NAME_LENGTH
from ledger.serializers.entries import EntrySerializer
from ledger.serializers.fields import (
    MovingField,
    NameField,
    OptionalTextField,
    SignedMoneyField,
)
from ledger.wallets import (
    decrypt_account_number,
    get_value,
    log_undecryptable_number,
)

MAX_ACCOUNT_NUMBER_LENGTH = 64


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
        help_text=(
            "Name of the bank or card company, at most 100 characters; card "
            "notifications are matched by it."
        ),
    )
    account_number = StrictCharField(
        max_length=MAX_ACCOUNT_NUMBER_LENGTH,
        required=False,
        allow_blank=True,
        allow_null=True,
        default=None,
        help_text=(
            "At most 64 characters. Null if there is none, or if the stored one "
            "cannot be decrypted."
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
        help_text=(
            "Balance before the first entry, negative for a debt, in whole "
            "home-currency units; 0 if left out."
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
    sort_order = serializers.IntegerField(read_only=True)
    moving = MovingField()

    def to_representation(self, instance: Wallet) -> dict[str, Any]:
        body = super().to_representation(instance)
        body["currentValue"] = (
            get_value(instance) if instance.manual_valuation else None
        )
        # The model has only the encrypted number.
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


class ValuationQuerySerializer(QuerySerializer):
    date = IsoDateField(help_text="Day of the value to delete.")


class NetWorthWalletSerializer(Serializer):
    id = serializers.IntegerField(help_text="Id of the wallet.")
    name = serializers.CharField(help_text="Name of the wallet.")
    kind = serializers.ChoiceField(choices=Wallet.Kind.choices, help_text="What it is.")
    balance = serializers.IntegerField(
        help_text="Opening balance + income - expense of confirmed entries."
    )
    value = serializers.IntegerField(
        help_text="The typed-in value, else the balance; negative for a debt."
    )
    archived = serializers.BooleanField(help_text="Whether it is no longer in use.")


class NetWorthSerializer(Serializer):
    total = serializers.IntegerField(help_text="assets - liabilities")
    assets = serializers.IntegerField(help_text="Sum of positive wallets and holdings.")
    liabilities = serializers.IntegerField(
        help_text="Sum of negative wallets, as a positive number."
    )
    investments = serializers.IntegerField(help_text="Market value of holdings.")
    wallets = NetWorthWalletSerializer(
        many=True, help_text="Each wallet, in its `sortOrder`, archived ones too."
    )
