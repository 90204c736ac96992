"""Password hashers, which bound the hashes that a process computes at once."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher, PBKDF2PasswordHasher

from accounts.errors import HashingBusyError, TooManyHashesError
from core.bulkhead import Bulkhead
from core.client_ip import rate_limit_key
from core.http_client import SLOT_WAIT_SECONDS
from core.logging import current_client

MAX_HASHES_PER_ADDRESS = 2

_slots = Bulkhead(max(1, settings.WEB_THREADS // 2))
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


@contextmanager
def _limit_address() -> Iterator[None]:
    client = current_client.get()
    # Jobs and commands have no client.
    if client is None:
        yield
        return
    key = rate_limit_key(client.address)
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


class LowMemoryArgon2PasswordHasher(Argon2PasswordHasher):
    """Argon2id with OWASP's parameters: Django's 100 MiB exhaust a small server."""

    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        with hashing_slot():
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with hashing_slot():
            return super().verify(password, encoded)


class BoundedPBKDF2PasswordHasher(PBKDF2PasswordHasher):
    """PBKDF2, which reads older hashes; Django's `verify` calls `encode`."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        with hashing_slot():
            return super().encode(password, salt, iterations)
