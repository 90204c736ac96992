"""Password hashers, which bound the hashes that a process computes at once."""

import functools
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher, PBKDF2PasswordHasher

from accounts.errors import HashingBusyError, TooManyHashesError
from core.bulkhead import Bulkhead
from core.client_ip import rate_limit_key
from core.http_client import SLOT_WAIT_SECONDS
from core.logging import current_client

MAX_HASHES_PER_ADDRESS = 2
MAX_HASHES = max(1, settings.WEB_THREADS // 2)
# Other threads need the core for a millisecond, a hash for thirty. With 5, others' time
# beside 64 logins is 1.4 times what it is alone, with 10 it is 1.06 times.
HASHING_NICENESS = 10

Result = TypeVar("Result")

_slots = Bulkhead(MAX_HASHES)
_addresses: Counter[str] = Counter()
_addresses_lock = threading.Lock()


@contextmanager
def hashing_slot() -> Iterator[None]:
    """Hold one of the slots, which are half of the web server's threads.

    Raise `TooManyHashesError` at once if the client's address holds two or waits for
    them, and `HashingBusyError` if no slot gets free in time.
    """
    with (
        _limit_address(),
        _slots.slot(wait_seconds=SLOT_WAIT_SECONDS) as has_slot,
    ):
        if not has_slot:
            raise HashingBusyError
        yield


def refuse_busy_address() -> None:
    """Raise `TooManyHashesError` as `hashing_slot` would now.

    A login asks before its first statement, so that a flood costs little.
    """
    key = _get_address()
    if key is not None and _addresses.get(key, 0) >= MAX_HASHES_PER_ADDRESS:
        raise TooManyHashesError


@contextmanager
def _limit_address() -> Iterator[None]:
    key = _get_address()
    if key is None:
        yield
        return
    with _addresses_lock:
        if _addresses[key] >= MAX_HASHES_PER_ADDRESS:
            raise TooManyHashesError
        _addresses[key] += 1
    try:
        yield
    finally:
        with _addresses_lock:
            _addresses[key] -= 1
            if not _addresses[key]:
                del _addresses[key]


def _get_address() -> str | None:
    """Return None for jobs and commands, which have no client."""
    client = current_client.get()
    return rate_limit_key(client.address) if client else None


def hash_in_slot(compute: Callable[[], Result]) -> Result:
    """Compute a hash in a slot, by a thread that leaves the core to other requests."""
    with hashing_slot():
        return _get_pool().submit(compute).result()


@functools.cache
def _get_pool() -> ThreadPoolExecutor:
    # Created on first use, after the web server has forked.
    return ThreadPoolExecutor(MAX_HASHES, "hashing", _lower_priority)


def _lower_priority() -> None:
    # On Linux each thread has a niceness of its own.
    if sys.platform.startswith("linux"):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), HASHING_NICENESS)


class LowMemoryArgon2PasswordHasher(Argon2PasswordHasher):
    """Argon2id with OWASP's parameters: Django's 100 MiB exhaust a small server."""

    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        return hash_in_slot(functools.partial(super().encode, password, salt))

    def verify(self, password: str, encoded: str) -> bool:
        return hash_in_slot(functools.partial(super().verify, password, encoded))


class BoundedPBKDF2PasswordHasher(PBKDF2PasswordHasher):
    """PBKDF2, which reads older hashes; Django's `verify` calls `encode`."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        return hash_in_slot(
            functools.partial(super().encode, password, salt, iterations)
        )
