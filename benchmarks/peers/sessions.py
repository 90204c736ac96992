"""The session look-up of the service (`accounts.session_cache`), without Django."""

import hashlib
import hmac
import os
import time
from datetime import datetime
from typing import Any, NamedTuple

import orjson

CACHE_TTL_SECONDS = 60

# The code in front of an entry's JSON, as the service computes it.
MAC_BYTES = 16
_MAC_KEY = hashlib.blake2b(
    os.environ["SECRET_KEY"].encode(),
    digest_size=hashlib.blake2b.MAX_KEY_SIZE,
    key=b"session-cache",
).digest()
_KEYED_HASH = hashlib.blake2b(key=_MAC_KEY, digest_size=MAC_BYTES)

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


def read_cache_entry(key_hash: str, entry: bytes | None) -> SessionMember | None:
    """Return the active member of an entry that may be used, else None."""
    _, _, signed = (entry or b"").partition(b":")
    if not signed:
        return None
    text = signed[MAC_BYTES:]
    if not hmac.compare_digest(signed[:MAC_BYTES], compute_mac(key_hash, text)):
        return None
    values, now = orjson.loads(text), time.time()
    expires_at = datetime.fromisoformat(values["expiresAt"])
    if now - values["readAt"] >= CACHE_TTL_SECONDS or expires_at.timestamp() <= now:
        return None
    return SessionMember(*values["member"])


def build_cache_entry(key_hash: str, row: tuple[Any, ...]) -> bytes:
    """Return the entry of a row of `SESSION_SQL`, for `CACHE_TTL_SECONDS`."""
    version, data, expires_at, *member = row
    text = orjson.dumps(
        {"readAt": time.time(), "expiresAt": expires_at, "data": data, "member": member}
    )
    return b"%d:%b%b" % (version, compute_mac(key_hash, text), text)


def compute_mac(key_hash: str, text: bytes) -> bytes:
    mac = _KEYED_HASH.copy()
    mac.update(key_hash.encode())
    mac.update(text)
    return mac.digest()
