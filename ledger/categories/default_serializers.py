"""Serializers of default categories."""

from rest_framework import serializers

from core.api.field_texts import FieldText
from core.api.fields import ClosedChoiceField, StrictCharField, StrictPrimaryKeyField
from core.api.serializers import Serializer
from ledger.base.fields import ColorField, IconField
from ledger.models import DefaultCategory
from ledger.models.base import MAX_NAME_LENGTH


class DefaultCategorySerializer(Serializer):
    id = serializers.IntegerField(read_only=True)
    name = StrictCharField(
        max_length=MAX_NAME_LENGTH,
        help_text=FieldText(
            "The Korean name.", requests=f"1 to {MAX_NAME_LENGTH} characters."
        ),
    )
    name_en = StrictCharField(
        max_length=MAX_NAME_LENGTH,
        allow_blank=True,
        required=False,
        help_text=FieldText(
            "The name in an English import; the Korean one if empty.",
            requests="Left out of an update, it does not change.",
        ),
    )
    type = ClosedChoiceField(
        choices=DefaultCategory.Type.choices,
        help_text="Whether it is for entries of `income` or of `expense`.",
    )
    parent_id = StrictPrimaryKeyField(
        queryset=DefaultCategory.objects.all(),
        source="parent",
        required=False,
        allow_null=True,
        default=None,
        help_text=FieldText(
            "Id of the major category; null for a major one.",
            requests="Of the same type, and itself without a parent.",
        ),
    )
    icon = IconField()
    color = ColorField()
    sort_order = serializers.IntegerField(read_only=True)
