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
from benchmarks.dataset import Shape
from benchmarks.report import say
from benchmarks.servers import OURS, PEER, ROOT, Server
from benchmarks.stores import OwnStore, run_stores

ALONE = "alone"
OUR_SETTINGS, PEER_SETTINGS = "config.settings", "benchmarks.baseline.settings"
PROGRAM_SECONDS = 1_800


@dataclass(frozen=True)
class Beside:
    """A database beside that of the stage, in the same stores."""

    name: str
    settings: dict[str, str]

    @property
    def address(self) -> str:
        return self.settings["DATABASE_URL"]


class Stage:
    """The stores of a run with its data, and the servers that were asked for."""

    def __init__(
        self, folder: Path, shape: Shape, database: OwnStore, fast_store: OwnStore
    ) -> None:
        self.folder, self.shape = folder, shape
        self.database, self.fast_store = database, fast_store
        self.settings = {
            "DATABASE_URL": database.address,
            "REDIS_URL": fast_store.address,
            "SECRET_KEY": secrets.token_urlsafe(48),
            "SERVE_STATIC_FROM_SOURCE": "true",
            "DEBUG": "false",
            "DJANGO_SETTINGS_MODULE": OUR_SETTINGS,
        }
        self._servers: dict[str, Server] = {}
        self._keys: dict[str, dict[int, str]] = {}

    def prepare(self) -> None:
        """Tables and data; the sessions of all members in ours and in the peer."""
        say("making tables")
        self.manage("migrate", "--verbosity", "0")
        self.manage("migrate", "sessions", "--verbosity", "0", **self.peer())
        self._make_members({}, self.shape.all_members)
        say(f"writing the entries of {len(self.shape.all_members)} members")
        dataset.load(self.settings["DATABASE_URL"], self.shape)
        self._keys["ours"] = self._log_in({}, self.shape.all_members)

    def prepare_alone(self) -> Beside:
        """A second database that holds one plain member only."""
        alone = self.prepare_beside(ALONE, [self.shape.plain])
        dataset.load_alone(alone.address, self.shape.plain, self.shape.each)
        return alone

    def prepare_beside(self, name: str, members: Sequence[int]) -> Beside:
        """Another database with these members, all logged in."""
        with psycopg.connect(self.database.address, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        address = urlsplit(self.database.address)
        beside = Beside(
            name, {"DATABASE_URL": urlunsplit(address._replace(path=f"/{name}"))}
        )
        self.manage("migrate", "--verbosity", "0", **beside.settings)
        self.manage("migrate", "sessions", "--verbosity", "0", **self._peer_of(beside))
        self._make_members(beside.settings, members)
        self._keys[name] = self._log_in(beside.settings, members)
        return beside

    def peer(self, sessions: str = "cached_db") -> dict[str, str]:
        return {"DJANGO_SETTINGS_MODULE": PEER_SETTINGS, "PEER_SESSIONS": sessions}

    def ask_ours(self, path: str, member: int) -> Target:
        headers = {"Authorization": f"Bearer {self._keys['ours'][member]}"}
        return Target(self._serve("ours", OURS, {}).port, path, headers)

    def ask_beside(self, path: str, beside: Beside, member: int) -> Target:
        headers = {"Authorization": f"Bearer {self._keys[beside.name][member]}"}
        server = self._serve(beside.name, OURS, beside.settings)
        return Target(server.port, path, headers)

    def ask_beside_anonymously(self, path: str, beside: Beside) -> Target:
        return Target(self._serve(beside.name, OURS, beside.settings).port, path, {})

    def ask_peer_beside(self, path: str, beside: Beside, member: int) -> Target:
        name, settings = f"{beside.name}_peer", self._peer_of(beside)
        if name not in self._keys:
            self._keys[name] = self._log_in(settings, [member])
        headers = {"Cookie": f"sessionid={self._keys[name][member]}"}
        return Target(self._serve(name, PEER, settings).port, path, headers)

    def ask_peer(self, path: str, member: int, sessions: str = "cached_db") -> Target:
        engine = sessions.removesuffix("_slide")
        if engine not in self._keys:
            self._keys[engine] = self._log_in(self.peer(engine), self.shape.all_members)
        headers = {"Cookie": f"sessionid={self._keys[engine][member]}"}
        return Target(
            self._serve(sessions, PEER, self.peer(sessions)).port, path, headers
        )

    def _peer_of(self, beside: Beside) -> dict[str, str]:
        return {**self.peer(), **beside.settings}

    def token_of(self, member: int) -> str:
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
            timeout=PROGRAM_SECONDS,
        )
        return run.stdout

    def _make_members(self, extra: dict[str, str], members: Iterable[int]) -> None:
        self.run("-m", "benchmarks.members", *map(str, members), **extra)

    def _log_in(self, extra: dict[str, str], members: Iterable[int]) -> dict[int, str]:
        output = self.run("-m", "benchmarks.login", *map(str, members), **extra)
        return {int(number): key for number, key in json.loads(output).items()}

    def _serve(self, name: str, application: str, extra: dict[str, str]) -> Server:
        """The server of that name, started at its first use."""
        if name not in self._servers:
            log = self.folder / f"{name}.log"
            server = Server(application, {**self.settings, **extra}, log)
            self._servers[name] = server
            server.wait()
        return self._servers[name]


@contextmanager
def set_stage(shape: Shape, *, keep: bool = False) -> Iterator[Stage]:
    """A stage in a temporary folder; with `keep` the servers' logs stay there."""
    folder = Path(tempfile.mkdtemp(prefix="household-ledger-benchmarks-"))
    folder.chmod(0o711)  # PostgreSQL may run under another account
    try:
        with run_stores(folder / "stores") as (database, fast_store):
            stage = Stage(folder, shape, database, fast_store)
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
            say(f"the servers' logs are in {folder}")
        else:
            shutil.rmtree(folder)
