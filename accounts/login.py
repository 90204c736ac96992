"""Login by login id and password; the same check for the API and the admin."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import check_password, make_password
from django.http import HttpRequest

from accounts.errors import InvalidCredentials, MemberSuspended, PasswordMismatch
from accounts.models import Member
from accounts.rate_limits import count_failures
from core.client_ip import limit_key, read_client_address


def log_in(login_id: str, password: str, address: str) -> Member:
    """The member of a right pair.

    Raises `InvalidCredentials`, the same and after the same work whether the login
    id exists or not, `MemberSuspended` only after a right password, `RateLimited`
    after too many failures (contract, section 2).
    """
    with count_failures(login_id, limit_key(address)):
        member = Member.objects.filter(login_id__iexact=login_id).first()
        if member is None:
            make_password(password)  # the work of a check, for nobody's benefit
            raise InvalidCredentials
        if not _password_fits(member, password):
            raise InvalidCredentials
    if not member.is_active:
        raise MemberSuspended
    return member


def verify_password(member: Member, password: str, address: str) -> None:
    """Raise `PasswordMismatch` unless this is the member's password."""
    with count_failures(member.login_id, limit_key(address)):
        if not _password_fits(member, password):
            raise PasswordMismatch


def _password_fits(member: Member, password: str) -> bool:
    """Django hashes once for an unusable password too, and renews older hashes."""

    def renew(raw_password: str) -> None:
        member.set_password(raw_password)
        member.store("password")

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
        address = read_client_address(request) if request else ""
        try:
            return log_in(username, password, address)
        except (InvalidCredentials, MemberSuspended):
            return None
