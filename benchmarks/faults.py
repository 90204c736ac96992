"""Failures of the stores under 100 requests a second: killed, hung, emptied, full."""

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
    """The durations of the faults, in seconds."""

    kill: float
    hang: float
    stop: float


@dataclass(frozen=True)
class PhaseResult:
    """The responses of one phase, and the start and end of its fault (Unix time)."""

    responses: Sequence[TimedResponse]
    fault_started_at: float
    fault_ended_at: float

    @property
    def failed(self) -> list[TimedResponse]:
        return [response for response in self.responses if response.status != 200]

    @property
    def logouts(self) -> int:
        return sum(response.status == 401 for response in self.responses)

    @property
    def slow(self) -> int:
        return sum(
            response.seconds > SLOW_RESPONSE_SECONDS for response in self.responses
        )

    def summary(self) -> str:
        times = [response.seconds for response in self.responses]
        return (
            f"{len(times)} requests, {len(self.failed)} failed, "
            f"{self.logouts} logouts, {self.slow} over 300 ms, "
            f"p99 {percentile(times, 0.99) * 1e3:.0f} ms, "
            f"longest {max(times) * 1e3:.0f} ms"
        )


def measure(environment: BenchmarkEnvironment, durations: Durations) -> list[Row]:
    database, valkey = environment.database, environment.valkey
    rows = [no_fault_row(run_phase(environment, "no fault", lambda: time.sleep(3)))]

    def kill_valkey(seconds: float) -> None:
        valkey.stop_with_signal(signal.SIGKILL)
        time.sleep(seconds)
        valkey.start()

    def hang_valkey(seconds: float) -> None:
        valkey.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        valkey.send_signal(signal.SIGCONT)

    def fill_valkey(seconds: float) -> None:
        with Redis.from_url(valkey.url) as store:
            maxmemory = store.config_get("maxmemory")["maxmemory"]
            store.flushall()
            store.config_set("maxmemory", FULL_MAXMEMORY)
            time.sleep(seconds)
            store.config_set("maxmemory", maxmemory)

    def restart_database() -> None:
        database.stop_with_signal(signal.SIGQUIT)
        database.start()

    def stop_database(seconds: float) -> None:
        database.stop_with_signal(signal.SIGINT)
        time.sleep(seconds)
        database.start()

    seconds = durations.kill
    # Without Valkey no request may fail and no member may be logged out.
    text = f"fast store killed for {seconds:g} s"
    rows += no_failure_rows(
        text, run_phase(environment, text, lambda: kill_valkey(seconds))
    )
    text = f"fast store hung for {durations.hang:g} s"
    result = run_phase(environment, text, lambda: hang_valkey(durations.hang))
    rows += [*no_failure_rows(text, result), slow_responses_row(text, result)]
    text = "fast store restarted empty"
    rows += no_failure_rows(text, run_phase(environment, text, lambda: kill_valkey(0)))
    text = "fast store full"
    rows += no_failure_rows(text, run_phase(environment, text, lambda: fill_valkey(6)))
    # A quick restart must not fail requests either; a longer outage gives 503.
    text = "PostgreSQL restarted (immediate)"
    rows += no_failure_rows(text, run_phase(environment, text, restart_database))
    text = f"PostgreSQL stopped for {durations.stop:g} s"
    result = run_phase(environment, text, lambda: stop_database(durations.stop))
    return [*rows, *outage_rows(text, result)]


def run_phase(
    environment: BenchmarkEnvironment, name: str, fault: Fault
) -> PhaseResult:
    """Run `fault` under load, which starts before it and goes on after it."""
    log_progress(name)
    members = range(1, DATASET.members + 1)
    server = environment.service_target(PATHS[0], DATASET.typical_member)
    tokens = [environment.get_token(member) for member in members]
    # The duration of a fault is not known in advance; stop_load ends the load after it.
    plan = LoadPlan(server.port, RATE, PATHS, tokens)
    process = openloop.start_load(plan)
    try:
        time.sleep(WARMUP_SECONDS)
        fault_started_at = time.time()
        fault()
        fault_ended_at = time.time()
        time.sleep(COOLDOWN_SECONDS)
        result = PhaseResult(
            openloop.stop_load(process), fault_started_at, fault_ended_at
        )
    finally:
        process.kill()
    log_progress(f"  {result.summary()}")
    for failure in result.failed[:3]:
        log_progress(
            f"  {failure.status} after {failure.seconds:.2f} s: {failure.text}"
        )
    return result


def no_fault_row(result: PhaseResult) -> Row:
    return zero_expected_row("no fault", result, "0 failed", len(result.failed))


def no_failure_rows(text: str, result: PhaseResult) -> list[Row]:
    return [zero_expected_row(text, result, "0 failed, 0 logouts", len(result.failed))]


def slow_responses_row(text: str, result: PhaseResult) -> Row:
    level = f"{result.slow} over 300 ms"
    return Row(
        NAME,
        text,
        level,
        None,
        f"≤ {MAX_SLOW_RESPONSES}",
        result.slow <= MAX_SLOW_RESPONSES,
    )


def outage_rows(text: str, result: PhaseResult) -> list[Row]:
    """Return rows that expect 503 with Retry-After, in time, and a quick recovery."""
    wrong = [
        response
        for response in result.failed
        if response.status != 503 or not response.retry_after
    ]
    recovered_at = result.fault_ended_at + MAX_RECOVERY_SECONDS
    late = [
        response for response in result.failed if response.arrived_at > recovered_at
    ]
    longest = max(response.seconds for response in result.responses)
    return [
        zero_expected_row(text, result, "only 503 with Retry-After", len(wrong)),
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


def zero_expected_row(text: str, result: PhaseResult, target: str, wrong: int) -> Row:
    return Row(NAME, text, result.summary(), None, target, wrong == 0)
