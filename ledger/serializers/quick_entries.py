"""Wire shapes of quick entries."""

from typing import Any

from rest_framework import serializers

from core.api.fields import AmountField
from core.api.serializers import Serializer
from ledger.models import QuickEntry, Wallet
from ledger.models.base import EntryType
from ledger.ownership import OwnedPrimaryKeyField
from ledger.serializers.fields import LedgerTagListField, NameField, OptionalTextField


class QuickEntrySerializer(Serializer):
    id = serializers.IntegerField(read_only=True)
    name = NameField()
    type = serializers.ChoiceField(choices=EntryType.choices)
    amount = AmountField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Null where it is asked for each time.",
    )
    category = NameField(
        required=False,
        allow_null=True,
        default=None,
        help_text="By name; an unknown one is created as a major category.",
    )
    wallet_id = OwnedPrimaryKeyField(
        Wallet, source="wallet", required=False, allow_null=True, default=None
    )
    memo = OptionalTextField()
    tags = LedgerTagListField(help_text="By name; unknown ones are created.")
    sort_order = serializers.IntegerField(read_only=True)


def quick_entry_payload(quick: QuickEntry) -> dict[str, Any]:
    return {
        "id": quick.pk,
        "name": quick.name,
        "type": quick.type,
        "amount": quick.amount,
        "category": quick.category.name if quick.category else None,
        "walletId": quick.wallet_id,
        "memo": quick.memo,
        "tags": [link.tag.name for link in quick.tag_links.all()],
        "sortOrder": quick.sort_order,
    }
