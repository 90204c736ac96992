"""Sessions: the table `auth_session` with a cache in Valkey (spec 1.7).

A change commits the row, then invalidates the cache entry. While Valkey is
unreachable, entries expire within `accounts.sessions.cache.CACHE_TTL_SECONDS`.
"""

import hashlib
import logging
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import orjson
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase, UpdateError
from django.db import DatabaseError, transaction
from django.db.models import Case, F, Q, QuerySet, When
from django.utils import timezone

from accounts.errors import InvalidCredentialsError
from accounts.models import AuthSession, Member
from accounts.models.purging import purge
from accounts.sessions.cache import (
    DELETED_VERSION,
    CachedSession,
    get_cached_session,
    invalidate_cached_sessions,
    set_cached_session,
)
from accounts.sessions.token_keys import is_malformed_token
from core.client import Client
from core.db.rows import prepared_cursor
from core.db.transactions import retry_on_conflict
from core.logging import current_client
from core.progress import SILENT_PROGRESS, Progress

logger = logging.getLogger(__name__)

# The row is written at most this often.
SLIDING_RENEWAL_INTERVAL = timedelta(minutes=5)
SESSION_KEY_BYTES = 32
MAX_USER_AGENT_LENGTH = 200
FRESH_TIME = timedelta(minutes=10)
# A further login ends the oldest session.
MAX_SESSIONS = 50

# In the order of the model, as `Model.from_db` expects.
_CACHED_MEMBER_FIELDS = (
    "id",
    "login_id",
    "display_name",
    "locale",
    "role",
    "status",
    "plan",
    "plan_expires_at",
    "plan_auto_renew",
)
_PLAN_EXPIRES_AT_INDEX = _CACHED_MEMBER_FIELDS.index("plan_expires_at")

_SELECT_SESSION = f"""
    SELECT s.version, s.data::text, s.expires_at, s.last_seen_at, s.created_at,
           s.scopes,
           {", ".join("m." + field for field in _CACHED_MEMBER_FIELDS)}
    FROM auth_session s LEFT JOIN member m ON m.id = s.member_id
    WHERE s.key_hash = %s AND s.expires_at > %s
"""  # noqa: S608
_DELETE_OLDEST = """
    DELETE FROM auth_session WHERE key_hash IN (
        SELECT key_hash FROM auth_session
        WHERE member_id = %s AND kind = 'SESSION' AND expires_at > %s
        ORDER BY created_at DESC, key_hash DESC OFFSET %s
    )
    RETURNING key_hash
"""


@dataclass(frozen=True, slots=True)
class LiveSession:
    """A valid session; `member` has only `_CACHED_MEMBER_FIELDS`."""

    key_hash: str
    data: dict[str, Any]
    expires_at: datetime
    member: Member | None
    is_extended: bool = False
    # None except for tokens.
    scopes: list[str] | None = None


def hash_session_key(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def find_session(key: str) -> LiveSession | None:
    """Return the live session of a key, from the cache or its row.

    Raises `OperationalError` without both stores: an outage is no logout.
    """
    key_hash = hash_session_key(key)
    session, is_extended = get_cached_session(key_hash), False
    if session is None and not is_malformed_token(key):
        session, is_extended = _load_session(key_hash)
    if session is None:
        return None
    member = None
    if session.member_values is not None:
        values = list(session.member_values)
        if isinstance(values[_PLAN_EXPIRES_AT_INDEX], str):
            values[_PLAN_EXPIRES_AT_INDEX] = datetime.fromisoformat(
                values[_PLAN_EXPIRES_AT_INDEX]
            )
        member = Member.from_db("default", _CACHED_MEMBER_FIELDS, values)
    expires_at, scopes = session.expires_at, session.scopes
    return LiveSession(key_hash, session.data, expires_at, member, is_extended, scopes)


@retry_on_conflict
def create_session(
    member: Member,
    *,
    device_name: str = "",
    is_fresh: bool = True,
    has_shown_factor: bool = False,
    identity_provider: str = "",
) -> tuple[str, datetime]:
    """Create a session; return its key and expiry.

    `identity_provider` is empty for a login by password.

    Raises `InvalidCredentialsError` if password, status, second factor or identity have
    changed since they were checked.
    """
    key = secrets.token_urlsafe(SESSION_KEY_BYTES)
    checked = ["password", "status", "has_second_factor"]
    if identity_provider:
        checked.append("idp_id")
    with transaction.atomic():
        # A password change or suspension waits for the lock, or is seen here.
        rows = Member.objects.select_for_update(no_key=True).filter(pk=member.pk)
        current = rows.only(*checked).get()
        if any(getattr(current, name) != getattr(member, name) for name in checked):
            raise InvalidCredentialsError
        expires_at = _insert_row(
            hash_session_key(key),
            django_auth_data(member),
            member,
            current_client.get() or Client(),
            device_name=device_name,
            is_fresh=is_fresh,
            has_shown_factor=has_shown_factor,
            identity_provider=identity_provider,
        )
    return key, expires_at


def django_auth_data(member: Member) -> dict[str, Any]:
    """Return the data of `django.contrib.auth.login`."""
    return {
        SESSION_KEY: str(member.pk),
        BACKEND_SESSION_KEY: settings.AUTHENTICATION_BACKENDS[0],
        HASH_SESSION_KEY: member.get_session_auth_hash(),
    }


def revoke_session(key_hash: str) -> None:
    AuthSession.objects.filter(key_hash=key_hash).delete()
    transaction.on_commit(
        partial(invalidate_cached_sessions, {key_hash: DELETED_VERSION})
    )


def revoke_sessions(
    member: Member, *, except_key_hash: str = "", keep_tokens: bool = False
) -> int:
    rows = AuthSession.objects.filter(member=member).exclude(key_hash=except_key_hash)
    if keep_tokens:
        rows = rows.exclude(kind=AuthSession.Kind.TOKEN)
    return _revoke(rows)


def revoke_sessions_of_identity(
    member: Member, provider: str, *, except_unknown: str
) -> int:
    """End the sessions that began with an identity of the provider.

    Sessions whose beginning is unknown end too, but for the key hash `except_unknown`.
    """
    rows = AuthSession.objects.filter(member=member, kind=AuthSession.Kind.SESSION)
    unknown = Q(identity_provider=None) & ~Q(key_hash=except_unknown)
    return _revoke(rows.filter(Q(identity_provider=provider) | unknown))


@retry_on_conflict
def _revoke(rows: QuerySet[AuthSession]) -> int:
    with transaction.atomic():
        hashes = list(rows.select_for_update().values_list("key_hash", flat=True))
        AuthSession.objects.filter(key_hash__in=hashes).delete()
        versions = dict.fromkeys(hashes, DELETED_VERSION)
        transaction.on_commit(partial(invalidate_cached_sessions, versions))
    return len(hashes)


def update_session_auth_hash(key_hash: str, member: Member) -> None:
    AuthSession.objects.filter(key_hash=key_hash).update(
        data=django_auth_data(member), version=F("version") + 1
    )
    invalidate_member_session_cache(member.pk)


def invalidate_member_session_cache(*member_ids: int) -> None:
    """Invalidate the members' sessions in the cache after the commit.

    Call it after a change of name, role, status or plan: a trigger has raised the
    versions of the rows.
    """
    transaction.on_commit(partial(_invalidate_sessions_of, member_ids))


def _invalidate_sessions_of(member_ids: Sequence[int]) -> None:
    rows = AuthSession.objects.filter(member_id__in=member_ids)
    invalidate_cached_sessions(dict(rows.values_list("key_hash", "version")))


@retry_on_conflict
def purge_expired_sessions(now: datetime, progress: Progress = SILENT_PROGRESS) -> int:
    return purge(
        AuthSession.objects.filter(expires_at__lte=now),
        lambda purged: progress.update(f"{purged} sessions so far"),
    )


class SessionStore(SessionBase):
    """Django's session engine over the same rows."""

    extended_until: datetime | None = None

    def load(self) -> dict[str, Any]:
        session = find_session(self.session_key) if self.session_key else None
        # Browsers cannot use personal tokens.
        if session is None or session.scopes is not None:
            self._session_key = None
            return {}
        if session.is_extended:
            self.extended_until = session.expires_at
        return dict(session.data)

    def exists(self, session_key: str) -> bool:
        return find_session(session_key) is not None

    def create(self) -> None:
        self._session_key = secrets.token_urlsafe(SESSION_KEY_BYTES)
        self.save(must_create=True)
        self.modified = True

    @retry_on_conflict
    def save(self, must_create: bool = False) -> None:
        if self.session_key is None:
            self.create()
            return
        key_hash = hash_session_key(self.session_key)
        data = self._get_session(no_load=must_create)  # type: ignore[attr-defined]
        with transaction.atomic():
            member = None
            if member_id := data.get(SESSION_KEY):
                rows = Member.objects.select_for_update(no_key=True)
                member = rows.filter(pk=member_id).first()
                if (
                    member is None
                    or data.get(HASH_SESSION_KEY) != member.get_session_auth_hash()
                ):
                    raise UpdateError
            if must_create:
                _insert_row(key_hash, data, member, Client())
            else:
                _update_row(key_hash, data, member)

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key:
            revoke_session(hash_session_key(key))

    @classmethod
    def clear_expired(cls) -> None:
        purge_expired_sessions(timezone.now())


def _insert_row(
    key_hash: str,
    data: dict[str, Any],
    member: Member | None,
    client: Client,
    *,
    device_name: str = "",
    is_fresh: bool = False,
    has_shown_factor: bool = False,
    identity_provider: str = "",
) -> datetime:
    """Insert a session and end the oldest; the caller has locked the member."""
    now = timezone.now()
    days = min(settings.SESSION_TTL_DAYS, settings.SESSION_MAX_DAYS)
    expires_at = now + timedelta(days=days)
    AuthSession.objects.create(
        key_hash=key_hash,
        member=member,
        plan=member.plan if member else "",
        display_name=member.display_name if member else "",
        data=data,
        created_at=now,
        last_seen_at=now,
        expires_at=expires_at,
        fresh_until=now + FRESH_TIME if is_fresh else None,
        factor_fresh_until=now + FRESH_TIME if has_shown_factor else None,
        identity_provider=identity_provider,
        name=device_name,
        ip_address=client.address or None,
        user_agent=client.user_agent[:MAX_USER_AGENT_LENGTH],
    )
    if member is not None:
        with prepared_cursor() as cursor:
            cursor.execute(_DELETE_OLDEST, [member.pk, now, MAX_SESSIONS])
            versions = {key_hash: DELETED_VERSION for (key_hash,) in cursor.fetchall()}
        if versions:
            transaction.on_commit(partial(invalidate_cached_sessions, versions))
    return expires_at


def _update_row(key_hash: str, data: dict[str, Any], member: Member | None) -> None:
    """Save the data; raise `UpdateError` for a revoked session."""
    rows = AuthSession.objects.filter(key_hash=key_hash, kind=AuthSession.Kind.SESSION)
    fresh_until = timezone.now() + FRESH_TIME if member else None
    updated = rows.update(
        data=data,
        member=member,
        plan=member.plan if member else "",
        display_name=member.display_name if member else "",
        version=F("version") + 1,
        # A session gets its member at the login.
        fresh_until=Case(When(member=None, then=fresh_until), default=F("fresh_until")),
    )
    if not updated:
        raise UpdateError
    version = rows.values_list("version", flat=True).first() or DELETED_VERSION
    transaction.on_commit(partial(invalidate_cached_sessions, {key_hash: version}))


def _load_session(key_hash: str) -> tuple[CachedSession | None, bool]:
    """Read, extend and cache a session; return it, and True if extended."""
    is_extended = False
    # A change that commits during the query is newer.
    read_at, now = time.time(), timezone.now()
    with prepared_cursor() as cursor:
        cursor.execute(_SELECT_SESSION, [key_hash, now])
        row = cursor.fetchone()
    if row is None:
        return None, False
    version, data, expires_at, last_seen_at, created_at, scopes, *member_values = row
    if scopes is None:
        last_end = created_at + timedelta(days=settings.SESSION_MAX_DAYS)
        if last_end <= now:
            return None, False
        expires_at = min(expires_at, last_end)
    if last_seen_at is None or now - last_seen_at >= SLIDING_RENEWAL_INTERVAL:
        extended = expires_at
        # Personal tokens have a fixed end.
        if scopes is None:
            extended = min(now + timedelta(days=settings.SESSION_TTL_DAYS), last_end)
        try:
            AuthSession.objects.filter(
                Q(last_seen_at=None)
                | Q(last_seen_at__lte=now - SLIDING_RENEWAL_INTERVAL),
                key_hash=key_hash,
            ).update(last_seen_at=now, expires_at=extended)
            is_extended = extended > expires_at
            expires_at = extended
        except DatabaseError:  # a read-only database logs nobody out
            logger.warning("session expiry not extended", exc_info=True)
    session = CachedSession(
        orjson.loads(data),
        expires_at,
        member_values if member_values[0] is not None else None,
        scopes,
    )
    set_cached_session(key_hash, version, session, read_at)
    return session, is_extended
