"""A server that stops accepting writes, and what becomes of connections to it."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError, connections
from psycopg.errors import ReadOnlySqlTransaction

from core.db.postgresql import base, liveness
from core.db.postgresql.liveness import DatabaseReadOnlyError, WatchdogConnection

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        settings.DATABASE_TRANSACTION_POOLING,
        reason="settings of a session would go to others through the pooler",
    ),
]

# As an operator would do it for all sessions, with ALTER SYSTEM.
DEMOTE = "SET default_transaction_read_only = on"
WRITE = "CREATE TABLE written (id int)"
PID = "SELECT pg_backend_pid()"


@pytest.fixture
def session() -> Iterator[WatchdogConnection]:
    connections["default"].ensure_connection()
    info = connections["default"].connection.info
    with WatchdogConnection.connect(info.dsn, password=info.password) as session:
        yield session


@pytest.fixture
def replicated() -> Iterator[base.DatabaseWrapper]:
    """Yield a wrapper whose settings name two hosts."""
    with open_pool(hosts=2) as wrapper:
        yield wrapper


@contextmanager
def open_pool(*, hosts: int) -> Iterator[base.DatabaseWrapper]:
    """Open a pool of its own to the server, which the settings name so many times."""
    database = connections["default"].settings_dict
    own = {name: ",".join([str(database[name])] * hosts) for name in ("HOST", "PORT")}
    # Two connections at most, so that a test knows which of them it gets.
    pool = database["OPTIONS"]["pool"] | {"max_size": 2}
    options = database["OPTIONS"] | {"target_session_attrs": "read-write", "pool": pool}
    wrapper: Any = base.DatabaseWrapper(
        database | own | {"OPTIONS": options}, "replicated"
    )
    connections["replicated"] = wrapper
    try:
        yield wrapper
    finally:
        del connections["replicated"]
        wrapper.close()
        wrapper.close_pool()


@pytest.fixture(autouse=True)
def _servers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the state of the server that all tests share."""
    servers: Any = defaultdict(liveness.ServerLiveness)
    monkeypatch.setattr(liveness, "_servers", servers)


def ask(wrapper: Any, statement: str) -> Any:
    with wrapper.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0] if cursor.description else None


def test_write_to_a_server_that_became_read_only_loses_the_connection(
    session: WatchdogConnection,
) -> None:
    session.execute(DEMOTE)
    session.commit()
    assert session.execute("SELECT 1").fetchone() == (1,)
    session.commit()
    with pytest.raises(DatabaseReadOnlyError):
        session.execute(WRITE)
    assert session.closed


def test_write_in_a_read_only_transaction_of_our_own_stays_an_error(
    session: WatchdogConnection,
) -> None:
    session.execute("SET TRANSACTION READ ONLY")
    with pytest.raises(ReadOnlySqlTransaction):
        session.execute(WRITE)
    assert not session.closed


def test_next_request_after_a_lost_primary_gets_a_new_connection(
    replicated: base.DatabaseWrapper,
) -> None:
    first = ask(replicated, PID)
    ask(replicated, DEMOTE)
    with pytest.raises(OperationalError):
        ask(replicated, WRITE)
    replicated.close()
    assert ask(replicated, PID) != first
    with replicated.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE written (id int)")


def test_idle_connections_to_a_lost_primary_are_dropped(
    replicated: base.DatabaseWrapper,
) -> None:
    other: Any = replicated.copy()
    idle = ask(other, PID)
    ask(replicated, DEMOTE)
    other.close()
    assert ask(other, PID) == idle
    other.close()
    with pytest.raises(OperationalError):
        ask(replicated, WRITE)
    assert ask(other, PID) != idle
    other.close()


def test_reads_of_a_single_server_that_is_read_only_go_on() -> None:
    with open_pool(hosts=1) as wrapper:
        reader: Any = wrapper.copy()
        idle = ask(reader, PID)
        ask(wrapper, DEMOTE)
        reader.close()
        with pytest.raises(OperationalError):
            ask(wrapper, WRITE)
        assert ask(reader, PID) == idle
        reader.close()
