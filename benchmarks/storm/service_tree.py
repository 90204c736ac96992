"""The whole service as `script/server` runs it: its start, memory, and kills."""

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from redis import Redis
from redis.exceptions import RedisError

from benchmarks.environment import temporary_folder
from benchmarks.processes import list_child_pids, measure_tree_pss, read_stat
from benchmarks.report import Row, bounded, log_progress
from devstack.environment import ROOT
from devstack.stores.data_dir import StoreDir, find_free_port
from devstack.stores.store_supervisor import set_parent_death_signal

NAME = "service"
MAX_START_SECONDS, MAX_MEBIBYTES = 3, 350
STARTS = 5
# Beat sends the jobs that are due.
SETTLE_SECONDS = 10
START_TIMEOUT_SECONDS, RETURN_TIMEOUT_SECONDS = 120.0, 60.0
STOP_TIMEOUT_SECONDS = 40.0
COMMAND_TIMEOUT_SECONDS = 120.0
POLL_SECONDS = 0.05
# Settings of a test run or a shell.
FOREIGN_SETTINGS = ("DATABASE_", "REDIS_URL", "SECRET_KEY", "BIND", "PYTEST_")
# The supervisor starts them in this order.
PROCESSES = ("web server", "worker", "worker of long jobs", "scheduler")


class ServiceTree:
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
        with self.log.open("ab") as log:
            begins_at = log.tell()
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
        while b"Ctrl-C stops it" not in self.log.read_bytes()[begins_at:]:
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(self.log.read_text(errors="replace")[-2_000:])
            time.sleep(POLL_SECONDS)
        # The process that migrated has ended.
        self.pids = dict(zip(PROCESSES, self.list_processes(), strict=True))

    def list_processes(self) -> list[int]:
        """Return the processes that the supervisor forked, in the order of start.

        The supervisors of the stores have other command lines.
        """
        pid = self.process.pid
        command = read_command(pid)
        forked = [
            each for each in list_child_pids(pid) if read_command(each) == command
        ]
        # The 20th field is the time of the start.
        return sorted(forked, key=lambda each: int(read_stat(each)[19]))

    def stop(self) -> None:
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(STOP_TIMEOUT_SECONDS)
        self.process.kill()
        self.process.wait()

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
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
        created = self.run("-m", "benchmarks.members", *map(str, members))
        if created.returncode:
            raise RuntimeError(created.stdout)
        return {int(member): key for member, key in json.loads(created.stdout).items()}

    def read_url(self, store: str) -> str:
        return StoreDir(self.folder / "data" / store).url_file.read_text().strip()

    def kill_web_worker(self) -> float:
        """Return the seconds until the victim was back, as all kills do."""
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
        base = (self.folder / "data" / "postgres" / "base").resolve()
        pid_file = base / "cluster" / "postmaster.pid"
        os.kill(int(pid_file.read_text().split()[0]), signal.SIGKILL)

        def is_back() -> bool:
            with suppress(psycopg.OperationalError, OSError):
                psycopg.connect(self.read_url("postgres"), connect_timeout=2).close()
                return True
            return False

        return self.wait_for("PostgreSQL", is_back)

    def kill_fast_store(self) -> float:
        with Redis.from_url(self.read_url("valkey")) as store:
            os.kill(store.info("server")["process_id"], signal.SIGKILL)

        def is_back() -> bool:
            with suppress(RedisError, OSError):
                url = self.read_url("valkey")
                return bool(Redis.from_url(url, socket_timeout=2).ping())
            return False

        return self.wait_for("Valkey", is_back)

    def wait_for(self, name: str, is_back: Callable[[], bool]) -> float:
        began = time.monotonic()
        time.sleep(POLL_SECONDS)
        while not is_back():
            if time.monotonic() > began + RETURN_TIMEOUT_SECONDS:
                raise RuntimeError(f"{name} did not come back")
            time.sleep(POLL_SECONDS)
        return time.monotonic() - began


def read_command(pid: int) -> bytes:
    try:
        return Path("/proc", str(pid), "cmdline").read_bytes()
    except OSError:
        return b""


@contextmanager
def run_service_tree(
    settings: Mapping[str, str],
    *,
    keep_logs: bool = False,
    prepare: Callable[[Path], object] = lambda data_dir: None,
) -> Iterator[ServiceTree]:
    """`prepare` may put stores into the data directory."""
    with temporary_folder("data", keep_logs=keep_logs) as folder:
        tree = ServiceTree(folder, settings)
        prepare(folder / "data")
        tree.start()
        try:
            yield tree
        finally:
            tree.stop()


def measure(
    scale: float,
    *,
    keep_logs: bool = False,
    settle_seconds: float = SETTLE_SECONDS,
    prepare: Callable[[Path], object] = lambda data_dir: None,
) -> list[Row]:
    starts, memory = [], []
    with run_service_tree({}, keep_logs=keep_logs, prepare=prepare) as tree:
        for number in range(1, 1 + max(1, int(STARTS * scale))):
            log_progress(f"start {number}")
            tree.stop()
            started = time.monotonic()
            tree.start()
            starts.append(time.monotonic() - started)
            time.sleep(settle_seconds)
            memory.append(measure_tree_pss(tree.process.pid))
    start, size = statistics.median(starts), statistics.median(memory)
    level = f"{size:.0f} MiB PSS"
    return [
        bounded(NAME, "later start", f"{start:.1f} s", start, MAX_START_SECONDS),
        bounded(NAME, "idle, all processes", level, size, MAX_MEBIBYTES),
    ]
