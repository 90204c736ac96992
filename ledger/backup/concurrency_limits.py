"""Who may restore, and how many may read files, at the same time.

Advisory locks of the session, not of a transaction: none is open while a file is read.
They span all processes, and end with the connection if theirs does.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import InterfaceError, OperationalError, connection

from accounts.models import Member
from ledger.errors import ReadersBusy, RestoreUnderWay

RESTORE_TURNS = 0x4C52
READING_TURNS = 0x4C57
WAITING_TURNS = 0x4C58
READERS = 2
"""Files read at once, over all processes."""
WAITERS = 4
"""How many wait for that; each keeps a thread of a web process."""
WAIT_SECONDS = 10.0
ASK_AGAIN_SECONDS = 0.1


@contextmanager
def restore_turn(member: Member) -> Iterator[None]:
    """One restore of a member's ledger at a time; a second is `RestoreUnderWay`."""
    key = member.pk % 2**31
    if not _try_lock(RESTORE_TURNS, key):
        raise RestoreUnderWay
    try:
        yield
    finally:
        _unlock(RESTORE_TURNS, key)


@contextmanager
def reading_turn() -> Iterator[None]:
    """One of a few places for reading files.

    `ReadersBusy` when all are taken for some seconds, or enough wait already.
    """
    place = _take_place(READING_TURNS, READERS)
    if place is None:
        place = _wait_for_reading()
    try:
        yield
    finally:
        _unlock(READING_TURNS, place)


def _wait_for_reading() -> int:
    """A place for reading that became free."""
    waiting = _take_place(WAITING_TURNS, WAITERS)
    if waiting is None:
        raise ReadersBusy
    try:
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            time.sleep(ASK_AGAIN_SECONDS)
            place = _take_place(READING_TURNS, READERS)
            if place is not None:
                return place
        raise ReadersBusy
    finally:
        _unlock(WAITING_TURNS, waiting)


def _take_place(turns: int, places: int) -> int | None:
    return next((p for p in range(places) if _try_lock(turns, p)), None)


def _try_lock(turns: int, key: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [turns, key])
        return bool(cursor.fetchone()[0])


def _unlock(turns: int, key: int) -> None:
    """Give it back; a connection that broke has lost it anyway."""
    with suppress(OperationalError, InterfaceError), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [turns, key])
