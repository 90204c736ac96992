"""The real web server on stores of its own, and load while they are taken away."""

import http.client
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devstack.stores import store_supervisor
from devstack.stores.data_dir import LOOPBACK, StoreDir
from devstack.stores.postgres import Postgres
from tests.support.migrated_cluster import copy_migrated_cluster
from tests.support.stores import ValkeyServer, find_closed_port
from tests.support.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
PATHS = ("/api/auth/session", "/api/account/entries?size=50", "/api/account/networth")
MEMBERS, CLIENTS, RATE = 3, 6, 40
WARM_UP_ANSWERS = 20
PASSWORD = "correct-horse-9"


class PostgresServer:
    """A PostgreSQL server that belongs to one test module.

    Unless `is_ephemeral`, commits wait for the disk and for synchronous standbys. With
    `is_migrated` it has the tables of the service.
    """

    def __init__(
        self, path: Path, *, is_ephemeral: bool = True, is_migrated: bool = False
    ) -> None:
        self.is_migrated = is_migrated
        if is_migrated:
            self.folder = copy_migrated_cluster(path, is_ephemeral=is_ephemeral)
        else:
            path.mkdir()
            self.folder = StoreDir(path, is_ephemeral=is_ephemeral)
        self.store = Postgres.prepare(self.folder)
        self.start()

    def start(self) -> None:
        """Start the server at the address of the last time; return once it answers."""
        self.process = store_supervisor.start(self.store, self.folder)

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        self.process.send_signal(number)
        self.process.wait(30)

    def hang(self) -> None:
        """Stop every process of it, in the middle of whatever it does."""
        for pid in [self.process.pid, *list_children(self.process.pid)]:
            os.kill(pid, signal.SIGSTOP)

    def heal(self) -> None:
        for pid in [*list_children(self.process.pid), self.process.pid]:
            os.kill(pid, signal.SIGCONT)

    def remove(self) -> None:
        store_supervisor.stop(self.store, self.process)
        self.store.remove()


def list_children(parent: int) -> list[int]:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    return [int(child) for child in children.split()]


@dataclass(frozen=True)
class Answer:
    """The status of an answer, 0 without one, and when to come again."""

    status: int
    retry_after: str | None


@dataclass
class RunningService:
    """The web server with the service's settings, its stores and members."""

    database: PostgresServer
    fast_store: ValkeyServer
    log: Path
    port: int = field(default_factory=find_closed_port)
    tokens: list[str] = field(default_factory=list)
    # What differs from `environment`.
    settings: dict[str, str] = field(default_factory=dict)

    def start(self) -> None:
        """Start the web server and its members, on a migrated database."""
        self.migrate()
        self.serve()
        self.tokens = [self._sign_up(number) for number in range(MEMBERS)]

    def migrate(self) -> None:
        if self.database.is_migrated:
            return
        migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(migrate, cwd=ROOT, env=self.environment, check=True, timeout=120)

    @property
    def environment(self) -> dict[str, str]:
        own = {
            "DATABASE_URL": self.database.folder.url_file.read_text().strip(),
            # Also in a test run that reaches its own database through a pooler.
            "DATABASE_TRANSACTION_POOLING": "false",
            "REDIS_URL": f"redis://{LOOPBACK}:{self.fast_store.port}/0",
            "SECRET_KEY": "only-for-tests-" + "x" * 50,
            "BIND": f"{LOOPBACK}:{self.port}",
            "SERVE_STATIC_FROM_SOURCE": "true",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        return os.environ | own | self.settings

    def serve(self) -> None:
        """Start the web server alone, on stores that are ready for it."""
        command = ["-m", "config.server"]
        self.process = self.run_python(command)
        self._wait()

    def list_workers(self) -> list[int]:
        return list_children(self.process.pid)

    def replace_worker(self, pid: int) -> None:
        """Kill one of the web server's processes, and wait for the next."""
        before = set(self.list_workers())
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: len(set(self.list_workers()) - {pid}) >= len(before))
        self._wait()

    def run_python(
        self, arguments: list[str], *, start_new_session: bool = False
    ) -> subprocess.Popen[bytes]:
        """Start one of the service's processes; its output goes to the log."""
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=start_new_session,
                preexec_fn=store_supervisor.set_parent_death_signal(signal.SIGTERM),
            )

    def stop(self) -> None:
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(15)
        self.process.kill()
        self.process.wait()

    def ask(
        self, path: str, token: str = "", body: Any = None, address: str = ""
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Send a request, for a client of the address if the service trusts a proxy."""
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=15)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        headers |= {"X-Forwarded-For": address} if address else {}
        method = "GET" if body is None else "POST"
        text = None if body is None else json.dumps(body)
        try:
            headers |= {"Content-Type": "application/json"} if text else {}
            connection.request(method, path, text, headers)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    @contextmanager
    def under_load(self) -> Iterator[list[Answer]]:
        """Send requests of several clients during the block; yield their answers."""
        answers: list[Answer] = []
        over = threading.Event()
        turns = itertools.count()

        def keep_asking() -> None:
            while not over.wait(CLIENTS / RATE):
                turn = next(turns)
                token = self.tokens[turn // len(PATHS) % MEMBERS]
                try:
                    status, headers, _ = self.ask(PATHS[turn % len(PATHS)], token)
                except (OSError, http.client.HTTPException):
                    status, headers = 0, http.client.HTTPMessage()
                answers.append(Answer(status, headers.get("Retry-After")))

        threads = [threading.Thread(target=keep_asking) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            wait_until(lambda: len(answers) >= WARM_UP_ANSWERS)
            yield answers
        finally:
            over.set()
            for thread in threads:
                thread.join()

    def _wait(self) -> None:
        end = time.monotonic() + 30
        while time.monotonic() < end and self.process.poll() is None:
            with suppress(OSError, http.client.HTTPException):
                if self.ask("/api/health")[0] == http.client.OK:
                    return
            time.sleep(0.05)
        raise AssertionError(self.log.read_text())

    def _sign_up(self, number: int) -> str:
        body = {
            "loginId": f"outage{number}",
            "password": PASSWORD,
            "displayName": f"Member {number}",
            "email": f"outage{number}@example.com",
        }
        status, _, answer = self.ask("/api/auth/signup", body=body)
        assert status == http.client.CREATED, answer
        token: str = json.loads(answer)["token"]
        entry = {"date": "2026-11-02", "type": "expense", "amount": 1_000}
        assert self.ask("/api/account/entries", token, entry)[0] == http.client.CREATED
        return token


@contextmanager
def run_service(folder: Path, **settings: str) -> Iterator[RunningService]:
    folder.chmod(0o711)  # PostgreSQL may run under another account
    database = PostgresServer(folder / "postgres", is_migrated=True)
    fast_store = ValkeyServer()
    settings |= {"DATA_DIR": str(folder)}
    service = RunningService(
        database, fast_store, folder / "server.log", settings=settings
    )
    try:
        service.start()
        yield service
        service.stop()
    finally:
        fast_store.kill()
        database.remove()
