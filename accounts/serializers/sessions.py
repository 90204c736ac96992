"""Serializers of login and passwords."""

from rest_framework import serializers

from accounts.serializers.members import MemberSerializer, PasswordField
from core.api.fields import StrictCharField
from core.api.serializers import Serializer

MAX_NONCE_LENGTH = 255


class LoginRequestSerializer(Serializer):
    login_id = StrictCharField(max_length=200)
    password = PasswordField()


class IdTokenRequestSerializer(Serializer):
    id_token = StrictCharField(max_length=8192)
    nonce = StrictCharField(
        required=False,
        max_length=MAX_NONCE_LENGTH,
        help_text="The nonce that the ID token must carry.",
    )


class LoginSessionSerializer(Serializer):
    """A new session; send the token as `Authorization: Bearer <token>`."""

    token = serializers.CharField()
    expires_at = serializers.DateTimeField()
    member = MemberSerializer()


class IdpLoginSessionSerializer(LoginSessionSerializer):
    created = serializers.BooleanField()
    linked = serializers.BooleanField()


class VerifyPasswordRequestSerializer(Serializer):
    password = PasswordField()


class PasswordVerifiedSerializer(Serializer):
    verified = serializers.BooleanField()


class ChangePasswordRequestSerializer(Serializer):
    current_password = PasswordField(required=False, allow_null=True, default=None)
    new_password = PasswordField()


class EndedSessionsSerializer(Serializer):
    ended = serializers.IntegerField(help_text="How many sessions were ended.")


class IdpClientIdSerializer(Serializer):
    client_id = serializers.CharField(allow_blank=True)


class SignupEnabledSerializer(Serializer):
    enabled = serializers.BooleanField()
