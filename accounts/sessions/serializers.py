"""Serializers of sessions."""

from rest_framework import serializers

from accounts.models import AuthSession, SecurityLogEntry
from core.api.serializers import Serializer
from core.client import Client


class EndedSessionsSerializer(Serializer):
    ended = serializers.IntegerField(help_text="How many sessions were ended.")


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
        return Client(user_agent=session.user_agent).name


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
