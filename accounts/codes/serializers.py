"""Serializers of codes by mail."""

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from accounts.members.serializers import PasswordField, StrictEmailField
from core.api.fields import StrictCharField
from core.api.serializers import Serializer

MAX_CODE_LENGTH = 20
MAX_LOGIN_ID_LENGTH = 200


class CodeField(StrictCharField):
    def __init__(self, **options: Any) -> None:
        options.setdefault(
            "help_text", "The code of the mail, in any case, with or without hyphens."
        )
        super().__init__(max_length=MAX_CODE_LENGTH, **options)


class EmailVerificationSerializer(Serializer):
    """A code that is on its way."""

    request_id = serializers.UUIDField(help_text="To be sent with the code.")
    expires_at = serializers.DateTimeField(help_text="Until when the code is valid.")
    resend_after = serializers.DateTimeField(
        help_text="From when another code may be asked for."
    )


class ConfirmEmailRequestSerializer(Serializer):
    request_id = serializers.UUIDField(help_text="The `requestId` of the request.")
    code = CodeField()


class PasswordResetRequestSerializer(Serializer):
    is_body_required = True

    login_id = StrictCharField(
        required=False,
        max_length=MAX_LOGIN_ID_LENGTH,
        help_text="The login id, in any letter case. Either this or `email`.",
    )
    email = StrictEmailField(
        required=False, help_text="The address of the account, in any letter case."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            raise serializers.ValidationError(
                gettext("Send either a login id or an email address.")
            )
        return attrs


class PasswordResetSerializer(Serializer):
    """A request for a code, the same with and without such an account."""

    request_id = serializers.UUIDField(help_text="To be sent with the code.")
    expires_at = serializers.DateTimeField(help_text="Until when the code is valid.")


class ConfirmPasswordResetRequestSerializer(Serializer):
    request_id = serializers.UUIDField(help_text="The `requestId` of the request.")
    code = CodeField()
    new_password = PasswordField()
