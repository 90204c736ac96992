"""The bulkhead: how many threads of the process may be in one place at once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Bulkhead:
    """A number of slots that makes a caller wait for one briefly, or not at all.

    It keeps what hangs from holding all threads of the web server.
    """

    def __init__(self, slots: int) -> None:
        self._slots = threading.BoundedSemaphore(slots)

    @contextmanager
    def slot(self, *, wait_seconds: float = 0.0) -> Iterator[bool]:
        """Hold a slot for the block; yield False if none gets free in time."""
        has_slot = self._slots.acquire(timeout=wait_seconds)
        try:
            yield has_slot
        finally:
            if has_slot:
                self._slots.release()
