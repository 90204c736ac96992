"""Closed-loop load on several connections: wrk, or threads where wrk is missing."""

import http.client
import itertools
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.client import Target, percentile
from devstack.stores.data_dir import LOOPBACK

CONNECTIONS = 8
WRK_SCRIPT = Path(__file__).with_name("summary.lua")
WRK_FILE_SCRIPT = WRK_SCRIPT.with_name("requests.lua")


@dataclass(frozen=True)
class LoadRun:
    """One run: requests a second, percentiles of the durations in seconds, errors."""

    rate: float
    p50: float
    p99: float
    errors: int


@dataclass(frozen=True)
class LoadResult:
    """The runs of one subject, one per round."""

    rounds: tuple[LoadRun, ...]

    @property
    def rate(self) -> float:
        return statistics.median(load.rate for load in self.rounds)

    @property
    def p50(self) -> float:
        return statistics.median(load.p50 for load in self.rounds)

    @property
    def p99(self) -> float:
        return statistics.median(load.p99 for load in self.rounds)

    @property
    def errors(self) -> int:
        return sum(load.errors for load in self.rounds)

    def ratio_to(self, other: "LoadResult") -> float:
        """Return the median over the rounds of the ratio of the request rates."""
        pairs = zip(self.rounds, other.rounds, strict=True)
        return statistics.median(own.rate / baseline.rate for own, baseline in pairs)

    def summary(self) -> str:
        text = (
            f"{self.rate:.0f}/s, p50 {self.p50 * 1e3:.1f}, p99 {self.p99 * 1e3:.1f} ms"
        )
        return text + (f", {self.errors} errors" if self.errors else "")


def load_interleaved(
    subjects: Mapping[str, Target | Sequence[Target]], rounds: int, seconds: int
) -> dict[str, LoadResult]:
    """Run load on the subjects in turn (A B C A B C …), after a warm-up of a second.

    The requests of a subject with several targets, of one server, take turns.
    """
    loads = {
        name: [subject] if isinstance(subject, Target) else subject
        for name, subject in subjects.items()
    }
    for targets in loads.values():
        run_load(targets, 1)
    runs: dict[str, list[LoadRun]] = {name: [] for name in loads}
    for _ in range(rounds):
        for name, targets in loads.items():
            runs[name].append(run_load(targets, seconds))
    return {name: LoadResult(tuple(results)) for name, results in runs.items()}


def run_load(targets: Sequence[Target], seconds: int) -> LoadRun:
    return (
        run_wrk(targets, seconds)
        if shutil.which("wrk")
        else run_python_load(targets, seconds)
    )


def run_wrk(targets: Sequence[Target], seconds: int) -> LoadRun:
    if len(targets) == 1 and not targets[0].body:
        arguments = ["-s", str(WRK_SCRIPT), targets[0].url]
        for name, value in targets[0].headers.items():
            arguments += ["-H", f"{name}: {value}"]
        return call_wrk(arguments, CONNECTIONS, seconds)
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
        for target in targets:
            token = target.headers["Authorization"].removeprefix("Bearer ")
            file.write(f"{target.method}\t{target.path}\t{token}\t{target.body}\n")
        file.flush()
        arguments = ["-s", str(WRK_FILE_SCRIPT), targets[0].url, "--", file.name]
        return call_wrk(arguments, CONNECTIONS, seconds)


def call_wrk(arguments: Sequence[str], connections: int, seconds: int) -> LoadRun:
    """Run wrk with a script that ends as `summary.lua` does."""
    run = subprocess.run(
        [
            *("wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s"),
            *("--latency", *arguments),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=seconds + 60,
    )
    match = re.search(r"@@(.*)", run.stdout)
    if match is None:
        raise AssertionError(f"unexpected output of wrk: {run.stdout}{run.stderr}")
    requests, duration, p50, p99, errors = map(int, match[1].split())
    return LoadRun(requests / (duration / 1e6), p50 / 1e6, p99 / 1e6, errors)


def run_python_load(targets: Sequence[Target], seconds: int) -> LoadRun:
    """Run `main` in a subprocess, so that it does not share the lock of this one."""
    requests = [
        (target.method, target.path, target.body or None, dict(target.headers))
        for target in targets
    ]
    plan = [targets[0].port, requests, seconds]
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.load"],
        input=json.dumps(plan),
        capture_output=True,
        text=True,
        check=True,
        timeout=seconds + 60,
    )
    result = json.loads(run.stdout)
    times = result["times"]
    return LoadRun(
        len(times) / result["duration"],
        percentile(times, 0.5),
        percentile(times, 0.99),
        result["errors"],
    )


def main() -> None:
    port, requests, seconds = json.load(sys.stdin)
    times: list[float] = []
    errors: list[int] = []
    started = time.monotonic()

    def send_requests() -> None:
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=30)
        turns = itertools.cycle(requests)
        while (sent_at := time.monotonic()) < started + seconds:
            connection.request(*next(turns))
            response = connection.getresponse()
            response.read()
            times.append(time.monotonic() - sent_at)
            if response.status not in {http.client.OK, http.client.CREATED}:
                errors.append(response.status)

    threads = [threading.Thread(target=send_requests) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    duration = time.monotonic() - started
    json.dump({"times": times, "errors": len(errors), "duration": duration}, sys.stdout)


if __name__ == "__main__":
    main()
