"""Nodes of a Citus cluster that belong to one test: they are killed, drained, restored.

TEST_CITUS_BIN names a folder with the programs of a PostgreSQL that has the extension,
such as /usr/lib/postgresql/18/bin.
"""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from devstack.environment import ROOT
from devstack.stores.os_user import OsUser, choose_os_user, minimal_env
from tests.support.fault_injection import list_children
from tests.support.stores import find_closed_port
from tests.support.waiting import wait_until

HOST, OWNER, DATABASE = "127.0.0.1", "ledger", "ledger"
SETTINGS = f"""
listen_addresses = '{HOST}'
unix_socket_directories = ''
shared_preload_libraries = 'citus'
wal_level = logical
max_connections = 100
max_prepared_transactions = 100
max_worker_processes = 32
lc_messages = 'C'
"""


def find_programs() -> Path | None:
    folder = os.environ.get("TEST_CITUS_BIN")
    return Path(folder) if folder else None


@dataclass
class CitusNode:
    """A server in a folder; the folder of a stopped server can be moved."""

    folder: Path
    port: int
    programs: Path
    os_user: OsUser
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def run(self, program: str, *arguments: str) -> None:
        result = self.os_user.run([str(self.programs / program), *arguments])
        assert result.returncode == 0, f"{program} {arguments}"

    def create(self) -> None:
        self.run(
            "initdb",
            *("--pgdata", str(self.folder), "--username", OWNER, "--auth=trust"),
            *("--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"),
        )
        self.configure(SETTINGS)

    def configure(self, lines: str) -> None:
        with (self.folder / "postgresql.auto.conf").open("a") as file:
            file.write(f"{lines}\n")

    def start(self) -> None:
        with (self.folder.parent / f"{self.folder.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *(str(self.programs / "postgres"), "-D", str(self.folder)),
                    f"--port={self.port}",
                ],
                cwd="/",
                env=minimal_env(),
                user=self.os_user.uid,
                group=self.os_user.gid,
                extra_groups=None if self.os_user.uid is None else [],
                stdout=log,
                stderr=log,
            )
        wait_until(self.is_ready)

    def is_ready(self) -> bool:
        assert self.is_running, f"see {self.folder}.log"
        with suppress(psycopg.OperationalError), self.connect("postgres"):
            return True
        return False

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)

    def kill(self) -> None:
        """Kill all processes, as if the machine had lost power."""
        assert self.process is not None
        children = list_children(self.process.pid)
        # The postmaster would start the others again.
        self.process.kill()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self.process.wait()

    def connect(self, name: str = DATABASE) -> psycopg.Connection[Any]:
        return psycopg.connect(
            host=HOST, port=self.port, user=OWNER, dbname=name, autocommit=True
        )

    def read(self, query: str) -> list[Any]:
        """Run a query, or a statement without rows."""
        with self.connect() as session:
            cursor = session.execute(query.encode())
            return cursor.fetchall() if cursor.description else []


@dataclass
class CitusCluster:
    """A coordinator and two workers with the tables of the service."""

    folder: Path
    programs: Path

    def __post_init__(self) -> None:
        # The programs run under another account if the tests run as root.
        self.folder.chmod(0o755)
        self.os_user = choose_os_user(self.folder)
        names = ("coordinator", "worker1", "worker2", "standby")
        self.nodes = {
            name: CitusNode(
                self.data / name, find_closed_port(), self.programs, self.os_user
            )
            for name in names
        }

    @property
    def data(self) -> Path:
        return self.folder / "nodes"

    @property
    def coordinator(self) -> CitusNode:
        return self.nodes["coordinator"]

    @property
    def primaries(self) -> list[CitusNode]:
        return [self.nodes[name] for name in ("coordinator", "worker1", "worker2")]

    def create(self) -> None:
        """Start the nodes, and create and distribute the tables."""
        self.data.mkdir()
        self.os_user.chown_recursive(self.data)
        for node in self.primaries:
            node.create()
            node.start()
            with node.connect("postgres") as session:
                session.execute(f"CREATE DATABASE {DATABASE}")
            node.read("CREATE EXTENSION citus")
        coordinator, *workers = self.primaries
        coordinator.read(
            f"SELECT citus_set_coordinator_host('{HOST}', {coordinator.port})"
        )
        for worker in workers:
            coordinator.read(f"SELECT citus_add_node('{HOST}', {worker.port})")
        # Few, since each of them is moved on its own.
        coordinator.read(f"ALTER DATABASE {DATABASE} SET citus.shard_count = 4")
        self.manage("migrate", "--verbosity", "0")
        self.manage("distribute")

    def stop(self) -> None:
        for node in self.primaries:
            node.stop()

    def replace_data(self, template: Path) -> None:
        """Start the nodes from a copy of the data of stopped nodes."""
        shutil.rmtree(self.data)
        shutil.copytree(template, self.data)
        self.os_user.chown_recursive(self.data)
        for node in self.primaries:
            node.start()

    def kill(self) -> None:
        for node in self.nodes.values():
            if node.is_running:
                node.kill()

    def manage(self, *arguments: str) -> str:
        """Run a command of the service on the coordinator; return its output."""
        url = f"postgresql://{OWNER}@{HOST}:{self.coordinator.port}/{DATABASE}"
        variables = os.environ | {"DATABASE_URL": url, "SECRET_KEY": "k" * 50}
        variables.pop("DJANGO_SETTINGS_MODULE", None)
        command = [sys.executable, "manage.py", *arguments]
        result = subprocess.run(
            command,
            cwd=ROOT,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout
