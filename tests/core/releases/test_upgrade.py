"""A database of the first release is upgraded beside writers, and serves on."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from devstack.dumps import Database, restore_dump, write_dump
from devstack.environment import ROOT
from tests.support.catalog import Rows, read_catalog
from tests.support.fault_injection import PostgresServer

# Tables of 1.0 with the demo data, written by `script/dump-sample`.
SAMPLE = ROOT / "tests" / "samples" / "database-1.0.dump"


@pytest.fixture
def server_url() -> Iterator[str]:
    """Run a server whose database has been migrated from nothing."""
    with tempfile.TemporaryDirectory(prefix="household-ledger-upgrade-") as name:
        Path(name).chmod(0o711)  # PostgreSQL may run under another account
        server = PostgresServer(Path(name, "postgres"), is_migrated=True)
        try:
            yield server.folder.url_file.read_text().strip()
        finally:
            server.remove()


def start(url: str, *arguments: str) -> subprocess.Popen[str]:
    environment = os.environ | {
        "DATABASE_URL": url,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": "only-for-tests-" + "x" * 50,
        "ALLOWED_HOSTS": "testserver",
    }
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def restore(server_url: str, name: str, dump: Path) -> Database:
    """Restore a dump into a new database of the server."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    database = Database(server_url).with_name(name)
    restore_dump(dump, database)
    return database


def read_dumped_catalog(
    server_url: str, database: Database, dump: Path
) -> dict[str, Rows]:
    """Return the catalogue of a copy: a dump writes some conditions in another form."""
    with (ROOT / "requirements.txt").open() as lock:
        write_dump(database, dump, lock.fileno())
    return read_catalog(restore(server_url, dump.name, dump).url)


def finish(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return output


def test_database_of_the_first_release_is_upgraded_beside_writers(
    server_url: str, tmp_path: Path
) -> None:
    released = restore(server_url, "released", SAMPLE)

    writers = start(released.url, "-m", "tests.support.upgraded_ledger", "write")
    assert writers.stdout is not None
    assert writers.stdout.readline() == "writing\n"
    migrated = start(released.url, "manage.py", "migrate")
    finish(migrated)
    slowest, written = map(int, finish(writers).split())
    assert 0 < slowest <= written

    new = read_dumped_catalog(server_url, Database(server_url), tmp_path / "new")
    upgraded = read_dumped_catalog(server_url, released, tmp_path / "upgraded")
    for name, rows in new.items():
        assert [row for row in upgraded[name] if row not in rows] == [], name
        assert [row for row in rows if row not in upgraded[name]] == [], name
    used = start(released.url, "-m", "tests.support.upgraded_ledger", "use")
    assert finish(used) == "200 201 200 204 200\n"
