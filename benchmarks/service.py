"""Start and idle memory of the whole service, as `script/server` runs it.

The first start creates the data directory; those after it are measured.
"""

import http.client
import os
import signal
import statistics
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from benchmarks.memory import measure_tree_pss
from benchmarks.report import Row, log_progress, max_ratio_row
from benchmarks.servers import ROOT
from devstack.stores.data_dir import LOOPBACK, find_free_port

NAME = "service"
MAX_START_SECONDS, MAX_MEBIBYTES = 3, 350
START_TIMEOUT_SECONDS, STOP_TIMEOUT_SECONDS = 120, 60
# All processes have started by then, and Beat has sent what was due.
SETTLE_SECONDS = 10


def measure(rounds: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        log_progress("creating a data directory")
        run(Path(folder))
        log_progress("starting the service again")
        starts, memory = zip(*(run(Path(folder)) for _ in range(rounds)), strict=True)
    start, size = statistics.median(starts), statistics.median(memory)
    return [
        max_ratio_row(NAME, "second start", f"{start:.1f} s", start, MAX_START_SECONDS),
        max_ratio_row(
            NAME, "idle, all processes", f"{size:.0f} MiB PSS", size, MAX_MEBIBYTES
        ),
    ]


def run(data_dir: Path) -> tuple[float, float]:
    """Start and stop the service; return its seconds to respond and its MiB."""
    port = find_free_port()
    started_at = time.monotonic()
    with (data_dir / "log").open("a") as log:
        server = subprocess.Popen(
            [ROOT / "script" / "server"],
            env={**os.environ, "PORT": str(port), "DATA_DIR": str(data_dir / "data")},
            stdout=log,
            stderr=log,
        )
    try:
        while not is_responding(port):
            if time.monotonic() > started_at + START_TIMEOUT_SECONDS:
                raise RuntimeError("the service did not start")
            time.sleep(0.02)
        seconds = time.monotonic() - started_at
        time.sleep(SETTLE_SECONDS)
        return seconds, measure_tree_pss(server.pid)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(STOP_TIMEOUT_SECONDS)


def is_responding(port: int) -> bool:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    with suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/api/health")
        return connection.getresponse().status == http.client.OK
    return False
