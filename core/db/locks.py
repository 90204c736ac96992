"""PostgreSQL advisory locks: all their keys, and the functions that take them.

Every key is a pair of 32-bit integers: what is locked, and for which object. The order
in which locks may be taken together is on one page, `docs/architecture.md`. All are
held until the transaction ends; what must be held for longer is a lease
(`core.leases`).
"""

from enum import IntEnum

from django.db import connection


class AdvisoryLock(IntEnum):
    """First halves of the keys; the comment names the object of the second half."""

    # In the order in which they are taken.
    ACCOUNT_DELETION = 0x424F4152  # none: one for the service
    LEDGER = 0x4C45  # member
    PURCHASE_TOKEN = 0x4249  # hash of the token


def advisory_xact_lock(lock: AdvisoryLock, object_id: int = 0) -> None:
    """Wait for the lock and keep it until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(%s, %s)", [lock, make_lock_key(object_id)]
        )


def make_lock_key(object_id: int) -> int:
    """Return the second half of the key for an object.

    PostgreSQL's integers are signed. Ids beyond 31 bits share keys, which costs a wait
    and never lets two hold the same lock.
    """
    return object_id % 2**31
