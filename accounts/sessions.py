"""Sessions: Valkey as a cache in front of the table `auth_session` (spec 1.7).

The row is the truth and holds the SHA-256 of the session key, never the key itself.
A change commits the row first and then invalidates its cache entry, so that it takes
effect at once; while Valkey is unreachable, entries expire within
`accounts.session_cache.CACHE_TTL_SECONDS`.
"""

import hashlib
import logging
import secrets
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase, UpdateError
from django.db import DatabaseError, transaction
from django.db.models import Case, F, Q, When
from django.utils import timezone

from accounts.models import AuthSession, Member
from accounts.session_cache import (
    DELETED_VERSION,
    CachedSession,
    get_cached_session,
    invalidate_cached_sessions,
    set_cached_session,
)
from accounts.token_keys import is_malformed_token
from core.db.rows import prepared_cursor
from core.db.transactions import retry_on_conflict
from core.progress import SILENT_PROGRESS, Progress

logger = logging.getLogger(__name__)

# Using a session extends its expiry, but the row is written at most this often.
SLIDING_RENEWAL_INTERVAL = timedelta(minutes=5)
SESSION_KEY_BYTES = 32
MAX_USER_AGENT_LENGTH = 200
# How long a login or a reauthentication counts as fresh.
FRESH_TIME = timedelta(minutes=10)
PURGE_BATCH = 5_000
# Of one member; a further login ends the oldest.
MAX_SESSIONS = 50

# What a request may read of its member without a query, in the model's field order
# (`Model.from_db` expects that order).
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


class StaleCredentialsError(Exception):
    """Password, status or second factor changed while the member was logging in."""


@dataclass(frozen=True, slots=True)
class LiveSession:
    """A session that is valid now; `member` has only `_CACHED_MEMBER_FIELDS` loaded."""

    key_hash: str
    data: dict[str, Any]
    expires_at: datetime
    member: Member | None
    # True if this use has extended the expiry.
    is_extended: bool = False
    # Of a personal token; None for a session.
    scopes: list[str] | None = None


def hash_session_key(key: str) -> str:
    """Return the hash under which both stores know a session."""
    return hashlib.sha256(key.encode()).hexdigest()


def find_session(key: str) -> LiveSession | None:
    """Return the live session of a key, from the cache or else from its row.

    Reading the row extends the expiry and fills the cache. Raises `OperationalError`
    when neither store answers: an outage must not look like a logout.
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
        # JSON in the cache holds the time as text.
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
    ip_address: str | None = None,
    user_agent: str = "",
    device_name: str = "",
    is_fresh: bool = True,
) -> tuple[str, datetime]:
    """Create a session of a member who has just authenticated.

    Return its key and its expiry. `is_fresh` is False if nothing was proved.

    Raises `StaleCredentialsError` if password, status or second factor are no longer
    those that were checked at login.
    """
    key = secrets.token_urlsafe(SESSION_KEY_BYTES)
    with transaction.atomic():
        # A password change or suspension revokes the sessions that exist. The lock
        # makes it wait for this one, or makes this one see the change.
        rows = Member.objects.select_for_update(no_key=True).filter(pk=member.pk)
        current = rows.only("password", "status", "has_second_factor").get()
        if any(
            getattr(current, name) != getattr(member, name)
            for name in ("password", "status", "has_second_factor")
        ):
            raise StaleCredentialsError
        expires_at = _insert_row(
            hash_session_key(key),
            django_auth_data(member),
            member,
            ip_address,
            user_agent,
            device_name=device_name,
            is_fresh=is_fresh,
        )
    return key, expires_at


def django_auth_data(member: Member) -> dict[str, Any]:
    """Return what `django.contrib.auth.login` stores in a session."""
    return {
        SESSION_KEY: str(member.pk),
        BACKEND_SESSION_KEY: settings.AUTHENTICATION_BACKENDS[0],
        HASH_SESSION_KEY: member.get_session_auth_hash(),
    }


def revoke_session(key_hash: str) -> None:
    """Delete the row, then invalidate the cache entry after the commit."""
    AuthSession.objects.filter(key_hash=key_hash).delete()
    transaction.on_commit(
        lambda: invalidate_cached_sessions({key_hash: DELETED_VERSION})
    )


@retry_on_conflict
def revoke_sessions(
    member: Member, *, except_key_hash: str = "", keep_tokens: bool = False
) -> int:
    """Revoke the member's sessions and personal tokens; return their number.

    Except the session with `except_key_hash`, if given, and with `keep_tokens` except
    the tokens.
    """
    rows = AuthSession.objects.filter(member=member).exclude(key_hash=except_key_hash)
    if keep_tokens:
        rows = rows.exclude(kind=AuthSession.Kind.TOKEN)
    with transaction.atomic():
        hashes = list(rows.select_for_update().values_list("key_hash", flat=True))
        AuthSession.objects.filter(key_hash__in=hashes).delete()
        transaction.on_commit(
            lambda: invalidate_cached_sessions(dict.fromkeys(hashes, DELETED_VERSION))
        )
    return len(hashes)


def update_session_auth_hash(key_hash: str, member: Member) -> None:
    """Keep a session valid when its own member changes the password."""
    AuthSession.objects.filter(key_hash=key_hash).update(
        data=django_auth_data(member), version=F("version") + 1
    )
    invalidate_member_session_cache(member.pk)


def invalidate_member_session_cache(*member_ids: int) -> None:
    """Invalidate the cache entries of the members' sessions after the commit.

    Call it wherever a name, role, status or plan is written. A trigger has then
    raised the version of the members' session rows.
    """

    def invalidate() -> None:
        rows = AuthSession.objects.filter(member_id__in=member_ids)
        invalidate_cached_sessions(dict(rows.values_list("key_hash", "version")))

    transaction.on_commit(invalidate)


@retry_on_conflict
def purge_expired_sessions(now: datetime, progress: Progress = SILENT_PROGRESS) -> int:
    """Delete expired rows in batches; return their number."""
    purged = 0
    while True:
        expired = AuthSession.objects.filter(expires_at__lte=now).order_by()
        hashes = list(expired.values_list("key_hash", flat=True)[:PURGE_BATCH])
        if not hashes:
            return purged
        purged += AuthSession.objects.filter(key_hash__in=hashes).delete()[0]
        progress.update(f"{purged} sessions so far")


class SessionStore(SessionBase):
    """Django's session engine over the same rows, for its middleware and admin."""

    # The new expiry, where loading the session has extended it.
    extended_until: datetime | None = None

    def load(self) -> dict[str, Any]:
        session = find_session(self.session_key) if self.session_key else None
        # A personal token is no session of a browser.
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
            # The member that Django logged in; an anonymous session has none.
            member = None
            if member_id := data.get(SESSION_KEY):
                rows = Member.objects.select_for_update(no_key=True)
                member = rows.filter(pk=member_id).first()
                # Deleted, or the password has changed since.
                if (
                    member is None
                    or data.get(HASH_SESSION_KEY) != member.get_session_auth_hash()
                ):
                    raise UpdateError
            if must_create:
                _insert_row(key_hash, data, member, None, "")
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
    ip_address: str | None,
    user_agent: str,
    *,
    device_name: str = "",
    is_fresh: bool = False,
) -> datetime:
    """Insert the row of a new session; return its expiry."""
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
        name=device_name,
        ip_address=ip_address,
        user_agent=user_agent[:MAX_USER_AGENT_LENGTH],
    )
    if member is not None:
        _revoke_oldest_sessions(member, now)
    return expires_at


def _revoke_oldest_sessions(member: Member, now: datetime) -> None:
    """Revoke the live sessions beyond `MAX_SESSIONS`; the caller locks the member."""
    rows = AuthSession.objects.filter(
        member=member, kind=AuthSession.Kind.SESSION, expires_at__gt=now
    )
    newest_first = rows.order_by("-created_at", "-key_hash")
    for key_hash in newest_first.values_list("key_hash", flat=True)[MAX_SESSIONS:]:
        revoke_session(key_hash)


def _update_row(key_hash: str, data: dict[str, Any], member: Member | None) -> None:
    """Save the data of a session; raise `UpdateError` if it has been revoked."""
    rows = AuthSession.objects.filter(key_hash=key_hash, kind=AuthSession.Kind.SESSION)
    fresh_until = timezone.now() + FRESH_TIME if member else None
    updated = rows.update(
        data=data,
        member=member,
        plan=member.plan if member else "",
        display_name=member.display_name if member else "",
        version=F("version") + 1,
        # A member where there was none has just logged in.
        fresh_until=Case(When(member=None, then=fresh_until), default=F("fresh_until")),
    )
    if not updated:
        raise UpdateError
    version = rows.values_list("version", flat=True).first() or DELETED_VERSION
    transaction.on_commit(lambda: invalidate_cached_sessions({key_hash: version}))


def _load_session(key_hash: str) -> tuple[CachedSession | None, bool]:
    """Read the row of a session, extend its expiry and put it into the cache.

    Return the session and whether its expiry was extended.
    """
    is_extended = False
    # Taken before the query: a change that commits while it runs is newer.
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
        # A personal token ends when it was said to.
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
        except DatabaseError:  # a read-only database must not log anyone out
            logger.warning("session expiry not extended", exc_info=True)
    session = CachedSession(
        orjson.loads(data),
        expires_at,
        # The id is NULL where the LEFT JOIN found no member.
        member_values if member_values[0] is not None else None,
        scopes,
    )
    set_cached_session(key_hash, version, session, read_at)
    return session, is_extended
