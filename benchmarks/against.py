"""The throughput of this checkout beside that of another revision, in turn.

    script/bench --against REVISION

Both run on stores of their own with the same data. A ratio is that of requests a
second, or of the processor time of the web server and PostgreSQL for a request.
"""

import itertools
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg

from benchmarks.client import Target
from benchmarks.intake import make_notifications, prepare_intake
from benchmarks.load import call_wrk
from benchmarks.processor import find_main_process, read_processor_seconds
from benchmarks.report import Row, log_progress, max_ratio_row, min_ratio_row
from benchmarks.serve import MEMBERS
from benchmarks.servers import ROOT
from devstack.stores.data_dir import LOOPBACK

NAME = "against"
WRK_SCRIPT = Path(__file__).with_name("requests.lua")
START_TIMEOUT_SECONDS = 600
LOAD_SECONDS = 3
CONNECTIONS, MANY_CONNECTIONS = 8, 256
READS = {
    "T": "/api/auth/session",
    "newest 50": "/api/account/entries?size=50",
    "month": "/api/account/statistics/month?year=2024&month=3",
    "year": "/api/account/statistics/year?year=2024",
    "trend": "/api/account/networth/trend?unit=month",
    "net worth": "/api/account/networth",
    "portfolio": "/api/account/portfolio",
    "posts": "/api/board/posts",
}
POST = "POST entry"
MIXED = "80 % reads, 20 % writes"
INTAKE = "notifications"

# Method, path and body.
Request = tuple[str, str, str]
# Returns the requests of a run by its number: a payment is taken in only once.
MakeRequests = Callable[[int], Sequence[Request]]


@dataclass(frozen=True)
class Subject:
    """A running service of one revision."""

    name: str
    port: int
    tokens: Mapping[str, str]
    # The web server's workers and PostgreSQL's main process.
    process_ids: Sequence[int]

    def trivial_target(self) -> Target:
        token = next(iter(self.tokens.values()))
        return Target(self.port, READS["T"], {"Authorization": f"Bearer {token}"})

    def processor_seconds(self) -> float:
        return sum(map(read_processor_seconds, self.process_ids))


@dataclass(frozen=True)
class Load:
    """The result of one run of wrk; times in seconds."""

    rate: float
    p99: float
    errors: int
    # Of the service, for a request that was answered.
    processor_seconds: float


def measure(revision: str, rounds: int) -> list[Row]:
    """Return the rows of all comparisons."""
    if not shutil.which("wrk"):
        sys.exit("benchmarks: --against needs wrk (Debian: apt install wrk).")
    folder = check_out(revision)
    with ExitStack() as stack:
        subjects = [
            stack.enter_context(run_service("now", ROOT)),
            stack.enter_context(run_service("before", folder)),
        ]
        rows: list[Row] = []
        for name, make_requests in make_loads().items():
            log_progress(f"measuring {name}")
            rows += compare(name, make_requests, subjects, rounds, CONNECTIONS)
        mixed = make_loads()[MIXED]
        rows += compare(MIXED, mixed, subjects, rounds, MANY_CONNECTIONS)
    return rows


def check_out(revision: str) -> Path:
    """Return a checkout of the revision, with its requirements installed."""
    commit = subprocess.run(
        ["git", "rev-parse", "--verify", f"{revision}^{{commit}}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    folder = ROOT / "var" / "bench" / commit[:12]
    if not folder.exists():
        command = ["git", "clone", "--quiet", "--no-checkout", str(ROOT), str(folder)]
        subprocess.run(command, check=True)
        subprocess.run(["git", "checkout", "--quiet", commit], cwd=folder, check=True)
    # Installs what the revision needs.
    subprocess.run(
        [str(folder / "script" / "bench"), "--help"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return folder


def compare(
    name: str,
    make_requests: MakeRequests,
    subjects: Sequence[Subject],
    rounds: int,
    connections: int,
) -> list[Row]:
    """Load the subjects in turn, after a warm-up of a second."""
    for subject in subjects:
        run_load(subject, make_requests(0), connections, 1)
    runs: dict[str, list[Load]] = {subject.name: [] for subject in subjects}
    for number in range(1, rounds + 1):
        for subject in subjects:
            load = run_load(subject, make_requests(number), connections, LOAD_SECONDS)
            runs[subject.name].append(load)
    label = f"{name}, {connections} connections"
    level = " : ".join(
        f"{statistics.median(load.rate for load in loads):.0f}/s"
        f" (p99 {statistics.median(load.p99 for load in loads) * 1e3:.0f} ms,"
        f" {sum(load.errors for load in loads)} errors)"
        for loads in runs.values()
    )
    pairs = list(zip(runs["now"], runs["before"], strict=True))
    rate = statistics.median(now.rate / before.rate for now, before in pairs)
    processor = statistics.median(
        now.processor_seconds / before.processor_seconds for now, before in pairs
    )
    times = " : ".join(
        f"{statistics.median(load.processor_seconds for load in loads) * 1e3:.2f} ms"
        for loads in runs.values()
    )
    targets = {"T": 2.0, MIXED: 2.5 if connections == CONNECTIONS else 0.0}
    processor_targets = {POST: 0.4, INTAKE: 0.5}
    rate_name = f"{label}: requests/s, now : before"
    processor_name = f"{label}: processor time, now : before"
    return [
        min_ratio_row(NAME, rate_name, level, rate, targets[name])
        if targets.get(name)
        else Row(NAME, rate_name, level, rate),
        max_ratio_row(NAME, processor_name, times, processor, processor_targets[name])
        if name in processor_targets
        else Row(NAME, processor_name, times, processor),
    ]


def make_loads() -> dict[str, MakeRequests]:
    """Return the requests of each comparison."""
    reads: dict[str, Request] = {
        name: ("GET", path, "") for name, path in READS.items()
    }
    body = {
        "date": "2026-11-02",
        "type": "expense",
        "amount": 12_000,
        "category": "Minor 12",
        "memo": "lunch",
        "tags": ["tag 1", "tag 2"],
    }
    post = ("POST", "/api/account/entries", json.dumps(body))
    mixed = [reads[name] for name in ("newest 50", "month", "net worth", "T")]
    fixed = {name: [read] for name, read in reads.items()}
    fixed |= {POST: [post], MIXED: [*mixed, post]}
    loads = {name: partial(repeat, requests) for name, requests in fixed.items()}
    return {**loads, INTAKE: make_notifications}


def repeat(requests: Sequence[Request], _number: int) -> Sequence[Request]:
    """Return the same requests for each run."""
    return requests


def run_load(
    subject: Subject,
    requests: Sequence[Request],
    connections: int,
    seconds: int,
) -> Load:
    """Send the requests in turn, as all members in turn."""
    # No common factor with the numbers of requests, so that each member sends all.
    members = list(subject.tokens.values())[: MEMBERS - 1]
    count = len(requests) * len(members)
    turns = zip(
        itertools.cycle(requests),
        itertools.islice(itertools.cycle(members), count),
        strict=False,
    )
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
        for (method, path, body), token in turns:
            file.write(f"{method}\t{path}\t{token}\t{body}\n")
        file.flush()
        started_at = subject.processor_seconds()
        url = f"http://{LOOPBACK}:{subject.port}/"
        run = call_wrk(
            ["-s", str(WRK_SCRIPT), url, "--", file.name], connections, seconds
        )
        processor_seconds = subject.processor_seconds() - started_at
    # A refusal costs little and is no work done.
    answered_rate = max(1.0, run.rate - run.errors / seconds)
    answered = answered_rate * seconds
    return Load(answered_rate, run.p99, run.errors, processor_seconds / answered)


@contextmanager
def run_service(name: str, checkout: Path) -> Iterator[Subject]:
    """Run the service of a checkout on stores of its own during the block."""
    log_progress(f"starting {name}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "service.json")
        command = [checkout / ".venv/bin/python", ROOT / "benchmarks/serve.py", file]
        process = subprocess.Popen(
            list(map(str, command)), cwd=checkout, stdin=subprocess.PIPE
        )
        try:
            end = time.monotonic() + START_TIMEOUT_SECONDS
            while not file.exists():
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"the service of {checkout} did not start")
                time.sleep(0.2)
            found = json.loads(file.read_text())
            with psycopg.connect(found["database"]) as connection:
                prepare_intake(connection)
                main_process = find_main_process(connection)
            yield Subject(
                name, found["port"], found["tokens"], [*found["workers"], main_process]
            )
        finally:
            if process.stdin:
                process.stdin.close()
            process.wait()
