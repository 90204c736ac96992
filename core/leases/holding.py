"""Leases: rows with a name, a holder and an expiry.

Unlike a session's advisory lock, a lease works behind a transaction pooler, and the
lease of a killed process expires. A stopped holder may have lost it: if doing the work
twice would do harm, call `ensure_held` in the transaction that writes, after its locks.
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

LEASE_TTL_SECONDS = 15.0
RENEWALS_PER_TTL = 3
POLL_INTERVAL_SECONDS = 0.05
EXPIRED_RETENTION = timedelta(days=1)

# One statement: only one of two concurrent calls gets the lease.
_ACQUIRE = """
INSERT INTO lease (name, holder, expires_at)
VALUES (%s, %s, clock_timestamp() + make_interval(secs => %s))
ON CONFLICT (name) DO UPDATE
SET holder = EXCLUDED.holder, expires_at = EXCLUDED.expires_at
WHERE lease.expires_at <= clock_timestamp()
"""

logger = logging.getLogger(__name__)


class LeaseLostError(Exception):
    pass


class HeldLease:
    def __init__(self, name: str, holder: uuid.UUID, ttl: timedelta) -> None:
        self.name, self.holder, self._ttl = name, holder, ttl
        self._is_released = threading.Event()
        self._renewing = threading.Thread(
            target=self._keep_renewing, name=f"lease {name}", daemon=True
        )
        self._renewing.start()

    def ensure_held(self) -> None:
        if not self._rows.filter(expires_at__gt=Now()).exists():
            raise LeaseLostError(self.name)

    def renew(self) -> bool:
        """Extend the lease, even if expired; return False if another holds it."""
        return self._rows.update(expires_at=Now() + self._ttl) == 1

    def release(self) -> None:
        self._is_released.set()
        self._renewing.join()
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
    holder, ttl = uuid.uuid4(), timedelta(seconds=ttl_seconds or LEASE_TTL_SECONDS)
    # `durable` forbids an open transaction, for whose end other callers would wait.
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute(_ACQUIRE, [name, holder, ttl.total_seconds()])
        is_acquired = cursor.rowcount == 1
    return HeldLease(name, holder, ttl) if is_acquired else None


def acquire_lease_of_killed_holder(name: str) -> HeldLease | None:
    """Return the lease if it is free or expires unrenewed.

    Return None when the present holder renews or releases it.
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
    """Yield None if another process holds the lease."""
    held = acquire(name)
    try:
        yield held
    finally:
        if held:
            held.release()


def wait_until_released(name: str, *, timeout_seconds: float) -> None:
    deadline = time.monotonic() + timeout_seconds
    rows = Lease.objects.filter(name=name, expires_at__gt=Now())
    while time.monotonic() < deadline and rows.exists():
        time.sleep(POLL_INTERVAL_SECONDS)


def purge_expired_leases() -> None:
    Lease.objects.filter(expires_at__lt=Now() - EXPIRED_RETENTION).delete()
