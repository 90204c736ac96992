"""A database that is away costs one caller the wait, not every caller.

A caller waits for a connection for a while, which carries requests over a restart.
When that wait ends in vain, the calls of the next second are refused at once, so
that threads stay free and every answer is a quick 503; those after it wait for one
short turn, until one of them finds the database back.

The pool is asked in short turns: it only tries to connect anew when it is asked, and
its own repetitions come later and later. Its check of each connection, a round trip,
is replaced by a look at the socket: a restart of the database shows there. After a
server was seen to hang (`patience`), each connection is asked before it is used.
"""

import select
import time
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from django.db.backends.postgresql import base
from psycopg_pool import ConnectionPool, PoolTimeout

from core.db.postgresql import liveness
from core.metrics import database_connection_failures

RESET_TIMEOUT_SECONDS = 1.0
POOL_TIMEOUT_SECONDS = 4.0
PING_AFTER_IDLE_SECONDS = 10.0
"""A connection unused for longer is asked: networks forget them without a sign."""
PING_TIMEOUT_SECONDS = 1.0
"""How long a connection that is asked may take to answer."""

_last_used_at: WeakKeyDictionary[psycopg.Connection, float] = WeakKeyDictionary()


class DatabaseCircuitBreaker:
    """Open for a pause after a failure; whoever comes after it may try again.

    Threads race for its fields on purpose: the worst is one try more or fewer.
    """

    def __init__(self) -> None:
        self._open_until = 0.0
        self._last_success = 0.0

    @property
    def is_closed(self) -> bool:
        return not self._open_until

    def can_attempt(self) -> bool:
        return self.is_closed or time.monotonic() >= self._open_until

    def record_success(self) -> None:
        self._last_success = time.monotonic()
        self._open_until = 0.0

    def record_failure(self, began: float) -> None:
        """A wait that began before the last success says nothing about now."""
        if began > self._last_success:
            self._open_until = time.monotonic() + RESET_TIMEOUT_SECONDS


_breaker = DatabaseCircuitBreaker()


class DatabaseWrapper(base.DatabaseWrapper):
    """Refuses at once while the breaker is open, else asks the pool."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        if not _breaker.can_attempt():
            raise psycopg.OperationalError("the database did not answer a moment ago")
        began = time.monotonic()
        end = began + (POOL_TIMEOUT_SECONDS if _breaker.is_closed else 0.0)
        try:
            connection = self._wait_for_connection(
                conn_params, liveness.clamp_to_deadline(end)
            )
        except psycopg.OperationalError:
            _breaker.record_failure(began)
            database_connection_failures.inc()
            raise
        _breaker.record_success()
        return connection

    def _wait_for_connection(
        self, conn_params: dict[str, Any], end: float
    ) -> psycopg.Connection:
        """A connection that works; at least one turn, broken ones not counted."""
        began = time.monotonic()
        while True:
            try:
                connection = super().get_new_connection(conn_params)
            except PoolTimeout:
                if time.monotonic() >= end:
                    raise
                continue
            if not self.pool or is_connection_alive(connection):
                return connection  # type: ignore[no-any-return]
            connection.close()
            self.pool.putconn(connection)  # which makes the pool replace it
            if liveness.server.hung_at > began:
                raise liveness.DatabaseUnresponsiveError("the database did not answer")


def is_connection_alive(connection: psycopg.Connection) -> bool:
    """Whether the server is still there, without a round trip where that will do.

    Nothing comes in on an idle connection but its end or a reason to ask.
    """
    now = time.monotonic()
    used_at = _last_used_at.get(connection, 0.0)
    _last_used_at[connection] = now
    known_since = max(now - PING_AFTER_IDLE_SECONDS, liveness.server.hung_at)
    try:
        if has_pending_input(connection.fileno()) or used_at < known_since:
            with liveness.database_timeout(PING_TIMEOUT_SECONDS):
                ConnectionPool.check_connection(connection)
    except psycopg.Error:
        return False
    return True


def has_pending_input(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
