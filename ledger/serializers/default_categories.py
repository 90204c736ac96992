"""Serializers of the default categories."""

from rest_framework import serializers

from core.api.fields import StrictCharField, StrictPrimaryKeyField
from core.api.serializers import Serializer
from ledger.models import DefaultCategory
from ledger.models.base import MAX_NAME_LENGTH


class DefaultCategorySerializer(Serializer):
    id = serializers.IntegerField(read_only=True)
    name = StrictCharField(max_length=MAX_NAME_LENGTH)
    name_en = StrictCharField(
        max_length=MAX_NAME_LENGTH,
        allow_blank=True,
        required=False,
        help_text="The name in an English import; the Korean one if empty.",
    )
    type = serializers.ChoiceField(choices=DefaultCategory.Type.choices)
    parent_id = StrictPrimaryKeyField(
        queryset=DefaultCategory.objects.all(),
        source="parent",
        required=False,
        allow_null=True,
        default=None,
    )
    sort_order = serializers.IntegerField(read_only=True)
