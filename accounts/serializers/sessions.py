"""Wire shapes of login, logout and passwords."""

from rest_framework import serializers

from accounts.serializers.members import MemberBody, PasswordField
from core.api.fields import Serializer, Text


class LoginBody(Serializer):
    login_id = Text(max_length=200)
    password = PasswordField()


class IdTokenBody(Serializer):
    id_token = Text(max_length=8192)


class SessionBody(Serializer):
    """The answer to a login: the token goes into `Authorization: Bearer`."""

    token = serializers.CharField()
    expires_at = serializers.DateTimeField()
    member = MemberBody()


class IdentitySessionBody(SessionBody):
    created = serializers.BooleanField()
    linked = serializers.BooleanField()


class VerifyPasswordBody(Serializer):
    password = PasswordField()


class VerifiedBody(Serializer):
    verified = serializers.BooleanField()


class ChangePasswordBody(Serializer):
    current_password = PasswordField(required=False, allow_null=True, default=None)
    new_password = PasswordField()


class ClientIdBody(Serializer):
    client_id = serializers.CharField(allow_blank=True)


class EnabledBody(Serializer):
    enabled = serializers.BooleanField()
