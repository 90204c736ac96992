"""A limit of concurrent threads."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Threads of a process of the web server. More of them share a core: a longer p99 for no
# gain.
DEFAULT_THREADS = 4


class Bulkhead:
    """Slots, so that hanging calls cannot hold all threads of the web server."""

    def __init__(self, slots: int) -> None:
        self._slots = threading.BoundedSemaphore(slots)

    @contextmanager
    def slot(self, *, wait_seconds: float = 0.0) -> Iterator[bool]:
        """Yield False if no slot gets free in time."""
        has_slot = self._slots.acquire(timeout=wait_seconds)
        try:
            yield has_slot
        finally:
            if has_slot:
                self._slots.release()
