"""Sign-up (spec 2.2)."""

from dataclasses import dataclass

from django.utils.translation import gettext

from accounts.errors import SignupDisabledError, SignupRefusedError
from accounts.members.email_addresses import validate_new_address
from accounts.members.names import normalize_display_name, validate_names
from accounts.members.passwords import validate_new_password
from accounts.models import Member
from accounts.security.events import SecurityEvent, log_security_event
from accounts.security.rate_limits import SIGNUP_PER_IP
from accounts.signup.setting import is_signup_enabled
from core.client_ip import rate_limit_key
from core.errors import DuplicateError, InvalidFieldError, raise_on_constraint_violation


@dataclass(frozen=True, slots=True)
class SignupData:
    login_id: str
    password: str
    display_name: str
    email: str
    locale: str = Member.Locale.EN
    role: str = Member.Role.MEMBER


def require_signup_allowed(ip_address: str) -> None:
    """Count an attempt; raise `RateLimitedError` or `SignupDisabledError`.

    Call it before the data is parsed: refused attempts count too.
    """
    SIGNUP_PER_IP.consume(rate_limit_key(ip_address))
    if not is_signup_enabled():
        raise SignupDisabledError


def validate_honeypot(website: object) -> None:
    if website not in (None, ""):
        raise SignupRefusedError


def create_member(data: SignupData) -> Member:
    member = Member(
        login_id=data.login_id,
        display_name=normalize_display_name(data.display_name),
        email=data.email,
        locale=data.locale,
        role=data.role,
    )
    validate_names(
        member.display_name, login_id=member.login_id, is_staff=member.is_staff
    )
    validate_new_address(member.email)
    validate_new_password(data.password, member, field="password")
    # The constraint decides between concurrent requests.
    if Member.objects.with_login_id(data.login_id).exists():
        raise DuplicateError(gettext("This login id is taken."))
    member.set_password(data.password)
    with (
        raise_on_constraint_violation(
            "member_login_id_unique", DuplicateError(gettext("This login id is taken."))
        ),
        # Commands have no serializer.
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
