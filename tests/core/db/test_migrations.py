"""Migrations: every app down to nothing and up again, on a database of its own."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from django.apps import AppConfig, apps
from django.core.management import call_command

from devstack.environment import ROOT
from tests.support.catalog import ask, read_catalog
from tests.support.fault_injection import PostgresServer

# Dependents first: an app takes those with it that need it.
APPS = ("board", "billing", "administration", "ledger", "jobs", "leases", "accounts")
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


def test_own_apps_are_known() -> None:
    assert {config.label for config in own_apps()} == set(APPS)


@pytest.mark.django_db
def test_models_and_migrations_agree(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("makemigrations", check_changes=True, dry_run=True)
    assert capsys.readouterr().out == "No changes detected\n"


def own_apps() -> list[AppConfig]:
    """Return the apps of this repository that have tables."""
    return [
        config
        for config in apps.get_app_configs()
        if Path(config.path, "migrations").is_dir()
        and not config.name.startswith("django")
    ]
