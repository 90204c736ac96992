"""Concurrency limits of restores: one per member, and few readers over all processes.

The locks belong to the session and not to a transaction, since none is open while a
file is read. They end with the connection.
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

# Files that are read at the same time: each reader may take 448 MiB.
MAX_READERS = 2
# Restores that wait for a reader: each keeps a thread of a web process.
MAX_QUEUED_READERS = 4
QUEUE_TIMEOUT_SECONDS = 10.0
POLL_INTERVAL_SECONDS = 0.1


@contextmanager
def restore_lock(member: Member) -> Iterator[None]:
    """Allow one restore of a member's ledger at a time.

    Raises `RestoreInProgressError` if there is another one.
    """
    with session_advisory_lock(AdvisoryLock.RESTORE, member.pk) as is_acquired:
        if not is_acquired:
            raise RestoreInProgressError
        yield


@contextmanager
def reader_slot() -> Iterator[None]:
    """Hold one of the slots for reading files during the block.

    Raises `BackupReadersBusyError` if all are taken for 10 seconds, or if too many
    restores wait already.
    """
    slot = _acquire_slot(AdvisoryLock.READER_SLOT, MAX_READERS)
    if slot is None:
        place = _acquire_slot(AdvisoryLock.READER_QUEUE, MAX_QUEUED_READERS)
        if place is None:
            raise BackupReadersBusyError
        deadline = time.monotonic() + QUEUE_TIMEOUT_SECONDS
        try:
            while slot is None:
                if time.monotonic() >= deadline:
                    raise BackupReadersBusyError
                time.sleep(POLL_INTERVAL_SECONDS)
                slot = _acquire_slot(AdvisoryLock.READER_SLOT, MAX_READERS)
        finally:
            release_advisory_lock(AdvisoryLock.READER_QUEUE, place)
    try:
        yield
    finally:
        release_advisory_lock(AdvisoryLock.READER_SLOT, slot)


def _acquire_slot(lock: AdvisoryLock, slots: int) -> int | None:
    """Return the number of a slot that was free; None if all are taken."""
    return next((n for n in range(slots) if try_advisory_lock(lock, n)), None)
