"""Serializers of images in posts."""

from rest_framework import serializers

from core.api.serializers import Serializer


class ImageUploadRequestSerializer(Serializer):
    image = serializers.FileField(
        allow_empty_file=True,
        help_text="PNG, JPEG, WebP or GIF, at most 10 MB and 40 megapixels.",
    )


class UploadedImageSerializer(Serializer):
    id = serializers.UUIDField(help_text="As in the path of the image.")
    url = serializers.URLField(help_text="The absolute URL, for use in a post.")
    width = serializers.IntegerField(
        help_text="In pixels, of the image as it is shown."
    )
    height = serializers.IntegerField(
        help_text="In pixels, of the image as it is shown."
    )
