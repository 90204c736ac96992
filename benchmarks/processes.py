"""Memory and processor time of processes, read from /proc (Linux only)."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

from benchmarks.load import in_background

SAMPLE_INTERVAL_SECONDS = 0.01
PROC = Path("/proc")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def list_child_pids(pid: int) -> list[int]:
    pids: list[int] = []
    for children in (PROC / str(pid) / "task").glob("*/children"):
        with suppress(OSError):
            pids += map(int, children.read_text().split())
    return pids


def read_stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the name: state, parent, …."""
    return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()


def find_main_process(connection: psycopg.Connection) -> int:
    """Find the parent of the session's process."""
    return int(read_stat(connection.info.backend_pid)[1])


def read_processor_seconds(pids: Sequence[int]) -> float:
    """Include children."""
    seconds = 0.0
    for pid in pids:
        # The process may end while it is read.
        with suppress(FileNotFoundError, ProcessLookupError):
            # User and kernel mode, with children that have ended.
            seconds += sum(map(int, read_stat(pid)[11:15])) / TICKS_PER_SECOND
        seconds += read_processor_seconds(list_child_pids(pid))
    return seconds


def measure_tree_pss(pid: int) -> float:
    """Return MiB of a process and all below it; a shared page counts once."""
    kibibytes = 0
    with suppress(OSError):
        text = (PROC / str(pid) / "smaps_rollup").read_text()
        kibibytes = int(text.partition("\nPss:")[2].split()[0])
    return kibibytes / 2**10 + sum(map(measure_tree_pss, list_child_pids(pid)))


def measure_tree_rss(pid: int) -> float:
    """Return MiB of a process and its children."""
    return sum(map(measure_rss, [pid, *list_child_pids(pid)]))


def measure_rss(pid: int) -> float:
    """Return MiB of a process; 0 after its end."""
    with suppress(OSError):
        pages = int((PROC / str(pid) / "statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    return 0.0


@dataclass
class PeakMemory:
    mebibytes: float = 0.0


@contextmanager
def measure_peak_memory(
    list_processes: Callable[[], list[int]],
) -> Iterator[PeakMemory]:
    """Sample the resident memory of the largest process tree."""
    peak = PeakMemory()

    def watch(stopped: threading.Event) -> None:
        while not stopped.wait(SAMPLE_INTERVAL_SECONDS):
            sizes = map(measure_tree_rss, list_processes())
            peak.mebibytes = max(peak.mebibytes, *sizes)

    with in_background(watch):
        yield peak
