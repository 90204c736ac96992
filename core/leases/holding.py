"""Acquire, renew and release leases.

A lease is a row with a name, a holder and an expiry by the clock of the database.
Unlike an advisory lock of the session it needs no connection of its own, so it works
behind a pooler that shares connections among transactions. A thread renews it while its
holder works; the lease of a process that was killed expires.

A holder that was stopped for longer than `LEASE_TTL_SECONDS` may have lost its lease to
another. Where work that is done twice would do harm, call `ensure_held` in the
transaction that writes, after its locks.
"""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from core.leases.models import Lease

# The lease of a killed process is free after this time at the latest.
LEASE_TTL_SECONDS = 15.0
# Two renewals may fail before the lease expires.
RENEWALS_PER_TTL = 3
POLL_INTERVAL_SECONDS = 0.05
# Expired leases whose names are not used again are deleted after this time.
EXPIRED_RETENTION = timedelta(days=1)

# One statement, so that of two that try at once one gets the lease.
_ACQUIRE = """
INSERT INTO lease (name, holder, expires_at)
VALUES (%s, %s, clock_timestamp() + make_interval(secs => %s))
ON CONFLICT (name) DO UPDATE
SET holder = EXCLUDED.holder, expires_at = EXCLUDED.expires_at
WHERE lease.expires_at <= clock_timestamp()
"""

logger = logging.getLogger(__name__)


class LeaseLostError(Exception):
    """The lease expired before its holder was done, and another may hold it."""


class HeldLease:
    """A lease of this process, from `acquire_lease` until `release`."""

    def __init__(self, name: str, holder: uuid.UUID, ttl: timedelta) -> None:
        self.name, self.holder, self._ttl = name, holder, ttl
        self._is_released = threading.Event()
        self._renewing = threading.Thread(
            target=self._keep_renewing, name=f"lease {name}", daemon=True
        )
        self._renewing.start()

    def ensure_held(self) -> None:
        """Raise `LeaseLostError` if the lease has expired."""
        if not self._rows.filter(expires_at__gt=Now()).exists():
            raise LeaseLostError(self.name)

    def renew(self) -> bool:
        """Extend the lease; return False if another process holds it.

        An expired lease is extended as well, unless another process holds it.
        """
        return self._rows.update(expires_at=Now() + self._ttl) == 1

    def release(self) -> None:
        """Free the lease, unless another has taken it."""
        self._is_released.set()
        self._renewing.join()
        # Without the database it expires.
        with suppress(OperationalError, InterfaceError):
            self._rows.delete()

    @property
    def _rows(self) -> QuerySet[Lease]:
        return Lease.objects.filter(name=self.name, holder=self.holder)

    def _keep_renewing(self) -> None:
        interval_seconds = self._ttl.total_seconds() / RENEWALS_PER_TTL
        while not self._is_released.wait(interval_seconds):
            try:
                if not self.renew():
                    logger.warning("lease %s was lost", self.name)
                    return
            except (OperationalError, InterfaceError):
                logger.warning("lease %s was not renewed", self.name)
            finally:
                connection.close()


def acquire_lease(name: str, *, ttl_seconds: float | None = None) -> HeldLease | None:
    """Return the lease if it is free, else None; release it when it is returned."""
    holder, ttl = uuid.uuid4(), timedelta(seconds=ttl_seconds or LEASE_TTL_SECONDS)
    # `durable` makes a call inside a caller's transaction an error: others would wait
    # for the end of that instead of hearing that the lease is held.
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute(_ACQUIRE, [name, holder, ttl.total_seconds()])
        is_acquired = cursor.rowcount == 1
    return HeldLease(name, holder, ttl) if is_acquired else None


def acquire_lease_of_killed_holder(name: str) -> HeldLease | None:
    """Return the lease if it is free or expires without having been renewed.

    Return None as soon as the present holder turns out to be alive: it has renewed the
    lease, or released it.
    """
    if held := acquire_lease(name):
        return held
    rows = Lease.objects.filter(name=name).values_list("holder", "expires_at")
    seen = rows.first()
    while seen is not None and rows.first() == seen:
        if held := acquire_lease(name):
            return held
        time.sleep(POLL_INTERVAL_SECONDS)
    return None


@contextmanager
def lease(
    name: str, acquire: Callable[[str], HeldLease | None] = acquire_lease
) -> Iterator[HeldLease | None]:
    """Hold the lease for the block; yield None if another holds it."""
    held = acquire(name)
    try:
        yield held
    finally:
        if held:
            held.release()


def wait_until_released(name: str, *, timeout_seconds: float) -> None:
    """Wait until the lease is free, at most `timeout_seconds`."""
    deadline = time.monotonic() + timeout_seconds
    rows = Lease.objects.filter(name=name, expires_at__gt=Now())
    while time.monotonic() < deadline and rows.exists():
        time.sleep(POLL_INTERVAL_SECONDS)


def purge_expired_leases() -> None:
    """Delete what processes that were killed left behind."""
    Lease.objects.filter(expires_at__lt=Now() - EXPIRED_RETENTION).delete()
