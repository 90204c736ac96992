"""Serializers of receipts."""

from rest_framework import serializers

from core.api.serializers import Serializer


class ReceiptRequestSerializer(Serializer):
    image = serializers.FileField(
        allow_empty_file=True,
        help_text="PNG, JPEG, WebP or GIF, at most 10 MB and 50 megapixels.",
    )


class ReceiptTextSerializer(Serializer):
    text = serializers.CharField(help_text="Empty if nothing was recognized.")
