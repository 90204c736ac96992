"""Login by login id and password; the same check for the API and the admin."""

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
from core.client_ip import get_client_ip, rate_limit_key


def authenticate_member(login_id: str, password: str, address: str) -> Member:
    """The member of a right pair.

    Raises `InvalidCredentialsError`, the same and after the same work whether the login
    id exists or not, `MemberSuspendedError` only after a right password, `RateLimited`
    after too many failures (spec 2.3).
    """
    with count_login_failures(login_id, rate_limit_key(address)):
        member = Member.objects.filter(login_id__iexact=login_id).first()
        if member is None:
            make_password(password)  # the work of a check, for nobody's benefit
            raise InvalidCredentialsError
        if not _is_password_correct(member, password):
            raise InvalidCredentialsError
    if not member.is_active:
        raise MemberSuspendedError
    return member


def verify_password(member: Member, password: str, address: str) -> None:
    """Raise `PasswordMismatchError` unless this is the member's password."""
    with count_login_failures(member.login_id, rate_limit_key(address)):
        if not _is_password_correct(member, password):
            raise PasswordMismatchError


def _is_password_correct(member: Member, password: str) -> bool:
    """Django hashes once for an unusable password too, and renews older hashes."""

    def renew(raw_password: str) -> None:
        member.set_password(raw_password)
        member.save_fields("password")

    return check_password(password, member.password, setter=renew)


class LoginBackend(ModelBackend):
    """Django's side of the same login: the admin's form ends up here."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **_: Any,
    ) -> Member | None:
        if username is None or password is None:
            return None
        address = get_client_ip(request) if request else ""
        try:
            return authenticate_member(username, password, address)
        except (InvalidCredentialsError, MemberSuspendedError):
            return None
