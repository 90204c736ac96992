"""Serializers of announcements (spec 7.12)."""

from typing import Any

from rest_framework import serializers

from accounts.models import Announcement
from accounts.models.announcements import (
    MAX_ANNOUNCEMENT_TEXT,
    MAX_ANNOUNCEMENT_TITLE,
)
from core.api.fields import OpenTextField, StrictCharField, StrictDateTimeField
from core.api.serializers import Serializer

LANGUAGES = ("ko", "en")


class AnnouncementTitleSerializer(Serializer):
    """A title in both languages."""

    ko = StrictCharField(max_length=MAX_ANNOUNCEMENT_TITLE, help_text="In Korean.")
    en = StrictCharField(max_length=MAX_ANNOUNCEMENT_TITLE, help_text="In English.")


class AnnouncementTextSerializer(Serializer):
    """A plain text in both languages."""

    ko = StrictCharField(max_length=MAX_ANNOUNCEMENT_TEXT, help_text="In Korean.")
    en = StrictCharField(max_length=MAX_ANNOUNCEMENT_TEXT, help_text="In English.")


class AnnouncementFieldsSerializer(Serializer):
    title = AnnouncementTitleSerializer(help_text="The title.")
    text = AnnouncementTextSerializer(
        help_text="Plain text; an empty line begins a paragraph."
    )


class AnnouncementSerializer(AnnouncementFieldsSerializer):
    """What the operator tells the members."""

    id = serializers.IntegerField(help_text="Id of the announcement.")
    level = OpenTextField(
        known_values=Announcement.Level.values, help_text="How urgent it is."
    )
    audience = OpenTextField(
        known_values=Announcement.Audience.values, help_text="Who is told."
    )
    from_ = serializers.DateTimeField(help_text="From when it is shown.")
    until = serializers.DateTimeField(help_text="When it is shown no more.")

    def to_representation(self, instance: Announcement) -> dict[str, Any]:
        return {
            "id": instance.pk,
            "title": {each: getattr(instance, f"title_{each}") for each in LANGUAGES},
            "text": {each: getattr(instance, f"text_{each}") for each in LANGUAGES},
            "level": instance.level,
            "audience": instance.audience,
            "from": instance.starts_at,
            "until": instance.ends_at,
        }


class AnnouncementRequestSerializer(AnnouncementFieldsSerializer):
    answer = AnnouncementSerializer

    level = serializers.ChoiceField(
        choices=Announcement.Level.values,
        default=Announcement.Level.INFO,
        help_text="How urgent it is.",
    )
    audience = serializers.ChoiceField(
        choices=Announcement.Audience.values,
        default=Announcement.Audience.ALL,
        help_text=(
            "Who is told: `ALL` also those who are not logged in, `PREMIUM` those with "
            "the paid plan, `STAFF` administrators and moderators."
        ),
    )
    from_ = StrictDateTimeField(
        source="starts_at", required=False, help_text="From when it is shown; now."
    )
    until = StrictDateTimeField(
        source="ends_at", help_text="When it is shown no more, after `from`."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Return the columns."""
        title, text = attrs.pop("title"), attrs.pop("text")
        for each in LANGUAGES:
            attrs |= {f"title_{each}": title[each], f"text_{each}": text[each]}
        return attrs
