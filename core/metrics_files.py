"""The files in which each worker of the web server keeps its Prometheus metrics.

The library names a process's files by its process id, of which a new worker has a new
one, so that their number would grow without end.
"""

import fcntl
import os
from itertools import count
from pathlib import Path

from prometheus_client import values
from prometheus_client.multiprocess import mark_process_dead

# Open for as long as the process runs: its lock is on the number in use.
_lock: int | None = None
# Names the files of this process; those of the main process stay at zero.
_file_name = "main"


def use_named_files() -> None:
    """Keep the metrics in files that `claim_metrics_number` names.

    To be called before `core.metrics` is imported, whose counters are created with
    their files. Does nothing without PROMETHEUS_MULTIPROC_DIR.
    """
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        values.ValueClass = values.MultiProcessValue(  # type: ignore[no-untyped-call]
            lambda: _file_name
        )


def claim_metrics_number() -> None:
    """Name the files of this worker by the lowest free number.

    A new worker goes on with the files of one that has ended. Does nothing without
    PROMETHEUS_MULTIPROC_DIR.
    """
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
        # The gauges of requests in progress that the one before had.
        mark_process_dead(number, folder)  # type: ignore[no-untyped-call]
        # The library opens the files of the new name when a value changes next.
        _lock, _file_name = lock, str(number)
        return
