"""Serializers of taught layouts."""

from rest_framework import serializers

from card_alerts import MAX_LAYOUT_TEXT_LENGTH
from core.api.fields import StrictCharField, StrictIntegerField
from core.api.serializers import Serializer
from ledger.base.notification_fields import MAX_TITLE_LENGTH, NotificationTextField
from ledger.base.ownership import OwnedPrimaryKeyField
from ledger.models import LayoutKind, Wallet
from ledger.models.card_notifications import MAX_SENDER_LENGTH
from ledger.taught_layouts.learning import WALLET_SLOT

MARKED_SLOTS = ("merchant", "amount", "cardHint", "occurredAt")
LAYOUT_SLOTS = (*MARKED_SLOTS, WALLET_SLOT)


class MarkedPartSerializer(Serializer):
    start = StrictIntegerField(
        min_value=0, help_text="The first code point of the part, from 0."
    )
    end = StrictIntegerField(min_value=0, help_text="The first code point after it.")


class MarkedPartsSerializer(Serializer):
    """Parts of the text, as the parse answer has them in `spans`."""

    amount = MarkedPartSerializer(
        required=False, help_text="A number; required unless `kind` is `none`."
    )
    merchant = MarkedPartSerializer(required=False, help_text="Where it was paid.")
    card_hint = MarkedPartSerializer(
        required=False, help_text="Digits or the name of the card."
    )
    occurred_at = MarkedPartSerializer(
        required=False, help_text="Day and time of the payment."
    )


class TaughtTextSerializer(Serializer):
    """A text and what it is."""

    text = NotificationTextField(
        max_length=MAX_LAYOUT_TEXT_LENGTH,
        help_text="The unchanged text of the notification.",
    )
    title = NotificationTextField(
        required=False,
        allow_null=True,
        default="",
        max_length=MAX_TITLE_LENGTH,
        help_text="The title of a push message; texts are compared without it.",
    )
    sender = StrictCharField(
        required=False,
        allow_null=True,
        allow_blank=True,
        default="",
        max_length=MAX_SENDER_LENGTH,
        help_text="The phone number, the name or the app package that sends it.",
    )
    kind = serializers.ChoiceField(
        choices=LayoutKind.choices,
        help_text="What such texts are; `none` is no payment.",
    )
    slots = MarkedPartsSerializer(
        required=False, default=dict, help_text="Not used if `kind` is `none`."
    )
    wallet_id = OwnedPrimaryKeyField(
        Wallet,
        source="wallet",
        required=False,
        allow_null=True,
        default=None,
        help_text="The wallet of such texts, with the same digits of the card.",
    )


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
    kind = serializers.ChoiceField(
        choices=LayoutKind.choices,
        help_text="What such texts are; `none` is no payment.",
    )
    unsure = serializers.BooleanField(
        help_text="True: such texts become entries that are not sure."
    )
    uses = serializers.IntegerField(help_text="Texts that it read.")
    created_at = serializers.DateTimeField(help_text="When it was taught.")
