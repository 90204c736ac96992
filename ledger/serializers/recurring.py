"""Wire shapes of recurring transactions."""

from typing import Any

from rest_framework import serializers

from core.api.fields import (
    AmountField,
    IsoDateField,
    StrictBooleanField,
    StrictIntegerField,
)
from core.api.serializers import Serializer
from ledger.models import Occurrence, RecurringRule, Wallet
from ledger.models.base import EntryType
from ledger.models.recurring import MAX_INTERVAL
from ledger.ownership import OwnedPrimaryKeyField
from ledger.schedule import Frequency
from ledger.serializers.fields import LedgerTagListField, NameField, OptionalTextField


class RecurringRuleSerializer(Serializer):
    """A rule; day 31 is the last day of a shorter month, and 31 again after it."""

    id = serializers.IntegerField(read_only=True)
    name = NameField()
    type = serializers.ChoiceField(choices=EntryType.choices)
    amount = AmountField()
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
    frequency = serializers.ChoiceField(choices=[name.value for name in Frequency])
    interval = StrictIntegerField(
        min_value=1, max_value=MAX_INTERVAL, required=False, default=1
    )
    anchor_date = IsoDateField(help_text="The day that due dates count from.")
    end_date = IsoDateField(required=False, allow_null=True, default=None)
    next_date = serializers.DateField(
        read_only=True, allow_null=True, help_text="Null once the rule has ended."
    )
    active = StrictBooleanField(
        required=False,
        default=True,
        help_text="Off, it books nothing; what was due meanwhile is skipped.",
    )


class OccurrenceSerializer(Serializer):
    id = serializers.IntegerField()
    due_date = serializers.DateField()
    status = serializers.ChoiceField(
        choices=Occurrence.Status.choices,
        help_text="SKIPPED: the rule was off. MISSED: the plan had lapsed.",
    )
    entry_id = serializers.IntegerField(
        allow_null=True, help_text="Null without an entry, or once it is deleted."
    )


def recurring_rule_payload(rule: RecurringRule) -> dict[str, Any]:
    return {
        "id": rule.pk,
        "name": rule.name,
        "type": rule.type,
        "amount": rule.amount,
        "category": rule.category.name if rule.category else None,
        "walletId": rule.wallet_id,
        "memo": rule.memo,
        "tags": [link.tag.name for link in rule.tag_links.all()],
        "frequency": rule.frequency,
        "interval": rule.interval,
        "anchorDate": rule.anchor_date,
        "endDate": rule.end_date,
        "nextDate": rule.next_date,
        "active": rule.active,
    }


def occurrence_payload(occurrence: Occurrence) -> dict[str, Any]:
    return {
        "id": occurrence.pk,
        "dueDate": occurrence.due_date,
        "status": occurrence.status,
        "entryId": occurrence.entry_id,
    }
