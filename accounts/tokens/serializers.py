"""Serializers of tokens."""

from rest_framework import serializers

from accounts.models.sessions import MAX_NAME_LENGTH
from accounts.tokens.tokens import DEFAULT_DAYS, MAX_DAYS
from core.api.fields import (
    OpenTextField,
    StrictCharField,
    StrictIntegerField,
    UniqueListField,
)
from core.api.serializers import Serializer
from core.api.token_scopes import TokenScope


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
    answer = NewPersonalTokenSerializer

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
