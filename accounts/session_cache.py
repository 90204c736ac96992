"""Valkey cache of session rows: short-lived, versioned, ignored after failures.

An entry is used for at most `CACHE_TTL_SECONDS`, and only if its row was read after the
last Valkey failure that this process saw: an invalidation may have been lost in it.
Entries carry the version of their row. An invalidation writes a tombstone with the new
version, so that a slow reader of the old row cannot put it back into the cache.
"""

import logging
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
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

# An entry is stored as `<version>:<JSON>`, a tombstone as `<version>:`.
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
    fields).
    """

    data: dict[str, Any]
    expires_at: datetime
    member_values: list[Any] | None


def get_cached_session(key_hash: str) -> CachedSession | None:
    """Return the cached session, or None if there is no entry that may be used."""
    key = f"{_KEY_PREFIX}{key_hash}"
    try:
        entry: Any = redis_client.call(lambda client: client.get(key))
    except redis_client.RedisUnavailableError:
        return None
    _, _, text = (entry or b"").partition(b":")
    # No entry, or a tombstone.
    if not text:
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
        return CachedSession(values["data"], expires_at, values["member"])
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
        }
    )

    def set_if_not_older(client: Any) -> None:
        # The usual case has no entry yet: a plain SET is cheaper than a script.
        entry = b"%d:%b" % (version, text)
        if not client.set(key, entry, nx=True, ex=CACHE_TTL_SECONDS):
            client.eval(_SET_IF_NOT_OLDER, 1, key, version, text, CACHE_TTL_SECONDS)

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
