"""Serializers of categories."""

from rest_framework import serializers

from core.api.serializers import QuerySerializer, Serializer
from ledger.models import Category
from ledger.models.base import EntryType
from ledger.ownership import OwnedPrimaryKeyField
from ledger.serializers.fields import NameField


class CategorySerializer(Serializer):
    id = serializers.IntegerField(read_only=True)
    name = NameField()
    type = serializers.ChoiceField(choices=EntryType.choices)
    parent_id = OwnedPrimaryKeyField(
        Category, source="parent", required=False, allow_null=True, default=None
    )
    sort_order = serializers.IntegerField(read_only=True)


class CategoryQuerySerializer(QuerySerializer):
    type = serializers.ChoiceField(choices=EntryType.choices, required=False)


class ImportCategoriesRequestSerializer(Serializer):
    language = serializers.ChoiceField(
        choices=["ko", "en"],
        required=False,
        default="ko",
        help_text="The language of the imported names.",
    )


class ImportCategoriesResultSerializer(Serializer):
    imported = serializers.IntegerField()
    skipped = serializers.IntegerField()
