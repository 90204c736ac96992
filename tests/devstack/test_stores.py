"""PostgreSQL and Valkey of development: shared, kept, stopped after their last user."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from devstack.environment import start_missing_stores
from devstack.stores import StoreError, StoreLeases, acquire_stores
from devstack.stores.data_dir import LOOPBACK, StoreDir, is_locked
from devstack.stores.lease import ROOT, acquire_store
from tests.support.waiting import wait_until

HOLD_STORES = """
import sys, time
from pathlib import Path
from devstack.stores import acquire_stores
stores = acquire_stores(["valkey"], Path(sys.argv[1]))
print(stores.settings["REDIS_URL"], flush=True)
time.sleep(60)
"""

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="root runs it as another")


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """Yield a folder that other accounts can enter, which pytest's own are not."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o711)
    yield path
    shutil.rmtree(path)


def answers(stores: StoreLeases) -> bool:
    try:
        with redis.Redis.from_url(stores.settings["REDIS_URL"]) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


def query(stores: StoreLeases, statement: str) -> object:
    with psycopg.connect(stores.settings["DATABASE_URL"]) as connection:
        row = connection.execute(statement.encode()).fetchone()
    return row[0] if row else None


def is_kept(folder: Path) -> bool:
    return is_locked(StoreDir(folder).supervisor_lock)


def wait_until_free(folder: Path) -> None:
    wait_until(lambda: not is_kept(folder))


def test_second_user_joins_the_store_and_the_last_one_stops_it(data_dir: Path) -> None:
    first = acquire_stores(["valkey"], data_dir)
    second = acquire_stores(["valkey"], data_dir)
    assert second.settings == first.settings
    first.release()
    assert answers(second)
    second.release()
    assert not answers(second)
    assert not is_kept(data_dir / "valkey")


def test_data_and_address_are_there_again_at_the_next_start(data_dir: Path) -> None:
    stores = acquire_stores(["postgres"], data_dir)
    with psycopg.connect(stores.settings["DATABASE_URL"]) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    stores.release()
    again = acquire_stores(["postgres"], data_dir)
    try:
        assert again.settings == stores.settings
        assert query(again, "SELECT number FROM kept") == 7
        assert query(again, "SELECT current_setting('fsync')") == "on"
        assert query(again, "SELECT current_setting('server_encoding')") == "UTF8"
    finally:
        again.release()


def test_pid_file_of_a_crashed_machine_does_not_stop_the_start(data_dir: Path) -> None:
    acquire_stores(["postgres"], data_dir).release()
    pid_file = data_dir / "postgres" / "base" / "cluster" / "postmaster.pid"
    pid_file.write_text(
        f"{os.getpid()}\n{pid_file.parent}\n0\n1\n\n127.0.0.1\n\nready\n"
    )
    (data_dir / "postgres" / "url").write_text("postgresql://nobody@127.0.0.1:1/x")
    stores = acquire_stores(["postgres"], data_dir)
    try:
        assert query(stores, "SELECT 1") == 1
    finally:
        stores.release()


def test_stores_end_when_their_user_is_killed(data_dir: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD_STORES, str(data_dir)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    ) as user:
        assert user.stdout
        assert user.stdout.readline().startswith(b"redis://")
        assert is_kept(data_dir / "valkey")
        user.kill()
    wait_until_free(data_dir / "valkey")


def test_store_that_dies_comes_back_at_its_address(data_dir: Path) -> None:
    stores = acquire_stores(["valkey"], data_dir)
    try:
        with redis.Redis.from_url(stores.settings["REDIS_URL"]) as client:
            os.kill(int(client.info("server")["process_id"]), signal.SIGKILL)
        assert wait_until(lambda: answers(stores))
    finally:
        stores.release()


def test_taken_port_is_replaced_by_another_one(data_dir: Path) -> None:
    with socket.socket() as occupant:
        occupant.bind((LOOPBACK, 0))
        occupant.listen()
        port = occupant.getsockname()[1]
        (data_dir / "valkey").mkdir()
        (data_dir / "valkey" / "port").write_text(str(port))
        stores = acquire_stores(["valkey"], data_dir)
    try:
        assert f":{port}/" not in stores.settings["REDIS_URL"]
        assert answers(stores)
    finally:
        stores.release()


def test_ephemeral_stores_leave_no_files() -> None:
    stores = acquire_stores(["postgres", "valkey"], None)
    folders = [lease.store_dir.path for lease in stores.leases]
    try:
        assert query(stores, "SELECT current_setting('fsync')") == "off"
        assert all(folder.is_dir() for folder in folders)
    finally:
        stores.release()
    assert not folders[0].parent.exists()


def test_only_the_store_whose_address_is_not_given_is_run(data_dir: Path) -> None:
    given = {"DATABASE_URL": "postgresql://ledger@db.example/ledger"}
    stores = start_missing_stores(given, data_dir)
    try:
        assert list(stores.settings) == ["REDIS_URL"]
        assert not (data_dir / "postgres").exists()
    finally:
        stores.release()


def test_passwords_are_for_this_account_only(data_dir: Path) -> None:
    acquire_stores(["valkey"], data_dir).release()
    assert (data_dir / "valkey" / "password").stat().st_mode & 0o077 == 0


def test_data_folder_that_cannot_be_used_is_one_clear_line(data_dir: Path) -> None:
    (data_dir / "valkey").write_text("a file, not a folder")
    with pytest.raises(StoreError, match=r"^/\S+valkey cannot be used: .+$"):
        acquire_stores(["valkey"], data_dir)


@only_root
def test_under_root_postgresql_belongs_to_another_account(data_dir: Path) -> None:
    acquire_stores(["postgres"], data_dir).release()
    home = data_dir / "postgres" / "base"
    assert not home.is_symlink()
    assert home.stat().st_uid != 0


@only_root
def test_under_root_a_closed_folder_is_stood_in_for_by_an_open_one(
    data_dir: Path,
) -> None:
    data_dir.chmod(0o700)
    use = acquire_store("postgres", StoreDir(data_dir / "postgres", is_ephemeral=True))
    home = data_dir / "postgres" / "base"
    elsewhere = home.resolve()
    try:
        assert home.is_symlink()
        assert elsewhere.stat().st_uid != 0
        with psycopg.connect(use.url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        use.release()
    data_dir.mkdir(exist_ok=True)
    assert not elsewhere.exists()


@only_root
def test_copied_data_folder_does_not_reach_the_cluster_of_the_first(
    data_dir: Path,
) -> None:
    stores = acquire_stores(["postgres"], data_dir)
    copy = data_dir / "copy" / "postgres"
    copy.mkdir(parents=True)
    (copy / "base").symlink_to(data_dir / "postgres" / "base")
    try:
        with pytest.raises(StoreError, match="in use by another data directory"):
            acquire_stores(["postgres"], copy.parent)
        assert query(stores, "SELECT 1") == 1
    finally:
        stores.release()
