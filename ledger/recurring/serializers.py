"""Serializers of recurring rules."""

from rest_framework import serializers

from core.api.field_texts import FieldText
from core.api.fields import (
    AmountField,
    IsoDateField,
    StrictBooleanField,
    StrictIntegerField,
)
from core.api.serializers import Serializer
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
from ledger.models import Occurrence
from ledger.models.recurring import MAX_INTERVAL
from ledger.models.schedule import Frequency


class RecurringRuleSerializer(ShapeSerializer):
    """A recurring rule; day 31 is the last day of shorter months."""

    id = serializers.IntegerField(read_only=True)
    name = NameField()
    type = make_type_field()
    amount = AmountField()
    category = make_category_field()
    wallet_id = make_wallet_field()
    memo = OptionalTextField()
    tags = LinkedTagListField(help_text=TAGS_TEXT)
    frequency = serializers.ChoiceField(
        choices=[name.value for name in Frequency], help_text="Unit of the interval."
    )
    interval = StrictIntegerField(
        min_value=1,
        max_value=MAX_INTERVAL,
        required=False,
        default=1,
        help_text=FieldText(
            "Every so many days, weeks, months or years.", left_out="Left out: 1."
        ),
    )
    anchor_date = IsoDateField(help_text="The date that due dates count from.")
    end_date = IsoDateField(
        required=False,
        allow_null=True,
        default=None,
        help_text=FieldText(
            "Last possible due date; null: no end.", left_out="Left out: no end."
        ),
    )
    next_date = serializers.DateField(
        read_only=True, allow_null=True, help_text="Null after the end of the rule."
    )
    active = StrictBooleanField(
        required=False,
        default=True,
        help_text="An inactive rule books nothing; its due dates are skipped.",
    )
    version = VersionField()


class OccurrenceSerializer(Serializer):
    id = serializers.IntegerField()
    due_date = serializers.DateField(help_text="The due date.")
    status = serializers.ChoiceField(
        choices=Occurrence.Status.choices,
        help_text="SKIPPED: the rule was inactive. MISSED: the plan had expired.",
    )
    entry_id = serializers.IntegerField(
        source="existing_entry_id",
        allow_null=True,
        help_text="Null if no entry was booked or it was deleted.",
    )
