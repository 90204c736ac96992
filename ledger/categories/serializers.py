"""Serializers of categories."""

from rest_framework import serializers

from core.api.field_texts import FieldText
from core.api.fields import ClosedChoiceField
from core.api.serializers import QuerySerializer, Serializer
from ledger.base.fields import ColorField, IconField, NameField, VersionField
from ledger.base.ownership import OwnedPrimaryKeyField
from ledger.models import Category
from ledger.models.base import CategoryType

LANGUAGES = ["ko", "en"]


class CategorySerializer(Serializer):
    id = serializers.IntegerField(read_only=True)
    name = NameField()
    type = ClosedChoiceField(
        choices=CategoryType.choices,
        help_text="Whether it is for entries of `income` or of `expense`.",
    )
    parent_id = OwnedPrimaryKeyField(
        Category,
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
    version = VersionField()


class CategoryQuerySerializer(QuerySerializer):
    type = ClosedChoiceField(
        choices=CategoryType.choices,
        required=False,
        help_text="Only categories of this type.",
    )


class ImportCategoriesRequestSerializer(Serializer):
    language = serializers.ChoiceField(
        choices=LANGUAGES,
        required=False,
        default="ko",
        help_text="The language of the imported names.",
    )


class ImportCategoriesResultSerializer(Serializer):
    imported = serializers.IntegerField(help_text="Number of new categories.")
    skipped = serializers.IntegerField(
        help_text="Number of those whose name the caller already has."
    )
