"""Memory of processes, read from /proc (Linux only)."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

SAMPLE_INTERVAL_SECONDS = 0.01
PROC = Path("/proc")


@dataclass
class PeakMemory:
    """The highest value sampled so far, in MiB."""

    mebibytes: float = 0.0


@contextmanager
def measure_peak_memory(
    list_processes: Callable[[], list[int]],
) -> Iterator[PeakMemory]:
    """Sample the memory of the processes during the block.

    The peak is that of one process with its children. Pages shared by parent and child
    count twice.
    """
    peak, stopped = PeakMemory(), threading.Event()

    def watch() -> None:
        while not stopped.wait(SAMPLE_INTERVAL_SECONDS):
            sizes = [tree_memory_mib(pid) for pid in list_processes()]
            peak.mebibytes = max(peak.mebibytes, *sizes)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        stopped.set()
        thread.join()


def tree_memory_mib(pid: int) -> float:
    """Return the resident memory of a process and its children, in MiB."""
    pages = 0
    for each in [pid, *list_child_pids(pid)]:
        # It may have ended.
        with suppress(OSError):
            pages += int((PROC / str(each) / "statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def list_child_pids(pid: int) -> list[int]:
    """Return the ids of the processes that any of its threads started."""
    pids: list[int] = []
    for children in (PROC / str(pid) / "task").glob("*/children"):
        with suppress(OSError):
            pids += map(int, children.read_text().split())
    return pids


def measure_tree_pss(pid: int) -> float:
    """Return the proportional memory of a process and all below it, in MiB.

    A page that several processes share counts once in all.
    """
    kibibytes = 0
    with suppress(OSError):
        for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                kibibytes = int(line.split()[1])
    children = sum(measure_tree_pss(child) for child in list_child_pids(pid))
    return kibibytes / 2**10 + children
