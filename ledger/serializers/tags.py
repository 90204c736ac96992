"""Wire shapes of tags."""

from typing import Any

from rest_framework import serializers

from core.api.serializers import Serializer
from ledger.models import Tag
from ledger.serializers.fields import LedgerTagNameField


class TagSerializer(Serializer):
    id = serializers.IntegerField(read_only=True)
    name = LedgerTagNameField()
    sort_order = serializers.IntegerField(read_only=True)


def tag_payload(tag: Tag) -> dict[str, Any]:
    return {"id": tag.pk, "name": tag.name, "sortOrder": tag.sort_order}
