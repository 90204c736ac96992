"""Wire shapes of a member."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from accounts.models import Member
from accounts.models.members import LOGIN_ID_LENGTH, NAME_LENGTH
from core.api.fields import Serializer, Text

LOGIN_ID = rf"\A[A-Za-z0-9._-]{{3,{LOGIN_ID_LENGTH}}}\Z"
PASSWORD_LENGTH = 128


class LoginIdField(Text):
    """3 to 50 letters, digits, dots, underscores and hyphens."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_length=3, max_length=LOGIN_ID_LENGTH, **options)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        return str(serializers.RegexField(LOGIN_ID).run_validation(text))


class EmailField(Text):
    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=254, **options)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        return str(serializers.EmailField().run_validation(text))


class PasswordField(Text):
    def __init__(self, **options: Any) -> None:
        super().__init__(
            trim_whitespace=False,
            max_length=PASSWORD_LENGTH,
            style={"input_type": "password"},
            **options,
        )


class MemberRowBody(Serializer):
    """A member in a list, which leaves out the picture to stay light."""

    id = serializers.IntegerField()
    login_id = serializers.CharField()
    display_name = serializers.CharField()
    email = serializers.CharField()
    provider = serializers.ChoiceField(choices=Member.Provider.choices)
    role = serializers.ChoiceField(choices=Member.Role.choices)
    status = serializers.ChoiceField(choices=Member.Status.choices)
    plan = serializers.SerializerMethodField()
    plan_expires_at = serializers.DateTimeField(allow_null=True)
    plan_product = serializers.SerializerMethodField()
    plan_auto_renew = serializers.BooleanField()
    points = serializers.IntegerField()
    idp_picture = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()

    def get_plan(self, member: Member) -> str:
        """The plan that counts now: FREE once it has expired."""
        return member.current_plan(timezone.now())

    def get_plan_product(self, member: Member) -> str | None:
        return member.plan_product or None

    def get_idp_picture(self, member: Member) -> str | None:
        return member.idp_picture or None


class MemberBody(MemberRowBody):
    """The member response (contract, section 2)."""

    profile_image = serializers.SerializerMethodField()

    def get_profile_image(self, member: Member) -> str | None:
        return member.profile_image or None


class SessionMemberBody(Serializer):
    """The session user (contract, GET /api/auth/session)."""

    id = serializers.IntegerField()
    login_id = serializers.CharField()
    display_name = serializers.CharField()
    role = serializers.ChoiceField(choices=Member.Role.choices)
    plan = serializers.ChoiceField(choices=Member.Plan.choices)
    plan_expires_at = serializers.DateTimeField(allow_null=True)


def describe_session_member(member: Member) -> dict[str, Any]:
    """`SessionMemberBody` by hand: every client asks for it, often."""
    return {
        "id": member.pk,
        "loginId": member.login_id,
        "displayName": member.display_name,
        "role": member.role,
        "plan": member.current_plan(timezone.now()),
        "planExpiresAt": member.plan_expires_at,
    }


class NewMemberBody(Serializer):
    login_id = LoginIdField()
    password = PasswordField()
    display_name = Text(max_length=NAME_LENGTH)
    email = EmailField()


class SignupBody(NewMemberBody):
    website = serializers.CharField(
        required=False,
        allow_blank=True,
        allow_null=True,
        help_text="A trap for programs: people leave it empty.",
    )


class ProfileBody(Serializer):
    display_name = Text(max_length=NAME_LENGTH, required=False)
    email = EmailField(required=False)


class ProfileImageBody(Serializer):
    profile_image = Text(
        allow_null=True,
        allow_blank=True,
        help_text="data:image/(png|jpeg|webp|gif);base64,… of at most 1 MiB, or empty.",
    )
