"""The session look-up of the service (`accounts.session_cache`), without Django."""

import hashlib
import time
from datetime import datetime
from typing import Any, NamedTuple

import orjson

CACHE_TTL_SECONDS = 60

# The fields of `SessionMember` after the first two columns.
SESSION_SQL = """
    SELECT s.version, s.data, s.expires_at,
        m.id, m.login_id, m.display_name, m.role, m.status, m.plan, m.plan_expires_at,
        m.plan_auto_renew
    FROM auth_session s JOIN member m ON m.id = s.member_id
    WHERE s.key_hash = %s AND s.expires_at > now()
"""


class SessionMember(NamedTuple):
    """The member of a session, as in its cache entry; times are text there."""

    id: int
    login_id: str
    display_name: str
    role: str
    status: str
    plan: str
    plan_expires_at: datetime | str | None
    plan_auto_renew: bool


def hash_bearer_token(authorization: str) -> str:
    """Return the hash of the session key in the header."""
    key = authorization.removeprefix("Bearer ").strip()
    return hashlib.sha256(key.encode()).hexdigest()


def read_cache_entry(entry: bytes | None) -> SessionMember | None:
    """Return the active member of an entry that may be used, else None."""
    _, _, text = (entry or b"").partition(b":")
    if not text:
        return None
    values, now = orjson.loads(text), time.time()
    expires_at = datetime.fromisoformat(values["expiresAt"])
    if now - values["readAt"] >= CACHE_TTL_SECONDS or expires_at.timestamp() <= now:
        return None
    return SessionMember(*values["member"])


def build_cache_entry(row: tuple[Any, ...]) -> bytes:
    """Return the entry of a row of `SESSION_SQL`, for `CACHE_TTL_SECONDS`."""
    version, data, expires_at, *member = row
    text = orjson.dumps(
        {"readAt": time.time(), "expiresAt": expires_at, "data": data, "member": member}
    )
    return b"%d:%b" % (version, text)
