"""How far long work is, for whoever waits at a console."""

import time
from collections.abc import Callable

UPDATE_INTERVAL_SECONDS = 5.0


class Progress:
    """Says how far the work is, once every few seconds; what is quick says nothing."""

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        self._write = write
        self._next = time.monotonic() + UPDATE_INTERVAL_SECONDS

    def update(self, text: str) -> None:
        """Write the text if the last word is long enough ago."""
        now = time.monotonic()
        if self._write is not None and now >= self._next:
            self._write(text)
            self._next = now + UPDATE_INTERVAL_SECONDS


SILENT_PROGRESS = Progress()
"""Nobody waits: a job of the worker."""
