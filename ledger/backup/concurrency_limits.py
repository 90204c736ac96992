"""Who may restore, and how many may read files, at the same time.

Advisory locks of the session, not of a transaction: none is open while a file is read.
They span all processes, and end with the connection if theirs does.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from accounts.models import Member
from core.db.locks import (
    AdvisoryLock,
    release_advisory_lock,
    session_advisory_lock,
    try_advisory_lock,
)
from ledger.errors import BackupReadersBusyError, RestoreInProgressError

MAX_READERS = 2
"""Files read at once, over all processes."""
MAX_QUEUED_READERS = 4
"""How many wait for that; each keeps a thread of a web process."""
QUEUE_TIMEOUT_SECONDS = 10.0
POLL_INTERVAL_SECONDS = 0.1


@contextmanager
def restore_lock(member: Member) -> Iterator[None]:
    """One restore of a member's ledger at a time; a second is `RestoreInProgressError`."""
    with session_advisory_lock(AdvisoryLock.RESTORE, member.pk) as is_acquired:
        if not is_acquired:
            raise RestoreInProgressError
        yield


@contextmanager
def reader_slot() -> Iterator[None]:
    """One of a few places for reading files.

    `BackupReadersBusyError` when all are taken for some seconds, or enough wait already.
    """
    place = _acquire_slot(AdvisoryLock.READER_SLOT, MAX_READERS)
    if place is None:
        place = _wait_for_reader_slot()
    try:
        yield
    finally:
        release_advisory_lock(AdvisoryLock.READER_SLOT, place)


def _wait_for_reader_slot() -> int:
    """A place for reading that became free."""
    waiting = _acquire_slot(AdvisoryLock.READER_QUEUE, MAX_QUEUED_READERS)
    if waiting is None:
        raise BackupReadersBusyError
    try:
        deadline = time.monotonic() + QUEUE_TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            time.sleep(POLL_INTERVAL_SECONDS)
            place = _acquire_slot(AdvisoryLock.READER_SLOT, MAX_READERS)
            if place is not None:
                return place
        raise BackupReadersBusyError
    finally:
        release_advisory_lock(AdvisoryLock.READER_QUEUE, waiting)


def _acquire_slot(lock: AdvisoryLock, slots: int) -> int | None:
    return next((n for n in range(slots) if try_advisory_lock(lock, n)), None)
