"""Connections that fail instead of waiting for a hung server or writing to a standby.

A hung server ends no statement at its `statement_timeout`: a waiting statement probes
the server by a second connection. A write to a server that became read-only counts as a
lost connection.
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

PROBE_INTERVAL_SECONDS = 3.0
# An integer, since libpq takes no fractions.
PROBE_TIMEOUT_SECONDS = 2

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class DatabaseUnresponsiveError(psycopg.OperationalError):
    pass


class DatabaseReadOnlyError(psycopg.OperationalError):
    pass


class ServerLiveness:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._probed_at = 0.0
        self._was_alive = False
        # Monotonic times of the last abandoned statement and the last rejected write.
        self.hung_at = self.read_only_at = 0.0

    def is_alive(self, probe: Callable[[], bool]) -> bool:
        started_at = time.monotonic()
        with self._lock:
            # A success counts for two seconds, a failure only if it was found while
            # this thread waited.
            fresh_since = started_at
            if self._was_alive:
                fresh_since -= PROBE_TIMEOUT_SECONDS
            if self._probed_at <= fresh_since:
                self._was_alive = probe()
                self._probed_at = time.monotonic()
            return self._was_alive


_servers: defaultdict[tuple[str, int], ServerLiveness] = defaultdict(ServerLiveness)


@contextmanager
def database_timeout(seconds: float) -> Iterator[None]:
    """Limit the total time of waiting for the database."""
    end = time.monotonic() + seconds
    outer_deadline = _deadline.get()
    token = _deadline.set(min(end, outer_deadline) if outer_deadline else end)
    try:
        yield
    finally:
        _deadline.reset(token)


def clamp_to_deadline(end: float) -> float:
    """Return `end` (monotonic), or the end of `database_timeout` if sooner."""
    deadline = _deadline.get()
    return min(end, deadline) if deadline else end


class WatchdogConnection(psycopg.Connection[Any]):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.server = _servers[self.info.host, self.info.port]
        self.connected_at = time.monotonic()

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().wait(self._poll_with_watchdog(gen), *args, **kwargs)
        except ReadOnlySqlTransaction as error:
            # Our own code began the transaction as READ ONLY.
            if not self.is_server_read_only():
                raise
            self.server.read_only_at = time.monotonic()
            self.close()
            raise DatabaseReadOnlyError("the database accepts no writes") from error

    def is_server_read_only(self) -> bool:
        """Return the last reported state.

        True if unknown: poolers do not forward the parameters.
        """
        return any(
            self.info.parameter_status(name) != "off"
            for name in ("in_hot_standby", "default_transaction_read_only")
        )

    def _poll_with_watchdog(
        self, gen: Generator[Any, Any, Result]
    ) -> Generator[Any, Any, Result]:
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
        now, deadline = time.monotonic(), _deadline.get()
        is_late = deadline is not None and now >= deadline
        if not is_late and now < probe_at:
            return probe_at
        if is_late or not self.server.is_alive(self._can_connect):
            self.server.hung_at = time.monotonic()
            # The statement may still be running.
            self.close()
            raise DatabaseUnresponsiveError("the database does not answer")
        return time.monotonic() + PROBE_INTERVAL_SECONDS

    def _can_connect(self) -> bool:
        try:
            psycopg.connect(
                self.info.dsn,
                password=self.info.password,
                connect_timeout=PROBE_TIMEOUT_SECONDS,
            ).close()
        except ConnectionTimeout:
            return False
        except psycopg.OperationalError:
            pass
        return True
