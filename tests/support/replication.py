"""A primary and a standby that belong to one test module."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from devstack.stores.data_dir import StoreDir
from devstack.stores.replication import RunningPostgres, ServerPair
from tests.support.fault_injection import PostgresServer
from tests.support.waiting import wait_until


@contextmanager
def run_pair(
    *, is_synchronous: bool, is_migrated: bool = False
) -> Iterator[tuple[PostgresServer, ServerPair]]:
    """Run a server, and a pair in which it is the primary at first.

    With `is_migrated` they have the tables of the service.
    """
    folder = Path(tempfile.mkdtemp(prefix="household-ledger-replication-"))
    folder.chmod(0o711)  # PostgreSQL may run under another account
    try:
        first = PostgresServer(
            folder / "first", is_ephemeral=False, is_migrated=is_migrated
        )
        try:
            primary = RunningPostgres(first.store, first.folder, first.process)
            pair = ServerPair(
                primary, StoreDir(folder / "second"), is_synchronous=is_synchronous
            )
            try:
                yield first, pair
            finally:
                pair.remove()
        finally:
            first.remove()
    finally:
        shutil.rmtree(folder)


def run_on(server: RunningPostgres, *statements: str) -> None:
    limits = "-c lock_timeout=5s"
    with psycopg.connect(server.url, autocommit=True, options=limits) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def read_numbers(server: RunningPostgres) -> set[int]:
    """Return the rows of the table `written` of a primary or a standby."""
    with psycopg.connect(server.url) as connection:
        return {row[0] for row in connection.execute("SELECT number FROM written")}


def connect_standby(pair: ServerPair, conninfo: str) -> str:
    """Let the standby receive from there, and return from where it did before."""
    with psycopg.connect(pair.standby.url, autocommit=True) as connection:
        row = connection.execute("SHOW primary_conninfo").fetchone()
        assert row is not None
        value = sql.Literal(conninfo)
        connection.execute(
            sql.SQL("ALTER SYSTEM SET primary_conninfo = {}").format(value)
        )
        connection.execute("SELECT pg_reload_conf()")
    return str(row[0])


def disconnect_standby(pair: ServerPair) -> str:
    """Let the standby receive nothing, as behind a broken network."""
    conninfo = connect_standby(pair, "host=127.0.0.1 port=1")
    with psycopg.connect(pair.primary.url, autocommit=True) as connection:
        streaming = "SELECT FROM pg_stat_replication"
        wait_until(lambda: not connection.execute(streaming).fetchone())
    return conninfo
