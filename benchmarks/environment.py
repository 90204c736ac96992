"""Where measurements take place: stores, data, sessions and servers, made as asked."""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from benchmarks import dataset
from benchmarks.client import Target
from benchmarks.dataset import DatasetSpec
from benchmarks.report import log_progress
from benchmarks.servers import BASELINE_APPLICATION, ROOT, SERVICE_APPLICATION, Server
from benchmarks.stores import UnsupervisedStore, run_stores

SINGLE_MEMBER_DATABASE = "alone"
SERVICE_SETTINGS, BASELINE_SETTINGS = "config.settings", "benchmarks.baseline.settings"
COMMAND_TIMEOUT_SECONDS = 1_800


@dataclass(frozen=True)
class ExtraDatabase:
    """A database beside that of the stage, in the same stores."""

    name: str
    settings: dict[str, str]

    @property
    def address(self) -> str:
        return self.settings["DATABASE_URL"]


class BenchmarkEnvironment:
    """The stores of a run with its data, and the servers that were asked for."""

    def __init__(
        self,
        folder: Path,
        shape: DatasetSpec,
        database: UnsupervisedStore,
        fast_store: UnsupervisedStore,
    ) -> None:
        self.folder, self.dataset_spec = folder, shape
        self.database, self.fast_store = database, fast_store
        self.settings = {
            "DATABASE_URL": database.address,
            "REDIS_URL": fast_store.address,
            "SECRET_KEY": secrets.token_urlsafe(48),
            "SERVE_STATIC_FROM_SOURCE": "true",
            "DEBUG": "false",
            "DJANGO_SETTINGS_MODULE": SERVICE_SETTINGS,
        }
        self._servers: dict[str, Server] = {}
        self._keys: dict[str, dict[int, str]] = {}

    def prepare(self) -> None:
        """Tables and data; the sessions of all members in ours and in the peer."""
        log_progress("making tables")
        self.manage("migrate", "--verbosity", "0")
        self.manage("migrate", "sessions", "--verbosity", "0", **self.baseline_env())
        self._create_members({}, self.dataset_spec.all_members)
        log_progress(
            f"writing the entries of {len(self.dataset_spec.all_members)} members"
        )
        dataset.load_dataset(self.settings["DATABASE_URL"], self.dataset_spec)
        self._keys["ours"] = self._create_sessions({}, self.dataset_spec.all_members)

    def create_single_member_database(self) -> ExtraDatabase:
        """A second database that holds one plain member only."""
        alone = self.create_extra_database(
            SINGLE_MEMBER_DATABASE, [self.dataset_spec.typical_member]
        )
        dataset.load_single_member(
            alone.address,
            self.dataset_spec.typical_member,
            self.dataset_spec.entries_per_member,
        )
        return alone

    def create_extra_database(self, name: str, members: Sequence[int]) -> ExtraDatabase:
        """Another database with these members, all logged in."""
        with psycopg.connect(self.database.address, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        address = urlsplit(self.database.address)
        beside = ExtraDatabase(
            name, {"DATABASE_URL": urlunsplit(address._replace(path=f"/{name}"))}
        )
        self.manage("migrate", "--verbosity", "0", **beside.settings)
        self.manage(
            "migrate", "sessions", "--verbosity", "0", **self._baseline_env_for(beside)
        )
        self._create_members(beside.settings, members)
        self._keys[name] = self._create_sessions(beside.settings, members)
        return beside

    def baseline_env(self, sessions: str = "cached_db") -> dict[str, str]:
        return {"DJANGO_SETTINGS_MODULE": BASELINE_SETTINGS, "PEER_SESSIONS": sessions}

    def service_target(self, path: str, member: int) -> Target:
        headers = {"Authorization": f"Bearer {self._keys['ours'][member]}"}
        return Target(
            self._get_or_start_server("ours", SERVICE_APPLICATION, {}).port,
            path,
            headers,
        )

    def service_target_on(
        self, path: str, beside: ExtraDatabase, member: int
    ) -> Target:
        headers = {"Authorization": f"Bearer {self._keys[beside.name][member]}"}
        server = self._get_or_start_server(
            beside.name, SERVICE_APPLICATION, beside.settings
        )
        return Target(server.port, path, headers)

    def anonymous_target_on(self, path: str, beside: ExtraDatabase) -> Target:
        return Target(
            self._get_or_start_server(
                beside.name, SERVICE_APPLICATION, beside.settings
            ).port,
            path,
            {},
        )

    def baseline_target_on(
        self, path: str, beside: ExtraDatabase, member: int
    ) -> Target:
        name, settings = f"{beside.name}_peer", self._baseline_env_for(beside)
        if name not in self._keys:
            self._keys[name] = self._create_sessions(settings, [member])
        headers = {"Cookie": f"sessionid={self._keys[name][member]}"}
        return Target(
            self._get_or_start_server(name, BASELINE_APPLICATION, settings).port,
            path,
            headers,
        )

    def baseline_target(
        self, path: str, member: int, sessions: str = "cached_db"
    ) -> Target:
        engine = sessions.removesuffix("_slide")
        if engine not in self._keys:
            self._keys[engine] = self._create_sessions(
                self.baseline_env(engine), self.dataset_spec.all_members
            )
        headers = {"Cookie": f"sessionid={self._keys[engine][member]}"}
        return Target(
            self._get_or_start_server(
                sessions, BASELINE_APPLICATION, self.baseline_env(sessions)
            ).port,
            path,
            headers,
        )

    def _baseline_env_for(self, beside: ExtraDatabase) -> dict[str, str]:
        return {**self.baseline_env(), **beside.settings}

    def get_token(self, member: int) -> str:
        return self._keys["ours"][member]

    def list_workers(self) -> list[int]:
        """The processes of ours that answer requests."""
        return self._servers["ours"].list_workers()

    def stop_servers(self) -> None:
        for server in self._servers.values():
            server.stop()
        self._servers.clear()

    def manage(self, *words: str, **extra: str) -> str:
        return self.run("manage.py", *words, **extra)

    def run(self, *words: str, **extra: str) -> str:
        """A program of the repository to its end; what it printed."""
        run = subprocess.run(
            [sys.executable, *words],
            cwd=ROOT,
            env={**os.environ, **self.settings, **extra},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=COMMAND_TIMEOUT_SECONDS,
        )
        return run.stdout

    def _create_members(self, extra: dict[str, str], members: Iterable[int]) -> None:
        self.run("-m", "benchmarks.members", *map(str, members), **extra)

    def _create_sessions(
        self, extra: dict[str, str], members: Iterable[int]
    ) -> dict[int, str]:
        output = self.run("-m", "benchmarks.login", *map(str, members), **extra)
        return {int(number): key for number, key in json.loads(output).items()}

    def _get_or_start_server(
        self, name: str, application: str, extra: dict[str, str]
    ) -> Server:
        """The server of that name, started at its first use."""
        if name not in self._servers:
            log = self.folder / f"{name}.log"
            server = Server(application, {**self.settings, **extra}, log)
            self._servers[name] = server
            server.wait()
        return self._servers[name]


@contextmanager
def benchmark_environment(
    shape: DatasetSpec, *, keep: bool = False
) -> Iterator[BenchmarkEnvironment]:
    """A stage in a temporary folder; with `keep` the servers' logs stay there."""
    folder = Path(tempfile.mkdtemp(prefix="household-ledger-benchmarks-"))
    folder.chmod(0o711)  # PostgreSQL may run under another account
    try:
        with run_stores(folder / "stores") as (database, fast_store):
            stage = BenchmarkEnvironment(folder, shape, database, fast_store)
            try:
                stage.prepare()
                yield stage
            finally:
                stage.stop_servers()
    except Exception:
        keep = True
        raise
    finally:
        if keep:
            log_progress(f"the servers' logs are in {folder}")
        else:
            shutil.rmtree(folder)
