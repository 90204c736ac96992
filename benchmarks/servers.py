"""Web servers of a run: service and baseline, with the same settings."""

import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from benchmarks.memory import list_child_pids
from devstack.stores.data_dir import LOOPBACK, find_free_port
from devstack.stores.store_supervisor import set_parent_death_signal

ROOT = Path(__file__).resolve().parent.parent
SERVICE_APPLICATION, BASELINE_APPLICATION = (
    "config.rsgi:application",
    "benchmarks.baseline.rsgi:application",
)
START_TIMEOUT_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 12.0


class ServerError(Exception):
    """A web server failed to start; the message names its log."""


class Server:
    """The web server of the service, on a free loopback port."""

    def __init__(
        self, application: str, settings: Mapping[str, str], log: Path
    ) -> None:
        self.port, self.log = find_free_port(), log
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "config.server", application],
                cwd=ROOT,
                env={**os.environ, **settings, "BIND": f"{LOOPBACK}:{self.port}"},
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
