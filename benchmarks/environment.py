"""The environment of a benchmark run: stores, data, sessions and web servers."""

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
from benchmarks.servers import (
    BASELINE_COMMAND,
    ROOT,
    SERVICE_COMMAND,
    STARLETTE_COMMAND,
    WSGI_COMMAND,
    Server,
)
from benchmarks.stores import UnsupervisedStore, run_stores

SINGLE_MEMBER_DATABASE = "alone"
SERVICE_SETTINGS, BASELINE_SETTINGS = "config.settings", "benchmarks.baseline.settings"
PEER_SETTINGS = "benchmarks.baseline.board_settings"
COMMAND_TIMEOUT_SECONDS = 1_800
TRIVIAL_PATH = "/api/auth/session"


@dataclass(frozen=True)
class ExtraDatabase:
    """A further database on the PostgreSQL server of the environment."""

    name: str
    settings: dict[str, str]

    @property
    def url(self) -> str:
        return self.settings["DATABASE_URL"]


class BenchmarkEnvironment:
    """The stores of a run with their data, and web servers started on first use."""

    def __init__(
        self,
        directory: Path,
        spec: DatasetSpec,
        database: UnsupervisedStore,
        valkey: UnsupervisedStore,
    ) -> None:
        self.directory, self.spec = directory, spec
        self.database, self.valkey = database, valkey
        self.settings = {
            "DATABASE_URL": database.url,
            "REDIS_URL": valkey.url,
            "SECRET_KEY": secrets.token_urlsafe(48),
            "SERVE_STATIC_FROM_SOURCE": "true",
            "DEBUG": "false",
            "DJANGO_SETTINGS_MODULE": SERVICE_SETTINGS,
        }
        # T, the trivial GET that times are compared with, if not this checkout's, and
        # its name in the rows.
        self.reference: Target | None = None
        self.trivial_name = "T"
        self._servers: dict[str, Server] = {}
        # Session keys by session backend or database, then by member id.
        self._session_keys: dict[str, dict[int, str]] = {}

    def prepare(self) -> None:
        """Create the tables, load the data and create a session of each member."""
        log_progress("creating tables")
        self.manage("migrate", "--verbosity", "0")
        self.manage("migrate", "sessions", "--verbosity", "0", **self.baseline_env())
        self._create_members({}, self.spec.all_members)
        log_progress(f"loading the entries of {len(self.spec.all_members)} members")
        dataset.load_dataset(self.settings["DATABASE_URL"], self.spec)
        self.manage("check_totals", "--repair")
        self._session_keys["service"] = self._create_sessions({}, self.spec.all_members)

    def create_single_member_database(self) -> ExtraDatabase:
        """Create a database that holds one typical member only."""
        alone = self.create_extra_database(
            SINGLE_MEMBER_DATABASE, [self.spec.typical_member]
        )
        dataset.load_single_member(
            alone.url,
            self.spec.typical_member,
            self.spec.entries_per_member,
        )
        self.manage("check_totals", "--repair", **alone.settings)
        return alone

    def create_extra_database(self, name: str, members: Sequence[int]) -> ExtraDatabase:
        """Create a database with these members and a session of each of them."""
        with psycopg.connect(self.database.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        url = urlsplit(self.database.url)
        extra_database = ExtraDatabase(
            name, {"DATABASE_URL": urlunsplit(url._replace(path=f"/{name}"))}
        )
        self.manage("migrate", "--verbosity", "0", **extra_database.settings)
        self._create_members(extra_database.settings, members)
        self._session_keys[name] = self._create_sessions(
            extra_database.settings, members
        )
        return extra_database

    def baseline_env(self, sessions: str = "cached_db") -> dict[str, str]:
        """Return the variables that select the baseline and its session backend."""
        return {
            "DJANGO_SETTINGS_MODULE": BASELINE_SETTINGS,
            "BASELINE_SESSIONS": sessions,
        }

    def service_target(self, path: str, member: int) -> Target:
        """Return a path of the service, requested as `member`."""
        headers = {"Authorization": f"Bearer {self._session_keys['service'][member]}"}
        return Target(
            self._get_or_start_server("service", SERVICE_COMMAND, {}).port,
            path,
            headers,
        )

    def service_target_on(
        self, path: str, extra_database: ExtraDatabase, member: int
    ) -> Target:
        """Return a path of the service on another database, requested as `member`."""
        headers = {
            "Authorization": f"Bearer {self._session_keys[extra_database.name][member]}"
        }
        server = self._get_or_start_server(
            extra_database.name, SERVICE_COMMAND, extra_database.settings
        )
        return Target(server.port, path, headers)

    def peer_target_on(
        self, path: str, extra_database: ExtraDatabase, member: int
    ) -> Target:
        """Return a path of the board's peers, who have the service's sessions."""
        token = self._session_keys[extra_database.name][member]
        settings = extra_database.settings | {"DJANGO_SETTINGS_MODULE": PEER_SETTINGS}
        server = self._get_or_start_server(
            f"{extra_database.name}_peers", BASELINE_COMMAND, settings
        )
        return Target(server.port, path, {"Authorization": f"Bearer {token}"})

    def anonymous_target_on(self, path: str, extra_database: ExtraDatabase) -> Target:
        """Return a path of the service on another database, without a session."""
        return Target(
            self._get_or_start_server(
                extra_database.name, SERVICE_COMMAND, extra_database.settings
            ).port,
            path,
            {},
        )

    def baseline_target(
        self, path: str, member: int, sessions: str = "cached_db"
    ) -> Target:
        """Return a path of the baseline with this session backend, as `member`."""
        # With and without sliding expiry, the backend stores the same sessions.
        engine = sessions.removesuffix("_slide")
        if engine not in self._session_keys:
            self._session_keys[engine] = self._create_sessions(
                self.baseline_env(engine), self.spec.all_members
            )
        headers = {"Cookie": f"sessionid={self._session_keys[engine][member]}"}
        return Target(
            self._get_or_start_server(
                sessions, BASELINE_COMMAND, self.baseline_env(sessions)
            ).port,
            path,
            headers,
        )

    def trivial_target(self, member: int) -> Target:
        """Return T: that of the reference, else the service's as `member`."""
        return self.reference or self.service_target(TRIVIAL_PATH, member)

    def starlette_target(self, path: str, member: int) -> Target:
        """Return a path of the peer on Starlette, requested as `member`."""
        return self._peer_target("starlette", STARLETTE_COMMAND, path, member)

    def wsgi_target(self, path: str, member: int) -> Target:
        """Return a path of the bare WSGI application, requested as `member`."""
        return self._peer_target("wsgi", WSGI_COMMAND, path, member)

    def _peer_target(
        self, name: str, command: Sequence[str], path: str, member: int
    ) -> Target:
        # With the sessions of the service.
        headers = {"Authorization": f"Bearer {self.get_token(member)}"}
        return Target(self._get_or_start_server(name, command, {}).port, path, headers)

    def get_token(self, member: int) -> str:
        return self._session_keys["service"][member]

    def list_workers(self) -> list[int]:
        """Return the process ids of the service's web workers."""
        return self._servers["service"].list_workers()

    def stop_servers(self) -> None:
        for server in self._servers.values():
            server.stop()
        self._servers.clear()

    def manage(self, *arguments: str, **env: str) -> str:
        return self.run("manage.py", *arguments, **env)

    def run(self, *arguments: str, **env: str) -> str:
        """Run Python in the repository with the settings of the run; return its output.

        Raise CalledProcessError if it fails.
        """
        run = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**os.environ, **self.settings, **env},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=COMMAND_TIMEOUT_SECONDS,
        )
        return run.stdout

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start Python as `run` does, without waiting for its end."""
        return subprocess.Popen(
            [sys.executable, *arguments], cwd=ROOT, env={**os.environ, **self.settings}
        )

    def _create_members(self, env: dict[str, str], members: Iterable[int]) -> None:
        self.run("-m", "benchmarks.members", *map(str, members), **env)

    def _create_sessions(
        self, env: dict[str, str], members: Iterable[int]
    ) -> dict[int, str]:
        """Create a session of each member and return the keys by member id."""
        output = self.run("-m", "benchmarks.login", *map(str, members), **env)
        return {int(member): key for member, key in json.loads(output).items()}

    def _get_or_start_server(
        self, name: str, command: Sequence[str], env: dict[str, str]
    ) -> Server:
        """Return the web server of that name; start it on first use."""
        if name not in self._servers:
            log = self.directory / f"{name}.log"
            server = Server(command, {**self.settings, **env}, log)
            self._servers[name] = server
            server.wait()
        return self._servers[name]


@contextmanager
def benchmark_environment(
    spec: DatasetSpec, *, keep_logs: bool = False
) -> Iterator[BenchmarkEnvironment]:
    """Create an environment in a temporary directory and remove it at the end.

    The directory is kept if `keep_logs`, or after an exception.
    """
    directory = Path(tempfile.mkdtemp(prefix="household-ledger-benchmarks-"))
    directory.chmod(0o711)  # PostgreSQL may run as another OS user
    try:
        with run_stores(directory / "stores") as (database, valkey):
            environment = BenchmarkEnvironment(directory, spec, database, valkey)
            try:
                environment.prepare()
                yield environment
            finally:
                environment.stop_servers()
    except Exception:
        keep_logs = True
        raise
    finally:
        if keep_logs:
            log_progress(f"see the logs of the servers in {directory}")
        else:
            shutil.rmtree(directory)
