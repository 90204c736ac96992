"""Progress reports of long operations."""

import time
from collections.abc import Callable

UPDATE_INTERVAL_SECONDS = 5.0


class Progress:
    """Reports every few seconds, never for a quick operation."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._next_update_at = time.monotonic() + UPDATE_INTERVAL_SECONDS

    def update(self, text: str) -> None:
        now = time.monotonic()
        if now >= self._next_update_at:
            self._write(text)
            self._next_update_at = now + UPDATE_INTERVAL_SECONDS


# Jobs of the worker have no console.
SILENT_PROGRESS = Progress(lambda text: None)
