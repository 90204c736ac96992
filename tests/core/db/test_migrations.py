"""Migrations: from nothing to the newest state, and once more on a filled database."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from devstack.environment import ROOT
from tests.support.fault_injection import PostgresServer, RunningService
from tests.support.stores import ValkeyServer


@pytest.fixture
def service() -> Iterator[RunningService]:
    with tempfile.TemporaryDirectory(prefix="household-ledger-migrations-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        database, fast_store = PostgresServer(folder / "postgres"), ValkeyServer()
        try:
            yield RunningService(database, fast_store, folder / "log")
        finally:
            fast_store.kill()
            database.remove()


def manage(service: RunningService, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=os.environ | service.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def ask(service: RunningService, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(service.environment["DATABASE_URL"]) as connection:
        return connection.execute(statement).fetchall()


COUNTS = """
SELECT count(*), coalesce(sum(amount), 0) FROM account_entry
"""


def test_filled_database_goes_back_and_forth_without_losing_a_row(
    service: RunningService,
) -> None:
    manage(service, "migrate", "-v", "0")
    manage(service, "load_demo_data")
    before = ask(service, COUNTS)
    assert before[0][0] > 1000
    newest = manage(service, "showmigrations", "ledger").split("[X] ")
    manage(service, "migrate", "ledger", newest[-2].split()[0], "-v", "0")
    manage(service, "migrate", "-v", "0")
    assert ask(service, COUNTS) == before
    assert "0 differ" in manage(service, "check_totals")
    assert "[ ]" not in manage(service, "showmigrations")
