"""Wire shapes of wallets and net worth."""

from typing import Any

from rest_framework import serializers

from core.api.fields import StrictBooleanField, StrictCharField
from core.api.serializers import Serializer
from ledger.encryption import DecryptionError
from ledger.models import Wallet
from ledger.models.base import MAX_NAME_LENGTH
from ledger.networth import WalletWorth
from ledger.serializers.fields import NameField, OptionalTextField, SignedMoneyField
from ledger.wallets import balance_of, decrypt_account_number, log_undecryptable_number

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
        help_text="Encrypted at rest; null where there is none, or no key opens it.",
    )
    account_number_unreadable = serializers.BooleanField(
        read_only=True,
        required=False,
        help_text="Present, and true, where a number is stored that no key opens.",
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
        help_text="Counts instead of the balance where manualValuation is true.",
    )
    archived = StrictBooleanField(required=False, default=False)
    memo = OptionalTextField()
    sort_order = serializers.IntegerField(read_only=True)


class NetWorthWalletSerializer(Serializer):
    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=Wallet.Kind.choices)
    balance = serializers.IntegerField()
    value = serializers.IntegerField(help_text="What counts: valuation or balance.")
    archived = serializers.BooleanField()


class NetWorthSerializer(Serializer):
    total = serializers.IntegerField(help_text="assets - liabilities")
    assets = serializers.IntegerField(help_text="Positive wallets and holdings.")
    liabilities = serializers.IntegerField(help_text="Not negative.")
    investments = serializers.IntegerField(help_text="The market value of holdings.")
    wallets = NetWorthWalletSerializer(many=True)


def wallet_payload(wallet: Wallet) -> dict[str, Any]:
    body: dict[str, Any] = {
        "id": wallet.pk,
        "name": wallet.name,
        "kind": wallet.kind,
        "institution": wallet.institution,
        **account_number_payload(wallet),
        "openingBalance": wallet.opening_balance,
        "balance": balance_of(wallet),
        "manualValuation": wallet.manual_valuation,
        "currentValue": wallet.current_value if wallet.manual_valuation else None,
        "archived": wallet.archived,
        "memo": wallet.memo,
        "sortOrder": wallet.sort_order,
    }
    return body


def account_number_payload(wallet: Wallet) -> dict[str, Any]:
    """The number, or null with a mark where no key opens it."""
    try:
        return {"accountNumber": decrypt_account_number(wallet)}
    except DecryptionError:
        log_undecryptable_number(wallet)
        return {"accountNumber": None, "accountNumberUnreadable": True}


def wallet_worth_payload(wallet: WalletWorth) -> dict[str, Any]:
    return {
        "id": wallet.id,
        "name": wallet.name,
        "kind": wallet.kind,
        "balance": wallet.balance,
        "value": wallet.value,
        "archived": wallet.archived,
    }
