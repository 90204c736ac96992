"""Who may restore, and how many may read files, at the same time.

Advisory locks of the session, not of a transaction: none is open while a file is read.
They span all processes, and end with the connection if theirs does.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import InterfaceError, OperationalError, connection

from accounts.models import Member
from ledger.errors import BackupReadersBusyError, RestoreInProgressError

RESTORE_LOCK = 0x4C52
READER_SLOT_LOCK = 0x4C57
READER_QUEUE_LOCK = 0x4C58
MAX_READERS = 2
"""Files read at once, over all processes."""
MAX_QUEUED_READERS = 4
"""How many wait for that; each keeps a thread of a web process."""
QUEUE_TIMEOUT_SECONDS = 10.0
POLL_INTERVAL_SECONDS = 0.1


@contextmanager
def restore_lock(member: Member) -> Iterator[None]:
    """One restore of a member's ledger at a time; a second is `RestoreInProgressError`."""
    key = member.pk % 2**31
    if not _try_lock(RESTORE_LOCK, key):
        raise RestoreInProgressError
    try:
        yield
    finally:
        _unlock(RESTORE_LOCK, key)


@contextmanager
def reader_slot() -> Iterator[None]:
    """One of a few places for reading files.

    `BackupReadersBusyError` when all are taken for some seconds, or enough wait already.
    """
    place = _acquire_slot(READER_SLOT_LOCK, MAX_READERS)
    if place is None:
        place = _wait_for_reader_slot()
    try:
        yield
    finally:
        _unlock(READER_SLOT_LOCK, place)


def _wait_for_reader_slot() -> int:
    """A place for reading that became free."""
    waiting = _acquire_slot(READER_QUEUE_LOCK, MAX_QUEUED_READERS)
    if waiting is None:
        raise BackupReadersBusyError
    try:
        deadline = time.monotonic() + QUEUE_TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            time.sleep(POLL_INTERVAL_SECONDS)
            place = _acquire_slot(READER_SLOT_LOCK, MAX_READERS)
            if place is not None:
                return place
        raise BackupReadersBusyError
    finally:
        _unlock(READER_QUEUE_LOCK, waiting)


def _acquire_slot(turns: int, places: int) -> int | None:
    return next((p for p in range(places) if _try_lock(turns, p)), None)


def _try_lock(turns: int, key: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [turns, key])
        return bool(cursor.fetchone()[0])


def _unlock(turns: int, key: int) -> None:
    """Give it back; a connection that broke has lost it anyway."""
    with suppress(OperationalError, InterfaceError), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [turns, key])
