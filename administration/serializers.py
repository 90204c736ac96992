"""Wire shapes of the administrators' area."""

from rest_framework import serializers

from accounts.models import Member
from core.api.fields import StrictBooleanField, StrictCharField
from core.api.serializers import QuerySerializer, Serializer

MAX_SEARCH_LENGTH = 100


class SignupSettingSerializer(Serializer):
    enabled = StrictBooleanField()


class MemberQuerySerializer(QuerySerializer):
    search = StrictCharField(
        required=False,
        max_length=MAX_SEARCH_LENGTH,
        help_text="Words, each contained in login id, display name or email.",
    )
    role = serializers.ChoiceField(choices=Member.Role.choices, required=False)
    status = serializers.ChoiceField(choices=Member.Status.choices, required=False)
    plan = serializers.ChoiceField(
        choices=Member.Plan.choices,
        required=False,
        help_text="The plan that counts now: FREE once it has expired.",
    )


class MemberRoleRequestSerializer(Serializer):
    role = serializers.ChoiceField(choices=Member.Role.choices)


class MemberStatusRequestSerializer(Serializer):
    status = serializers.ChoiceField(choices=Member.Status.choices)


class MemberPlanRequestSerializer(Serializer):
    plan = serializers.ChoiceField(choices=Member.Plan.choices)
