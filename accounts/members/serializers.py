"""Serializers of members (spec 2.1) and session users (spec 2.5)."""

import re
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.models import LegalDocument, Member
from accounts.models.members import MAX_DISPLAY_NAME_LENGTH, MAX_LOGIN_ID_LENGTH
from accounts.models.sessions import MAX_NAME_LENGTH
from core.api.fields import (
    OpenTextField,
    StrictCharField,
    StrictIntegerField,
    UniqueListField,
)
from core.api.serializers import Serializer

# Its length has limits of its own.
LOGIN_ID_RE = re.compile(r"[A-Za-z0-9._-]*")
MAX_PASSWORD_LENGTH = 128
MAX_CONSENTS = 20
MAX_ID = 2**63 - 1
ROLE_TEXT = "`ADMIN` for administrators, `MODERATOR` for moderators of the board."


class LoginIdField(StrictCharField):
    def __init__(self, **options: Any) -> None:
        options.setdefault(
            "help_text",
            "Name for login: 3 to 50 letters, digits, dots, underscores and hyphens. "
            "Unique in any letter case.",
        )
        super().__init__(min_length=3, max_length=MAX_LOGIN_ID_LENGTH, **options)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not LOGIN_ID_RE.fullmatch(text):
            text = gettext("Only letters, digits and ._- are allowed.")
            raise serializers.ValidationError(text, code="invalid")
        return text


class StrictEmailField(StrictCharField):
    def __init__(self, **options: Any) -> None:
        options.setdefault(
            "help_text", "Email address; several members may have the same."
        )
        super().__init__(max_length=254, **options)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        return str(serializers.EmailField().run_validation(text))


class PasswordField(StrictCharField):
    def __init__(self, **options: Any) -> None:
        options.setdefault(
            "help_text",
            "8 to 128 characters; too common or too similar passwords are refused.",
        )
        super().__init__(
            trim_whitespace=False,
            max_length=MAX_PASSWORD_LENGTH,
            style={"input_type": "password"},
            **options,
        )


class DisplayNameField(StrictCharField):
    def __init__(self, **options: Any) -> None:
        super().__init__(
            max_length=MAX_DISPLAY_NAME_LENGTH,
            help_text="The name that other members see; 1 to 100 characters.",
            **options,
        )


class ConsentsField(UniqueListField):
    """Ids of documents that a new member accepts."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            child=StrictIntegerField(min_value=1, max_value=MAX_ID),
            required=False,
            default=list,
            max_length=MAX_CONSENTS,
            help_text="Ids of the documents that the new member accepts.",
            **options,
        )


class DeviceNameField(StrictCharField):
    def __init__(self, **options: Any) -> None:
        super().__init__(
            required=False,
            allow_blank=True,
            default="",
            max_length=MAX_NAME_LENGTH,
            help_text="What the list of sessions calls this device; empty by default.",
            **options,
        )


class MemberSummarySerializer(Serializer):
    """A member in a list, without the profile image."""

    id = serializers.IntegerField()
    login_id = serializers.CharField(help_text="Name for login.")
    display_name = serializers.CharField(help_text="The name that other members see.")
    email = serializers.CharField(help_text="Email address; not unique.")
    email_verified = serializers.BooleanField(
        source="is_email_verified",
        help_text="Whether a code has proved that the address is the member's.",
    )
    pending_email = serializers.SerializerMethodField(
        help_text="The address that takes its place once it is verified; or null."
    )
    locale = serializers.ChoiceField(
        choices=Member.Locale.choices,
        help_text="Language of mails, and of texts for clients that name none.",
    )
    provider = serializers.ChoiceField(
        choices=Member.Provider.choices,
        help_text=(
            "Where the account is from: `LOCAL` has a password, `IDP` logs in by "
            "the identity provider."
        ),
    )
    role = serializers.ChoiceField(choices=Member.Role.choices, help_text=ROLE_TEXT)
    status = serializers.ChoiceField(
        choices=Member.Status.choices, help_text="A `SUSPENDED` member cannot log in."
    )
    suspended_until = serializers.DateTimeField(
        allow_null=True, help_text="When the suspension ends; null if it does not."
    )
    suspension_reason = serializers.SerializerMethodField(
        help_text="Why the member is suspended; null if nothing was said."
    )
    silenced_until = serializers.SerializerMethodField(
        help_text="Until when the member writes nothing on the board; or null."
    )
    silence_reason = serializers.SerializerMethodField(
        help_text="Why the member is silenced; null while they are not."
    )
    plan = serializers.SerializerMethodField(
        help_text="The effective plan: FREE after the expiry."
    )
    plan_expires_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When the plan ends; null for FREE and for a plan without expiry.",
    )
    plan_product = serializers.SerializerMethodField(
        help_text="The `id` of the product; null without a subscription."
    )
    plan_auto_renew = serializers.BooleanField(
        help_text="Whether the store renews the subscription at `planExpiresAt`."
    )
    points = serializers.IntegerField(help_text="Points earned for posts and comments.")
    idp_picture = serializers.SerializerMethodField(
        help_text="URL of the picture at the identity provider; null without one."
    )
    created_at = serializers.DateTimeField()

    @extend_schema_field(serializers.EmailField(allow_null=True))
    def get_pending_email(self, member: Member) -> str | None:
        return member.pending_email or None

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_suspension_reason(self, member: Member) -> str | None:
        return member.suspension_reason or None

    @extend_schema_field(serializers.DateTimeField(allow_null=True))
    def get_silenced_until(self, member: Member) -> datetime | None:
        return member.silenced_until if member.is_silenced(timezone.now()) else None

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_silence_reason(self, member: Member) -> str | None:
        return member.silence_reason if member.is_silenced(timezone.now()) else None

    @extend_schema_field(serializers.ChoiceField(choices=Member.Plan.choices))
    def get_plan(self, member: Member) -> str:
        return member.effective_plan(timezone.now())

    @extend_schema_field(
        OpenTextField(known_values=settings.PREMIUM_PRICES, allow_null=True)
    )
    def get_plan_product(self, member: Member) -> str | None:
        return member.plan_product or None

    @extend_schema_field(serializers.URLField(allow_null=True))
    def get_idp_picture(self, member: Member) -> str | None:
        return member.idp_picture or None


class MemberSerializer(MemberSummarySerializer):
    """A member with the profile image."""

    profile_image = serializers.SerializerMethodField(
        help_text="The profile image as a data URL; null without one."
    )

    def get_profile_image(self, member: Member) -> str | None:
        return member.profile_image or None


class ProfileSerializer(MemberSerializer):
    """The caller, as only they see themselves."""

    second_factor = serializers.BooleanField(
        source="has_second_factor",
        help_text="Whether logins ask for a code of an authenticator app.",
    )


class DueDocumentSerializer(Serializer):
    """A document that the caller has yet to accept."""

    id = serializers.IntegerField()
    kind = OpenTextField(
        known_values=LegalDocument.Kind.values, help_text="What it is."
    )
    version = serializers.CharField(help_text="Name of the version.")
    locale = serializers.ChoiceField(
        choices=Member.Locale.choices, help_text="Its language."
    )
    title = serializers.CharField(help_text="The title of the document.")
    required = serializers.BooleanField(  # type: ignore[assignment]
        help_text="Whether the board takes nothing of a member without it."
    )


class SessionUserSerializer(Serializer):
    """The member of a session."""

    id = serializers.IntegerField()
    login_id = serializers.CharField(help_text="Name for login.")
    display_name = serializers.CharField(help_text="The name that other members see.")
    role = serializers.ChoiceField(choices=Member.Role.choices, help_text=ROLE_TEXT)
    plan = serializers.ChoiceField(
        choices=Member.Plan.choices,
        help_text="The effective plan: FREE after the expiry.",
    )
    plan_expires_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When the plan ends; null for FREE and for a plan without expiry.",
    )
    consents_due = DueDocumentSerializer(
        many=True, help_text="Required documents that the member has not accepted."
    )


def session_user_payload(member: Member) -> dict[str, Any]:
    # Every client requests this often, and the serializer costs more.
    return {
        "id": member.pk,
        "loginId": member.login_id,
        "displayName": member.display_name,
        "role": member.role,
        "plan": member.effective_plan(timezone.now()),
        "planExpiresAt": member.plan_expires_at,
    }


class NewMemberRequestSerializer(Serializer):
    answer: ClassVar[type[Serializer] | None] = MemberSerializer

    login_id = LoginIdField()
    password = PasswordField()
    display_name = DisplayNameField()
    email = StrictEmailField()


class SignupRequestSerializer(NewMemberRequestSerializer):
    answer = None

    device_name = DeviceNameField()
    consents = ConsentsField()
    website = serializers.CharField(
        required=False,
        allow_blank=True,
        allow_null=True,
        help_text="Honeypot field: leave it empty.",
    )


class ProfileRequestSerializer(Serializer):
    answer: ClassVar[type[Serializer]] = MemberSerializer

    display_name = DisplayNameField(required=False)
    email = StrictEmailField(required=False)


class OwnProfileRequestSerializer(ProfileRequestSerializer):
    answer = ProfileSerializer

    email = StrictEmailField(
        required=False,
        help_text=(
            "Email address. While the present one is verified, another becomes "
            "`pendingEmail`; the present one takes that back."
        ),
    )
    locale = serializers.ChoiceField(
        choices=Member.Locale.choices,
        required=False,
        help_text="Language of mails, and of texts for clients that name none.",
    )


class ProfileImageRequestSerializer(Serializer):
    answer = ProfileSerializer

    profile_image = StrictCharField(
        allow_null=True,
        allow_blank=True,
        help_text="data:image/(png|jpeg|webp|gif);base64,… of at most 1 MiB, or empty.",
    )
