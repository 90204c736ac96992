"""Web servers of a run: service, baseline and peers, with the same settings."""

import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.memory import list_child_pids
from devstack.stores.data_dir import LOOPBACK, find_free_port
from devstack.stores.store_supervisor import set_parent_death_signal

ROOT = Path(__file__).resolve().parent.parent
WORKERS = ("--workers", "2")
# Modules that run a web server, with their arguments; the environment has the port.
SERVICE_COMMAND = ("config.server", "config.rsgi:application")
BASELINE_COMMAND = ("config.server", "benchmarks.baseline.rsgi:application")
STARLETTE_COMMAND = (
    *("uvicorn", "benchmarks.peers.asgi:application", *WORKERS),
    *("--loop", "uvloop", "--http", "httptools"),
    *("--no-access-log", "--log-level", "warning"),
)
WSGI_COMMAND = (
    *("granian", "benchmarks.peers.wsgi:application", *WORKERS),
    *("--interface", "wsgi", "--blocking-threads", "4"),
    *("--http", "1", "--no-ws", "--no-access-log", "--log-level", "warning"),
)
START_TIMEOUT_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 12.0


class ServerError(Exception):
    """A web server failed to start; the message names its log."""


class Server:
    """A web server on a free loopback port."""

    def __init__(
        self, command: Sequence[str], settings: Mapping[str, str], log: Path
    ) -> None:
        self.port, self.log = find_free_port(), log
        port = {
            "BIND": f"{LOOPBACK}:{self.port}",
            "UVICORN_PORT": str(self.port),
            "GRANIAN_PORT": str(self.port),
        }
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *command],
                cwd=ROOT,
                env={**os.environ, **settings, **port},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                preexec_fn=set_parent_death_signal(signal.SIGTERM),
            )

    def wait(self) -> None:
        """Wait until the server responds; raise ServerError if it does not in time."""
        end = time.monotonic() + START_TIMEOUT_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            with suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=5)
                connection.request("GET", "/api/health/live")
                connection.getresponse().read()
                return
            time.sleep(0.05)
        raise ServerError(f"a web server failed to start; see its output in {self.log}")

    def list_workers(self) -> list[int]:
        """Return the process ids of the workers."""
        return list_child_pids(self.process.pid)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(STOP_TIMEOUT_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
