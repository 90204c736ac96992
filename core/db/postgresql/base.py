"""Django's PostgreSQL backend, made to survive restarts and outages of the server.

Requests wait a few seconds for a connection, which carries them over a restart. Then a
circuit breaker rejects calls for a second, so that threads stay free.
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
# Networks drop idle connections silently.
PING_AFTER_IDLE_SECONDS = 10.0
PING_TIMEOUT_SECONDS = 1.0

circuit_breaker = CircuitBreaker(
    failure_threshold=1, reset_timeout_seconds=RESET_TIMEOUT_SECONDS
)
_last_used_at: WeakKeyDictionary[psycopg.Connection, float] = WeakKeyDictionary()


class DatabaseOperations(PostgresOperations):
    def last_executed_query(self, cursor: Any, sql: Any, params: Any) -> Any:
        if isinstance(cursor, base.ServerBindingCursor):
            return self.compose_sql(sql, params)
        return super().last_executed_query(cursor, sql, params)


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        if not circuit_breaker.allows_request():
            raise psycopg.OperationalError("the database did not answer a moment ago")
        started_at = time.monotonic()
        # Wait only for a database that was up; a trial after a failure is one attempt.
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
        """Return a cursor for hot statements, which are planned once.

        PostgreSQL binds the parameters: a type that it cannot infer needs a cast.
        """
        self.ensure_connection()
        with self.wrap_database_errors:
            cursor: Any = base.ServerBindingCursor(self.connection)  # type: ignore[call-arg]
            cursor.format = psycopg.pq.Format.BINARY
            return self._prepare_cursor(cursor)  # type: ignore[attr-defined]

    def _wait_for_connection(
        self, conn_params: dict[str, Any], deadline: float
    ) -> psycopg.Connection:
        started_at = time.monotonic()
        while True:
            # The pool reconnects only when asked: ask often.
            try:
                connection = super().get_new_connection(conn_params)
            except PoolTimeout:
                if time.monotonic() >= deadline:
                    raise
                continue
            if not self.pool:
                return connection  # type: ignore[no-any-return]
            has_standby = "," in self.settings_dict["HOST"]
            is_outdated = has_standby and was_server_lost(connection)
            if not is_outdated and is_connection_alive(connection):
                return connection  # type: ignore[no-any-return]
            connection.close()
            self.pool.putconn(connection)
            if not has_standby and connection.server.hung_at > started_at:
                raise liveness.DatabaseUnresponsiveError("the database did not answer")


def was_server_lost(connection: WatchdogConnection) -> bool:
    lost_at = max(connection.server.hung_at, connection.server.read_only_at)
    return connection.connected_at <= lost_at


def is_connection_alive(connection: WatchdogConnection) -> bool:
    now = time.monotonic()
    used_at = _last_used_at.get(connection, 0.0)
    _last_used_at[connection] = now
    # A hang may have left older connections unusable.
    must_ping = used_at < max(now - PING_AFTER_IDLE_SECONDS, connection.server.hung_at)
    try:
        # An idle connection receives data only when it ends.
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        if must_ping or poll.poll(0):
            with liveness.database_timeout(PING_TIMEOUT_SECONDS):
                ConnectionPool.check_connection(connection)
    except psycopg.Error:
        return False
    return True
