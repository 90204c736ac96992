"""Login by password."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import check_password, make_password
from django.http import HttpRequest

from accounts.errors import (
    InvalidCredentialsError,
    MemberSuspendedError,
    PasswordMismatchError,
)
from accounts.login.hashers import refuse_busy_address
from accounts.models import Member
from accounts.security.events import SecurityEvent, log_refusal, log_security_event
from accounts.security.log import record_login_failure
from accounts.security.rate_limits import count_login_failures
from core.client_ip import get_client_ip
from core.logging import member_id


def authenticate_member(login_id: str, password: str, ip_address: str) -> Member:
    """Return the member (spec 2.3); only a correct password reveals a suspension."""
    refuse_busy_address()
    member = Member.objects.with_login_id(login_id).first()
    found_id = member.pk if member else None
    with count_login_failures(login_id, ip_address, found_id):
        if member is None:
            # Login ids cannot be probed by time.
            make_password(password)
        if member is None or not _is_password_correct(member, password):
            log_refusal(SecurityEvent.LOGIN_FAILED, found_id)
            record_login_failure(found_id, login_id)
            raise InvalidCredentialsError
    if not member.is_active:
        log_refusal(SecurityEvent.LOGIN_FAILED, member.pk, reason="SUSPENDED")
        raise MemberSuspendedError.of(member)
    return member


def verify_password(member: Member, password: str, ip_address: str) -> None:
    refuse_busy_address()
    with count_login_failures(member.login_id, ip_address, member.pk):
        if not _is_password_correct(member, password):
            log_refusal(SecurityEvent.PASSWORD_REFUSED, member.pk)
            record_login_failure(member.pk, member.login_id)
            raise PasswordMismatchError


def _is_password_correct(member: Member, password: str) -> bool:

    def upgrade_hash(raw_password: str) -> None:
        member.set_password(raw_password)
        member.save_fields("password")

    return check_password(password, member.password, setter=upgrade_hash)


class SecondFactorPendingError(Exception):
    def __init__(self, member: Member) -> None:
        super().__init__()
        self.member = member


class LoginBackend(ModelBackend):
    """Backend of the admin's login form."""

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
        if member.has_second_factor:
            raise SecondFactorPendingError(member)
        log_security_event(SecurityEvent.LOGIN, member.pk)
        return member

    def get_user(self, user_id: Any) -> Member | None:
        member = super().get_user(user_id)
        if member is not None:
            member_id.set(member.pk)
        return member
