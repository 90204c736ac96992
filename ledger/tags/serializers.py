"""Serializers of tags."""

from rest_framework import serializers

from core.api.serializers import Serializer
from ledger.base.fields import ColorField, IconField, LedgerTagNameField, VersionField


class TagSerializer(Serializer):
    id = serializers.IntegerField(read_only=True)
    name = LedgerTagNameField()
    icon = IconField()
    color = ColorField()
    sort_order = serializers.IntegerField(read_only=True)
    version = VersionField()
