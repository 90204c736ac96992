"""A connection that does not wait for ever for a server that says nothing.

PostgreSQL ends a statement at its `statement_timeout`, but a server that is stopped,
swapped out or behind a broken network ends nothing, and its kernel still answers for
it. So a statement that has waited for a while asks for a second connection: a server
that answers there is only slow, one that does not is given up. Statements whose limit
was lifted (migrations, restores) go on as long as the server lives.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import psycopg
from psycopg.errors import ConnectionTimeout

Result = TypeVar("Result")

PROBE_INTERVAL_SECONDS = 3.0
"""How long a statement waits before the server is asked whether it lives."""
PROBE_TIMEOUT_SECONDS = 2
"""How long the server has to say so; libpq counts in whole seconds."""

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class DatabaseUnresponsiveError(psycopg.OperationalError):
    """The server takes statements and answers none."""


class ServerLiveness:
    """When the server was last asked whether it lives, and seen to hang."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._probed_at = 0.0
        self._was_alive = False
        self.hung_at = 0.0

    def is_alive(self, ask: Callable[[], bool]) -> bool:
        """Threads that wait at the same time ask once."""
        began = time.monotonic()
        with self._lock:
            fresh = began - PROBE_TIMEOUT_SECONDS if self._was_alive else began
            if self._probed_at <= fresh:
                self._was_alive = ask()
                self._probed_at = time.monotonic()
            return self._was_alive

    def record_hang(self) -> None:
        self.hung_at = time.monotonic()


server = ServerLiveness()


@contextmanager
def database_timeout(seconds: float) -> Iterator[None]:
    """Let everything that waits for the database in this block end in time.

    What takes longer counts as a server that hangs; its connection is closed.
    """
    end = time.monotonic() + seconds
    outer = _deadline.get()
    token = _deadline.set(min(end, outer) if outer else end)
    try:
        yield
    finally:
        _deadline.reset(token)


def clamp_to_deadline(end: float) -> float:
    """The moment `end`, or the end of the `database_timeout` block around if that is sooner."""
    deadline = _deadline.get()
    return min(end, deadline) if deadline else end


class WatchdogConnection(psycopg.Connection[Any]):
    """Waits as long as the server lives."""

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        """As psycopg's, which looks every 0.1 s whether it must go on waiting."""
        return super().wait(self._poll_with_watchdog(gen), *args, **kwargs)

    def _poll_with_watchdog(
        self, gen: Generator[Any, Any, Result]
    ) -> Generator[Any, Any, Result]:
        """Pass on what psycopg's generator asks for, with an eye on the clock.

        It is sent 0 when nothing has come in for a tenth of a second.
        """
        ask_at = time.monotonic() + PROBE_INTERVAL_SECONDS
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready:
                    ask_at = self._probe_if_due(ask_at)
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def _probe_if_due(self, ask_at: float) -> float:
        """When to ask next; whoever gives up closes the connection, since the
        statement may still run and nothing else can be said on it."""
        now, deadline = time.monotonic(), _deadline.get()
        is_late = deadline is not None and now >= deadline
        if not is_late and now < ask_at:
            return ask_at
        if is_late or not server.is_alive(self._can_connect):
            server.record_hang()
            self.close()
            raise DatabaseUnresponsiveError("the database does not answer")
        return time.monotonic() + PROBE_INTERVAL_SECONDS

    def _can_connect(self) -> bool:
        """Whether the server admits a second connection, or refuses it in words."""
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
