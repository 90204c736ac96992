"""Migrations: every app down to nothing and up again, on a database of its own."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.apps import AppConfig, apps
from django.core.management import call_command

from devstack.environment import ROOT
from tests.support.fault_injection import PostgresServer

Rows = list[tuple[Any, ...]]

# Dependents first: an app takes those with it that need it.
APPS = ("board", "billing", "administration", "ledger", "jobs", "leases", "accounts")
CATALOG = {
    "columns": """
        SELECT table_name, column_name, data_type, is_nullable, column_default,
               generation_expression, character_maximum_length
        FROM information_schema.columns WHERE table_schema = 'public'
    """,
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    """,
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "functions": """
        SELECT oid::regprocedure::text, pg_get_functiondef(oid) FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'
    """,
    "triggers": """
        SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    """,
    "options": """
        SELECT relname, reloptions FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND reloptions IS NOT NULL
    """,
    "extensions": "SELECT extname FROM pg_extension",
}
FIRST_ROWS = """
SELECT type, name, name_en, sort_order, level::text FROM default_category
UNION ALL
SELECT name, enabled::text, NULL, NULL, NULL FROM application_setting
"""


@pytest.fixture
def database_url() -> Iterator[str]:
    """Run a server whose database has been migrated from nothing."""
    with tempfile.TemporaryDirectory(prefix="household-ledger-migrations-") as name:
        Path(name).chmod(0o711)  # PostgreSQL may run under another account
        server = PostgresServer(Path(name, "postgres"), is_migrated=True)
        try:
            yield server.folder.url_file.read_text().strip()
        finally:
            server.remove()


def migrate(database_url: str, *targets: Sequence[str]) -> None:
    """Run `manage.py migrate` once for each target, in one process."""
    code = (
        "import sys, django; django.setup()\n"
        "from django.core.management import call_command\n"
        "for target in sys.argv[1:]:\n"
        "    call_command('migrate', *target.split(), verbosity=0)\n"
    )
    environment = os.environ | {
        "DATABASE_URL": database_url,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": "only-for-tests-" + "x" * 50,
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *(" ".join(target) for target in targets)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def ask(database_url: str, statement: str) -> Rows:
    with psycopg.connect(database_url) as connection:
        return sorted(connection.execute(statement).fetchall(), key=repr)


def read_catalog(database_url: str) -> dict[str, Rows]:
    return {name: ask(database_url, query) for name, query in CATALOG.items()}


def test_every_app_goes_to_zero_and_back(database_url: str) -> None:
    # The way back leaves nothing behind, and the way up makes the same again.
    full, first_rows = read_catalog(database_url), ask(database_url, FIRST_ROWS)
    assert len(first_rows) > 50
    migrate(database_url, *((app, "zero") for app in APPS))
    empty = read_catalog(database_url)
    own_tables = {
        model._meta.db_table for config in own_apps() for model in config.get_models()
    }
    assert own_tables <= {table for table, *_ in full["columns"]}
    assert own_tables.isdisjoint(table for table, *_ in empty["columns"])
    assert empty["triggers"] == []
    assert empty["functions"] == []
    assert empty["extensions"] == [("plpgsql",)]
    migrate(database_url, ())
    assert read_catalog(database_url) == full
    assert ask(database_url, FIRST_ROWS) == first_rows


def test_each_app_has_one_initial_migration() -> None:
    # Nothing is released yet: a change goes into the initial migration.
    assert {config.label for config in own_apps()} == set(APPS)
    for config in own_apps():
        found = [path.name for path in Path(config.path, "migrations").glob("0*.py")]
        assert found == ["0001_initial.py"]


@pytest.mark.django_db
def test_models_and_migrations_agree() -> None:
    call_command("makemigrations", check_changes=True, dry_run=True, verbosity=0)


def own_apps() -> list[AppConfig]:
    """Return the apps of this repository that have tables."""
    return [
        config
        for config in apps.get_app_configs()
        if Path(config.path, "migrations").is_dir()
        and not config.name.startswith("django")
    ]
