"""Fresh authentication, required by changes of how an account is accessed (spec 2.13).

A login makes its session fresh for `FRESH_TIME`, and so does proving it once more.
The row of the session decides, never its cached copy.
"""

import time
from datetime import datetime, timedelta

from django.utils import timezone
from rest_framework.request import Request

from accounts.authentication import current_member, session_credentials
from accounts.errors import InvalidIdTokenError, ReauthenticationRequiredError
from accounts.idp_login import verify_id_token
from accounts.models import AuthSession, Member
from accounts.rate_limits import count_identity_failures
from accounts.recovery_codes import list_code_methods
from accounts.security_events import SecurityEvent, log_refusal
from accounts.sessions import FRESH_TIME
from core.api.exception_handler import AuthenticationRequiredError
from core.client_ip import rate_limit_key
from core.errors import RateLimitedError

# A browser may have kept an older ID token, which proves nothing about now.
MAX_ID_TOKEN_AGE = timedelta(minutes=5)


def require_fresh_authentication(request: Request) -> None:
    """Raise `ReauthenticationRequiredError` unless the caller's session is fresh.

    Call it before the body is read: 403 comes before 404 and 400.
    """
    if not is_session_fresh(session_credentials(request).session.key_hash):
        member = Member.objects.get(pk=current_member(request).pk)
        raise ReauthenticationRequiredError(members={"methods": list_methods(member)})


def require_fresh_authentication_with_factor(request: Request) -> None:
    """Require fresh authentication of a member with a second factor only.

    For what has asked for nothing before there were second factors: clients that know
    of none see no new refusal.
    """
    if Member.objects.filter(
        pk=current_member(request).pk, has_second_factor=True
    ).exists():
        require_fresh_authentication(request)


def is_session_fresh(key_hash: str) -> bool:
    """Return True if the session is live and fresh."""
    now = timezone.now()
    return AuthSession.objects.filter(
        key_hash=key_hash, expires_at__gt=now, fresh_until__gt=now
    ).exists()


def list_methods(member: Member) -> list[str]:
    """Return how the member can make a session fresh."""
    methods = ["PASSWORD"] if member.has_usable_password() else []
    methods += list_code_methods(member)
    if member.idp_id is not None:
        methods.append("IDENTITY_PROVIDER")
    return methods


def lock_freshly_authenticated(member: Member, key_hash: str, now: datetime) -> Member:
    """Lock and return the member whose session this is, if it is still fresh.

    Call it inside a transaction, before the change. A session that was ended in the
    meantime, by a new password, must not leave another way in. Raises
    `AuthenticationRequiredError` or `ReauthenticationRequiredError`.
    """
    rows = Member.objects.select_for_update(no_key=True).filter(pk=member.pk)
    locked = rows.first()
    session = AuthSession.objects.filter(
        key_hash=key_hash, member=locked, expires_at__gt=now
    ).first()
    if locked is None or session is None:
        raise AuthenticationRequiredError
    if session.fresh_until is None or session.fresh_until <= now:
        raise ReauthenticationRequiredError(members={"methods": list_methods(locked)})
    return locked


def mark_fresh(key_hash: str, now: datetime) -> datetime:
    """Make the session fresh and return until when.

    Raises `AuthenticationRequiredError` if it has ended since.
    """
    fresh_until = now + FRESH_TIME
    if not AuthSession.objects.filter(key_hash=key_hash).update(
        fresh_until=fresh_until
    ):
        raise AuthenticationRequiredError
    return fresh_until


def verify_identity(
    member: Member, id_token: str, nonce: str | None, ip_address: str
) -> None:
    """Raise `InvalidIdTokenError` unless this is a new token of the linked identity.

    A refused one counts as a failed login.
    """
    try:
        with count_identity_failures(rate_limit_key(ip_address)):
            identity = verify_id_token(id_token, nonce)
            is_recent = time.time() - identity.issued_at < MAX_ID_TOKEN_AGE.seconds
            if identity.subject != member.idp_id or not is_recent:
                raise InvalidIdTokenError
    except InvalidIdTokenError:
        log_refusal(SecurityEvent.ID_TOKEN_REFUSED, member.pk)
        raise
    except RateLimitedError:
        log_refusal(SecurityEvent.LOGIN_THROTTLED, member.pk)
        raise
