"""Serializers of the administrators' API."""

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from accounts.members.serializers import MemberSerializer
from accounts.models import Member
from accounts.models.members import MAX_REASON_LENGTH
from core.api.fields import FutureDateTimeField, StrictBooleanField, StrictCharField
from core.api.serializers import QuerySerializer, Serializer

MAX_SEARCH_LENGTH = 100


class SignupSettingSerializer(Serializer):
    enabled = StrictBooleanField(help_text="Whether anybody may sign up.")


class SwitchesSerializer(Serializer):
    """What members may do now."""

    signup = StrictBooleanField(help_text="Whether anybody may sign up.")
    posting = StrictBooleanField(
        help_text="Whether posts and comments may be written and changed."
    )
    images = StrictBooleanField(
        help_text="Whether images of posts and of profiles may be uploaded."
    )
    identity_providers = StrictBooleanField(
        help_text="Whether members may log in by an identity provider, and link one."
    )
    read_only = StrictBooleanField(  # type: ignore[assignment]  # no serializer's own
        help_text="Whether nothing may be changed, for maintenance."
    )


class MemberQuerySerializer(QuerySerializer):
    search = StrictCharField(
        required=False,
        max_length=MAX_SEARCH_LENGTH,
        help_text="Words; login id, display name or email contains each of them.",
    )
    role = serializers.ChoiceField(
        choices=Member.Role.choices,
        required=False,
        help_text="Only members with this role.",
    )
    status = serializers.ChoiceField(
        choices=Member.Status.choices,
        required=False,
        help_text="Only members with this status.",
    )
    plan = serializers.ChoiceField(
        choices=Member.Plan.choices,
        required=False,
        help_text="The effective plan: FREE after the expiry.",
    )


class MemberRoleRequestSerializer(Serializer):
    answer = MemberSerializer

    role = serializers.ChoiceField(
        choices=Member.Role.choices,
        help_text="The new role: `MODERATOR` moderates the board.",
    )


class MemberStatusRequestSerializer(Serializer):
    answer = MemberSerializer

    status = serializers.ChoiceField(
        choices=Member.Status.choices,
        help_text="The new status; a `SUSPENDED` member cannot log in.",
    )
    until = FutureDateTimeField(
        required=False,
        allow_null=True,
        help_text="When the suspension ends by itself; it does not without it.",
    )
    reason = StrictCharField(
        required=False,
        allow_blank=True,
        max_length=MAX_REASON_LENGTH,
        help_text="Why; the member reads it.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        is_suspension = attrs["status"] == Member.Status.SUSPENDED
        if not is_suspension and (attrs.get("until") or attrs.get("reason")):
            text = gettext("Only a suspension has an end and a reason.")
            raise serializers.ValidationError({"status": text})
        return attrs


class MemberPlanRequestSerializer(Serializer):
    answer = MemberSerializer

    plan = serializers.ChoiceField(
        choices=Member.Plan.choices, help_text="The new plan, without expiry."
    )
