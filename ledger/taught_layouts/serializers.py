"""Serializers of taught layouts."""

from rest_framework import serializers

from core.api.serializers import Serializer
from ledger.taught_layouts.learning import WALLET_SLOT

LAYOUT_SLOTS = ("merchant", "amount", WALLET_SLOT)


class TaughtLayoutSerializer(Serializer):
    id = serializers.IntegerField(help_text="Unique id.")
    sender = serializers.CharField(
        help_text="Who sends such texts: digits of a number, or a name."
    )
    sample = serializers.CharField(
        help_text="The text it was learned from, with digits and names masked."
    )
    slots = serializers.ListField(
        child=serializers.ChoiceField(choices=LAYOUT_SLOTS),
        help_text="What the layout tells, in the order of the text.",
    )
    uses = serializers.IntegerField(help_text="Texts that it read.")
    created_at = serializers.DateTimeField(help_text="When it was taught.")
