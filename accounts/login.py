"""Login by login id and password: one check for the API and for Django admin."""

from datetime import datetime
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import check_password, make_password
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from accounts.client_names import get_known_client_name
from accounts.errors import (
    InvalidCredentialsError,
    MemberSuspendedError,
    PasswordMismatchError,
)
from accounts.mail.outbox import is_mail_configured, queue_notice
from accounts.models import Member
from accounts.rate_limits import count_login_failures
from accounts.security_events import (
    SecurityEvent,
    log_refusal,
    log_security_event,
)
from accounts.security_log import is_unusual_login, record_login_failure
from accounts.sessions import StaleCredentialsError, create_session
from core.client_ip import get_client_ip, rate_limit_key
from core.db.transactions import retry_on_conflict
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
                record_login_failure(None, login_id)
                raise InvalidCredentialsError
            if not _is_password_correct(member, password):
                log_refusal(SecurityEvent.LOGIN_FAILED, member.pk)
                record_login_failure(member.pk, login_id)
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
                record_login_failure(member.pk, member.login_id)
                raise PasswordMismatchError
    except RateLimitedError:
        log_refusal(SecurityEvent.LOGIN_THROTTLED, member.pk)
        raise


@retry_on_conflict
def start_session(
    member: Member,
    *,
    ip_address: str | None = None,
    user_agent: str = "",
    device_name: str = "",
) -> tuple[str, datetime]:
    """Create the session of a login; return its key and its expiry.

    The member has proved everything that is asked for. Raises `InvalidCredentialsError`
    if password, status or second factor changed during the login.
    """
    with transaction.atomic():
        try:
            created = create_session(
                member,
                ip_address=ip_address,
                user_agent=user_agent,
                device_name=device_name,
            )
        except StaleCredentialsError:
            raise InvalidCredentialsError from None
        now = timezone.now()
        if is_mail_configured() and is_unusual_login(member, device_name, now):
            client = get_known_client_name(user_agent)
            context = {"client": client, "address": ip_address or ""}
            queue_notice(member, "new_login", context)
        log_security_event(SecurityEvent.LOGIN, member.pk, device_name=device_name)
    return created


def _is_password_correct(member: Member, password: str) -> bool:
    """Check the password, and hash it again if its hash is of an older kind.

    Django takes the time of one hash for an unusable password too.
    """

    def upgrade_hash(raw_password: str) -> None:
        member.set_password(raw_password)
        member.save_fields("password")

    return check_password(password, member.password, setter=upgrade_hash)


class SecondFactorPendingError(Exception):
    """The password is right, and the member has a second factor."""

    def __init__(self, member: Member) -> None:
        super().__init__()
        self.member = member


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
        # The form asks for a code: a password alone opens nothing.
        if member.has_second_factor:
            raise SecondFactorPendingError(member)
        log_security_event(SecurityEvent.LOGIN, member.pk)
        return member

    def get_user(self, user_id: Any) -> Member | None:
        member = super().get_user(user_id)
        if member is not None:
            member_id.set(member.pk)
        return member
