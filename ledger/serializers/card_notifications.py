"""Wire shapes of notifications."""

from datetime import UTC, datetime
from typing import Any

from rest_framework import serializers

from card_alerts.result import Kind, Parsed, Reason
from core.api.fields import Exact, Serializer, Text
from ledger.card_notifications.processing import Action
from ledger.models import Wallet
from ledger.ownership import OwnedId
from ledger.serializers.entries import EntryBody

TEXT_LENGTH = 4_000
SENDER_LENGTH = 200
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


class NotificationText(Text):
    """A text as it came: not trimmed, so that spans fit, and with either line end."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, allow_blank=True, **options)

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, str):
            super().to_internal_value(data.replace("\r", "\n"))
        return data if isinstance(data, str) else super().to_internal_value(data)


class ReceivedField(serializers.DateTimeField):
    """An ISO 8601 time; without an offset it is of the home time zone."""

    def to_internal_value(self, data: Any) -> datetime:
        if not isinstance(data, str):
            self.fail("invalid", format="ISO 8601")
        try:
            received: datetime = super().to_internal_value(data)
        except OverflowError:
            self.fail("overflow")
        if not EARLIEST <= received <= LATEST:
            self.fail("overflow")
        return received


class ParseBody(Serializer):
    text = NotificationText(
        max_length=TEXT_LENGTH, help_text="The notification as it came."
    )
    received_at = ReceivedField(
        required=False,
        allow_null=True,
        default=None,
        help_text="When it came; default now. A printed day lies in its past year.",
    )
    sender = Text(
        required=False,
        allow_null=True,
        allow_blank=True,
        default="",
        max_length=SENDER_LENGTH,
        help_text="The number or the app that it came from.",
    )


class NotificationBody(ParseBody):
    wallet_id = OwnedId(
        Wallet,
        source="wallet",
        required=False,
        allow_null=True,
        default=None,
        help_text="Kept, unless it is cash and the text tells the card.",
    )


class SpanBody(Serializer):
    start = serializers.IntegerField()
    end = serializers.IntegerField(help_text="The first code point behind it.")


class ParsedBody(Serializer):
    """What a text tells; null is what it does not tell."""

    recognized = serializers.BooleanField()
    kind = serializers.ChoiceField(choices=list(Kind), allow_null=True)
    card_company = serializers.CharField(allow_null=True)
    card_hint = serializers.CharField(
        allow_null=True, help_text="Digits or a mask of the card, else its name."
    )
    amount = serializers.IntegerField(
        allow_null=True,
        help_text="Null for a foreign payment that does not print the home amount.",
    )
    currency = serializers.CharField(
        allow_null=True, help_text="Null for the home currency."
    )
    original_amount = Exact(max_digits=16, decimal_places=4, allow_null=True)
    merchant = serializers.CharField(allow_null=True)
    installment_months = serializers.IntegerField(allow_null=True)
    occurred_at = serializers.DateTimeField(allow_null=True)
    running_total = serializers.IntegerField(allow_null=True)
    wallet_id = serializers.IntegerField(
        allow_null=True, help_text="The card that the text is of."
    )
    reason = serializers.ChoiceField(
        choices=list(Reason), allow_null=True, help_text="Why it is not recorded."
    )
    spans = serializers.DictField(
        child=SpanBody(), help_text="By field: where in `text` it was found."
    )


class OutcomeBody(Serializer):
    action = serializers.ChoiceField(choices=list(Action))
    reason = serializers.ChoiceField(
        choices=list(Reason), allow_null=True, help_text="With IGNORED."
    )
    entry = EntryBody(
        allow_null=True, help_text="What was made, or made before, of the payment."
    )
    parsed = ParsedBody()


def describe_parsed(parsed: Parsed, wallet: Wallet | None) -> dict[str, Any]:
    return {
        "recognized": parsed.recognized,
        "kind": parsed.kind,
        "cardCompany": parsed.card_company,
        "cardHint": parsed.card_hint,
        "amount": parsed.amount,
        "currency": parsed.currency,
        "originalAmount": parsed.original_amount,
        "merchant": parsed.merchant,
        "installmentMonths": parsed.installment_months,
        "occurredAt": parsed.occurred_at,
        "runningTotal": parsed.running_total,
        "walletId": wallet.pk if wallet else None,
        "reason": parsed.reason,
        "spans": {
            name: {"start": start, "end": end}
            for name, (start, end) in parsed.spans.items()
        },
    }
