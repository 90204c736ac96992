"""Copies of session rows in the fast store: short-lived, versioned, doubted.

A copy is believed for `COPY_SECONDS` and only if it was read after the last failure of
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

COPY_SECONDS = 60
"""The oldest that a copy may be when it is believed."""
MARKER_SECONDS = 2 * COPY_SECONDS
ENDED = 2**53 - 1
"""The version of a session that is gone: newer than any copy of it."""

_PUT_IF_NOT_OLDER = """
    local kept = redis.call('GET', KEYS[1])
    if kept and tonumber(string.match(kept, '^%d+')) > tonumber(ARGV[1]) then
        return 0
    end
    redis.call('SET', KEYS[1], ARGV[1] .. ':' .. ARGV[2], 'EX', ARGV[3])
    return 1
"""


@dataclass(frozen=True, slots=True)
class Copy:
    """What a row and its member said; `member` is None for a session of nobody."""

    data: dict[str, Any]
    expires_at: datetime
    member: list[Any] | None


def read_copy(digest: str) -> Copy | None:
    """The copy of this session, if there is one that may be believed."""
    try:
        kept: Any = redis_client.call(lambda store: store.get(_name(digest)))
    except redis_client.FastStoreAway:
        return None
    try:
        return _parse(kept or b"")
    except (ValueError, TypeError, LookupError):
        logger.warning("a copy of a session cannot be read")
        return None


def put_copy(digest: str, version: int, copy: Copy, read_at: float) -> None:
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
        redis_client.call(lambda store: _put(store, digest, version, text))
    except redis_client.FastStoreAway:
        return


def announce(versions: dict[str, int]) -> None:
    """Put markers in the place of copies: whatever is older no longer counts.

    Call it after the commit. Where the store cannot be told, its copies die of age.
    """
    if not versions:
        return
    try:
        redis_client.call(lambda store: _put_markers(store, versions), insist=True)
    except redis_client.FastStoreAway:
        _forget(list(versions))


def _parse(kept: bytes) -> Copy | None:
    _, _, text = kept.partition(b":")
    if not text:
        return None
    values = orjson.loads(text)
    expires_at = datetime.fromisoformat(values["expiresAt"])
    if not _is_fresh(values["readAt"]) or expires_at <= timezone.now():
        return None
    return Copy(values["data"], expires_at, values["member"])


def _is_fresh(read_at: float) -> bool:
    return time.time() - read_at < COPY_SECONDS and redis_client.is_trusted(read_at)


def _put(store: Any, digest: str, version: int, text: bytes) -> None:
    """Where nothing is kept, a plain SET will do; else versions are compared."""
    name = _name(digest)
    if not store.set(name, b"%d:%b" % (version, text), nx=True, ex=COPY_SECONDS):
        store.eval(_PUT_IF_NOT_OLDER, 1, name, version, text, COPY_SECONDS)


def _put_markers(store: Any, versions: dict[str, int]) -> None:
    with store.pipeline(transaction=False) as pipeline:
        for digest, version in versions.items():
            name = _name(digest)
            pipeline.eval(_PUT_IF_NOT_OLDER, 1, name, version, b"", MARKER_SECONDS)
        pipeline.execute()


def _forget(digests: list[str]) -> None:
    """A full store refuses markers but still deletes; an absent one does neither."""
    try:
        redis_client.call(lambda store: store.delete(*map(_name, digests)))
    except redis_client.FastStoreAway:
        logger.warning("fast store not told; its copies die within %d s", COPY_SECONDS)


def _name(digest: str) -> str:
    return f"session:{digest}"
