"""How much memory processes hold, as the system counts it (Linux)."""

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
    """The most that was seen so far."""

    megabytes: float = 0.0


@contextmanager
def measure_peak_memory(
    list_processes: Callable[[], list[int]],
) -> Iterator[PeakMemory]:
    """The most that one of the processes holds, its children included, meanwhile.

    Pages that parent and child share count twice.
    """
    peak, over = PeakMemory(), threading.Event()

    def watch() -> None:
        while not over.wait(SAMPLE_INTERVAL_SECONDS):
            sizes = [tree_memory_mib(process) for process in list_processes()]
            peak.megabytes = max(peak.megabytes, *sizes)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


def tree_memory_mib(process: int) -> float:
    """Resident memory of a process and its children, in MiB."""
    return sum(map(resident_memory_mib, [process, *list_child_pids(process)]))


def resident_memory_mib(process: int) -> float:
    with suppress(OSError):  # it has ended
        pages = int((PROC / str(process) / "statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    return 0.0


def list_child_pids(process: int) -> list[int]:
    """The processes that any of its threads started."""
    found: list[int] = []
    for children in (PROC / str(process) / "task").glob("*/children"):
        with suppress(OSError):
            found += map(int, children.read_text().split())
    return found
