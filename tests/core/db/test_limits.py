"""The limits of statements, locks and transactions are checked at the start."""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from core.db import limits
from devstack.environment import ROOT

LOCK_TIMEOUT = f"{settings.DATABASE_LIMITS['lock_timeout']}ms"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def role_settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield a role for this test, whose settings are the only source of limits."""
    role = f"role_{uuid.uuid4().hex}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {role} LOGIN SUPERUSER PASSWORD '{role}'")
    database = dict(settings.DATABASES["default"], USER=role, PASSWORD=role)
    database["OPTIONS"] = {"connect_timeout": 3}
    # The pooler knows one user; this one connects to the server itself.
    if direct := os.environ.get("DIRECT_DATABASE_URL"):
        database["PORT"] = urlsplit(direct).port
    monkeypatch.setitem(settings.DATABASES, "default", database)

    def set_limits(**values: str) -> None:
        with connection.cursor() as cursor:
            for name, value in values.items():
                cursor.execute(f"ALTER ROLE {role} SET {name} = '{value}'")

    yield set_limits
    with connection.cursor() as cursor:
        cursor.execute(f"DROP ROLE {role}")


def test_limits_of_the_service_are_in_force() -> None:
    assert limits.find_limit_problem() is None


def test_limits_may_come_from_the_role(role_settings: Any) -> None:
    role_settings(
        statement_timeout="10s",
        lock_timeout=LOCK_TIMEOUT,
        idle_in_transaction_session_timeout="30s",
    )
    assert limits.find_limit_problem() is None


def test_limits_that_are_missing_or_others_are_named_in_one_line(
    role_settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    role_settings(lock_timeout=LOCK_TIMEOUT, statement_timeout="1min")
    with pytest.raises(SystemExit) as exit_info:
        limits.check_database_limits_or_exit()
    line = str(exit_info.value)
    assert line.startswith("configuration: ")
    assert "\n" not in line
    assert "statement_timeout is 60000 ms" in line
    assert "SET statement_timeout = 10000" in line
    assert "idle_in_transaction_session_timeout is 0 ms" in line
    assert "lock_timeout is" not in line


def test_start_without_the_database_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    database = dict(settings.DATABASES["default"], PORT="1")
    monkeypatch.setitem(settings.DATABASES, "default", database)
    limits.check_database_limits_or_exit()
    assert "could not be checked" in caplog.text


def test_pooler_that_rejects_options_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: Any) -> None:
        # The words of PgBouncer 1.18.
        raise psycopg.OperationalError("unsupported startup parameter: options")

    monkeypatch.setattr(psycopg, "connect", refuse)
    with pytest.raises(SystemExit, match="set DATABASE_TRANSACTION_POOLING=true"):
        limits.check_database_limits_or_exit()


@pytest.mark.parametrize(
    "command",
    [
        ("config.server",),
        ("celery", "-A", "config", "beat", "--pidfile", ""),
        ("celery", "-A", "config", "worker"),
    ],
    ids=" ".join,
)
def test_service_without_its_limits_does_not_start(
    command: tuple[str, ...], role_settings: Any
) -> None:
    role_settings(lock_timeout=LOCK_TIMEOUT, idle_in_transaction_session_timeout="30s")
    database = settings.DATABASES["default"]
    given = {
        "DATABASE_URL": f"postgresql://{database['USER']}:{database['PASSWORD']}"
        f"@{database['HOST']}:{database['PORT']}/{database['NAME']}",
        "DATABASE_TRANSACTION_POOLING": "true",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": "k" * 50,
        "BIND": "127.0.0.1:0",
    }
    run = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env=os.environ | given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode != 0
    lines = [line for line in run.stderr.splitlines() if "statement_timeout" in line]
    assert len(lines) == 1, run.stderr
    assert "configuration: statement_timeout is 0 ms" in lines[0]
