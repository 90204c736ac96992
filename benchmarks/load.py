"""Load on several connections: as much as is answered, or requests at a steady rate."""

import itertools
import pickle
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.client import SUCCESSES, Client, Target, percentile

CONNECTIONS = 8
TIMEOUT_SECONDS = 30


@dataclass(frozen=True)
class LoadRun:
    """Times are in seconds."""

    rate: float
    p50: float
    p99: float
    statuses: Counter[int]

    @property
    def errors(self) -> int:
        return sum(n for each, n in self.statuses.items() if each not in SUCCESSES)


@contextmanager
def in_background(*functions: Callable[[threading.Event], object]) -> Iterator[None]:
    """Run functions in threads until the block sets their event; raise their errors."""
    stopped = threading.Event()
    with ThreadPoolExecutor(len(functions)) as pool:
        runs = [pool.submit(function, stopped) for function in functions]
        try:
            yield
        finally:
            stopped.set()
    for run in runs:
        run.result()


def load_interleaved(
    subjects: Mapping[str, Sequence[Target]], rounds: int, seconds: float
) -> dict[str, list[LoadRun]]:
    """Run load on the subjects in turn (A B C A B C …)."""
    runs: dict[str, list[LoadRun]] = {name: [] for name in subjects}
    for number in range(rounds + 1):
        for name, targets in subjects.items():
            run = run_load(targets, seconds if number else min(1, seconds))
            runs[name] += [run] if number else []
    return runs


def run_load(
    targets: Sequence[Target], seconds: float, connections: int = CONNECTIONS
) -> LoadRun:
    """Send as many requests as are answered, from a process of its own."""
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.load"],
        input=pickle.dumps((targets, seconds, connections)),
        stdout=subprocess.PIPE,
        check=True,
        timeout=seconds + 2 * TIMEOUT_SECONDS,
    )
    result: LoadRun = pickle.loads(run.stdout)
    return result


def send_in_turn(
    targets: Sequence[Target], seconds: float, connections: int
) -> tuple[list[float], Counter[int]]:
    """Return durations and statuses."""
    times: list[float] = []
    statuses: Counter[int] = Counter()

    def send(stopped: threading.Event) -> None:
        client = Client(targets[0])
        for target in itertools.cycle(targets):
            sent_at = time.monotonic()
            statuses[client.exchange(target).status] += 1
            times.append(time.monotonic() - sent_at)
            if stopped.is_set():
                return

    with in_background(*[send] * connections):
        time.sleep(seconds)
    return times, statuses


@dataclass(frozen=True)
class Observed:
    """Statuses other than 2xx failed."""

    seconds: list[float]
    failed: list[int]

    @property
    def p95(self) -> float:
        """Return the 95th percentile; a failed request counts as endless."""
        return percentile([*self.seconds, *[float("inf")] * len(self.failed)], 0.95)

    @property
    def longest(self) -> float:
        return float("inf") if self.failed else max(self.seconds, default=0.0)

    def __str__(self) -> str:
        count = len(self.seconds) + len(self.failed)
        text = (
            f"p95 {self.p95 * 1e3:.0f}, longest {self.longest * 1e3:.0f} ms of {count}"
        )
        return text + (f", failed {sorted(self.failed)}" if self.failed else "")


@contextmanager
def observe(targets: Sequence[Target], rate: float) -> Iterator[Observed]:
    """Send the requests in turn at a steady rate during the block.

    Durations count from the planned time: a pause of the server delays requests.
    """
    observed = Observed([], [])
    turns, started = itertools.count(), time.monotonic()

    def send(stopped: threading.Event) -> None:
        while True:
            turn = next(turns)
            planned = started + turn / rate
            if stopped.wait(max(0.0, planned - time.monotonic())):
                return
            target = targets[turn % len(targets)]
            status = Client(target).exchange(target).status
            if status in SUCCESSES:
                observed.seconds.append(time.monotonic() - planned)
            else:
                observed.failed.append(status)

    with in_background(*[send] * 2 * CONNECTIONS):
        yield observed


def main() -> None:
    targets, seconds, connections = pickle.load(sys.stdin.buffer)
    started = time.monotonic()
    times, statuses = send_in_turn(targets, seconds, connections)
    rate = len(times) / (time.monotonic() - started)
    run = LoadRun(rate, percentile(times, 0.5), percentile(times, 0.99), statuses)
    sys.stdout.buffer.write(pickle.dumps(run))


if __name__ == "__main__":
    # Pickles name the class by this module.
    from benchmarks.load import LoadRun, main

    main()
