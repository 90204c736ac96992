"""Login by login id and password: one check for the API and for Django admin."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import check_password, make_password
from django.http import HttpRequest

from accounts.errors import (
    InvalidCredentialsError,
    MemberSuspendedError,
    PasswordMismatchError,
)
from accounts.models import Member
from accounts.rate_limits import count_login_failures
from accounts.security_events import (
    SecurityEvent,
    log_refusal,
    log_security_event,
)
from core.client_ip import get_client_ip, rate_limit_key
from core.errors import RateLimitedError
from core.logging import member_id


def authenticate_member(login_id: str, password: str, ip_address: str) -> Member:
    """Return the member with this login id and password (spec 2.3).

    Raises `InvalidCredentialsError`, `MemberSuspendedError` after a correct password
    only, or `RateLimitedError` after too many failures.
    """
    try:
        with count_login_failures(login_id, rate_limit_key(ip_address)):
            member = Member.objects.with_login_id(login_id).first()
            if member is None:
                # Hash as well, so that the time does not tell whether it exists.
                make_password(password)
                log_refusal(SecurityEvent.LOGIN_FAILED, None)
                raise InvalidCredentialsError
            if not _is_password_correct(member, password):
                log_refusal(SecurityEvent.LOGIN_FAILED, member.pk)
                raise InvalidCredentialsError
    except RateLimitedError:
        concerned = Member.objects.with_login_id(login_id).values_list("pk", flat=True)
        log_refusal(SecurityEvent.LOGIN_THROTTLED, concerned.first())
        raise
    if not member.is_active:
        log_refusal(SecurityEvent.LOGIN_FAILED, member.pk, reason="SUSPENDED")
        raise MemberSuspendedError
    return member


def verify_password(member: Member, password: str, ip_address: str) -> None:
    """Raise `PasswordMismatchError` unless this is the member's password."""
    try:
        with count_login_failures(member.login_id, rate_limit_key(ip_address)):
            if not _is_password_correct(member, password):
                log_refusal(SecurityEvent.PASSWORD_REFUSED, member.pk)
                raise PasswordMismatchError
    except RateLimitedError:
        log_refusal(SecurityEvent.LOGIN_THROTTLED, member.pk)
        raise


def _is_password_correct(member: Member, password: str) -> bool:
    """Check the password, and hash it again if its hash is of an older kind.

    Django takes the time of one hash for an unusable password too.
    """

    def upgrade_hash(raw_password: str) -> None:
        member.set_password(raw_password)
        member.save_fields("password")

    return check_password(password, member.password, setter=upgrade_hash)


class LoginBackend(ModelBackend):
    """Django's authentication backend, which the admin's login form uses."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **_: Any,
    ) -> Member | None:
        if username is None or password is None:
            return None
        ip_address = get_client_ip(request) if request else ""
        try:
            member = authenticate_member(username, password, ip_address)
        except (InvalidCredentialsError, MemberSuspendedError):
            return None
        log_security_event(SecurityEvent.LOGIN, member.pk)
        return member

    def get_user(self, user_id: Any) -> Member | None:
        member = super().get_user(user_id)
        if member is not None:
            member_id.set(member.pk)
        return member
