"""`script/backup` and `script/restore`: there and back, refusals, and kills on the way."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from devstack import backup, restore
from devstack.dumps import DumpError
from devstack.environment import ROOT, Environment
from devstack.stores import StoreDir, StoreLeases
from devstack.stores.data_dir import open_lock_file, try_lock
from devstack.stores.lease import acquire_store
from tests.support.migrated_cluster import copy_migrated_cluster
from tests.support.waiting import wait_until

SECONDS = 120


@pytest.fixture(scope="module")
def stores() -> Iterator[Environment]:
    """Yield stores of this module alone, with all tables and a demo ledger."""
    kept = ("TEST_DATABASE_URL", "DATABASE_URL", "REDIS_URL", "DATABASE_TRANSACTION")
    folder = Path(tempfile.mkdtemp(prefix="household-ledger-backup-"))
    folder.chmod(0o711)  # PostgreSQL may run under another account
    copy_migrated_cluster(folder / "postgres", has_demo=True)
    valkey = StoreDir(folder / "valkey", is_ephemeral=True)
    postgres = StoreDir(folder / "postgres", is_ephemeral=True)
    leases = StoreLeases(
        (acquire_store("postgres", postgres), acquire_store("valkey", valkey))
    )
    settings = {k: v for k, v in os.environ.items() if not k.startswith(kept)}
    settings |= {"DJANGO_SETTINGS_MODULE": "config.settings", "SECRET_KEY": "k" * 50}
    try:
        yield Environment(settings | leases.settings, leases)
    finally:
        leases.release()
        shutil.rmtree(folder, ignore_errors=True)


def start(
    environment: Environment, module: str, *arguments: object
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", f"devstack.{module}", *map(str, arguments)],
        cwd=ROOT,
        env=environment.settings,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run(environment: Environment, module: str, *arguments: object) -> str:
    """Return the output of a script that must succeed."""
    process = start(environment, module, *arguments)
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, said
    return said


def fail(environment: Environment, module: str, *arguments: object) -> str:
    process = start(environment, module, *arguments)
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 1, said
    return said


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a script and the programs that it runs."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=SECONDS)


def query(environment: Environment, statement: str, name: str = "") -> list[object]:
    url = environment.settings["DATABASE_URL"]
    url = f"{url.rpartition('/')[0]}/{name}" if name else url
    with psycopg.connect(url) as connection:
        return [row[0] for row in connection.execute(statement.encode()).fetchall()]


def list_logins(environment: Environment) -> list[object]:
    return query(environment, "SELECT login_id FROM member ORDER BY login_id")


def list_databases(environment: Environment) -> set[object]:
    names = "SELECT datname FROM pg_database WHERE datname LIKE 'ledger%'"
    return set(query(environment, names, "postgres"))


def read_runs(environment: Environment) -> list[object]:
    runs = "SELECT state || ' ' || error FROM job_run WHERE job = 'backup' ORDER BY id"
    return query(environment, runs)


def rename_member(environment: Environment, name: str) -> None:
    with psycopg.connect(environment.settings["DATABASE_URL"]) as connection:
        connection.execute("UPDATE member SET login_id = %s", [name])


@pytest.fixture(scope="module")
def dump(stores: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a backup with the member `demo` alone."""
    path = tmp_path_factory.mktemp("backup") / "ledger.dump"
    said = run(stores, "backup", path)
    assert "restored and checked: 1 members, " in said
    assert path.read_bytes().startswith(b"PGDMP")
    assert path.stat().st_mode & 0o077 == 0
    assert read_runs(stores)[-1] == "DONE "
    return path


def test_backup_that_fails_is_recorded(stores: Environment, dump: Path) -> None:
    before = len(read_runs(stores))
    assert "exists" in fail(stores, "backup", dump)
    assert read_runs(stores)[before:] == ["FAILED DumpError"]


def test_backup_is_restored_with_rows_and_settings_and_the_former_database_is_kept(
    stores: Environment, dump: Path
) -> None:
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    names = [str(name) for name in query(stores, tables)]
    assert len(names) > 40

    def count() -> dict[str, object]:
        # The backup is recorded after it was written.
        tables = set(names) - {"job_run"}
        return {n: query(stores, f'SELECT count(*) FROM "{n}"')[0] for n in tables}

    described = (
        "SELECT (encoding, datlocprovider, datcollate, datlocale,"
        " (SELECT setconfig FROM pg_db_role_setting WHERE setdatabase = d.oid))::text"
        " FROM pg_database d WHERE datname = 'ledger'"
    )
    before = count()
    with psycopg.connect(stores.settings["DATABASE_URL"]) as connection:
        connection.execute("ALTER DATABASE ledger SET my.setting TO 'a value'")
    settings = query(stores, described, "postgres")
    assert "my.setting=a value" in str(settings)
    rename_member(stores, "later")
    client = redis.Redis.from_url(stores.settings["REDIS_URL"])
    client.set("session:copy", "of the later database")
    said = run(stores, "restore", dump)
    assert list_logins(stores) == ["demo"]
    assert count() == before
    assert query(stores, described, "postgres") == settings
    assert client.dbsize() == 0
    client.close()
    (former,) = list_databases(stores) - {"ledger"}
    assert f"script/restore --drop {former}" in said
    assert query(stores, "SELECT login_id FROM member", str(former)) == ["later"]
    run(stores, "restore", "--drop", former)
    assert list_databases(stores) == {"ledger"}


def test_backup_that_is_killed_leaves_no_file_and_the_next_one_works(
    stores: Environment, tmp_path: Path
) -> None:
    path = tmp_path / "killed.dump"
    partial = tmp_path / "killed.dump.partial"
    process = start(stores, "backup", path)
    wait_until(lambda: partial.exists() and partial.stat().st_size)
    kill(process)
    assert not path.exists()
    run(stores, "backup", "--no-check", path)
    assert list(tmp_path.iterdir()) == [path]


def test_backup_that_is_stopped_removes_what_it_wrote(
    stores: Environment, tmp_path: Path
) -> None:
    process = start(stores, "backup", tmp_path / "stopped.dump")
    wait_until(lambda: list(tmp_path.iterdir()))
    process.terminate()
    process.communicate(timeout=SECONDS)
    assert process.returncode == 143
    assert list(tmp_path.iterdir()) == []


def test_restore_that_is_killed_changes_nothing_and_the_next_one_works(
    stores: Environment, dump: Path
) -> None:
    rename_member(stores, "kept")
    process = start(stores, "restore", dump)
    wait_until(lambda: "ledger_restoring" in list_databases(stores))
    time.sleep(0.3)
    kill(process)
    assert list_logins(stores) == ["kept"]
    run(stores, "restore", dump, "--drop-former")
    assert list_logins(stores) == ["demo"]
    assert list_databases(stores) == {"ledger"}


def test_dump_whose_totals_are_wrong_is_neither_kept_nor_restored(
    stores: Environment, dump: Path, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.dump"
    url = stores.settings["DATABASE_URL"]
    change = "UPDATE account_day_total SET expense = expense {} 1"
    with psycopg.connect(url) as connection:
        connection.execute(change.format("+").encode())
    assert "check_totals failed" in fail(stores, "backup", path)
    assert list(tmp_path.iterdir()) == []
    run(stores, "backup", "--no-check", path)
    assert "check_totals failed" in fail(stores, "restore", path)
    assert list_databases(stores) == {"ledger"}
    with psycopg.connect(url) as connection:
        connection.execute(change.format("-").encode())


def test_restore_is_refused_while_the_service_runs(
    stores: Environment, dump: Path
) -> None:
    url = f"{stores.settings['DATABASE_URL']}?application_name=household-ledger"
    with psycopg.connect(url):
        said = fail(stores, "restore", dump)
    assert "in use by household-ledger: stop web server, worker and Beat" in said
    assert list_databases(stores) == {"ledger"}


def test_file_that_is_cut_off_changes_nothing(
    stores: Environment, dump: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.dump"
    content = dump.read_bytes()
    cut.write_bytes(content[: len(content) // 2])
    assert "pg_restore: error" in fail(stores, "restore", cut)
    assert "pg_restore: error" in fail(stores, "backup", "--check", cut)
    assert list_databases(stores) == {"ledger"}
    assert list_logins(stores) == ["demo"]


def test_existing_file_is_not_overwritten(stores: Environment, dump: Path) -> None:
    before = dump.read_bytes()
    assert f"{dump} exists" in fail(stores, "backup", dump)
    assert dump.read_bytes() == before


def test_missing_file_and_foreign_names_are_refused(
    stores: Environment, tmp_path: Path
) -> None:
    assert "there is no such file" in fail(stores, "restore", tmp_path / "none")
    assert "is not the name of a former" in fail(stores, "restore", "--drop", "ledger")


def test_password_beside_the_url_is_used_and_is_no_argument(
    stores: Environment, tmp_path: Path
) -> None:
    url = stores.settings["DATABASE_URL"]
    head, _, rest = url.partition("@")
    user, password = head.removeprefix("postgresql://").split(":")
    settings = stores.settings | {
        "DATABASE_URL": f"postgresql://{user}@{rest}",
        "DATABASE_PASSWORD": password,
    }
    environment = Environment(settings, stores.stores)
    process = start(environment, "backup", "--no-check", tmp_path / "a.dump")
    seen = set()
    while process.poll() is None:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                seen.add(path.read_bytes())
            except OSError:
                continue
    process.communicate(timeout=SECONDS)
    assert process.returncode == 0
    assert any(b"pg_dump" in line for line in seen)
    assert not any(password.encode() in line for line in seen)


def test_backups_of_a_directory_are_deleted_by_age(
    stores: Environment, tmp_path: Path
) -> None:
    old, young, other = (
        tmp_path / name for name in ("ledger-1.dump", "ledger-2.dump", "else.dump")
    )
    day = 24 * 60 * 60
    for path, age in ((old, 8), (young, 6), (other, 100)):
        path.write_bytes(b"PGDMP")
        os.utime(path, (time.time() - age * day,) * 2)
    run(stores, "backup", "--no-check", "--into", tmp_path, "--keep-days", 7)
    left = set(tmp_path.iterdir())
    assert {young, other} < left
    assert old not in left
    (written,) = left - {young, other}
    assert written.name.startswith("ledger-2")
    assert written.suffix == ".dump"


def test_what_killed_backups_left_in_a_directory_is_deleted(
    stores: Environment, tmp_path: Path
) -> None:
    # Of each the file is locked for as long as its backup writes.
    left, taken = tmp_path / "ledger-1.dump.partial", tmp_path / "ledger-2.dump.partial"
    left.touch()
    lock = open_lock_file(taken)
    assert try_lock(lock, fcntl.LOCK_EX)
    try:
        said = run(stores, "backup", "--no-check", "--into", tmp_path)
    finally:
        os.close(lock)
    assert f"{left} deleted, of a backup that was killed" in said
    assert {taken, *tmp_path.glob("ledger-2*.dump")} == set(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("is_renamed", "text"),
    [(True, "being written by another backup"), (False, "exists")],
)
def test_backup_that_waited_for_another_one_overwrites_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_renamed: bool, text: str
) -> None:
    # The other one ends after the name was found free, before the file is locked.
    path, partial = tmp_path / "a.dump", tmp_path / "a.dump.partial"

    def open_while_other_ends(lock_path: Path) -> int:
        descriptor = open_lock_file(lock_path)
        if is_renamed:
            partial.rename(path)
        else:
            path.write_bytes(b"other")
        return descriptor

    monkeypatch.setattr(backup, "open_lock_file", open_while_other_ends)
    with pytest.raises(DumpError, match=text):
        backup.back_up(path, {})
    assert list(tmp_path.iterdir()) == [path]


def test_number_of_days_is_not_negative(stores: Environment, tmp_path: Path) -> None:
    process = start(stores, "backup", "--into", tmp_path, "--keep-days", "-1")
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 2
    assert "invalid" in said
    assert list(tmp_path.iterdir()) == []


def test_database_whose_name_leaves_no_room_for_that_of_the_former_is_refused(
    stores: Environment, dump: Path
) -> None:
    # PostgreSQL would cut `_restoring` off, and drop the database of the service.
    name = "x" * 63
    url = stores.settings["DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    address = f"{url.rpartition('/')[0]}/{name}"
    environment = Environment(
        stores.settings | {"DATABASE_URL": address}, stores.stores
    )
    assert "is longer than 63 bytes" in fail(environment, "restore", dump)
    assert query(stores, "SELECT 1", name) == [1]


def test_lists_among_the_settings_stay_lists(stores: Environment) -> None:
    url = stores.settings["DATABASE_URL"]
    model, copy = "settings_model", "settings_copy"
    lists = 'SET search_path TO "$user", public, "A b"', "SET temp_tablespaces TO ''"
    described = "SELECT unnest(setconfig) FROM pg_db_role_setting JOIN pg_database d"
    described += " ON d.oid = setdatabase WHERE datname = '{}' ORDER BY 1"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {model}".encode())
        for text in (*lists, "SET work_mem TO '8MB'"):
            connection.execute(f"ALTER DATABASE {model} {text}".encode())
        restore.create_like(connection, copy, model)
    settings = query(stores, described.format(model))
    assert 'search_path="$user", public, "A b"' in settings
    assert query(stores, described.format(copy)) == settings
    for name in (model, copy):
        with psycopg.connect(url, autocommit=True) as connection:
            restore.drop_database(connection, name)


def test_pooler_is_refused(stores: Environment, tmp_path: Path) -> None:
    settings = stores.settings | {"DATABASE_TRANSACTION_POOLING": "true"}
    said = fail(Environment(settings, stores.stores), "backup", tmp_path / "a.dump")
    assert "DATABASE_URL is a pooler" in said


def test_role_without_special_rights_can_restore_and_sees_who_is_in_the_way(
    stores: Environment, dump: Path
) -> None:
    url = stores.settings["DATABASE_URL"]
    address = url.rpartition("@")[2].partition("/")[0]
    password = "p@ss#w/o:rd 1"
    with psycopg.connect(url, autocommit=True) as connection:
        role = "CREATE ROLE plain LOGIN CREATEDB PASSWORD '{}'"
        connection.execute(role.format(password).encode())
        connection.execute("CREATE DATABASE plain OWNER plain")
    settings = stores.settings | {
        "DATABASE_URL": f"postgresql://plain@{address}/plain",
        "DATABASE_PASSWORD": password,
    }
    environment = Environment(settings, stores.stores)
    with psycopg.connect(f"{url.rpartition('/')[0]}/plain"):
        assert "The database is in use by ledger" in fail(environment, "restore", dump)
    run(environment, "restore", dump)
    found = query(stores, "SELECT login_id FROM member", "plain")
    assert found == ["demo"]
    left = "SELECT datname FROM pg_database WHERE datname LIKE 'plain%'"
    assert query(stores, left) == ["plain"]
