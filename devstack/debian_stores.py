"""Temporary stores for tests from Debian's packages."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devstack.stores.data_dir import (
    LOOPBACK,
    StoreDir,
    StoreError,
    find_free_port,
    is_port_free,
)
from devstack.stores.os_user import choose_os_user
from devstack.stores.postgres import Postgres
from devstack.stores.store_supervisor import (
    set_parent_death_signal,
    stop,
    wait_until_ready,
)

PROGRAMS = Path("/usr/lib/postgresql")
START_TIMEOUT_SECONDS = 10


def find_oldest_programs() -> Path:
    found = [path.parent for path in PROGRAMS.glob("*/bin/initdb")]
    if not found or not shutil.which("redis-server"):
        raise StoreError("Debian's postgresql and redis-server are not installed")
    return min(found, key=lambda path: int(path.parent.name))


@contextmanager
def run_debian_stores() -> Iterator[dict[str, str]]:
    programs = find_oldest_programs()
    directory = Path(tempfile.mkdtemp(prefix="household-ledger-debian-"))
    directory.chmod(0o711)
    try:
        store = create_cluster(StoreDir(directory / "postgres", True), programs)
        port, redis_port = find_free_port(), find_free_port()
        process = store.launch(port)
        redis = subprocess.Popen(  # noqa: S603
            [
                *("redis-server", "--port", str(redis_port), "--bind", LOOPBACK),
                *("--save", "", "--dir", str(directory)),
            ],
            stdout=subprocess.DEVNULL,
            preexec_fn=set_parent_death_signal(store.stop_signal),
        )
        try:
            if not wait_until_ready(store, process, port):
                raise StoreError(f"{programs / 'postgres'} did not start")
            wait_for_port(redis_port)
            yield {
                "DATABASE_URL": store.connection_url(port),
                "REDIS_URL": f"redis://{LOOPBACK}:{redis_port}/0",
            }
        finally:
            redis.terminate()
            redis.wait()
            stop(store, process)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def create_cluster(store_dir: StoreDir, programs: Path) -> Postgres:
    store_dir.path.mkdir(mode=0o711)
    base = store_dir.path / "base"
    base.mkdir(mode=0o700)
    os_user = choose_os_user(base)
    os_user.chown_recursive(base)
    store = Postgres(store_dir, os_user, base, programs)
    store.create_cluster()
    return store


def wait_for_port(port: int) -> None:
    end = time.monotonic() + START_TIMEOUT_SECONDS
    while is_port_free(port):
        if time.monotonic() > end:
            raise StoreError("redis-server did not start")
        time.sleep(0.02)
