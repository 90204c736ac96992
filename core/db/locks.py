"""PostgreSQL advisory locks: all their keys, and the functions that take them.

Every key is a pair of 32-bit integers: what is locked, and for which object. The order
in which locks may be taken together is on one page, `docs/architecture.md`.
"""

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum

from django.db import InterfaceError, OperationalError, connection

POLL_INTERVAL_SECONDS = 0.05


class AdvisoryLock(IntEnum):
    """First halves of the keys; the comment names the object of the second half."""

    # Held until the transaction ends, in this order.
    ACCOUNT_DELETION = 0x424F4152  # none: one for the service
    LEDGER = 0x4C45  # member
    NOTIFICATIONS = 0x4E4F  # member
    PURCHASE_TOKEN = 0x4249  # hash of the token

    # Held by the session, outside transactions: they end with a process that is killed.
    RESTORE = 0x4C52  # member
    READER_SLOT = 0x4C57  # number of the slot
    READER_QUEUE = 0x4C58  # number of the place in the queue
    JOB = 0x4A4F  # hash of the job's name
    RATE_LOOKUP = 0x4658  # hash of currencies and day


def hash_object_id(text: str) -> int:
    """Return the second half of a key for what is known by a text, not by an id."""
    digest = hashlib.blake2b(text.encode(), digest_size=4).digest()
    return int.from_bytes(digest) % 2**31


def advisory_xact_lock(lock: AdvisoryLock, object_id: int = 0) -> None:
    """Wait for the lock and keep it, alone, until the transaction ends."""
    _call("pg_advisory_xact_lock", lock, object_id)


def advisory_xact_lock_shared(lock: AdvisoryLock, object_id: int = 0) -> None:
    """Wait for the lock and keep it, shared, until the transaction ends."""
    _call("pg_advisory_xact_lock_shared", lock, object_id)


@contextmanager
def session_advisory_lock(lock: AdvisoryLock, object_id: int = 0) -> Iterator[bool]:
    """Try to take the lock for the block, and yield whether it was free."""
    is_acquired = try_advisory_lock(lock, object_id)
    try:
        yield is_acquired
    finally:
        if is_acquired:
            release_advisory_lock(lock, object_id)


def try_advisory_lock(lock: AdvisoryLock, object_id: int = 0) -> bool:
    """Take the lock for the session if it is free; return whether it was."""
    return _call("pg_try_advisory_lock", lock, object_id)


def release_advisory_lock(lock: AdvisoryLock, object_id: int = 0) -> None:
    """Release a lock that `try_advisory_lock` took."""
    # A connection that broke has lost its locks already.
    with suppress(OperationalError, InterfaceError):
        _call("pg_advisory_unlock", lock, object_id)


def is_advisory_lock_free(lock: AdvisoryLock, object_id: int = 0) -> bool:
    """Return whether no session holds the lock alone, without keeping it."""
    # Shared, so that two sessions that look at the same moment do not see each other.
    if not _call("pg_try_advisory_lock_shared", lock, object_id):
        return False
    _call("pg_advisory_unlock_shared", lock, object_id)
    return True


def wait_until_free(
    lock: AdvisoryLock, object_id: int = 0, *, timeout_seconds: float
) -> None:
    """Wait until no session holds the lock alone, at most `timeout_seconds`."""
    deadline = time.monotonic() + timeout_seconds
    # Polled, since a lock that is waited for has no time limit of its own.
    while time.monotonic() < deadline and not is_advisory_lock_free(lock, object_id):
        time.sleep(POLL_INTERVAL_SECONDS)


def _call(function: str, lock: AdvisoryLock, object_id: int) -> bool:
    with connection.cursor() as cursor:
        # PostgreSQL's integers are signed. Ids beyond 31 bits share keys, which costs a
        # wait and never lets two hold the same lock.
        cursor.execute(f"SELECT {function}(%s, %s)", [lock, object_id % 2**31])
        return bool(cursor.fetchone()[0])
