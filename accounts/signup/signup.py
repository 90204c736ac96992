"""Sign-up (spec 2.2)."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext

from accounts.errors import SignupDisabledError, SignupRefusedError
from accounts.legal.consents import add_consents, take_consents
from accounts.members.email_addresses import validate_new_address
from accounts.members.names import normalize_display_name, validate_names
from accounts.members.passwords import validate_new_password
from accounts.models import Member
from accounts.security.events import SecurityEvent, log_security_event
from accounts.security.rate_limits import SIGNUP_PER_IP
from accounts.signup.setting import is_signup_enabled
from accounts.switches.switches import Switch, lock_switch
from core.client_ip import rate_limit_key
from core.db.transactions import retry_on_conflict
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


@retry_on_conflict
def create_member(
    data: SignupData,
    consents: Collection[int] | None = None,
    ip_address: str = "",
) -> Member:
    """Create a member; None asks for no consents, as staff and commands do.

    Raises `DomainError` before a row is written.
    """
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
        transaction.atomic(),
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
        if consents is not None:
            lock_switch(Switch.SIGNUP_ENABLED, SignupDisabledError)
        taken = [] if consents is None else take_consents(consents, data.locale)
        member.save(force_insert=True)
        add_consents(member, taken, ip_address, accepted=True)
        log_security_event(SecurityEvent.ACCOUNT_CREATED, member.pk)
    return member
