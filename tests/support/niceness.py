"""The niceness of programs that read their whole input before they work on it."""

import os
import subprocess
import time
from collections.abc import Sequence

START_SECONDS = 20.0


def read_niceness_at_work(command: Sequence[str]) -> int:
    """Return how far a program has stepped back behind this process.

    It is given no input, and so waits for that; 0 if it has not stepped back by then.
    """
    own = os.getpriority(os.PRIO_PROCESS, 0)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        try:
            deadline = time.monotonic() + START_SECONDS
            niceness = 0
            while not niceness and time.monotonic() < deadline:
                time.sleep(0.02)
                niceness = os.getpriority(os.PRIO_PROCESS, process.pid) - own
            return niceness
        finally:
            process.kill()
