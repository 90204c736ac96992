"""Valkey cache of session rows: short-lived, versioned, ignored after failures.

An entry is used for at most `CACHE_TTL_SECONDS`, and only if its row was read after the
last Valkey failure that this process saw: an invalidation may have been lost in it.
Entries carry the version of their row. An invalidation writes a tombstone with the new
version, so that a slow reader of the old row cannot put it back into the cache.

Entries are authenticated: who can write to Valkey cannot make up a session or give one
the content of another. One without the right code counts as missing.
"""

import functools
import hashlib
import hmac
import logging
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.conf import settings
from django.utils import timezone

from core import redis_client

logger = logging.getLogger(__name__)

CACHE_TTL_SECONDS = 60
# A tombstone outlives every entry that was read before it.
INVALIDATION_TTL_SECONDS = 2 * CACHE_TTL_SECONDS
# Followed by the hash of the session key.
_KEY_PREFIX = "session:"
# Version of a deleted session: the largest integer that a Lua number holds exactly.
DELETED_VERSION = 2**53 - 1

# Of the code in front of an entry's JSON.
MAC_BYTES = 16
# Keeps the key of these codes apart from what else is derived from SECRET_KEY.
_MAC_KEY_CONTEXT = b"session-cache"

# An entry is stored as `<version>:<MAC><JSON>`, a tombstone as `<version>:`.
_SET_IF_NOT_OLDER = """
    local kept = redis.call('GET', KEYS[1])
    if kept and tonumber(string.match(kept, '^%d+')) > tonumber(ARGV[1]) then
        return 0
    end
    redis.call('SET', KEYS[1], ARGV[1] .. ':' .. ARGV[2], 'EX', ARGV[3])
    return 1
"""


@dataclass(frozen=True, slots=True)
class CachedSession:
    """A session row with the values of its member's cached fields.

    `member_values` is None for an anonymous session (`accounts.sessions` names the
    fields), `scopes` for a session that is no personal token.
    """

    data: dict[str, Any]
    expires_at: datetime
    member_values: list[Any] | None
    scopes: list[str] | None = None


def get_cached_session(key_hash: str) -> CachedSession | None:
    """Return the cached session, or None if there is no entry that may be used."""
    key = f"{_KEY_PREFIX}{key_hash}"
    try:
        entry: Any = redis_client.call(lambda client: client.get(key))
    except redis_client.RedisUnavailableError:
        return None
    _, _, signed = (entry or b"").partition(b":")
    # No entry, or a tombstone.
    if not signed:
        return None
    text = signed[MAC_BYTES:]
    if not _is_authentic(key_hash, signed[:MAC_BYTES], text):
        logger.warning("session cache entry without a valid code ignored")
        return None
    try:
        values = orjson.loads(text)
        read_at: float = values["readAt"]
        expires_at = datetime.fromisoformat(values["expiresAt"])
        is_fresh = (
            time.time() - read_at < CACHE_TTL_SECONDS
            and redis_client.is_newer_than_last_failure(read_at)
        )
        if not is_fresh or expires_at <= timezone.now():
            return None
        # An entry without scopes, of an older version of the service, is not used: it
        # could be that of a token.
        return CachedSession(
            values["data"], expires_at, values["member"], values["scopes"]
        )
    except (ValueError, TypeError, LookupError):
        logger.warning("invalid session cache entry ignored")
        return None


def set_cached_session(
    key_hash: str, version: int, session: CachedSession, read_at: float
) -> None:
    """Cache a row that was read at `read_at` (seconds since the epoch)."""
    key = f"{_KEY_PREFIX}{key_hash}"
    text = orjson.dumps(
        {
            "readAt": read_at,
            "expiresAt": session.expires_at,
            "data": session.data,
            "member": session.member_values,
            "scopes": session.scopes,
        }
    )

    signed = _compute_mac(settings.SECRET_KEY, key_hash, text) + text

    def set_if_not_older(client: Any) -> None:
        # The usual case has no entry yet: a plain SET is cheaper than a script.
        entry = b"%d:%b" % (version, signed)
        if not client.set(key, entry, nx=True, ex=CACHE_TTL_SECONDS):
            client.eval(_SET_IF_NOT_OLDER, 1, key, version, signed, CACHE_TTL_SECONDS)

    try:
        redis_client.call(set_if_not_older)
    except redis_client.RedisUnavailableError:
        return


def invalidate_cached_sessions(versions: dict[str, int]) -> None:
    """Replace entries by tombstones with the new versions (by key hash).

    Call it after the commit.
    """
    if not versions:
        return
    tombstones = {
        f"{_KEY_PREFIX}{key_hash}": version for key_hash, version in versions.items()
    }

    def write_tombstones(client: Any) -> None:
        with client.pipeline(transaction=False) as pipeline:
            for key, version in tombstones.items():
                pipeline.eval(
                    _SET_IF_NOT_OLDER, 1, key, version, b"", INVALIDATION_TTL_SECONDS
                )
            pipeline.execute()

    try:
        # Tried even while the circuit breaker is open: a Valkey that has just come
        # back must not miss a revocation.
        redis_client.call(write_tombstones, ignore_breaker=True)
    except redis_client.RedisUnavailableError:
        try:
            # A Valkey without free memory refuses to write but still deletes.
            redis_client.call(lambda client: client.delete(*tombstones))
        except redis_client.RedisUnavailableError:
            logger.warning(
                "session cache invalidation failed; stale entries expire within %d s",
                CACHE_TTL_SECONDS,
            )


def _is_authentic(key_hash: str, mac: bytes, text: bytes) -> bool:
    """Return whether the code was made with SECRET_KEY or one of its fallbacks."""
    return any(
        hmac.compare_digest(mac, _compute_mac(secret, key_hash, text))
        for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    )


def _compute_mac(secret: str, key_hash: str, text: bytes) -> bytes:
    """Return the code of an entry: a keyed BLAKE2b of its key and its JSON."""
    mac = _make_keyed_hash(secret).copy()
    mac.update(key_hash.encode())
    mac.update(text)
    return mac.digest()


# Cached: the key takes half of the time of a code. There are as many as secrets.
@functools.lru_cache(maxsize=16)
def _make_keyed_hash(secret: str) -> "hashlib.blake2b":
    key = hashlib.blake2b(
        secret.encode(), digest_size=hashlib.blake2b.MAX_KEY_SIZE, key=_MAC_KEY_CONTEXT
    )
    return hashlib.blake2b(key=key.digest(), digest_size=MAC_BYTES)
