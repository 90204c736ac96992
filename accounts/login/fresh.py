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


def require_factor_change_allowed(request: Request) -> None:
    """Raise `ReauthenticationRequiredError` unless factors may be changed.

    A member with a second factor must have shown it: the password alone removes none.
    """
    member = Member.objects.get(pk=current_member(request).pk)
    now = timezone.now()
    session = _find_session(member, session_key_hash(request), now)
    _require_fresh_for_factors(member, session, now)


def may_change_factors(member: Member, key_hash: str, now: datetime) -> bool:
    """Return whether the session is fresh for changes of the member's factors."""
    try:
        _require_fresh_for_factors(member, _find_session(member, key_hash, now), now)
    except (ReauthenticationRequiredError, AuthenticationRequiredError):
        return False
    return True


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
    locked, session = _lock_session(member, key_hash, now)
    if session.fresh_until is None or session.fresh_until <= now:
        raise ReauthenticationRequiredError(members={"methods": list_methods(locked)})
    return locked


def lock_for_factor_change(member: Member, key_hash: str, now: datetime) -> Member:
    """Lock and return the member of a session that may change factors."""
    locked, session = _lock_session(member, key_hash, now)
    _require_fresh_for_factors(locked, session, now)
    return locked


def mark_fresh(
    key_hash: str, now: datetime, *, has_shown_factor: bool = False
) -> datetime:
    """Make the session fresh; return the end of that time."""
    until = now + FRESH_TIME
    values = {"fresh_until": until}
    if has_shown_factor:
        values["factor_fresh_until"] = until
    if not AuthSession.objects.filter(key_hash=key_hash).update(**values):
        raise AuthenticationRequiredError
    return until


def _lock_session(
    member: Member, key_hash: str, now: datetime
) -> tuple[Member, AuthSession]:
    rows = Member.objects.select_for_update(no_key=True).filter(pk=member.pk)
    locked = rows.first()
    if locked is None:
        raise AuthenticationRequiredError
    return locked, _find_session(locked, key_hash, now)


def _find_session(member: Member, key_hash: str, now: datetime) -> AuthSession:
    session = AuthSession.objects.filter(
        key_hash=key_hash, member=member, expires_at__gt=now
    ).first()
    if session is None:
        raise AuthenticationRequiredError
    return session


def _require_fresh_for_factors(
    member: Member, session: AuthSession, now: datetime
) -> None:
    if member.has_second_factor:
        until, methods = session.factor_fresh_until, list_code_methods(member)
    else:
        until, methods = session.fresh_until, list_methods(member)
    if until is None or until <= now:
        raise ReauthenticationRequiredError(members={"methods": methods})


def verify_identity(
    member: Member, id_token: str, nonce: str | None, ip_address: str
) -> None:
    """Raise `InvalidIdTokenError` unless it is a new token of the linked identity."""
    with count_identity_failures(ip_address, member.pk):
        identity = verify_id_token(id_token, nonce)
        is_recent = time.time() - identity.issued_at < MAX_ID_TOKEN_AGE.seconds
        if identity.subject != member.idp_id or not is_recent:
            raise InvalidIdTokenError
