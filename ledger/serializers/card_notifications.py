"""Serializers of card notifications."""

from datetime import UTC, datetime
from typing import Any

from rest_framework import serializers

from card_alerts.result import Kind, ParseResult, Reason
from core.api.fields import ExactDecimalField, StrictCharField
from core.api.serializers import Serializer
from ledger.card_notifications.processing import Action
from ledger.models import Wallet
from ledger.ownership import OwnedPrimaryKeyField
from ledger.serializers.entries import EntrySerializer

MAX_TEXT_LENGTH = 4_000
MAX_SENDER_LENGTH = 200
MIN_RECEIVED_AT = datetime(2000, 1, 1, tzinfo=UTC)
MAX_RECEIVED_AT = datetime(2200, 1, 1, tzinfo=UTC)


class NotificationTextField(StrictCharField):
    """The unchanged text of a notification, with any line ends."""

    # Not trimmed, so that spans index into the text that the client sent.

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(trim_whitespace=False, allow_blank=True, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        # Carriage returns are allowed here, unlike in other texts.
        super().to_internal_value(data.replace("\r", "\n"))
        return data


class ReceivedAtField(serializers.DateTimeField):
    """An ISO 8601 time, in the home time zone if it has no offset."""

    def to_internal_value(self, data: Any) -> datetime:
        if not isinstance(data, str):
            self.fail("invalid", format="ISO 8601")
        try:
            received: datetime = super().to_internal_value(data)
        except OverflowError:
            self.fail("overflow")
        if not MIN_RECEIVED_AT <= received <= MAX_RECEIVED_AT:
            self.fail("overflow")
        return received


class ParseNotificationRequestSerializer(Serializer):
    text = NotificationTextField(
        max_length=MAX_TEXT_LENGTH, help_text="The unchanged text of the notification."
    )
    received_at = ReceivedAtField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Time of receipt, by default now. Dates in the text are in the year "
        "before it.",
    )
    sender = StrictCharField(
        required=False,
        allow_null=True,
        allow_blank=True,
        default="",
        max_length=MAX_SENDER_LENGTH,
        help_text="The phone number or app that sent it.",
    )


class NotificationRequestSerializer(ParseNotificationRequestSerializer):
    wallet_id = OwnedPrimaryKeyField(
        Wallet,
        source="wallet",
        required=False,
        allow_null=True,
        default=None,
        help_text="The wallet of the entry. If it is a CASH wallet and the text names "
        "a card, the wallet of the card is used.",
    )


class SpanSerializer(Serializer):
    start = serializers.IntegerField(
        help_text="The first code point of the field, from 0."
    )
    end = serializers.IntegerField(help_text="The first code point after it.")


class ParsedNotificationSerializer(Serializer):
    """The fields found in a text; null if not found."""

    recognized = serializers.BooleanField(
        help_text="Whether the text reports a payment or a cancellation."
    )
    kind = serializers.ChoiceField(
        choices=list(Kind),
        allow_null=True,
        help_text="What the text reports; null if it is no payment.",
    )
    card_company = serializers.CharField(
        allow_null=True,
        help_text=(
            "Short name of the issuer, such as 신한; null if neither text nor sender "
            "tells."
        ),
    )
    card_hint = serializers.CharField(
        allow_null=True, help_text="Digits or masked number of the card, else its name."
    )
    amount = serializers.IntegerField(
        allow_null=True,
        help_text="Null for a foreign payment without an amount in home currency.",
    )
    currency = serializers.CharField(
        allow_null=True, help_text="Null for the home currency."
    )
    original_amount = ExactDecimalField(
        max_digits=16,
        decimal_places=4,
        allow_null=True,
        help_text="Amount in `currency`; null for a home-currency payment.",
    )
    merchant = serializers.CharField(allow_null=True, help_text="Where it was paid.")
    installment_months = serializers.IntegerField(
        allow_null=True, help_text="2 to 24; null if paid at once."
    )
    occurred_at = serializers.DateTimeField(
        allow_null=True,
        help_text="Time of the payment; null if the text prints no time.",
    )
    running_total = serializers.IntegerField(
        allow_null=True, help_text="The printed sum of the card's payments so far."
    )
    wallet_id = serializers.IntegerField(
        allow_null=True, help_text="The wallet of the card."
    )
    reason = serializers.ChoiceField(
        choices=list(Reason), allow_null=True, help_text="Why no entry is created."
    )
    spans = serializers.DictField(
        child=SpanSerializer(), help_text="By field: its position in `text`."
    )


class NotificationOutcomeSerializer(Serializer):
    action = serializers.ChoiceField(
        choices=list(Action),
        help_text=(
            "What was done. `CREATED`: a pending entry was added. `DUPLICATE`: the "
            "payment is already recorded. `CANCELLED`: its pending entry was "
            "deleted. `REFUND_PENDING`: a pending income entry was added. "
            "`IGNORED`: nothing."
        ),
    )
    reason = serializers.ChoiceField(
        choices=list(Reason), allow_null=True, help_text="With IGNORED."
    )
    entry = EntrySerializer(
        allow_null=True, help_text="The entry of the payment, new or existing."
    )
    parsed = ParsedNotificationSerializer(help_text="What was read from the text.")


def parsed_notification_payload(
    parsed: ParseResult, wallet: Wallet | None
) -> dict[str, Any]:
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
