"""Concurrency limits of backups: exports in a process, restores, readers over all.

Restores hold leases, since no transaction is open while a file is read.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from accounts.models import Member
from core.bulkhead import Bulkhead
from core.leases.holding import HeldLease, LeaseLostError, acquire_lease, lease
from ledger.errors import BackupsBusyError, RestoreInProgressError

# Each reader may take 448 MiB.
MAX_READERS = 2
# Each waiting restore keeps a thread of a web process.
MAX_QUEUED_READERS = 4
QUEUE_TIMEOUT_SECONDS = 10.0
POLL_INTERVAL_SECONDS = 0.1
# A large export keeps a thread for seconds.
MAX_EXPORTS = 2

_exports = Bulkhead(MAX_EXPORTS)


@contextmanager
def export_slot() -> Iterator[None]:
    """Hold a slot of the process for an export; raise `BackupsBusyError`."""
    with _exports.slot() as has_slot:
        if not has_slot:
            raise BackupsBusyError
        yield


@contextmanager
def restore_lease(member: Member) -> Iterator[HeldLease]:
    """Allow one restore of a member's ledger at a time.

    Raises `RestoreInProgressError` for another one, also after the lease was lost to
    it.
    """
    with lease(f"restore {member.pk}") as held:
        if held is None:
            raise RestoreInProgressError
        try:
            yield held
        except LeaseLostError:
            raise RestoreInProgressError from None


@contextmanager
def reader_slot() -> Iterator[None]:
    """Hold a slot for reading a file.

    Raises `BackupsBusyError` if all are taken for 10 seconds, or too many restores
    wait.
    """
    slot = _acquire_any("reader slot", MAX_READERS)
    if slot is None:
        place = _acquire_any("reader queue", MAX_QUEUED_READERS)
        if place is None:
            raise BackupsBusyError
        deadline = time.monotonic() + QUEUE_TIMEOUT_SECONDS
        try:
            while slot is None:
                if time.monotonic() >= deadline:
                    raise BackupsBusyError
                time.sleep(POLL_INTERVAL_SECONDS)
                slot = _acquire_any("reader slot", MAX_READERS)
        finally:
            place.release()
    try:
        yield
    finally:
        slot.release()


def _acquire_any(name: str, count: int) -> HeldLease | None:
    """Return the first free lease of the numbered ones, or None."""
    leases = (acquire_lease(f"{name} {number}") for number in range(count))
    return next(filter(None, leases), None)
