"""The environment of a benchmark run: stores, data, sessions and web servers."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from benchmarks import dataset
from benchmarks.client import (
    NO_RESPONSE,
    Calls,
    Client,
    Series,
    Target,
    time_interleaved,
)
from benchmarks.dataset import DatasetSpec
from benchmarks.load import LoadRun, load_interleaved
from benchmarks.processes import (
    find_main_process,
    list_child_pids,
    read_processor_seconds,
)
from benchmarks.report import Row, log_progress
from devstack.environment import ROOT
from devstack.stores import acquire_stores
from devstack.stores.data_dir import LOOPBACK, find_free_port
from devstack.stores.store_supervisor import set_parent_death_signal

SERVICE_COMMAND = ("config.server", "config.rsgi:application")
BASELINE_COMMAND = ("config.server", "benchmarks.baseline.rsgi:application")
BASELINE = {"DJANGO_SETTINGS_MODULE": "benchmarks.baseline.settings"}
WSGI_COMMAND = (
    *("granian", "benchmarks.peers:application", "--workers", "2"),
    *("--interface", "wsgi", "--blocking-threads", "4"),
    *("--http", "1", "--no-ws", "--no-access-log", "--log-level", "warning"),
)
TRIVIAL_PATH = "/api/auth/session"
EMPTY_DATABASE = "empty"
COMMAND_TIMEOUT_SECONDS = 1_800
START_TIMEOUT_SECONDS, STOP_TIMEOUT_SECONDS = 60, 12


@dataclass(frozen=True)
class Effort:
    """Rounds, repeats of a call, and seconds of a load."""

    rounds: int = 5
    max_repeats: int = 100
    load_seconds: float = 3


class BenchmarkEnvironment:
    """The stores of a run with their data, and web servers started on first use."""

    def __init__(
        self,
        directory: Path,
        spec: DatasetSpec,
        effort: Effort,
        stores: Mapping[str, str],
    ) -> None:
        self.directory, self.spec, self.effort = directory, spec, effort
        self.database_url, self.valkey_url = stores["DATABASE_URL"], stores["REDIS_URL"]
        self.settings = {
            **os.environ,
            **stores,
            "DATABASE_TRANSACTION_POOLING": "false",
            "SECRET_KEY": secrets.token_urlsafe(48),
            "SERVE_STATIC_FROM_SOURCE": "true",
            "DEBUG": "false",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        self._servers: dict[str, tuple[int, subprocess.Popen[bytes]]] = {}
        self._tokens: dict[int, str] = {}

    def prepare(self, *, is_migrated: bool = False) -> None:
        if not is_migrated:
            log_progress("creating tables")
            self.manage("migrate", "--verbosity", "0")
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {EMPTY_DATABASE} TEMPLATE ledger")
        spec = self.spec
        log_progress(f"loading the entries of {len(spec.all_members)} members")
        self.add_members(
            range(1, spec.members + 1), spec.entries_per_member, has_totals=False
        )
        for member, size in spec.large_members.items():
            self.add_members([member], size, has_totals=False)
        self.manage("check_totals", "--repair")

    def time(
        self,
        calls: Calls,
        repeats: int,
        set_up: Callable[[str], object] = lambda _: None,
    ) -> dict[str, Series]:
        repeats = min(repeats, self.effort.max_repeats)
        return time_interleaved(calls, self.effort.rounds, repeats, set_up)

    def load(
        self, subjects: Mapping[str, Sequence[Target]]
    ) -> dict[str, list[LoadRun]]:
        return load_interleaved(subjects, self.effort.rounds, self.effort.load_seconds)

    def create_members(
        self, members: Iterable[int], database_url: str | None = None
    ) -> dict[int, str]:
        """Return the keys of the sessions of new premium members."""
        env = {"DATABASE_URL": database_url or self.database_url}
        output = self.run("-m", "benchmarks.members", *map(str, members), **env)
        return {int(member): key for member, key in json.loads(output).items()}

    def create_sessions(self, member: int, count: int) -> list[str]:
        """Return the keys of further sessions of a member."""
        arguments = ["--sessions", str(count), str(member)]
        output = self.run("-m", "benchmarks.members", *arguments)
        keys: list[str] = json.loads(output)
        return keys

    def add_members(
        self,
        members: Sequence[int],
        entries: int = 0,
        *,
        has_lines: bool = False,
        has_totals: bool = True,
    ) -> None:
        """Create members with so many entries, unless an earlier benchmark has."""
        if members[0] in self._tokens:
            return
        self._tokens |= self.create_members(members)
        with psycopg.connect(self.database_url) as connection:
            dataset.load_members(connection, members, entries, has_lines=has_lines)
        if has_totals:
            self.manage("check_totals", "--repair")
        dataset.vacuum_and_checkpoint(self.database_url)

    def create_database(self, name: str) -> str:
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name}")
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {EMPTY_DATABASE}")
        return urlunsplit(urlsplit(self.database_url)._replace(path=f"/{name}"))

    def get_token(self, member: int) -> str:
        return self._tokens[member]

    def serve(self, name: str, command: Sequence[str], **settings: str) -> int:
        """Return the port of a web server, which starts on first use."""
        if name not in self._servers:
            port, log = find_free_port(), self.directory / f"{name}.log"
            ports = {"GRANIAN_PORT": str(port), "BIND": f"{LOOPBACK}:{port}"}
            with log.open("ab") as out:
                process = subprocess.Popen(
                    [sys.executable, "-m", *command],
                    cwd=ROOT,
                    env={**self.settings, **settings, **ports},
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                    preexec_fn=set_parent_death_signal(signal.SIGTERM),
                )
            self._servers[name] = port, process
            end = time.monotonic() + START_TIMEOUT_SECONDS
            live = Target(port, "/api/health/live", {})
            while Client(live).exchange(live).status == NO_RESPONSE:
                if time.monotonic() > end or process.poll() is not None:
                    raise RuntimeError(log.read_text(errors="replace")[-2_000:])
                time.sleep(0.05)
        return self._servers[name][0]

    def stop_server(self, name: str) -> None:
        _, process = self._servers.pop(name)
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_TIMEOUT_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop_servers(self) -> None:
        for name in list(self._servers):
            self.stop_server(name)

    def list_workers(self, name: str = "service") -> list[int]:
        return list_child_pids(self._servers[name][1].pid)

    def read_processor_seconds(self) -> float:
        """Return the processor time of the service's workers and PostgreSQL so far."""
        with psycopg.connect(self.database_url) as connection:
            main_process = find_main_process(connection)
        return read_processor_seconds([*self.list_workers(), main_process])

    def measure_processor_time(
        self, measurement: str, name: str, send: Callable[[], object]
    ) -> Row:
        """Return the processor time of a request; the clock ticks each 10 ms."""
        count = 5 * self.effort.max_repeats
        started = self.read_processor_seconds()
        for _ in range(count):
            send()
        seconds = self.read_processor_seconds() - started
        level = f"{seconds / count * 1000:.2f} ms"
        return Row(measurement, f"{name}, processor time", level)

    def service_target(self, path: str, member: int) -> Target:
        return self.peer_target("service", SERVICE_COMMAND, path, member)

    def peer_target(
        self, name: str, command: Sequence[str], path: str, member: int
    ) -> Target:
        return Target(self.serve(name, command), path, bearer(self._tokens[member]))

    def trivial_client(self, member: int) -> Client:
        return Client(self.service_target(TRIVIAL_PATH, member))

    def manage(self, *arguments: str, **env: str) -> str:
        return self.run("manage.py", *arguments, **env)

    def run(self, *arguments: str, **env: str) -> str:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**self.settings, **env},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=COMMAND_TIMEOUT_SECONDS,
        ).stdout


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@contextmanager
def temporary_folder(stores: str, *, keep_logs: bool) -> Iterator[Path]:
    """Yield a folder; its logs stay if `keep_logs`, or after an exception."""
    folder = Path(tempfile.mkdtemp(prefix="household-ledger-benchmarks-"))
    folder.chmod(0o711)  # PostgreSQL may run as another OS user
    try:
        yield folder
    except Exception:
        keep_logs = True
        raise
    finally:
        cluster = (folder / stores / "postgres" / "base").resolve()
        shutil.rmtree(cluster, ignore_errors=True)
        if keep_logs:
            log_progress(f"see the logs in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def benchmark_environment(
    spec: DatasetSpec,
    effort: Effort | None = None,
    *,
    keep_logs: bool = False,
    prepare_stores: Callable[[Path], object] | None = None,
) -> Iterator[BenchmarkEnvironment]:
    """`prepare_stores` may put a migrated cluster into the folder."""
    with temporary_folder("stores", keep_logs=keep_logs) as folder:
        if prepare_stores:
            prepare_stores(folder / "stores")
        stores = acquire_stores(("postgres", "valkey"), folder / "stores")
        environment = BenchmarkEnvironment(
            folder, spec, effort or Effort(), stores.settings
        )
        try:
            environment.prepare(is_migrated=prepare_stores is not None)
            yield environment
        finally:
            environment.stop_servers()
            stores.release()
