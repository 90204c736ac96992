"""The files in which each worker of the web server keeps its Prometheus metrics.

Import this before `core.metrics`, whose counters are created with their files.
"""

import fcntl
import os
from itertools import count
from pathlib import Path

from prometheus_client import values
from prometheus_client.multiprocess import mark_process_dead

# Open for as long as the process runs: its locks are on the numbers in use.
_locks: list[int] = []


def claim_metrics_number() -> None:
    """Give this process the lowest free number, which names its files.

    A new worker goes on with the files of one that has ended, so that their number does
    not grow. Does nothing without PROMETHEUS_MULTIPROC_DIR.
    """
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
        _locks.append(lock)
        # The gauges of requests in progress that the one before had.
        mark_process_dead(number, folder)  # type: ignore[no-untyped-call]
        values.ValueClass = values.MultiProcessValue(  # type: ignore[no-untyped-call]
            lambda number=number: number
        )
        return
