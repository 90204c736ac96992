"""Connections that fail instead of waiting for a hung server or writing to a standby.

PostgreSQL ends a statement at its `statement_timeout`. A server that is stopped,
swapped out or behind a broken network ends nothing, though its kernel may still
acknowledge packets. So a statement that has waited for some seconds probes the server
by a second connection: if that is accepted, the server is only slow and the statement
goes on, without a limit for statements such as migrations; if not, it fails.

A server that became read-only is no primary anymore. A write to it counts as a lost
connection, so that the next one goes to the new primary.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import psycopg
from psycopg.errors import ConnectionTimeout, ReadOnlySqlTransaction

Result = TypeVar("Result")

# How long a statement waits before the server is probed, and between probes.
PROBE_INTERVAL_SECONDS = 3.0
# An integer, since libpq takes no fractions.
PROBE_TIMEOUT_SECONDS = 2

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class DatabaseUnresponsiveError(psycopg.OperationalError):
    """The server accepts statements and answers none."""


class DatabaseReadOnlyError(psycopg.OperationalError):
    """The server accepts no writes (anymore)."""


class ServerLiveness:
    """The last probe of one server, shared by all threads of the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._probed_at = 0.0
        self._was_alive = False
        # When a statement was last given up, and when a write was last rejected
        # (monotonic).
        self.hung_at = self.read_only_at = 0.0

    def is_alive(self, probe: Callable[[], bool]) -> bool:
        """Return the result of `probe`, or of one that another thread has just made."""
        started_at = time.monotonic()
        with self._lock:
            # Threads queue here while one of them probes. A success of the last two
            # seconds is good enough; a failure counts if it was found in the meantime.
            fresh_since = started_at
            if self._was_alive:
                fresh_since -= PROBE_TIMEOUT_SECONDS
            if self._probed_at <= fresh_since:
                self._was_alive = probe()
                self._probed_at = time.monotonic()
            return self._was_alive

    def record_hang(self) -> None:
        self.hung_at = time.monotonic()

    def record_read_only(self) -> None:
        self.read_only_at = time.monotonic()


# By host and port.
_servers: defaultdict[tuple[str, int], ServerLiveness] = defaultdict(ServerLiveness)


@contextmanager
def database_timeout(seconds: float) -> Iterator[None]:
    """Limit the time that all waiting for the database in the block may take.

    A statement that takes longer counts as a hang, and its connection is closed.
    """
    end = time.monotonic() + seconds
    outer_deadline = _deadline.get()
    token = _deadline.set(min(end, outer_deadline) if outer_deadline else end)
    try:
        yield
    finally:
        _deadline.reset(token)


def clamp_to_deadline(end: float) -> float:
    """Return `end` (monotonic), or the enclosing `database_timeout`'s if sooner."""
    deadline = _deadline.get()
    return min(end, deadline) if deadline else end


class WatchdogConnection(psycopg.Connection[Any]):
    """A connection whose statements fail when the server hangs or is read-only."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.server = _servers[self.info.host, self.info.port]
        self.connected_at = time.monotonic()

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        """Wait as psycopg does, with the watchdog in between."""
        try:
            return super().wait(self._poll_with_watchdog(gen), *args, **kwargs)
        except ReadOnlySqlTransaction as error:
            # Else it is the transaction that was begun as READ ONLY, by our own code.
            if not self.is_server_read_only():
                raise
            self.server.record_read_only()
            self.close()
            raise DatabaseReadOnlyError("the database accepts no writes") from error

    def is_server_read_only(self) -> bool:
        """Return what the server reported last, without a round trip.

        True if that is unknown: poolers do not pass it on.
        """
        return any(
            self.info.parameter_status(name) != "off"
            for name in ("in_hot_standby", "default_transaction_read_only")
        )

    def _poll_with_watchdog(
        self, gen: Generator[Any, Any, Result]
    ) -> Generator[Any, Any, Result]:
        """Pass on what psycopg's generator and its event loop send to each other."""
        probe_at = time.monotonic() + PROBE_INTERVAL_SECONDS
        try:
            wanted = next(gen)
            while True:
                # psycopg sends 0 each 0.1 s while nothing has come in.
                ready = yield wanted
                if not ready:
                    probe_at = self._probe_if_due(probe_at)
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def _probe_if_due(self, probe_at: float) -> float:
        """Return when to probe next; raise `DatabaseUnresponsiveError` on a hang."""
        now, deadline = time.monotonic(), _deadline.get()
        is_late = deadline is not None and now >= deadline
        if not is_late and now < probe_at:
            return probe_at
        if is_late or not self.server.is_alive(self._can_connect):
            self.server.record_hang()
            # The statement may still be running: nothing else can be sent on this
            # connection.
            self.close()
            raise DatabaseUnresponsiveError("the database does not answer")
        return time.monotonic() + PROBE_INTERVAL_SECONDS

    def _can_connect(self) -> bool:
        """Return whether the server answers an attempt to connect, even by an error."""
        try:
            psycopg.connect(
                self.info.dsn,
                password=self.info.password,
                connect_timeout=PROBE_TIMEOUT_SECONDS,
            ).close()
        except ConnectionTimeout:
            return False
        except psycopg.OperationalError:
            # For example too many connections: the server is alive.
            pass
        return True
