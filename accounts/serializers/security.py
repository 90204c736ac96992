"""Serializers of sessions, personal tokens, second factors and the security log."""

from typing import Any

from rest_framework import serializers

from accounts.client_names import get_client_name
from accounts.models import AuthSession, SecurityLogEntry
from accounts.models.sessions import MAX_NAME_LENGTH
from accounts.personal_tokens import DEFAULT_DAYS, MAX_DAYS
from accounts.recovery_codes import MAX_CODE_LENGTH
from core.api.fields import (
    OpenTextField,
    StrictCharField,
    StrictIntegerField,
    UniqueListField,
)
from core.api.serializers import Serializer
from core.api.token_scopes import TokenScope

MAX_TICKET_LENGTH = 100


class OwnSessionSerializer(Serializer):
    """A session of the caller."""

    id = serializers.UUIDField(source="public_id")
    current = serializers.SerializerMethodField(
        help_text="Whether it is the session of this request."
    )
    device_name = serializers.CharField(
        source="name", help_text="What the login called the device; may be empty."
    )
    client = serializers.SerializerMethodField(
        help_text="From the user agent, such as `Chrome, Windows`; may be empty."
    )
    address = serializers.IPAddressField(
        source="ip_address",
        allow_null=True,
        help_text="Of the login; null if it is not known.",
    )
    created_at = serializers.DateTimeField()
    last_seen_at = serializers.DateTimeField(
        help_text="Of the last use, exact to 5 minutes."
    )
    expires_at = serializers.DateTimeField(
        help_text="When it ends without further use."
    )

    def get_current(self, session: AuthSession) -> bool:
        return bool(session.key_hash == self.context["key_hash"])

    def get_client(self, session: AuthSession) -> str:
        return get_client_name(session.user_agent)


class PersonalTokenSerializer(Serializer):
    """A personal token, without the token itself."""

    id = serializers.UUIDField(source="public_id")
    name = serializers.CharField(help_text="What the member calls it.")
    scopes = serializers.ListField(
        child=OpenTextField(known_values=[scope.value for scope in TokenScope]),
        help_text="What it may do.",
    )
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(
        source="last_seen_at",
        allow_null=True,
        help_text="Exact to 5 minutes; null if it was never used.",
    )
    expires_at = serializers.DateTimeField(help_text="When it ends; use extends none.")


class NewPersonalTokenSerializer(PersonalTokenSerializer):
    token = serializers.CharField(
        help_text="Credential for `Authorization: Bearer`; shown only here."
    )


class PersonalTokenRequestSerializer(Serializer):
    name = StrictCharField(
        max_length=MAX_NAME_LENGTH, help_text="What to call it; 1 to 60 characters."
    )
    scopes = UniqueListField(
        child=serializers.ChoiceField(choices=[(s.value, s.value) for s in TokenScope]),
        min_length=1,
        max_length=len(TokenScope),
        help_text="What it may do; at least one.",
    )
    expires_in_days = StrictIntegerField(
        min_value=1,
        max_value=MAX_DAYS,
        required=False,
        default=DEFAULT_DAYS,
        help_text="After how many days it ends, 1 to 366; 90 by default.",
    )


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


class SecurityEventSerializer(Serializer):
    """Something that happened to how the account is accessed."""

    id = serializers.IntegerField()
    kind = serializers.ChoiceField(
        choices=SecurityLogEntry.Kind.choices, help_text="What happened."
    )
    at = serializers.DateTimeField(help_text="When.")
    by_staff = serializers.BooleanField(
        source="is_by_staff", help_text="Whether staff of the service did it."
    )
    address = serializers.IPAddressField(
        source="ip_address",
        allow_null=True,
        help_text="IP address; null if it is not known or if staff did it.",
    )
    device_name = serializers.CharField(
        help_text="What the login called the device; may be empty."
    )
    client = serializers.CharField(
        help_text="From the user agent, such as `Chrome, Windows`; may be empty."
    )
    detail = serializers.CharField(
        help_text="The name of the token or device concerned; may be empty."
    )


def session_payloads(sessions: Any, key_hash: str) -> Any:
    """Return the sessions as clients see them; `key_hash` is the caller's own."""
    return OwnSessionSerializer(
        sessions, many=True, context={"key_hash": key_hash}
    ).data
