"""Serializers of quick entries."""

from rest_framework import serializers

from core.api.fields import AmountField
from ledger.models import Wallet
from ledger.ownership import OwnedPrimaryKeyField
from ledger.serializers.fields import (
    CategoryNameField,
    LinkedTagListField,
    NameField,
    OptionalTextField,
)
from ledger.serializers.lines import ShapeSerializer, make_type_field


class QuickEntrySerializer(ShapeSerializer):
    id = serializers.IntegerField(read_only=True)
    name = NameField()
    type = make_type_field()
    amount = AmountField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Null if the client asks for it each time.",
    )
    category = CategoryNameField(
        required=False,
        allow_null=True,
        default=None,
        help_text="By name; an unknown one is created as a major category. Null: none.",
    )
    wallet_id = OwnedPrimaryKeyField(
        Wallet,
        source="wallet",
        required=False,
        allow_null=True,
        default=None,
        help_text="Id of a wallet of the caller; null or left out: no wallet.",
    )
    memo = OptionalTextField()
    tags = LinkedTagListField(help_text="By name; unknown ones are created.")
    sort_order = serializers.IntegerField(read_only=True)
