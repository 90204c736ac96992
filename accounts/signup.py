"""Sign-up: honeypot, the administrators' switch, the limit per address."""

from dataclasses import dataclass

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from accounts.errors import SignupDisabledError, SignupRefusedError
from accounts.models import Member
from accounts.rate_limits import SIGNUP_PER_IP, consume_attempt
from accounts.signup_setting import is_signup_enabled
from core.client_ip import rate_limit_key
from core.errors import (
    DomainError,
    DuplicateError,
    FieldError,
    raise_on_constraint_violation,
)


@dataclass(frozen=True, slots=True)
class SignupData:
    """What somebody says of themselves to become a LOCAL member."""

    login_id: str
    password: str
    display_name: str
    email: str


def require_signup_allowed(address: str) -> None:
    """Let a sign-up attempt pass, or refuse it before its data is read.

    Every attempt counts, refused or not: 5 an hour and address. Then the switch
    decides (spec 2.2).
    """
    consume_attempt(SIGNUP_PER_IP, rate_limit_key(address))
    if not is_signup_enabled():
        raise SignupDisabledError


def validate_honeypot(website: object) -> None:
    """The honeypot: a field that people do not see and programs fill."""
    if website not in (None, ""):
        raise SignupRefusedError


def create_member(new: SignupData) -> Member:
    """A LOCAL member; `DuplicateError` where the login id is taken in any letter case."""
    member = Member(
        login_id=new.login_id, display_name=new.display_name, email=new.email
    )
    validate_new_password(new.password, member, field="password")
    if Member.objects.filter(login_id__iexact=new.login_id).exists():
        raise DuplicateError("This login id is taken.")
    member.set_password(new.password)
    with raise_on_constraint_violation(
        "member_login_id_unique", DuplicateError("This login id is taken.")
    ):
        member.save(force_insert=True)
    return member


def validate_new_password(password: str, member: Member, *, field: str) -> None:
    """Django's password validators, as errors of one field."""
    try:
        validate_password(password, member)
    except ValidationError as error:
        raise DomainError(
            errors=tuple(
                FieldError(field, " ".join(part.messages), part.code or "invalid")
                for part in error.error_list
            )
        ) from error
