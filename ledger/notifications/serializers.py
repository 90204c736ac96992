"""Serializers of notifications."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rest_framework import serializers

from card_alerts import (
    BankBooking,
    BookingDirection,
    Certainty,
    Confidence,
    Doubt,
    Kind,
    ParseResult,
    Reason,
    Span,
    rejected,
)
from core.api.fields import ExactDecimalField, StrictBooleanField, StrictCharField
from core.api.serializers import Serializer
from ledger.base.notification_fields import MAX_TITLE_LENGTH, NotificationTextField
from ledger.base.ownership import OwnedPrimaryKeyField
from ledger.entries.serializers import (
    CandidatesSerializer,
    EntryPatchSerializer,
    EntrySerializer,
)
from ledger.models import Wallet
from ledger.models.base import EntryType
from ledger.models.card_notifications import MAX_SENDER_LENGTH, MAX_TEXT_LENGTH
from ledger.notifications.plan import Action, Outcome
from ledger.notifications.unsure import KeptText, find_reason, would_be_payload
from ledger.notifications.wallets import KnownWallet
from ledger.taught_layouts.doubts import describe_candidates

MERGED_FIELDS = (
    "merchant",
    "cardCompany",
    "cardHint",
    "installmentMonths",
    "walletId",
)
MIN_RECEIVED_AT = datetime(2000, 1, 1, tzinfo=UTC)
MAX_RECEIVED_AT = datetime(2200, 1, 1, tzinfo=UTC)


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
        help_text="The phone number, the name or the app package that sent it.",
    )
    title = NotificationTextField(
        required=False,
        allow_null=True,
        default="",
        max_length=MAX_TITLE_LENGTH,
        help_text="The title of a push message, unless `text` begins with it.",
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


class ParsedMessageSerializer(Serializer):
    """The fields found in a message; null if not found."""

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
    merchant_confidence = serializers.ChoiceField(
        choices=list(Confidence),
        allow_null=True,
        help_text="SURE if the layout of the text tells the name.",
    )
    balance = ExactDecimalField(
        max_digits=20,
        decimal_places=4,
        allow_null=True,
        help_text="The printed balance of the account or card.",
    )
    balance_currency = serializers.CharField(
        allow_null=True, help_text="Null for the home currency."
    )
    balance_difference = serializers.IntegerField(
        allow_null=True,
        help_text="The printed balance less that of the bank account, if bank texts "
        "are taken in.",
    )
    preliminary = serializers.BooleanField(
        help_text="A reserved amount: a final one or a cancellation follows."
    )
    direction = serializers.ChoiceField(
        choices=list(BookingDirection),
        allow_null=True,
        help_text="Of a booking on a bank account, if bank texts are taken in.",
    )
    wallet_id = serializers.IntegerField(
        allow_null=True, help_text="The wallet of the card."
    )
    reason = serializers.ChoiceField(
        choices=list(Reason), allow_null=True, help_text="Why no entry is created."
    )
    taught_by = serializers.IntegerField(
        allow_null=True, help_text="The id of the layout that read the text."
    )
    confidence = serializers.ChoiceField(
        choices=list(Certainty),
        help_text="UNSURE if a person should look at it: see `doubts`.",
    )
    doubts = serializers.ListField(
        child=serializers.ChoiceField(choices=list(Doubt)),
        help_text="KIND if it may or may not be a payment, MERCHANT if the name is a "
        "guess.",
    )
    candidates = CandidatesSerializer(help_text="What `merchant` may be.")
    spans = serializers.DictField(
        child=SpanSerializer(), help_text="By field: its position in `text`."
    )


class ParsedNotificationSerializer(ParsedMessageSerializer):
    """The fields of the last payment in a text, and those of each message."""

    messages = ParsedMessageSerializer(
        many=True, help_text="The messages of the text in their order, at most 20."
    )


class WouldBeSerializer(Serializer):
    """The entry that a text would have been."""

    type = serializers.ChoiceField(
        choices=[EntryType.EXPENSE, EntryType.INCOME], help_text="Type of the entry."
    )
    date = serializers.DateField(help_text="Day of the payment.")
    time = serializers.CharField(
        allow_null=True, help_text="Time of the day as HH:MM; null if not printed."
    )
    amount = serializers.IntegerField(
        allow_null=True,
        help_text="In whole home-currency units; null for a foreign payment.",
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
    memo = serializers.CharField(help_text="Where it was paid; empty if not found.")
    wallet_id = serializers.IntegerField(
        allow_null=True, help_text="The wallet of the card."
    )


class UnsureTextSerializer(Serializer):
    id = serializers.IntegerField(help_text="Unique id, the `textId` of the answer.")
    text = serializers.CharField(
        allow_null=True, help_text="The text; null if it cannot be decrypted."
    )
    sender = serializers.CharField(help_text="Who sent it.")
    received_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was received."
    )
    reason = serializers.ChoiceField(
        choices=list(Reason), allow_null=True, help_text="Why it is no entry."
    )
    would_be = WouldBeSerializer(
        allow_null=True, help_text="The entry that it would have been."
    )
    doubts = serializers.ListField(
        child=serializers.ChoiceField(choices=list(Doubt)),
        help_text="KIND if it may or may not be a payment, MERCHANT if the name is a "
        "guess.",
    )
    candidates = CandidatesSerializer(help_text="What the memo may be.")
    created_at = serializers.DateTimeField(help_text="When it was kept.")


class BookRequestSerializer(Serializer):
    corrections = EntryPatchSerializer(
        partial=True,
        required=False,
        allow_null=True,
        help_text="Fields of the entry that are otherwise.",
    )


class MessageOutcomeSerializer(Serializer):
    action = serializers.ChoiceField(
        choices=list(Action),
        help_text=(
            "What was done. `CREATED`: a pending entry was added. `DUPLICATE`: the "
            "payment is already recorded. `CANCELLED`: its pending entry was "
            "deleted, or its cancellation came before. `REFUND_PENDING`: a pending "
            "income entry was added. `IGNORED`: nothing."
        ),
    )
    reason = serializers.ChoiceField(
        choices=list(Reason), allow_null=True, help_text="With IGNORED."
    )
    entry = EntrySerializer(
        allow_null=True,
        help_text="The entry of the payment or booking, new or existing; null if none "
        "is left.",
    )
    merged = serializers.ListField(
        child=serializers.ChoiceField(choices=MERGED_FIELDS),
        help_text="With DUPLICATE: what the payment took from this announcement.",
    )
    parsed = ParsedMessageSerializer(help_text="What was read from the text.")
    confidence = serializers.ChoiceField(
        choices=list(Certainty), help_text="As in `parsed`."
    )
    doubts = serializers.ListField(
        child=serializers.ChoiceField(choices=list(Doubt)), help_text="As in `parsed`."
    )
    candidates = CandidatesSerializer(help_text="As in `parsed`.")
    text_id = serializers.IntegerField(
        allow_null=True,
        help_text="With IGNORED: the text may be a payment after all, and is kept for "
        "30 days to be booked.",
    )
    would_be = WouldBeSerializer(
        allow_null=True, help_text="With `textId`: the entry that it would have been."
    )


class NotificationOutcomeSerializer(MessageOutcomeSerializer):
    """The outcome of the last created entry, else of the last message."""

    results = MessageOutcomeSerializer(
        many=True, help_text="Of each message of the text in their order, at most 20."
    )


class NotificationSettingsSerializer(Serializer):
    capture_bank_texts = StrictBooleanField(
        required=False,
        help_text="Deposits to and withdrawals from bank accounts become entries, "
        "moves between own wallets and bills of cards transfers.",
    )


def parsed_message_payload(outcome: Outcome) -> dict[str, Any]:
    parsed = outcome.parsed
    payload = {
        "recognized": parsed.recognized,
        "kind": parsed.kind,
        "cardCompany": parsed.card_company,
        "cardHint": parsed.card_hint,
        "amount": parsed.amount,
        "currency": parsed.currency,
        "originalAmount": parsed.original_amount,
        "merchant": parsed.merchant,
        "merchantConfidence": parsed.merchant_confidence,
        "installmentMonths": parsed.installment_months,
        "occurredAt": parsed.occurred_at,
        "runningTotal": parsed.running_total,
        "balance": parsed.balance,
        "balanceCurrency": parsed.balance_currency,
        "balanceDifference": outcome.balance_difference,
        "preliminary": parsed.is_preliminary,
        "direction": None,
        "walletId": outcome.wallet.id if outcome.wallet else None,
        "reason": None if parsed.recognized else find_reason(parsed),
        "taughtBy": outcome.layout_id,
        "spans": _spans_payload(parsed.spans),
        **certainty_payload(parsed, parsed.would_be if outcome.would_be else None),
    }
    if outcome.is_captured and parsed.bank_booking is not None:
        payload |= _booking_payload(parsed.bank_booking)
        payload["reason"] = outcome.reason
    return payload


def certainty_payload(
    parsed: ParseResult, would_be: ParseResult | None = None
) -> dict[str, Any]:
    """Return confidence, doubts and candidates.

    An ignored text has the doubts of the payment that it would be.
    """
    payment, doubts = parsed, list(parsed.doubts)
    if would_be is not None:
        payment = would_be
        others = [each for each in payment.doubts if each is not Doubt.KIND]
        doubts = [Doubt.KIND, *others]
    return {
        "confidence": Certainty.UNSURE if doubts else Certainty.SURE,
        "doubts": doubts,
        "candidates": describe_candidates(payment),
    }


def _booking_payload(booking: BankBooking) -> dict[str, Any]:
    return {
        "recognized": True,
        "cardCompany": booking.bank,
        "cardHint": booking.account_hint,
        "amount": booking.amount,
        "currency": booking.currency,
        "originalAmount": booking.original_amount,
        "merchant": booking.counterparty,
        "occurredAt": booking.occurred_at,
        "balance": booking.balance,
        "balanceCurrency": booking.balance_currency,
        "direction": booking.direction,
        "spans": _spans_payload(booking.spans),
    }


def _spans_payload(spans: dict[str, Span]) -> dict[str, dict[str, int]]:
    return {name: {"start": start, "end": end} for name, (start, end) in spans.items()}


def parsed_notification_payload(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return the last payment, else the last message, and all messages."""
    payloads = [parsed_message_payload(outcome) for outcome in outcomes]
    last = next((each for each in reversed(payloads) if each["recognized"]), None)
    return {**(last or payloads[-1]), "messages": payloads}


def unsure_text_payload(kept: KeptText, cards: Sequence[KnownWallet]) -> dict[str, Any]:
    """Return a kept text; `cards` are the member's."""
    payment = kept.message
    would_be = payment.parsed if payment else None
    certainty = certainty_payload(rejected(Reason.UNSURE), would_be)
    return {
        "id": kept.id,
        "text": payment.text if payment else None,
        "sender": payment.sender if payment else "",
        "receivedAt": payment.received_at if payment else None,
        "reason": kept.reason or None,
        "wouldBe": would_be_payload(payment, cards) if payment else None,
        "doubts": certainty["doubts"],
        "candidates": certainty["candidates"],
        "createdAt": kept.created_at,
    }
