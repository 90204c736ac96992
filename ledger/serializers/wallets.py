"""Serializers of wallets and net worth."""

from typing import Any

from rest_framework import serializers

from core.api.fields import StrictBooleanField, StrictCharField
from core.api.serializers import Serializer
from ledger.encryption import DecryptionError
from ledger.models import Wallet
from ledger.models.base import MAX_NAME_LENGTH
from ledger.serializers.fields import NameField, OptionalTextField, SignedMoneyField
from ledger.wallets import decrypt_account_number, log_undecryptable_number

MAX_ACCOUNT_NUMBER_LENGTH = 64


class WalletSerializer(Serializer):
    """A wallet (spec 3.2)."""

    id = serializers.IntegerField(read_only=True)
    name = NameField()
    kind = serializers.ChoiceField(choices=Wallet.Kind.choices)
    institution = OptionalTextField(max_length=MAX_NAME_LENGTH)
    account_number = StrictCharField(
        max_length=MAX_ACCOUNT_NUMBER_LENGTH,
        required=False,
        allow_blank=True,
        allow_null=True,
        default=None,
        help_text="Encrypted at rest; null if there is none or it cannot be decrypted.",
    )
    account_number_unreadable = serializers.BooleanField(
        read_only=True,
        required=False,
        help_text="Present, and true, if the stored number cannot be decrypted.",
    )
    opening_balance = SignedMoneyField(required=False, default=0)
    balance = serializers.IntegerField(
        read_only=True,
        help_text="Opening balance + income - expense of confirmed entries.",
    )
    manual_valuation = StrictBooleanField(required=False, default=False)
    current_value = SignedMoneyField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Replaces the balance if manualValuation is true.",
    )
    archived = StrictBooleanField(required=False, default=False)
    memo = OptionalTextField()
    sort_order = serializers.IntegerField(read_only=True)

    def to_representation(self, instance: Wallet) -> dict[str, Any]:
        body = super().to_representation(instance)
        if not instance.manual_valuation:
            body["currentValue"] = None
        # The model has only the encrypted number.
        try:
            body["accountNumber"] = decrypt_account_number(instance)
        except DecryptionError:
            log_undecryptable_number(instance)
            body["accountNumberUnreadable"] = True
        return body


class NetWorthWalletSerializer(Serializer):
    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=Wallet.Kind.choices)
    balance = serializers.IntegerField()
    value = serializers.IntegerField(
        help_text="The manual valuation, else the balance."
    )
    archived = serializers.BooleanField()


class NetWorthSerializer(Serializer):
    total = serializers.IntegerField(help_text="assets - liabilities")
    assets = serializers.IntegerField(help_text="Sum of positive wallets and holdings.")
    liabilities = serializers.IntegerField(
        help_text="Sum of negative wallets, as a positive number."
    )
    investments = serializers.IntegerField(help_text="Market value of holdings.")
    wallets = NetWorthWalletSerializer(many=True)
