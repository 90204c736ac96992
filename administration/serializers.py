"""Wire shapes of the administrators' area."""

from rest_framework import serializers

from accounts.models import Member
from core.api.fields import Flag, QuerySerializer, Serializer, Text

SEARCH_LENGTH = 100


class SignupSwitchBody(Serializer):
    enabled = Flag()


class MemberQuery(QuerySerializer):
    search = Text(
        required=False,
        max_length=SEARCH_LENGTH,
        help_text="Words, each contained in login id, display name or email.",
    )
    role = serializers.ChoiceField(choices=Member.Role.choices, required=False)
    status = serializers.ChoiceField(choices=Member.Status.choices, required=False)
    plan = serializers.ChoiceField(
        choices=Member.Plan.choices,
        required=False,
        help_text="The plan that counts now: FREE once it has expired.",
    )


class RoleBody(Serializer):
    role = serializers.ChoiceField(choices=Member.Role.choices)


class StatusBody(Serializer):
    status = serializers.ChoiceField(choices=Member.Status.choices)


class PlanBody(Serializer):
    plan = serializers.ChoiceField(choices=Member.Plan.choices)
