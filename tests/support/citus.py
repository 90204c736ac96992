"""Test databases on a Citus cluster.

TEST_DATABASE_URL names a database of the coordinator that has the extension and the
workers; the test databases get the same workers. No test but those of the ledger needs
to know.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import psycopg
from django.db import connection
from psycopg import sql
from psycopg.rows import class_row

from ledger.management.distribution import distribute

# Tests of which Citus refuses a statement, with the reason.
UNSUPPORTED = {
    "tests/ledger/base/test_ownership.py::test_row_with_references_cannot_change_its_member": (
        "no row can change its member, before any foreign key is checked"
    ),
}
_UNDO = "tests/ledger/operations/test_undo.py::test"
_NAMELESS = "the constraint that a nested statement violates comes without its SQLSTATE"
# Tests that fail on Citus, with the reason (docs/citus.md, Limits).
FAULTS = {
    f"{_UNDO}_rows_that_need_each_other_come_back_beside_one_that_does_not_fit": _NAMELESS,
    f"{_UNDO}_a_value_comes_back_and_counts": _NAMELESS,
    f"{_UNDO}_a_new_row_in_the_place_of_a_deleted_one_stays": _NAMELESS,
    f"{_UNDO}_a_transfer_does_not_get_one_wallet_twice": _NAMELESS,
    "tests/ledger/test_request_keys.py::test_the_oldest_keys_go_first": (
        "the parts of the statement run one after the other, and one more key goes"
    ),
}
# Tests whose means work on one server only.
OF_ONE_SERVER = {
    "tests/concurrency/test_restore.py::test_killed_web_process_leaves_the_old_data": (
        "its trigger takes an advisory lock, which is that of a worker there"
    ),
}
NODES = """
SELECT nodename AS host, nodeport AS port, groupid = 0 AS is_coordinator
FROM pg_dist_node WHERE noderole = 'primary' ORDER BY groupid
"""
PLACE_BY_SHARD = """
SELECT shardid::text, shardminvalue::bigint FROM pg_dist_shard
WHERE shardminvalue IS NOT NULL
"""
# The table in a command to a worker: public.account_entry_102058
SHARD_RE = re.compile(r"\b[a-z_]+_(\d{6,})\b")
HAS_EXTENSION = "SELECT 1 FROM pg_extension WHERE extname = 'citus'"


class Node(NamedTuple):
    host: str
    port: int
    is_coordinator: bool


@cache
def has_citus() -> bool:
    """Return whether the tests run on a Citus cluster."""
    url = os.environ.get("TEST_DATABASE_URL")
    if not url:
        return False
    with psycopg.connect(url) as session:
        return session.execute(HAS_EXTENSION).fetchone() is not None


def distribute_test_database() -> None:
    """Distribute the ledgers of the test database, which is migrated."""
    name: str = connection.settings_dict["NAME"]
    # The sessions of the pool would keep their settings.
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
    nodes = list_nodes()
    with connect(nodes[0], name) as session:
        is_prepared = session.execute(HAS_EXTENSION).fetchone()
    if not is_prepared:
        add_workers(name, nodes)
    distribute(str)


def drop_databases_of_workers() -> None:
    """Drop the test database of each worker; Django drops that of the coordinator."""
    for node in list_nodes():
        if not node.is_coordinator:
            drop_database(connection.settings_dict["NAME"], node)


def list_nodes() -> list[Node]:
    """Return the coordinator and the workers."""
    with psycopg.connect(os.environ["TEST_DATABASE_URL"]) as session:
        cursor = session.cursor(row_factory=class_row(Node))
        return cursor.execute(NODES).fetchall()


def connect(node: Node, name: str = "") -> psycopg.Connection[Any]:
    """Connect to a database of a node, by default that of TEST_DATABASE_URL."""
    url = urlsplit(os.environ["TEST_DATABASE_URL"])
    return psycopg.connect(
        url.geturl(),
        # The coordinator may have registered itself by a name of its own network.
        host=url.hostname if node.is_coordinator else node.host,
        port=url.port if node.is_coordinator else node.port,
        dbname=name or url.path.removeprefix("/"),
        autocommit=True,
    )


def add_workers(name: str, nodes: list[Node]) -> None:
    """Create the database on the workers and register them on the coordinator."""
    for node in nodes:
        if not node.is_coordinator:
            drop_database(name, node)
            with connect(node) as session:
                session.execute(
                    sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
                )
        with connect(node, name) as session:
            session.execute("CREATE EXTENSION citus")
    coordinator, *workers = nodes
    with connect(coordinator, name) as session:
        session.execute("SELECT citus_set_coordinator_host(%s, %s)", coordinator[:2])
        for worker in workers:
            session.execute("SELECT citus_add_node(%s, %s)", worker[:2])


def drop_database(name: str, node: Node) -> None:
    with connect(node) as session:
        session.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(
                sql.Identifier(name)
            )
        )


@contextmanager
def record_touched_ledgers() -> Iterator[set[int]]:
    """Yield the places of the ledgers which statements of the block touch.

    A place is the lower bound of the hashes of the member ids that are in one shard of
    each table, and so on one worker.
    """
    with connection.cursor() as cursor:
        cursor.execute(PLACE_BY_SHARD)
        place_by_shard: dict[str, int] = dict(cursor.fetchall())
        cursor.execute("SET citus.log_remote_commands = on")
    places: set[int] = set()

    def record(notice: psycopg.errors.Diagnostic) -> None:
        message = notice.message_primary or ""
        if message.startswith("issuing "):
            numbers = SHARD_RE.findall(message)
            places.update(place_by_shard[n] for n in numbers if n in place_by_shard)

    session: Any = connection.connection
    session.add_notice_handler(record)
    try:
        yield places
    finally:
        session.remove_notice_handler(record)
        connection.cursor().execute("SET citus.log_remote_commands = off")
