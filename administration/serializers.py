"""Serializers of the administrators' API."""

from rest_framework import serializers

from accounts.members.serializers import MemberSerializer
from accounts.models import Member
from core.api.fields import StrictBooleanField, StrictCharField
from core.api.serializers import QuerySerializer, Serializer

MAX_SEARCH_LENGTH = 100


class SignupSettingSerializer(Serializer):
    enabled = StrictBooleanField(help_text="Whether anybody may sign up.")


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
        help_text="The new role; `ADMIN` for administrators.",
    )


class MemberStatusRequestSerializer(Serializer):
    answer = MemberSerializer

    status = serializers.ChoiceField(
        choices=Member.Status.choices,
        help_text="The new status; a `SUSPENDED` member cannot log in.",
    )


class MemberPlanRequestSerializer(Serializer):
    answer = MemberSerializer

    plan = serializers.ChoiceField(
        choices=Member.Plan.choices, help_text="The new plan, without expiry."
    )
