"""Serializers of quick entries."""

from rest_framework import serializers

from core.api.fields import AmountField
from ledger.base.fields import (
    LinkedTagListField,
    NameField,
    OptionalTextField,
    VersionField,
)
from ledger.entries.line_serializers import (
    TAGS_TEXT,
    ShapeSerializer,
    make_category_field,
    make_type_field,
    make_wallet_field,
)


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
    category = make_category_field()
    wallet_id = make_wallet_field()
    memo = OptionalTextField()
    tags = LinkedTagListField(help_text=TAGS_TEXT)
    sort_order = serializers.IntegerField(read_only=True)
    version = VersionField()
