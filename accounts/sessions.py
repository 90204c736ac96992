"""Sessions: Valkey in front, `auth_session` behind, PostgreSQL is the truth.

A session is found by the SHA-256 of its key. The fast store holds copies of rows for
at most 60 seconds (`accounts.session_cache`). A change of a row is committed first
and then announced, so that it counts at once; where the store cannot be told, its copy
dies of age (spec 1.7).
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
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.utils import timezone

from accounts.models import AuthSession, Member
from accounts.session_cache import (
    DELETED_VERSION,
    CachedSession,
    get_cached_session,
    invalidate_cached_sessions,
    set_cached_session,
)
from core.progress import SILENT_PROGRESS, Progress

logger = logging.getLogger(__name__)

SLIDING_RENEWAL_INTERVAL = timedelta(minutes=5)
"""The lifetime of a session slides, written at most this often."""
SESSION_KEY_BYTES = 32
MAX_USER_AGENT_LENGTH = 200
PURGE_BATCH = 5_000

_CACHED_MEMBER_FIELDS = (
    "id",
    "login_id",
    "display_name",
    "role",
    "status",
    "plan",
    "plan_expires_at",
    "plan_auto_renew",
)
"""What a request may ask of its member without a query; in the model's order."""

_SELECT_SESSION = f"""
    SELECT s.version, s.data, s.expires_at, s.last_seen_at,
           {", ".join("m." + field for field in _CACHED_MEMBER_FIELDS)}
    FROM auth_session s LEFT JOIN member m ON m.id = s.member_id
    WHERE s.digest = %s AND s.expires_at > %s
"""  # noqa: S608
_PLAN_EXPIRES_AT_INDEX = _CACHED_MEMBER_FIELDS.index("plan_expires_at")


class StaleCredentialsError(Exception):
    """The password or the status changed between the check and the session."""


@dataclass(frozen=True, slots=True)
class LiveSession:
    """A session that is valid now; `member` has its `_CACHED_MEMBER_FIELDS` loaded."""

    digest: str
    data: dict[str, Any]
    expires_at: datetime
    member: Member | None


def hash_session_key(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def find_session(key: str) -> LiveSession | None:
    """The live session of a key: the fast store's copy, else the row.

    Reading the row slides the lifetime and refills the fast store. Raises
    `OperationalError` when neither store answers: never "nobody".
    """
    digest = hash_session_key(key)
    copy = get_cached_session(digest)
    return _to_live_session(digest, copy) if copy else _load_session(digest)


def create_session(
    member: Member, *, address: str | None = None, user_agent: str = ""
) -> tuple[str, datetime]:
    """A new session of the member: its key and when it expires.

    Raises `StaleCredentialsError` when the member's password or status is no longer the one
    that let them in: who changes these ends all other sessions, also those that are
    just being made.
    """
    key = secrets.token_urlsafe(SESSION_KEY_BYTES)
    with transaction.atomic():
        rows = Member.objects.select_for_update(no_key=True).filter(pk=member.pk)
        current = rows.only("password", "status").get()
        if (current.password, current.status) != (member.password, member.status):
            raise StaleCredentialsError
        expires_at = _insert_row(
            hash_session_key(key), django_auth_data(member), member, address, user_agent
        )
    return key, expires_at


def django_auth_data(member: Member) -> dict[str, Any]:
    """What Django's own login keeps in a session; its admin reads it."""
    return {
        SESSION_KEY: str(member.pk),
        BACKEND_SESSION_KEY: settings.AUTHENTICATION_BACKENDS[0],
        HASH_SESSION_KEY: member.get_session_auth_hash(),
    }


def revoke_session(digest: str) -> None:
    """Delete the row, then tell the fast store."""
    AuthSession.objects.filter(digest=digest).delete()
    transaction.on_commit(lambda: invalidate_cached_sessions({digest: DELETED_VERSION}))


def revoke_sessions(member: Member, *, except_digest: str = "") -> int:
    """End all sessions of the member but one; the number that ended."""
    rows = AuthSession.objects.filter(member=member).exclude(digest=except_digest)
    with transaction.atomic():
        digests = list(rows.select_for_update().values_list("digest", flat=True))
        AuthSession.objects.filter(digest__in=digests).delete()
        transaction.on_commit(
            lambda: invalidate_cached_sessions(dict.fromkeys(digests, DELETED_VERSION))
        )
    return len(digests)


def update_session_auth_hash(digest: str, member: Member) -> None:
    """Keep a session alive over a password change of its own member."""
    AuthSession.objects.filter(digest=digest).update(
        data=django_auth_data(member), version=F("version") + 1
    )
    invalidate_member_session_cache(member.pk)


def invalidate_member_session_cache(*member_ids: int) -> None:
    """Make members' new plan, name, role or status count in all live sessions.

    The rows have changed with the member (a trigger); this tells the fast store
    after the commit. Call it wherever one of these fields is written.
    """

    def tell() -> None:
        rows = AuthSession.objects.filter(member_id__in=member_ids)
        invalidate_cached_sessions(dict(rows.values_list("digest", "version")))

    transaction.on_commit(tell)


def purge_expired_sessions(now: datetime, progress: Progress = SILENT_PROGRESS) -> int:
    """Delete expired rows in batches; the number deleted."""
    purged = 0
    while True:
        expired = AuthSession.objects.filter(expires_at__lte=now).order_by()
        digests = list(expired.values_list("digest", flat=True)[:PURGE_BATCH])
        if not digests:
            return purged
        purged += AuthSession.objects.filter(digest__in=digests).delete()[0]
        progress.update(f"{purged} sessions so far")


class SessionStore(SessionBase):
    """The same sessions for Django's middleware and admin (`SESSION_ENGINE`)."""

    def load(self) -> dict[str, Any]:
        live = find_session(self.session_key) if self.session_key else None
        if live is None:
            self._session_key = None
            return {}
        return dict(live.data)

    def exists(self, session_key: str) -> bool:
        return find_session(session_key) is not None

    def create(self) -> None:
        self._session_key = secrets.token_urlsafe(SESSION_KEY_BYTES)
        self.save(must_create=True)
        self.modified = True

    def save(self, must_create: bool = False) -> None:
        if self.session_key is None:
            self.create()
            return
        digest = hash_session_key(self.session_key)
        data = self._get_session(no_load=must_create)  # type: ignore[attr-defined]
        with transaction.atomic():
            member = _lock_authenticated_member(data)
            if must_create:
                _insert_row(digest, data, member, None, "")
            else:
                _update_row(digest, data, member)

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key:
            revoke_session(hash_session_key(key))

    @classmethod
    def clear_expired(cls) -> None:
        purge_expired_sessions(timezone.now())


def _lock_authenticated_member(data: dict[str, Any]) -> Member | None:
    """Who Django logged in; `UpdateError` if their password was replaced meanwhile."""
    member_id = data.get(SESSION_KEY)
    if not member_id:
        return None
    member = Member.objects.select_for_update(no_key=True).filter(pk=member_id).first()
    if member is None or data.get(HASH_SESSION_KEY) != member.get_session_auth_hash():
        raise UpdateError
    return member


def _insert_row(
    digest: str,
    data: dict[str, Any],
    member: Member | None,
    address: str | None,
    user_agent: str,
) -> datetime:
    now = timezone.now()
    expires_at = now + timedelta(days=settings.SESSION_TTL_DAYS)
    AuthSession.objects.create(
        digest=digest,
        member=member,
        plan=member.plan if member else "",
        display_name=member.display_name if member else "",
        data=data,
        created_at=now,
        last_seen_at=now,
        expires_at=expires_at,
        address=address,
        user_agent=user_agent[:MAX_USER_AGENT_LENGTH],
    )
    return expires_at


def _update_row(digest: str, data: dict[str, Any], member: Member | None) -> None:
    """A session deleted meanwhile stays deleted: `UpdateError`."""
    rows = AuthSession.objects.filter(digest=digest)
    changed = rows.update(
        data=data,
        member=member,
        plan=member.plan if member else "",
        display_name=member.display_name if member else "",
        version=F("version") + 1,
    )
    if not changed:
        raise UpdateError
    version = rows.values_list("version", flat=True).first() or DELETED_VERSION
    transaction.on_commit(lambda: invalidate_cached_sessions({digest: version}))


def _load_session(digest: str) -> LiveSession | None:
    read_at, now = time.time(), timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(_SELECT_SESSION, [digest, now])
        row = cursor.fetchone()
    if row is None:
        return None
    version, data, expires_at, last_seen_at, *member = row
    if now - last_seen_at >= SLIDING_RENEWAL_INTERVAL:
        expires_at = _extend_expiry(digest, now) or expires_at
    known = member if member[0] is not None else None
    copy = CachedSession(orjson.loads(data), expires_at, known)
    set_cached_session(digest, version, copy, read_at)
    return _to_live_session(digest, copy)


def _extend_expiry(digest: str, now: datetime) -> datetime | None:
    """Push the expiry out; a database that only reads must log nobody out."""
    expires_at = now + timedelta(days=settings.SESSION_TTL_DAYS)
    try:
        AuthSession.objects.filter(
            digest=digest, last_seen_at__lte=now - SLIDING_RENEWAL_INTERVAL
        ).update(last_seen_at=now, expires_at=expires_at)
    except DatabaseError:
        logger.warning("session lifetime not renewed", exc_info=True)
        return None
    return expires_at


def _to_live_session(digest: str, copy: CachedSession) -> LiveSession:
    return LiveSession(digest, copy.data, copy.expires_at, _build_member(copy.member))


def _build_member(values: list[Any] | None) -> Member | None:
    if values is None:
        return None
    values = list(values)
    if isinstance(values[_PLAN_EXPIRES_AT_INDEX], str):
        values[_PLAN_EXPIRES_AT_INDEX] = datetime.fromisoformat(
            values[_PLAN_EXPIRES_AT_INDEX]
        )
    return Member.from_db("default", _CACHED_MEMBER_FIELDS, values)
