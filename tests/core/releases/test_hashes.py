"""Released migrations never change, and a database that has others is refused."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from environ import Env

from core.releases.hashes import (
    check_migrations_or_exit,
    hash_migration,
    list_hashes,
)
from core.releases.sql_migrations import list_changed_names
from devstack.environment import ROOT
from tests.support.fault_injection import PostgresServer

RELEASED = Path(__file__).with_name("released.txt")


def read_released() -> dict[tuple[str, ...], str]:
    rows = (line.split() for line in RELEASED.read_text().splitlines())
    return {(app, name): sha256 for app, name, sha256 in rows}


def test_released_migrations_are_unchanged() -> None:
    # A release adds the lines of its new migrations, and changes none.
    assert list_hashes() == read_released()


@pytest.mark.parametrize("app", ["accounts", "board", "ledger"])
def test_current_sql_texts_are_those_of_the_last_migration(app: str) -> None:
    assert list_changed_names(ROOT / app) == [], (
        f"script/manage make_sql_migration {app}"
    )


def test_migrations_import_nothing_that_may_change() -> None:
    for app, name in list_hashes():
        folder = ROOT / app / "migrations"
        if not folder.is_dir():
            folder = ROOT / "core" / app / "migrations"
        number = name.partition("_")[0]
        for path in (folder / f"{name}.py", *folder.glob(f"_{number}_*.py")):
            text = path.read_text()
            for own in ("accounts", "administration", "billing", "board", "ledger"):
                assert f"import {own}" not in text, path
                allowed = f"from {own}.migrations._{number}_"
                assert f"from {own}" not in text.replace(allowed, ""), path


def test_hash_is_of_the_migration_and_of_what_it_loads(tmp_path: Path) -> None:
    folder = tmp_path / "migrations"
    shutil.copytree(ROOT / "ledger" / "migrations", folder)
    path = folder / "0001_initial.py"
    hashes = {hash_migration(path)}
    for loaded in ("0001_initial.py", "sql/0001/positions.sql"):
        with (folder / loaded).open("a") as file:
            file.write("\n")
        hashes.add(hash_migration(path))
    (folder / "sql" / "0002").mkdir()
    (folder / "sql" / "0002" / "positions.sql").write_text("")
    assert len(hashes) == 3
    assert hash_migration(path) in hashes


@pytest.fixture(scope="module")
def released_url() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="household-ledger-hashes-") as name:
        Path(name).chmod(0o711)  # PostgreSQL may run under another account
        server = PostgresServer(Path(name, "postgres"), is_migrated=True)
        try:
            yield server.folder.url_file.read_text().strip()
        finally:
            server.remove()


@pytest.fixture
def database_url(released_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let this process check the database of another server."""
    database = settings.DATABASES["default"] | Env.db_url_config(released_url)
    monkeypatch.setitem(settings.DATABASES, "default", database)
    return released_url


CHANGES = [
    (
        (
            "UPDATE applied_migration SET sha256 = 'other'"
            " WHERE app = 'ledger' AND name = '0001_initial'"
        ),
        "the database was made by another text of ledger.0001_initial;",
    ),
    (
        "INSERT INTO django_migrations (app, name, applied) SELECT 'board', '0099', now()",
        "the database is of a newer release: it has board.0099.",
    ),
    (
        "DROP TABLE applied_migration",
        "the database is older than the first release, which cannot upgrade it:",
    ),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_database_with_other_migrations_is_refused(
    database_url: str, change: str, message: str
) -> None:
    before = "CREATE TABLE former AS TABLE applied_migration"
    undo = (
        "DROP TABLE IF EXISTS applied_migration;"
        "CREATE TABLE applied_migration (LIKE former);"
        "ALTER TABLE applied_migration ADD PRIMARY KEY (app, name);"
        "INSERT INTO applied_migration TABLE former; DROP TABLE former;"
        "DELETE FROM django_migrations WHERE name = '0099'"
    )
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(before)
        connection.execute(change)
        with pytest.raises(CommandError, match=f"^{re.escape(message)}"):
            call_command("migrate")
        with pytest.raises(SystemExit, match=f"^migrations: {re.escape(message)}"):
            check_migrations_or_exit()
        connection.execute(undo)
    check_migrations_or_exit()


def test_server_does_not_start_on_a_database_that_is_refused(database_url: str) -> None:
    environment = os.environ | {
        "DATABASE_URL": database_url,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": "only-for-tests-" + "x" * 50,
        "PORT": "1",  # where a server must not come so far as to listen
    }
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE applied_migration SET sha256 = sha256 || 'x'")
        server = subprocess.run(
            [sys.executable, "-m", "config.server"],
            cwd=settings.BASE_DIR,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        connection.execute("UPDATE applied_migration SET sha256 = rtrim(sha256, 'x')")
    assert server.returncode == 1
    assert server.stderr.strip().splitlines()[-1].startswith("migrations: the database")
