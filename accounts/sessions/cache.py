"""Valkey cache of session rows: short-lived, versioned, ignored after failures.

An invalidation writes a tombstone with the row's new version: a slow reader cannot
cache the old row. Failures of Valkey may lose it, so a process ignores older entries.
A MAC keeps writers to Valkey from forging sessions.
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
# A tombstone outlives all older entries.
INVALIDATION_TTL_SECONDS = 2 * CACHE_TTL_SECONDS
_KEY_PREFIX = "session:"
# Largest exact integer of Lua.
DELETED_VERSION = 2**53 - 1

MAC_BYTES = 16
# No other use of SECRET_KEY has this context.
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
    """A session row with its member's cached fields.

    `member_values` is None without a member, `scopes` except for tokens.
    """

    data: dict[str, Any]
    expires_at: datetime
    member_values: list[Any] | None
    scopes: list[str] | None = None


def get_cached_session(key_hash: str) -> CachedSession | None:
    key = f"{_KEY_PREFIX}{key_hash}"
    try:
        entry = redis_client.get_value(key)
    except redis_client.RedisUnavailableError:
        return None
    _, _, signed = (entry or b"").partition(b":")
    # Empty for a tombstone too.
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
        # Without `scopes` a token would pass for a session.
        return CachedSession(
            values["data"], expires_at, values["member"], values["scopes"]
        )
    except (ValueError, TypeError, LookupError):
        logger.warning("invalid session cache entry ignored")
        return None


def set_cached_session(
    key_hash: str, version: int, session: CachedSession, read_at: float
) -> None:
    """Cache a row that was read at `read_at`, in epoch seconds."""
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
        # Without an entry SET is cheaper than a script.
        entry = b"%d:%b" % (version, signed)
        if not client.set(key, entry, nx=True, ex=CACHE_TTL_SECONDS):
            client.eval(_SET_IF_NOT_OLDER, 1, key, version, signed, CACHE_TTL_SECONDS)

    try:
        redis_client.call(set_if_not_older)
    except redis_client.RedisUnavailableError:
        return


def invalidate_cached_sessions(versions: dict[str, int]) -> None:
    """Write tombstones after the commit; `versions` are by key hash."""
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
        # Valkey may be back, and must not miss a revocation.
        redis_client.call(write_tombstones, ignore_breaker=True)
    except redis_client.RedisUnavailableError:
        try:
            # Without free memory Valkey still deletes.
            redis_client.call(lambda client: client.delete(*tombstones))
        except redis_client.RedisUnavailableError:
            logger.warning(
                "session cache invalidation failed; stale entries expire within %d s",
                CACHE_TTL_SECONDS,
            )


def _is_authentic(key_hash: str, mac: bytes, text: bytes) -> bool:
    return any(
        hmac.compare_digest(mac, _compute_mac(secret, key_hash, text))
        for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    )


def _compute_mac(secret: str, key_hash: str, text: bytes) -> bytes:
    mac = _make_keyed_hash(secret).copy()
    mac.update(key_hash.encode())
    mac.update(text)
    return mac.digest()


# Deriving the key takes half of the time of a MAC.
@functools.lru_cache(maxsize=16)
def _make_keyed_hash(secret: str) -> "hashlib.blake2b":
    key = hashlib.blake2b(
        secret.encode(), digest_size=hashlib.blake2b.MAX_KEY_SIZE, key=_MAC_KEY_CONTEXT
    )
    return hashlib.blake2b(key=key.digest(), digest_size=MAC_BYTES)
