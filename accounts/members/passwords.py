"""Rules for a new password."""

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from accounts.models import Member
from core.errors import DomainError, FieldError


def validate_new_password(password: str, member: Member, *, field: str) -> None:
    try:
        validate_password(password, member)
    except ValidationError as error:
        raise DomainError(
            errors=tuple(
                FieldError(field, " ".join(part.messages), part.code or "invalid")
                for part in error.error_list
            )
        ) from error
