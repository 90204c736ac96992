"""Stores that die, hang, come back empty or fill up, under 100 requests a second."""

import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from redis import Redis

from benchmarks import openloop
from benchmarks.client import percentile
from benchmarks.dataset import DatasetSpec
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.openloop import LoadPlan, TimedResponse
from benchmarks.report import Row, log_progress

NAME = "faults"
DATASET = DatasetSpec(members=50, entries_per_member=1_000, sizes=())
RATE = 100
PATHS = (
    "/api/auth/session",
    "/api/account/entries?size=50",
    "/api/auth/session",
    "/api/account/networth",
)
WARMUP_SECONDS, COOLDOWN_SECONDS = 3.0, 6.0
SLOW_RESPONSE_SECONDS = 0.3
MAX_SLOW_RESPONSES = 16
MAX_RESPONSE_SECONDS = 6.0
MAX_RECOVERY_SECONDS = 2.0
FULL_MAXMEMORY = "1mb"
Fault = Callable[[], object]


@dataclass(frozen=True)
class Durations:
    """How long each fault lasts, in seconds."""

    kill: float
    hang: float
    stop: float


@dataclass(frozen=True)
class PhaseResult:
    """The answers of one phase, and when its fault began and ended."""

    responses: Sequence[TimedResponse]
    began: float
    ended: float

    @property
    def failed(self) -> list[TimedResponse]:
        return [a for a in self.responses if a.status != 200]

    @property
    def logouts(self) -> int:
        return sum(a.status == 401 for a in self.responses)

    @property
    def slow(self) -> int:
        return sum(a.seconds > SLOW_RESPONSE_SECONDS for a in self.responses)

    def summary(self) -> str:
        times = [a.seconds for a in self.responses]
        return (
            f"{len(times)} requests, {len(self.failed)} failed, "
            f"{self.logouts} logouts, {self.slow} over 300 ms, "
            f"p99 {percentile(times, 0.99) * 1e3:.0f} ms, "
            f"longest {max(times) * 1e3:.0f} ms"
        )


def measure(stage: BenchmarkEnvironment, durations: Durations) -> list[Row]:
    database, fast_store = stage.database, stage.fast_store
    rows = [no_fault_row(run_phase(stage, "no fault", lambda: time.sleep(3)))]

    def lose(seconds: float) -> None:
        fast_store.stop_with_signal(signal.SIGKILL)
        time.sleep(seconds)
        fast_store.start()

    def hang(seconds: float) -> None:
        fast_store.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        fast_store.send_signal(signal.SIGCONT)

    def fill(seconds: float) -> None:
        with Redis.from_url(fast_store.address) as store:
            kept = store.config_get("maxmemory")["maxmemory"]
            store.flushall()
            store.config_set("maxmemory", FULL_MAXMEMORY)
            time.sleep(seconds)
            store.config_set("maxmemory", kept)

    def restart_database() -> None:
        database.stop_with_signal(signal.SIGQUIT)
        database.start()

    def stop_database(seconds: float) -> None:
        database.stop_with_signal(signal.SIGINT)
        time.sleep(seconds)
        database.start()

    seconds = durations.kill
    text = f"fast store killed for {seconds:g} s"
    rows += no_failure_rows(text, run_phase(stage, text, lambda: lose(seconds)))
    text = f"fast store hung for {durations.hang:g} s"
    outcome = run_phase(stage, text, lambda: hang(durations.hang))
    rows += [*no_failure_rows(text, outcome), slow_responses_row(text, outcome)]
    text = "fast store restarted empty"
    rows += no_failure_rows(text, run_phase(stage, text, lambda: lose(0)))
    text = "fast store full"
    rows += no_failure_rows(text, run_phase(stage, text, lambda: fill(6)))
    text = "PostgreSQL restarted (immediate)"
    rows += no_failure_rows(text, run_phase(stage, text, restart_database))
    text = f"PostgreSQL stopped for {durations.stop:g} s"
    outcome = run_phase(stage, text, lambda: stop_database(durations.stop))
    return [*rows, *outage_rows(text, outcome)]


def run_phase(stage: BenchmarkEnvironment, name: str, fault: Fault) -> PhaseResult:
    """Load, after a while the fault, and load until a while after it."""
    log_progress(name)
    members = range(1, DATASET.members + 1)
    server = stage.service_target(PATHS[0], DATASET.typical_member)
    tokens = [stage.get_token(member) for member in members]
    # The fault's own length is not known before: the load is ended when it is over.
    plan = LoadPlan(server.port, RATE, PATHS, tokens)
    process = openloop.start_load(plan)
    try:
        time.sleep(WARMUP_SECONDS)
        began = time.time()
        fault()
        ended = time.time()
        time.sleep(COOLDOWN_SECONDS)
        outcome = PhaseResult(openloop.stop_load(process), began, ended)
    finally:
        process.kill()
    log_progress(f"  {outcome.summary()}")
    for failure in outcome.failed[:3]:
        log_progress(
            f"  {failure.status} after {failure.seconds:.2f} s: {failure.text}"
        )
    return outcome


def no_fault_row(outcome: PhaseResult) -> Row:
    return zero_expected_row("no fault", outcome, "0 failed", len(outcome.failed))


def no_failure_rows(text: str, outcome: PhaseResult) -> list[Row]:
    return [
        zero_expected_row(text, outcome, "0 failed, 0 logouts", len(outcome.failed))
    ]


def slow_responses_row(text: str, outcome: PhaseResult) -> Row:
    level = f"{outcome.slow} over 300 ms"
    return Row(
        NAME,
        text,
        level,
        None,
        f"≤ {MAX_SLOW_RESPONSES}",
        outcome.slow <= MAX_SLOW_RESPONSES,
    )


def outage_rows(text: str, outcome: PhaseResult) -> list[Row]:
    """Only 503 with Retry-After, none late, none slow."""
    wrong = [a for a in outcome.failed if a.status != 503 or not a.retry_after]
    late = [
        a for a in outcome.failed if a.arrived_at > outcome.ended + MAX_RECOVERY_SECONDS
    ]
    longest = max(a.seconds for a in outcome.responses)
    return [
        zero_expected_row(text, outcome, "only 503 with Retry-After", len(wrong)),
        Row(
            NAME,
            f"{text}: longest answer",
            f"{longest:.2f} s",
            None,
            f"≤ {MAX_RESPONSE_SECONDS:g} s",
            longest <= MAX_RESPONSE_SECONDS,
        ),
        Row(
            NAME,
            f"{text}: failures later than {MAX_RECOVERY_SECONDS:g} s after its return",
            str(len(late)),
            None,
            "0",
            not late,
        ),
    ]


def zero_expected_row(text: str, outcome: PhaseResult, target: str, wrong: int) -> Row:
    return Row(NAME, text, outcome.summary(), None, target, wrong == 0)
