"""A database that is away costs one caller the wait, not every caller.

The pool lets a caller wait for a connection, which carries requests over a
restart. When that wait ends in vain, the calls of the next second are refused at
once, so that threads stay free and every answer is a quick 503.
"""

import threading
import time
from typing import Any

from django.db.backends.postgresql import base
from psycopg import OperationalError

PAUSE_SECONDS = 1.0


class Breaker:
    """Open for a pause after a failure; then one caller at a time may try."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closed = True
        self._next_try = 0.0

    def admits(self) -> bool:
        with self._lock:
            if self._closed:
                return True
            now = time.monotonic()
            if now < self._next_try:
                return False
            self._next_try = now + PAUSE_SECONDS
            return True

    def record(self, *, success: bool) -> None:
        with self._lock:
            self._closed = success
            self._next_try = time.monotonic() + PAUSE_SECONDS


_breaker = Breaker()


class DatabaseWrapper(base.DatabaseWrapper):
    """Refuses at once while the breaker is open, else asks the pool."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        if not _breaker.admits():
            raise OperationalError("the database did not answer a moment ago")
        try:
            connection = super().get_new_connection(conn_params)
        except OperationalError:
            _breaker.record(success=False)
            raise
        _breaker.record(success=True)
        return connection
