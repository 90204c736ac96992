"""Fresh authentication, required to change an account's access (spec 2.13).

The row of the session decides, never its cached copy.
"""

import time
from datetime import datetime, timedelta

from django.utils import timezone
from rest_framework.request import Request

from accounts.errors import InvalidIdTokenError, ReauthenticationRequiredError
from accounts.login.identity_provider import verify_id_token
from accounts.login.recovery_codes import list_code_methods
from accounts.models import AuthSession, Member
from accounts.security.rate_limits import count_identity_failures
from accounts.sessions.authentication import current_member, session_key_hash
from accounts.sessions.store import FRESH_TIME
from core.api.exception_handler import AuthenticationRequiredError

# An older token may come from a browser's storage.
MAX_ID_TOKEN_AGE = timedelta(minutes=5)


def require_fresh_authentication(request: Request) -> None:
    """Raise `ReauthenticationRequiredError` unless the session is fresh.

    Call it before reading the body: 403 precedes 404 and 400.
    """
    if not is_session_fresh(session_key_hash(request)):
        member = Member.objects.get(pk=current_member(request).pk)
        raise ReauthenticationRequiredError(members={"methods": list_methods(member)})


def require_fresh_authentication_with_factor(request: Request) -> None:
    """Require it with a second factor only: old clients know no such error."""
    if Member.objects.filter(
        pk=current_member(request).pk, has_second_factor=True
    ).exists():
        require_fresh_authentication(request)


def is_session_fresh(key_hash: str) -> bool:
    now = timezone.now()
    return AuthSession.objects.filter(
        key_hash=key_hash, expires_at__gt=now, fresh_until__gt=now
    ).exists()


def list_methods(member: Member) -> list[str]:
    methods = ["PASSWORD"] if member.has_usable_password() else []
    methods += list_code_methods(member)
    if member.idp_id is not None:
        methods.append("IDENTITY_PROVIDER")
    return methods


def lock_freshly_authenticated(member: Member, key_hash: str, now: datetime) -> Member:
    """Lock and return the member of a fresh session.

    A session that a new password has just ended must not add another way in.
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
    """Make the session fresh; return the end of that time."""
    fresh_until = now + FRESH_TIME
    if not AuthSession.objects.filter(key_hash=key_hash).update(
        fresh_until=fresh_until
    ):
        raise AuthenticationRequiredError
    return fresh_until


def verify_identity(
    member: Member, id_token: str, nonce: str | None, ip_address: str
) -> None:
    """Raise `InvalidIdTokenError` unless it is a new token of the linked identity."""
    with count_identity_failures(ip_address, member.pk):
        identity = verify_id_token(id_token, nonce)
        is_recent = time.time() - identity.issued_at < MAX_ID_TOKEN_AGE.seconds
        if identity.subject != member.idp_id or not is_recent:
            raise InvalidIdTokenError
