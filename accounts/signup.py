"""Sign-up: rate limit, sign-up setting, honeypot and the new member (spec 2.2)."""

from dataclasses import dataclass

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from accounts.errors import SignupDisabledError, SignupRefusedError
from accounts.models import Member
from accounts.rate_limits import SIGNUP_PER_IP, consume_attempt
from accounts.security_events import SecurityEvent, log_security_event
from accounts.signup_setting import is_signup_enabled
from core.client_ip import rate_limit_key
from core.errors import (
    DomainError,
    DuplicateError,
    FieldError,
    InvalidFieldError,
    raise_on_constraint_violation,
)


@dataclass(frozen=True, slots=True)
class SignupData:
    """The data of a new LOCAL member."""

    login_id: str
    password: str
    display_name: str
    email: str
    # Of the client, in `Member.Locale`.
    locale: str = Member.Locale.EN


def require_signup_allowed(ip_address: str) -> None:
    """Count a sign-up attempt; raise if there are too many or sign-up is closed.

    Call it before the data is parsed: every attempt counts, a refused one too.
    """
    consume_attempt(SIGNUP_PER_IP, rate_limit_key(ip_address))
    if not is_signup_enabled():
        raise SignupDisabledError


def validate_honeypot(website: object) -> None:
    """Raise `SignupRefusedError` if the hidden field is filled in, as bots do."""
    if website not in (None, ""):
        raise SignupRefusedError


def create_member(data: SignupData) -> Member:
    """Create a LOCAL member.

    Raises `DuplicateError` if the login id is taken, in any letter case.
    """
    member = Member(
        login_id=data.login_id,
        display_name=data.display_name,
        email=data.email,
        locale=data.locale,
    )
    validate_new_password(data.password, member, field="password")
    # Before hashing, which is slow; the constraint decides between concurrent requests.
    if Member.objects.with_login_id(data.login_id).exists():
        raise DuplicateError(gettext("This login id is taken."))
    member.set_password(data.password)
    with (
        raise_on_constraint_violation(
            "member_login_id_unique", DuplicateError(gettext("This login id is taken."))
        ),
        # The serializers check it before; a command may not have.
        raise_on_constraint_violation(
            "member_login_id_characters",
            InvalidFieldError(
                "loginId", gettext("Only letters, digits and ._- are allowed.")
            ),
        ),
    ):
        member.save(force_insert=True)
        log_security_event(SecurityEvent.ACCOUNT_CREATED, member.pk)
    return member


def validate_new_password(password: str, member: Member, *, field: str) -> None:
    """Raise a validation error of `field` if a password validator refuses it."""
    try:
        validate_password(password, member)
    except ValidationError as error:
        raise DomainError(
            errors=tuple(
                FieldError(field, " ".join(part.messages), part.code or "invalid")
                for part in error.error_list
            )
        ) from error
