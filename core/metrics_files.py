"""The files in which each worker of the web server keeps its Prometheus metrics.

The library names them by process id: their number would grow without end.
"""

import fcntl
import os
from itertools import count
from pathlib import Path

from prometheus_client import values
from prometheus_client.multiprocess import mark_process_dead

# The lock of the open file reserves the number of this process.
_lock: int | None = None
_file_name = "main"


def use_named_files() -> None:
    """Let `claim_metrics_number` name the files.

    Call it before `core.metrics` is imported, whose counters create their files.
    """
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        values.ValueClass = values.MultiProcessValue(  # type: ignore[no-untyped-call]
            lambda: _file_name
        )


def claim_metrics_number() -> None:
    """Name the files of this worker by the lowest free number."""
    global _lock, _file_name
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if not folder:
        return
    for number in count():
        lock = os.open(Path(folder, f"{number}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        # Reset the gauges of requests in progress.
        mark_process_dead(number, folder)  # type: ignore[no-untyped-call]
        # The library opens the new files with the next change of a value.
        _lock, _file_name = lock, str(number)
        return
