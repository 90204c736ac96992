"""Copies of session rows in the fast store: short-lived, versioned, doubted.

A copy is believed for `CACHE_TTL_SECONDS` and only if it was read after the last failure of
the store that this process saw. A change of the row is announced by a marker with the
row's new version; a slow reader that still holds the older row cannot put its copy
over it.
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
"""The oldest that a copy may be when it is believed."""
INVALIDATION_TTL_SECONDS = 2 * CACHE_TTL_SECONDS
DELETED_VERSION = 2**53 - 1
"""The version of a session that is gone: newer than any copy of it."""

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
    """What a row and its member said; `member` is None for a session of nobody."""

    data: dict[str, Any]
    expires_at: datetime
    member: list[Any] | None


def get_cached_session(digest: str) -> CachedSession | None:
    """The copy of this session, if there is one that may be believed."""
    try:
        kept: Any = redis_client.call(lambda store: store.get(_cache_key(digest)))
    except redis_client.RedisUnavailableError:
        return None
    try:
        return _parse(kept or b"")
    except (ValueError, TypeError, LookupError):
        logger.warning("a copy of a session cannot be read")
        return None


def set_cached_session(
    digest: str, version: int, copy: CachedSession, read_at: float
) -> None:
    """Keep a copy of the row that was read at `read_at` (seconds since the epoch)."""
    text = orjson.dumps(
        {
            "readAt": read_at,
            "expiresAt": copy.expires_at,
            "data": copy.data,
            "member": copy.member,
        }
    )
    try:
        redis_client.call(lambda store: _set(store, digest, version, text))
    except redis_client.RedisUnavailableError:
        return


def invalidate_cached_sessions(versions: dict[str, int]) -> None:
    """Put markers in the place of copies: whatever is older no longer counts.

    Call it after the commit. Where the store cannot be told, its copies die of age.
    """
    if not versions:
        return
    try:
        redis_client.call(
            lambda store: _write_invalidations(store, versions), insist=True
        )
    except redis_client.RedisUnavailableError:
        _delete_keys(list(versions))


def _parse(kept: bytes) -> CachedSession | None:
    _, _, text = kept.partition(b":")
    if not text:
        return None
    values = orjson.loads(text)
    expires_at = datetime.fromisoformat(values["expiresAt"])
    if not _is_fresh(values["readAt"]) or expires_at <= timezone.now():
        return None
    return CachedSession(values["data"], expires_at, values["member"])


def _is_fresh(read_at: float) -> bool:
    return (
        time.time() - read_at < CACHE_TTL_SECONDS
        and redis_client.is_newer_than_last_failure(read_at)
    )


def _set(store: Any, digest: str, version: int, text: bytes) -> None:
    """Where nothing is kept, a plain SET will do; else versions are compared."""
    name = _cache_key(digest)
    if not store.set(name, b"%d:%b" % (version, text), nx=True, ex=CACHE_TTL_SECONDS):
        store.eval(_SET_IF_NOT_OLDER, 1, name, version, text, CACHE_TTL_SECONDS)


def _write_invalidations(store: Any, versions: dict[str, int]) -> None:
    with store.pipeline(transaction=False) as pipeline:
        for digest, version in versions.items():
            name = _cache_key(digest)
            pipeline.eval(
                _SET_IF_NOT_OLDER, 1, name, version, b"", INVALIDATION_TTL_SECONDS
            )
        pipeline.execute()


def _delete_keys(digests: list[str]) -> None:
    """A full store refuses markers but still deletes; an absent one does neither."""
    try:
        redis_client.call(lambda store: store.delete(*map(_cache_key, digests)))
    except redis_client.RedisUnavailableError:
        logger.warning(
            "fast store not told; its copies die within %d s", CACHE_TTL_SECONDS
        )


def _cache_key(digest: str) -> str:
    return f"session:{digest}"
