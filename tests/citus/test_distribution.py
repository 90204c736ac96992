"""`distribute` on a database with ledgers in it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from psycopg import sql

from core.db.sessions import open_session
from devstack.environment import ROOT
from ledger.management.distribution import (
    DistributionError,
    distribute,
    list_distributed_tables,
)
from tests.support.citus import add_workers, connect, drop_database, list_nodes

STORED = """
SELECT 'entries', count(*)::text, sum(amount)::text FROM account_entry UNION ALL
SELECT 'positions', count(*)::text, sum(quantity * version)::text FROM invest_position
UNION ALL SELECT 'tags', count(*)::text, sum(amount)::text FROM account_tag_total
"""
PLACES = """
SELECT count(DISTINCT colocation_id), count(*) FROM citus_tables
WHERE table_name::text = ANY (%s) AND distribution_column = 'member_id'
"""
LOCAL_BYTES = "SELECT sum(pg_relation_size(name)) FROM unnest(%s::text[]) name"
ON_SHARDS = """
SELECT bool_and(result = 'O') FROM run_command_on_shards('account_entry', $$
    SELECT string_agg(DISTINCT tgenabled::text, ',') FROM pg_trigger
    WHERE tgrelid = '%s'::regclass AND NOT tgisinternal
$$)
"""


class InterruptedError(Exception):
    """The command was killed between two steps."""


@pytest.fixture
def empty_database(django_db_setup: None, monkeypatch: Any) -> Iterator[str]:
    """Use a database of the coordinator without tables as the test database."""
    name = f"{connection.settings_dict['NAME']}_filled"
    nodes = list_nodes()
    drop_database(name, nodes[0])
    with connect(nodes[0]) as session:
        session.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    monkeypatch.setitem(connection.settings_dict, "NAME", name)
    yield name
    for node in reversed(nodes):
        drop_database(name, node)


def manage(name: str, *arguments: str) -> str:
    """Run a command on the database; return its output."""
    url = os.environ["DATABASE_URL"].rpartition("/")[0] + f"/{name}"
    command = [sys.executable, "manage.py", *arguments]
    variables = os.environ | {"DATABASE_URL": url, "SECRET_KEY": "k" * 50}
    variables.pop("DJANGO_SETTINGS_MODULE", None)
    result = subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def read(query: str, *parameters: Any) -> list[Any]:
    with open_session() as session:
        return session.execute(query, parameters or None).fetchall()


def test_what_is_not_ready_is_refused_with_one_line(empty_database: str) -> None:
    nodes = list_nodes()
    with pytest.raises(DistributionError, match=r"^The database does not have the ext"):
        distribute(str)
    with connect(nodes[0], empty_database) as session:
        session.execute("CREATE EXTENSION citus")
    with pytest.raises(DistributionError, match=r"^The database has no tables: run mi"):
        distribute(str)
    manage(empty_database, "migrate")
    with pytest.raises(DistributionError, match=r"^No worker is registered: see citus"):
        distribute(str)


def test_ledgers_move_to_the_workers_with_their_totals(empty_database: str) -> None:
    add_workers(empty_database, list_nodes())
    manage(empty_database, "migrate")
    for number in range(3):
        manage(empty_database, "load_demo_data", "--login-id", f"demo{number}")
    before = read(STORED)
    tables = list_distributed_tables()

    with open_session(), pytest.raises(DistributionError, match="1 sessions"):
        distribute(str)

    def report_until_entries(line: str) -> None:
        if line == "account_entry: distributed":
            raise InterruptedError

    with pytest.raises(InterruptedError):
        distribute(report_until_entries)
    ((_, distributed),) = read(PLACES, tables)
    assert 0 < distributed < len(tables)

    lines: list[str] = []
    distribute(lines.append)
    assert read(PLACES, tables) == [(1, len(tables))]
    assert read(STORED) == before
    assert read(LOCAL_BYTES, tables) == [(0,)]
    assert read(ON_SHARDS) == [(True,)]
    assert " 0 differ" in manage(empty_database, "check_totals")
    assert lines[-1].startswith(f"{len(tables)} tables are distributed over ")

    assert manage(empty_database, "distribute").splitlines() == [
        "Nothing is left to do.",
        lines[-1],
    ]
