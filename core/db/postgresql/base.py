"""Django's PostgreSQL backend, made to survive restarts and outages of the server.

Requests wait a few seconds for a connection, which carries them over a restart. If that
fails, a circuit breaker rejects the calls of the next second at once, so that threads
stay free and the responses are quick 503s.

Pooled connections are checked before use without a round trip where possible; the
pool's own check would cost one for each request.

Hot statements are prepared: planning a statement over several tables takes PostgreSQL
longer than running it.
"""

import select
import time
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from django.db.backends.postgresql import base
from django.db.backends.postgresql.operations import (
    DatabaseOperations as PostgresOperations,
)
from psycopg_pool import ConnectionPool, PoolTimeout

from core.circuit_breaker import CircuitBreaker
from core.db.postgresql import liveness
from core.db.postgresql.liveness import WatchdogConnection
from core.metrics import database_connection_failures

RESET_TIMEOUT_SECONDS = 1.0
POOL_TIMEOUT_SECONDS = 4.0
# Networks drop idle connections without a sign, so one that has been unused for this
# long is checked by a round trip.
PING_AFTER_IDLE_SECONDS = 10.0
PING_TIMEOUT_SECONDS = 1.0

circuit_breaker = CircuitBreaker(
    failure_threshold=1, reset_timeout_seconds=RESET_TIMEOUT_SECONDS
)
_last_used_at: WeakKeyDictionary[psycopg.Connection, float] = WeakKeyDictionary()


class DatabaseOperations(PostgresOperations):
    def last_executed_query(self, cursor: Any, sql: Any, params: Any) -> Any:
        """Return the statement for Django's query log, prepared ones with values."""
        if isinstance(cursor, base.ServerBindingCursor):
            return self.compose_sql(sql, params)
        return super().last_executed_query(cursor, sql, params)


class DatabaseWrapper(base.DatabaseWrapper):
    """The wrapper that Django looks up by the ENGINE of the settings."""

    ops_class = DatabaseOperations

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a working connection from the pool, or raise `OperationalError`."""
        if not circuit_breaker.allows_request():
            raise psycopg.OperationalError("the database did not answer a moment ago")
        started_at = time.monotonic()
        # A trial after a failure is one attempt; only a database that was up is worth
        # waiting for.
        timeout = POOL_TIMEOUT_SECONDS if circuit_breaker.is_closed() else 0.0
        try:
            connection = self._wait_for_connection(
                conn_params, liveness.clamp_to_deadline(started_at + timeout)
            )
        except psycopg.OperationalError:
            circuit_breaker.record_failure(started_at=started_at)
            database_connection_failures.inc()
            raise
        circuit_breaker.record_success()
        return connection

    def prepared_cursor(self) -> Any:
        """Return a cursor for statements that are sent often and seldom change.

        From their second use on (`prepare_threshold` of the settings) PostgreSQL has
        them parsed and, mostly, planned. Parameters are bound by the server, so a type
        that it cannot infer needs a cast.
        """
        self.ensure_connection()
        with self.wrap_database_errors:
            cursor: Any = base.ServerBindingCursor(self.connection)  # type: ignore[call-arg]
            # Binary results cost Python less to read.
            cursor.format = psycopg.pq.Format.BINARY
            return self._prepare_cursor(cursor)  # type: ignore[attr-defined]

    def _wait_for_connection(
        self, conn_params: dict[str, Any], deadline: float
    ) -> psycopg.Connection:
        """Try until a connection works or the deadline has passed, at least once."""
        started_at = time.monotonic()
        while True:
            # The pool starts connecting again only when it is asked, and its own
            # retries come later and later, so it is asked often, with a short timeout
            # (`timeout` of the pool in the settings).
            try:
                connection = super().get_new_connection(conn_params)
            except PoolTimeout:
                if time.monotonic() >= deadline:
                    raise
                continue
            if not self.pool:
                return connection  # type: ignore[no-any-return]
            # With one host there is nowhere else to go.
            has_standby = "," in self.settings_dict["HOST"]
            is_outdated = has_standby and was_server_lost(connection)
            if not is_outdated and is_connection_alive(connection):
                return connection  # type: ignore[no-any-return]
            # A closed connection that is returned makes the pool open a new one.
            connection.close()
            self.pool.putconn(connection)
            if not has_standby and connection.server.hung_at > started_at:
                raise liveness.DatabaseUnresponsiveError("the database did not answer")


def was_server_lost(connection: WatchdogConnection) -> bool:
    """Return whether the server hung or was read-only since the connection was made."""
    lost_at = max(connection.server.hung_at, connection.server.read_only_at)
    return connection.connected_at <= lost_at


def is_connection_alive(connection: WatchdogConnection) -> bool:
    """Return whether the server is still there, by a round trip only where needed."""
    now = time.monotonic()
    used_at = _last_used_at.get(connection, 0.0)
    _last_used_at[connection] = now
    # A server that was seen to hang may have left any older connection unusable.
    must_ping = used_at < max(now - PING_AFTER_IDLE_SECONDS, connection.server.hung_at)
    try:
        # An idle connection receives nothing but the news of its end.
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        if must_ping or poll.poll(0):
            with liveness.database_timeout(PING_TIMEOUT_SECONDS):
                ConnectionPool.check_connection(connection)
    except psycopg.Error:
        return False
    return True
