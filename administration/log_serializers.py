"""Serializers of the log (spec 7.10)."""

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from accounts.models import AuditLogEntry
from administration.log_entries import TARGETS, describe_text
from core.api.fields import IsoDateField, OpenTextField, StrictCharField
from core.api.serializers import QuerySerializer, Serializer

MAX_ID = 2**63 - 1
MAX_TARGET_LENGTH = 100


class LogFilterSerializer(QuerySerializer):
    """Filters of the log, combined with AND."""

    actor = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_ID,
        help_text="Only lines of the member with this id.",
    )
    action = serializers.ChoiceField(
        required=False,
        choices=AuditLogEntry.Action.values,
        help_text="Only lines of this action.",
    )
    target_type = StrictCharField(
        required=False,
        max_length=MAX_TARGET_LENGTH,
        help_text="Only lines about this kind, such as `board.Post`.",
    )
    target_id = StrictCharField(
        required=False,
        max_length=MAX_TARGET_LENGTH,
        help_text="Only lines about what has this id or name.",
    )
    from_ = IsoDateField(
        required=False, source="start", help_text="Only lines of this day and later."
    )
    to = IsoDateField(
        required=False, source="end", help_text="Only lines of this day and earlier."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        start, end = attrs.get("start"), attrs.get("end")
        if start is not None and end is not None and end < start:
            text = gettext("Must not be before `from`.")
            raise serializers.ValidationError({"to": text}, code="range")
        return attrs


class LogQuerySerializer(LogFilterSerializer):
    before = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_ID,
        help_text="Only lines with smaller ids.",
    )
    size = serializers.IntegerField(
        default=20, min_value=1, help_text="Lines on a page, at most 100."
    )


class LogEntrySerializer(Serializer):
    """What an administrator or moderator did."""

    id = serializers.IntegerField(help_text="Rises.")
    at = serializers.DateTimeField(help_text="When it was done.")
    actor_id = serializers.IntegerField(
        help_text="Id of the member who did it, who may have left."
    )
    action = OpenTextField(
        known_values=AuditLogEntry.Action.values,
        help_text="What was done, for programs.",
    )
    target_type = OpenTextField(
        known_values=sorted(TARGETS), help_text="The kind that it was done to."
    )
    target_id = serializers.CharField(
        help_text="Id or name of what it was done to; empty for a list."
    )
    text = serializers.CharField(
        help_text="What was done, for people, in the language of the request."
    )
    request_id = serializers.CharField(
        help_text="Names the request in the logs of the service; empty outside of one."
    )

    def to_representation(self, instance: AuditLogEntry) -> dict[str, Any]:
        return {
            "id": instance.pk,
            "at": instance.at,
            "actorId": instance.actor_id,
            "action": instance.action,
            "targetType": instance.target_type,
            "targetId": instance.target_id,
            "text": describe_text(instance),
            "requestId": instance.request_id,
        }


class LogPageSerializer(Serializer):
    results = LogEntrySerializer(many=True, help_text="Lines, the newest first.")
    next = serializers.URLField(
        allow_null=True, help_text="Where older lines are; null at the end."
    )
