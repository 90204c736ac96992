"""Serializer of `moveTo`."""

from rest_framework import serializers

from core.api.serializers import QuerySerializer


class MoveToQuerySerializer(QuerySerializer):
    move_to = serializers.IntegerField(
        required=False,
        help_text="Id of the one that takes over what refers to the deleted one.",
    )
