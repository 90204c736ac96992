"""The embedded cluster moves to the next major version of PostgreSQL."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from devstack.debian_stores import create_cluster
from devstack.environment import ROOT
from devstack.stores import StoreError, acquire_stores
from devstack.stores.data_dir import StoreDir, find_free_port
from devstack.stores.postgres import program_version
from devstack.upgrade_stores import running
from tests.support.waiting import wait_until

SECONDS = 120
# In one process, each of which takes seconds to start.
FILL = """
from datetime import date
from django.core.management import call_command
from accounts.models import Member
from ledger.models import Entry

call_command("migrate", interactive=False)
member = Member.objects.create(
    login_id="demo", display_name="demo", email="demo@example.com"
)
Entry.objects.create(member=member, date=date(2026, 11, 2), type="expense", amount=7)
"""
# Debian's; of the major version before that of the wheel or older.
OLD_PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))

needs_old_programs = pytest.mark.skipif(
    not OLD_PROGRAMS, reason="no PostgreSQL of an older version"
)


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """Yield a folder that other accounts can enter, which pytest's own are not."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o711)
    yield path
    shutil.rmtree(path)


def environment(data_dir: Path) -> dict[str, str]:
    ours = ("DATABASE_", "REDIS_URL", "SECRET_KEY", "BIND", "PYTEST_", "TEST_")
    left = {name: v for name, v in os.environ.items() if not name.startswith(ours)}
    own = {"DATA_DIR": str(data_dir), "PORT": str(find_free_port())}
    return left | own | {"DJANGO_SETTINGS_MODULE": "config.settings"}


def start(data_dir: Path, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "devstack.upgrade_stores", *map(str, arguments)],
        cwd=ROOT,
        env=environment(data_dir),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def upgrade(data_dir: Path, *arguments: object) -> tuple[int, str]:
    process = start(data_dir, *arguments)
    _, said = process.communicate(timeout=SECONDS)
    return process.returncode, said


def manage(data_dir: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "devstack.environment"]
    subprocess.run(
        [*command, sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(data_dir),
        check=True,
        capture_output=True,
        timeout=SECONDS,
    )


def create_old_cluster(data_dir: Path, programs: Path) -> None:
    """Make the data directory as it is after the wheel's version has changed."""
    store = create_cluster(StoreDir(data_dir / "postgres"), programs)
    with running(store) as database:
        given = environment(data_dir) | {
            "DATABASE_URL": database.url,
            "SECRET_KEY": "k" * 50,
        }
        subprocess.run(
            [sys.executable, "manage.py", "shell", "--command", FILL],
            cwd=ROOT,
            env=given,
            check=True,
            capture_output=True,
            timeout=SECONDS,
        )


def list_logins(data_dir: Path) -> tuple[list[str], int]:
    """Return the members in the cluster as script/server runs it, and its version."""
    stores = acquire_stores(["postgres"], data_dir)
    try:
        with psycopg.connect(stores.settings["DATABASE_URL"]) as connection:
            rows = connection.execute("SELECT login_id FROM member").fetchall()
            return [row[0] for row in rows], connection.info.server_version // 10_000
    finally:
        stores.release()


@needs_old_programs
def test_cluster_of_an_older_version_is_named_upgraded_and_kept(data_dir: Path) -> None:
    programs = OLD_PROGRAMS[0].parent
    version = programs.parent.name
    create_old_cluster(data_dir, programs)
    with pytest.raises(StoreError, match=f"of PostgreSQL {version}, .*upgrade-stores"):
        acquire_stores(["postgres"], data_dir)

    # Killed in the middle, the old cluster is as it was.
    base = data_dir / "postgres" / "base"
    process = start(data_dir, "--old-programs", programs)
    wait_until((base / "upgrade" / "cluster").exists)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=SECONDS)
    assert (base / "cluster" / "PG_VERSION").read_text().strip() == version

    code, said = upgrade(data_dir, "--old-programs", programs)
    assert code == 0, said
    assert "restored and checked: 1 members, 1 entries, " in said
    assert list_logins(data_dir) == (["demo"], int(program_version()))
    manage(data_dir, "check_totals")
    kept = base / f"cluster-{version}"
    assert (kept / "PG_VERSION").read_text().strip() == version
    assert not (base / "upgrade").exists()
    assert not (data_dir / "postgres" / "upgrade.dump").exists()
    code, said = upgrade(data_dir)
    assert (code, "nothing to do" in said) == (0, True)


def test_upgrade_that_was_killed_between_two_names_is_finished_at_the_next_start(
    data_dir: Path,
) -> None:
    stores = acquire_stores(["postgres"], data_dir)
    with psycopg.connect(stores.settings["DATABASE_URL"]) as connection:
        connection.execute("CREATE TABLE member AS SELECT 'kept' AS login_id")
    stores.release()
    base = data_dir / "postgres" / "base"
    (base / "cluster").rename(base / "cluster.upgraded")
    assert list_logins(data_dir)[0] == ["kept"]
    assert not (base / "cluster.upgraded").exists()


def test_without_the_old_programs_it_says_where_they_are_looked_for(
    data_dir: Path,
) -> None:
    acquire_stores(["postgres"], data_dir).release()
    version_file = data_dir / "postgres" / "base" / "cluster" / "PG_VERSION"
    version_file.write_text("9\n")
    code, said = upgrade(data_dir)
    assert code == 1
    assert "/usr/lib/postgresql/9/bin has no programs of PostgreSQL 9" in said


def test_cluster_in_use_and_missing_one_are_refused(data_dir: Path) -> None:
    code, said = upgrade(data_dir)
    assert (code, "has no cluster" in said) == (1, True)
    stores = acquire_stores(["postgres"], data_dir)
    try:
        code, said = upgrade(data_dir)
        assert (code, "stop script/server first" in said) == (1, True)
    finally:
        stores.release()
