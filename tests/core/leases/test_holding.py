"""Leases: who holds one, and what ends it."""

import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from core.leases import holding
from core.leases.holding import (
    EXPIRED_RETENTION,
    HeldLease,
    LeaseLostError,
    acquire_lease,
    acquire_lease_of_killed_holder,
    lease,
    purge_expired_leases,
    wait_until_released,
)
from core.leases.models import Lease
from devstack.environment import ROOT
from tests.support.races import run_concurrently
from tests.support.waiting import MovedClock, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

# Of a TTL of 15 seconds, so that a lease is renewed while a test looks on.
RENEWALS_PER_TTL = 300
TEN = timedelta(seconds=10)

Acquire = Callable[[str], HeldLease | None]


@pytest.fixture
def acquire() -> Iterator[Acquire]:
    """Acquire leases that are released, with the threads that renew them, at the end."""
    leases = []

    def acquire_and_remember(name: str) -> HeldLease | None:
        leases.append(acquire_lease(name))
        return leases[-1]

    yield acquire_and_remember
    for held in filter(None, leases):
        held.release()


def expire(name: str, *, in_seconds: float = -1) -> None:
    end = Now() + timedelta(seconds=in_seconds)
    Lease.objects.filter(name=name).update(expires_at=end)


def wait_for_renewals(name: str) -> None:
    """Wait until the holder has extended its lease twice."""
    ends: set[datetime] = set()

    def has_three() -> bool:
        ends.add(Lease.objects.get(name=name).expires_at)
        return len(ends) == 3

    wait_until(has_three)


def test_lease_has_one_holder_until_it_is_released() -> None:
    with lease("a") as first:
        assert first
        with lease("a") as second, lease("b") as other:
            assert second is None
            assert other
    with lease("a") as again:
        assert again
    assert not Lease.objects.exists()


@pytest.mark.parametrize("name", ["free", "expired"])
def test_of_many_at_once_one_gets_a_free_or_expired_lease(
    name: str, acquire: Acquire
) -> None:
    acquire("expired")
    expire("expired")
    held = run_concurrently([lambda: acquire(name)] * 16)
    assert len(list(filter(None, held))) == 1


def test_looking_and_then_writing_would_let_several_in() -> None:
    # The race that the one statement ends is real.
    have_looked = threading.Barrier(4, timeout=20)

    def look_and_write() -> bool:
        if Lease.objects.filter(name="a", expires_at__gt=Now()).exists():
            return False
        have_looked.wait()
        Lease.objects.update_or_create(
            name="a", defaults={"holder": uuid.uuid4(), "expires_at": Now() + TEN}
        )
        return True

    assert sum(run_concurrently([look_and_write] * 4)) == 4


def test_lease_is_released_after_an_error() -> None:
    with pytest.raises(ValueError, match="inside"), lease("a"):
        raise ValueError("inside")
    assert not Lease.objects.exists()


def test_lease_is_renewed_for_as_long_as_it_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(holding, "RENEWALS_PER_TTL", RENEWALS_PER_TTL)
    with lease("a") as held:
        assert held
        wait_for_renewals("a")
        held.ensure_held()
        with lease("a") as second:
            assert second is None


def test_holder_that_lost_its_lease_notices_and_leaves_the_next_one_alone(
    acquire: Acquire,
) -> None:
    first = acquire("a")
    assert first
    expire("a")
    with pytest.raises(LeaseLostError):
        first.ensure_held()
    second = acquire("a")
    assert second
    assert not first.renew()
    first.release()
    second.ensure_held()


def test_expired_lease_that_nobody_took_is_renewed() -> None:
    with lease("a") as held:
        assert held
        expire("a")
        assert held.renew()
        held.ensure_held()


KILLED_HOLDER = f"""
import django, sys, time
from django.conf import settings
settings.DATABASES["default"]["NAME"] = sys.argv[1]
django.setup()
from core.leases import holding
holding.RENEWALS_PER_TTL = {RENEWALS_PER_TTL}
assert holding.acquire_lease("a")
print("held", flush=True)
time.sleep(60)
"""


def test_lease_of_a_killed_process_is_taken_over_when_it_expires() -> None:
    name = str(connection.settings_dict["NAME"])
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED_HOLDER, name], cwd=ROOT, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout
        assert process.stdout.readline() == b"held\n"
        wait_for_renewals("a")
        assert acquire_lease("a") is None
        assert acquire_lease_of_killed_holder("a") is None
        process.send_signal(signal.SIGKILL)
    assert acquire_lease("a") is None
    expire("a", in_seconds=0.2)
    held = acquire_lease_of_killed_holder("a")
    assert held
    held.release()


def test_lease_that_is_released_while_another_waits_is_not_taken_over(
    acquire: Acquire, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = acquire("a")
    assert first
    clock = MovedClock(then=first.release)
    monkeypatch.setattr(holding, "time", clock)
    assert acquire_lease_of_killed_holder("a") is None
    assert len(clock.naps) == 1


def test_wait_for_a_release_ends_with_it_or_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with lease("a") as held:
        assert held
        clock = MovedClock()
        monkeypatch.setattr(holding, "time", clock)
        wait_until_released("a", timeout_seconds=0.2)
        assert clock.now >= 0.2
        clock.then = held.release
        wait_until_released("a", timeout_seconds=60)
        assert clock.now < 1


def test_lease_inside_a_transaction_is_an_error() -> None:
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"), lease("a"):
        pass


def test_leases_that_nobody_released_are_purged_a_day_after_they_expired() -> None:
    for name in ("kept", "purged"):
        Lease.objects.create(name=name, holder=uuid.uuid4(), expires_at=Now())
    Lease.objects.filter(name="purged").update(
        expires_at=Now() - EXPIRED_RETENTION - TEN
    )
    purge_expired_leases()
    assert [each.name for each in Lease.objects.all()] == ["kept"]
