"""The whole service as `script/server` runs it, and what a storm kills of it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from redis import Redis
from redis.exceptions import RedisError

from benchmarks.memory import list_child_pids
from benchmarks.report import log_progress
from benchmarks.servers import ROOT
from devstack.stores.data_dir import StoreDir, find_free_port
from devstack.stores.store_supervisor import set_parent_death_signal

START_TIMEOUT_SECONDS, RETURN_TIMEOUT_SECONDS = 120.0, 60.0
STOP_TIMEOUT_SECONDS = 40.0
COMMAND_TIMEOUT_SECONDS = 120.0
POLL_SECONDS = 0.05
# Settings that a test run or a shell has for itself.
FOREIGN_SETTINGS = ("DATABASE_", "REDIS_URL", "SECRET_KEY", "BIND", "PYTEST_")
# In the order in which the supervisor starts them.
PROCESSES = ("web server", "worker", "scheduler")


class ServiceTreeError(Exception):
    """The service failed to start, or what was killed did not come back."""


class ServiceTree:
    """The supervisor with its processes and stores, in a folder and on a port."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.folder, self.port = folder, find_free_port()
        left = {
            k: v for k, v in os.environ.items() if not k.startswith(FOREIGN_SETTINGS)
        }
        self.settings = {
            **left,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATA_DIR": str(folder / "data"),
            "PORT": str(self.port),
            **settings,
        }
        self.log = folder / "server.log"
        self.killers: dict[str, Callable[[], float]] = {
            "web worker": self.kill_web_worker,
            "Celery worker": self.kill_celery_worker,
            "PostgreSQL": self.kill_database,
            "Valkey": self.kill_fast_store,
        }

    def start(self) -> None:
        """Start the service and wait until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "devstack.supervisor"],
                cwd=ROOT,
                env=self.settings,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=set_parent_death_signal(signal.SIGTERM),
            )
        end = time.monotonic() + START_TIMEOUT_SECONDS
        while b"Ctrl-C stops it" not in self.log.read_bytes():
            if self.process.poll() is not None or time.monotonic() > end:
                raise ServiceTreeError(self.log.read_text(errors="replace")[-2_000:])
            time.sleep(POLL_SECONDS)
        # The one that migrated has ended.
        self.pids = dict(zip(PROCESSES, self.list_processes(), strict=True))

    def list_processes(self) -> list[int]:
        """Return the processes that the supervisor forked, in the order of start.

        Its other children, the supervisors of the stores, have command lines of their
        own.
        """
        pid = self.process.pid
        command = read_command(pid)
        forked = [
            each for each in list_child_pids(pid) if read_command(each) == command
        ]
        return sorted(forked, key=read_start_time)

    def stop(self) -> None:
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(STOP_TIMEOUT_SECONDS)
        self.process.kill()
        self.process.wait()

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Python with the settings and stores of the service."""
        environment = [sys.executable, "-m", "devstack.environment"]
        return subprocess.run(
            [*environment, sys.executable, *arguments],
            cwd=ROOT,
            env=self.settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=COMMAND_TIMEOUT_SECONDS,
        )

    def create_members(self, members: range) -> dict[int, str]:
        """Create members, the first an administrator; return tokens of sessions."""
        ids = list(map(str, members))
        created = self.run("-m", "benchmarks.members", *ids)
        if created.returncode:
            raise ServiceTreeError(created.stdout)
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            connection.execute("UPDATE member SET role = 'ADMIN' WHERE id = 1")
        output = self.run("-m", "benchmarks.login", *ids).stdout
        return {int(member): key for member, key in json.loads(output).items()}

    # --- Stores ----------------------------------------------------------------

    @property
    def database(self) -> StoreDir:
        return StoreDir(self.folder / "data" / "postgres")

    @property
    def database_url(self) -> str:
        return self.database.url_file.read_text().strip()

    @property
    def fast_store_url(self) -> str:
        return StoreDir(self.folder / "data" / "valkey").url_file.read_text().strip()

    # --- Kills: each returns the seconds until the victim was back -------------

    def kill_web_worker(self) -> float:
        web = self.pids["web server"]
        before = list_child_pids(web)
        os.kill(before[0], signal.SIGKILL)
        return self.wait_for(
            "web worker",
            lambda: len(set(list_child_pids(web)) - {before[0]}) >= len(before),
        )

    def kill_celery_worker(self) -> float:
        """Kill the worker; its child ends with it."""
        known = set(self.pids.values())
        os.kill(self.pids["worker"], signal.SIGKILL)

        def is_back() -> bool:
            for pid in set(self.list_processes()) - known:
                self.pids["worker"] = pid
            return self.pids["worker"] not in known

        return self.wait_for("Celery worker", is_back)

    def kill_database(self) -> float:
        pid_file = (self.database.path / "base").resolve() / "cluster/postmaster.pid"
        os.kill(int(pid_file.read_text().split()[0]), signal.SIGKILL)
        return self.wait_for("PostgreSQL", self.has_database)

    def has_database(self) -> bool:
        try:
            psycopg.connect(self.database_url, connect_timeout=2).close()
        except (psycopg.OperationalError, OSError):
            return False
        return True

    def kill_fast_store(self) -> float:
        with Redis.from_url(self.fast_store_url) as store:
            os.kill(store.info("server")["process_id"], signal.SIGKILL)
        return self.wait_for("Valkey", self.has_fast_store)

    def has_fast_store(self) -> bool:
        try:
            with Redis.from_url(self.fast_store_url, socket_timeout=2) as store:
                return bool(store.ping())
        except (RedisError, OSError):
            return False

    def wait_for(self, name: str, is_back: Callable[[], bool]) -> float:
        began = time.monotonic()
        time.sleep(POLL_SECONDS)
        while not is_back():
            if time.monotonic() > began + RETURN_TIMEOUT_SECONDS:
                raise ServiceTreeError(f"{name} did not come back")
            time.sleep(POLL_SECONDS)
        return time.monotonic() - began


def read_command(pid: int) -> bytes:
    """Return the command line of a process, nothing if it has ended."""
    try:
        return Path("/proc", str(pid), "cmdline").read_bytes()
    except OSError:
        return b""


def read_start_time(pid: int) -> int:
    """Return when a process started, in ticks since the machine did."""
    status = Path("/proc", str(pid), "stat").read_text()
    return int(status.rpartition(")")[2].split()[19])


@contextmanager
def run_service_tree(
    settings: Mapping[str, str],
    *,
    keep_logs: bool = False,
    prepare: Callable[[Path], object] = lambda data_dir: None,
) -> Iterator[ServiceTree]:
    """Run the service in a temporary folder, which is removed at the end.

    The folder is kept if `keep_logs`, or after an exception. `prepare` may put stores
    into the data directory before the service starts.
    """
    folder = Path(tempfile.mkdtemp(prefix="household-ledger-storm-"))
    folder.chmod(0o711)  # PostgreSQL may run as another OS user
    tree = ServiceTree(folder, settings)
    try:
        prepare(folder / "data")
        tree.start()
        try:
            yield tree
        finally:
            tree.stop()
    except Exception:
        keep_logs = True
        raise
    finally:
        if keep_logs:
            log_progress(f"see the logs in {folder}")
        else:
            base = (tree.database.path / "base").resolve()
            shutil.rmtree(base, ignore_errors=True)
            shutil.rmtree(folder, ignore_errors=True)
