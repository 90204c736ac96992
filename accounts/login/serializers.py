"""Serializers of logins, passwords and second factors."""

from typing import Any

from rest_framework import serializers

from accounts.login.recovery_codes import MAX_CODE_LENGTH
from accounts.members.serializers import (
    ConsentsField,
    DeviceNameField,
    MemberSerializer,
    PasswordField,
)
from core.api.fields import StrictBooleanField, StrictCharField
from core.api.serializers import Serializer

MAX_NONCE_LENGTH = 255
MAX_TICKET_LENGTH = 100
# A body with an ID token.
MAX_ID_TOKEN_BYTES = 2**16


class NonceField(StrictCharField):
    def __init__(self, **options: Any) -> None:
        super().__init__(
            required=False,
            max_length=MAX_NONCE_LENGTH,
            help_text="The nonce that the ID token must carry.",
            **options,
        )


class LoginRequestSerializer(Serializer):
    login_id = StrictCharField(
        max_length=200, help_text="The login id, in any letter case."
    )
    password = PasswordField(help_text="The password.")
    device_name = DeviceNameField()


class IdTokenRequestSerializer(Serializer):
    id_token = StrictCharField(
        max_length=8192,
        help_text="The ID token that the identity provider issued for our client id.",
    )
    nonce = NonceField()
    device_name = DeviceNameField()
    consents = ConsentsField()
    link = StrictBooleanField(
        default=True,
        help_text="False makes an account of its own instead of linking by address.",
    )


class IdentityLinkRequestSerializer(Serializer):
    id_token = StrictCharField(
        max_length=8192, help_text="An ID token of the identity to link."
    )
    nonce = NonceField()


class LinkedIdentitySerializer(Serializer):
    """An identity that logs the caller in."""

    provider = serializers.CharField(help_text="`google`.")
    linked_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was linked; null if that was not recorded."
    )
    last_used_at = serializers.DateTimeField(
        allow_null=True, help_text="The last login with it; null before the first."
    )


class LoginSessionSerializer(Serializer):
    """A new session; send the token as `Authorization: Bearer <token>`."""

    token = serializers.CharField(
        help_text="Credential for `Authorization: Bearer`; shown only here."
    )
    expires_at = serializers.DateTimeField(
        help_text="When the session ends; each use extends it."
    )
    member = MemberSerializer(help_text="The member who has logged in.")


class IdpLoginSessionSerializer(LoginSessionSerializer):
    created = serializers.BooleanField(
        help_text="True if this login created the account."
    )
    linked = serializers.BooleanField(
        help_text="True if this login linked the provider to an existing account."
    )


class CompletedLoginSessionSerializer(IdpLoginSessionSerializer):
    """As the login; `created` and `linked` after one by the identity provider."""

    conditional_fields = frozenset({"created", "linked"})


class VerifyPasswordRequestSerializer(Serializer):
    password = PasswordField(help_text="The password of the caller.")


class ReauthenticationRequestSerializer(Serializer):
    """Exactly one proof: the password, a code or an ID token."""

    is_body_required = True

    password = PasswordField(required=False, help_text="The password of the caller.")
    code = StrictCharField(
        required=False,
        max_length=MAX_CODE_LENGTH,
        help_text="A code of the second factor: of the app, or a recovery code.",
    )
    id_token = StrictCharField(
        required=False,
        max_length=8192,
        help_text="An ID token of the linked identity, issued within 5 minutes.",
    )
    nonce = NonceField()


class FreshAuthenticationSerializer(Serializer):
    fresh_until = serializers.DateTimeField(
        help_text="Until when the session may change how the account is accessed."
    )


class PasswordVerifiedSerializer(Serializer):
    verified = serializers.BooleanField(
        help_text="Always true; a wrong password is an error."
    )


class ChangePasswordRequestSerializer(Serializer):
    current_password = PasswordField(
        required=False,
        allow_null=True,
        default=None,
        help_text=(
            "The present password. Left out or null only by members without one, "
            "whose account was linked to the identity provider."
        ),
    )
    new_password = PasswordField()


class IdpClientIdSerializer(Serializer):
    client_id = serializers.CharField(
        allow_blank=True,
        help_text="The audience of ID tokens; empty if the provider is not configured.",
    )


class SignupEnabledSerializer(Serializer):
    enabled = serializers.BooleanField(help_text="Whether anybody may sign up now.")


class FactorsSerializer(Serializer):
    """The second factor of the caller."""

    totp = serializers.BooleanField(
        help_text="Whether logins ask for a code of an authenticator app."
    )
    totp_since = serializers.DateTimeField(
        allow_null=True, help_text="Since when; null if they do not."
    )
    recovery_codes_left = serializers.IntegerField(
        help_text="How many recovery codes are not spent."
    )


class PendingTotpSerializer(Serializer):
    """The data for an authenticator app; shown only here."""

    secret = serializers.CharField(help_text="The seed in base 32.")
    uri = serializers.CharField(help_text="The `otpauth:` URI, for a QR code.")
    expires_at = serializers.DateTimeField(
        help_text="Until when a code of the app can confirm it."
    )


class CodeRequestSerializer(Serializer):
    code = StrictCharField(
        max_length=MAX_CODE_LENGTH, help_text="The code that the app shows: 6 digits."
    )


class RecoveryCodesSerializer(Serializer):
    recovery_codes = serializers.ListField(
        child=serializers.CharField(),
        help_text="Each stands for a code of the app once; shown only here.",
    )


class SecondFactorLoginRequestSerializer(Serializer):
    ticket = StrictCharField(
        max_length=MAX_TICKET_LENGTH,
        help_text="The `ticket` of `SECOND_FACTOR_REQUIRED`.",
    )
    code = StrictCharField(
        max_length=MAX_CODE_LENGTH,
        help_text="A code of the authenticator app, or a recovery code.",
    )
