"""Load by several connections at once: wrk, or a plain generator without it."""

import http.client
import json
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.client import Target, percentile
from devstack.stores.data_dir import LOOPBACK

CONNECTIONS = 8
WRK_SCRIPT = Path(__file__).with_name("summary.lua")


@dataclass(frozen=True)
class LoadRun:
    """One run; times in seconds."""

    rate: float
    p50: float
    p99: float
    errors: int


@dataclass(frozen=True)
class LoadResult:
    """The runs of one contender, one a round."""

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
        """The ratio of the rates, taken round by round."""
        pairs = zip(self.rounds, other.rounds, strict=True)
        return statistics.median(own.rate / peer.rate for own, peer in pairs)

    def summary(self) -> str:
        text = (
            f"{self.rate:.0f}/s, p50 {self.p50 * 1e3:.1f}, p99 {self.p99 * 1e3:.1f} ms"
        )
        return text + (f", {self.errors} errors" if self.errors else "")


def load_interleaved(
    targets: Mapping[str, Target], rounds: int, seconds: int
) -> dict[str, LoadResult]:
    """A B C A B C …, after a second of warming up for each."""
    for target in targets.values():
        run_load(target, 1)
    runs: dict[str, list[LoadRun]] = {name: [] for name in targets}
    for _ in range(rounds):
        for name, target in targets.items():
            runs[name].append(run_load(target, seconds))
    return {name: LoadResult(tuple(loads)) for name, loads in runs.items()}


def run_load(target: Target, seconds: int) -> LoadRun:
    return (
        run_wrk(target, seconds)
        if shutil.which("wrk")
        else run_python_load(target, seconds)
    )


def run_wrk(target: Target, seconds: int) -> LoadRun:
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "30s"]
    for name, value in target.headers.items():
        command += ["-H", f"{name}: {value}"]
    run = subprocess.run(
        [*command, "--latency", "-s", str(WRK_SCRIPT), target.url],
        capture_output=True,
        text=True,
        check=True,
        timeout=seconds + 60,
    )
    match = re.search(r"@@(.*)", run.stdout)
    if match is None:
        raise AssertionError(f"wrk said: {run.stdout}{run.stderr}")
    requests, spent, p50, p99, errors = map(int, match[1].split())
    return LoadRun(requests / (spent / 1e6), p50 / 1e6, p99 / 1e6, errors)


def run_python_load(target: Target, seconds: int) -> LoadRun:
    """The generator below, in a process of its own."""
    plan = [target.port, target.path, dict(target.headers), seconds]
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.load"],
        input=json.dumps(plan),
        capture_output=True,
        text=True,
        check=True,
        timeout=seconds + 60,
    )
    found = json.loads(run.stdout)
    times = found["times"]
    return LoadRun(
        len(times) / found["spent"],
        percentile(times, 0.5),
        percentile(times, 0.99),
        found["errors"],
    )


def main() -> None:
    port, path, headers, seconds = json.load(sys.stdin)
    times: list[float] = []
    errors: list[int] = []
    started = time.monotonic()

    def ask() -> None:
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=30)
        while (begun := time.monotonic()) < started + seconds:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            response.read()
            times.append(time.monotonic() - begun)
            if response.status != http.client.OK:
                errors.append(response.status)

    threads = [threading.Thread(target=ask) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent = time.monotonic() - started
    json.dump({"times": times, "errors": len(errors), "spent": spent}, sys.stdout)


if __name__ == "__main__":
    main()
