"""Serializers of the inbox (spec 2.19)."""

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from accounts.inbox.sources import list_kinds
from core.api.fields import (
    OpenTextField,
    StrictBooleanField,
    StrictIntegerField,
    UniqueListField,
    UriReferenceField,
)
from core.api.serializers import QuerySerializer, Serializer

MAX_IDS = 100
MAX_KINDS = 10
MAX_ID = 2**63 - 1


class InboxActorSerializer(Serializer):
    id = serializers.IntegerField(help_text="Id of the member.")
    display_name = serializers.CharField(help_text="The name that other members see.")
    avatar = UriReferenceField(
        allow_null=True,
        help_text="URL of the profile image, or of the image at the identity provider.",
    )
    staff = serializers.BooleanField(
        help_text="Whether the member is an administrator or moderator."
    )


class InboxTargetSerializer(Serializer):
    type = OpenTextField(
        known_values=["POST", "COMMENT", "MEMBER", "ANNOUNCEMENT"],
        help_text="What it is.",
    )
    id = serializers.IntegerField(
        help_text="Id of the post, comment, member or announcement."
    )
    post_id = serializers.IntegerField(
        allow_null=True, help_text="The post itself, or the one of the comment."
    )


class InboxItemSerializer(Serializer):
    """Something that happened."""

    id = serializers.IntegerField(
        help_text="Rises: what happens again before it is read takes a new one."
    )
    kind = OpenTextField(
        known_values=sorted(list_kinds()), help_text="What happened, for programs."
    )
    at = serializers.DateTimeField(help_text="When it happened last.")
    count = serializers.IntegerField(help_text="How often, since the item is unread.")
    actor = InboxActorSerializer(
        allow_null=True, help_text="Who did it last; null for staff and the service."
    )
    text = serializers.CharField(
        help_text="What happened, for people, in the language of the request."
    )
    target = InboxTargetSerializer(
        allow_null=True, help_text="What it happened to; null for the account."
    )
    read = serializers.BooleanField(help_text="Whether the caller has read it.")


class InboxPageSerializer(Serializer):
    results = InboxItemSerializer(many=True, help_text="Items, the newest first.")
    next = serializers.URLField(
        allow_null=True, help_text="Where older items are; null at the end."
    )


class InboxQuerySerializer(QuerySerializer):
    before = serializers.IntegerField(
        min_value=1, required=False, help_text="Only items with smaller ids."
    )
    unread = serializers.BooleanField(
        default=False, help_text="Only items that are not read."
    )
    size = serializers.IntegerField(
        min_value=1, default=20, help_text="Items on a page, at most 100."
    )


class InboxCountSerializer(Serializer):
    unread = serializers.IntegerField(help_text="100 means more than 99.")


class InboxReadRequestSerializer(Serializer):
    """Which items are read: either `ids` or `upTo`."""

    is_body_required = True

    ids = UniqueListField(
        child=StrictIntegerField(min_value=1, max_value=MAX_ID),
        required=False,
        allow_empty=False,
        max_length=MAX_IDS,
        help_text="Ids of items; unknown ones are passed over.",
    )
    up_to = StrictIntegerField(
        required=False,
        min_value=1,
        max_value=MAX_ID,
        help_text="All items up to this id.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            raise serializers.ValidationError(gettext("Send either ids or upTo."))
        return attrs


class InboxSettingSerializer(Serializer):
    kind = serializers.ChoiceField(
        choices=[kind for kind, may_be_muted in list_kinds().items() if may_be_muted],
        help_text="A kind that members may do without.",
    )
    inbox = StrictBooleanField(help_text="Whether items of this kind are made.")


class InboxSettingsSerializer(Serializer):
    settings = InboxSettingSerializer(
        many=True,
        max_length=MAX_KINDS,  # type: ignore[call-arg]  # of the list
        help_text="Kinds that are left out of a change stay as they are.",
    )
