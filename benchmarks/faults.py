"""Stores that die, hang, come back empty or fill up, under 100 requests a second."""

import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from redis import Redis

from benchmarks import openloop
from benchmarks.client import percentile
from benchmarks.dataset import Shape
from benchmarks.environment import Stage
from benchmarks.openloop import Answer, Plan
from benchmarks.report import Row, say

NAME = "faults"
SHAPE = Shape(members=50, each=1_000, sizes=())
RATE = 100
PATHS = (
    "/api/auth/session",
    "/api/account/entries?size=50",
    "/api/auth/session",
    "/api/account/networth",
)
WARM_SECONDS, AFTER_SECONDS = 3.0, 6.0
SLOW_SECONDS = 0.3
MOST_SLOW = 16
LONGEST_SECONDS = 6.0
RECOVERY_SECONDS = 2.0
FULL = "1mb"
Fault = Callable[[], object]


@dataclass(frozen=True)
class Durations:
    """How long each fault lasts, in seconds."""

    kill: float
    hang: float
    stop: float


@dataclass(frozen=True)
class Outcome:
    """The answers of one phase, and when its fault began and ended."""

    answers: Sequence[Answer]
    began: float
    ended: float

    @property
    def failed(self) -> list[Answer]:
        return [a for a in self.answers if a.status != 200]

    @property
    def logouts(self) -> int:
        return sum(a.status == 401 for a in self.answers)

    @property
    def slow(self) -> int:
        return sum(a.seconds > SLOW_SECONDS for a in self.answers)

    def describe(self) -> str:
        times = [a.seconds for a in self.answers]
        return (
            f"{len(times)} requests, {len(self.failed)} failed, "
            f"{self.logouts} logouts, {self.slow} over 300 ms, "
            f"p99 {percentile(times, 0.99) * 1e3:.0f} ms, "
            f"longest {max(times) * 1e3:.0f} ms"
        )


def measure(stage: Stage, durations: Durations) -> list[Row]:
    database, fast_store = stage.database, stage.fast_store
    rows = [judge_steady(run_phase(stage, "no fault", lambda: time.sleep(3)))]

    def lose(seconds: float) -> None:
        fast_store.end(signal.SIGKILL)
        time.sleep(seconds)
        fast_store.start()

    def hang(seconds: float) -> None:
        fast_store.send(signal.SIGSTOP)
        time.sleep(seconds)
        fast_store.send(signal.SIGCONT)

    def fill(seconds: float) -> None:
        with Redis.from_url(fast_store.address) as store:
            kept = store.config_get("maxmemory")["maxmemory"]
            store.flushall()
            store.config_set("maxmemory", FULL)
            time.sleep(seconds)
            store.config_set("maxmemory", kept)

    def restart_database() -> None:
        database.end(signal.SIGQUIT)
        database.start()

    def stop_database(seconds: float) -> None:
        database.end(signal.SIGINT)
        time.sleep(seconds)
        database.start()

    seconds = durations.kill
    text = f"fast store killed for {seconds:g} s"
    rows += judge_unharmed(text, run_phase(stage, text, lambda: lose(seconds)))
    text = f"fast store hung for {durations.hang:g} s"
    outcome = run_phase(stage, text, lambda: hang(durations.hang))
    rows += [*judge_unharmed(text, outcome), judge_slow(text, outcome)]
    text = "fast store restarted empty"
    rows += judge_unharmed(text, run_phase(stage, text, lambda: lose(0)))
    text = "fast store full"
    rows += judge_unharmed(text, run_phase(stage, text, lambda: fill(6)))
    text = "PostgreSQL restarted (immediate)"
    rows += judge_unharmed(text, run_phase(stage, text, restart_database))
    text = f"PostgreSQL stopped for {durations.stop:g} s"
    outcome = run_phase(stage, text, lambda: stop_database(durations.stop))
    return [*rows, *judge_stop(text, outcome)]


def run_phase(stage: Stage, name: str, fault: Fault) -> Outcome:
    """Load, after a while the fault, and load until a while after it."""
    say(name)
    members = range(1, SHAPE.members + 1)
    server = stage.ask_ours(PATHS[0], SHAPE.plain)
    tokens = [stage.token_of(member) for member in members]
    # The fault's own length is not known before: the load is ended when it is over.
    plan = Plan(server.port, RATE, PATHS, tokens)
    process = openloop.start(plan)
    try:
        time.sleep(WARM_SECONDS)
        began = time.time()
        fault()
        ended = time.time()
        time.sleep(AFTER_SECONDS)
        outcome = Outcome(openloop.finish(process), began, ended)
    finally:
        process.kill()
    say(f"  {outcome.describe()}")
    for failure in outcome.failed[:3]:
        say(f"  {failure.status} after {failure.seconds:.2f} s: {failure.text}")
    return outcome


def judge_steady(outcome: Outcome) -> Row:
    return zero("no fault", outcome, "0 failed", len(outcome.failed))


def judge_unharmed(text: str, outcome: Outcome) -> list[Row]:
    return [zero(text, outcome, "0 failed, 0 logouts", len(outcome.failed))]


def judge_slow(text: str, outcome: Outcome) -> Row:
    level = f"{outcome.slow} over 300 ms"
    return Row(NAME, text, level, None, f"≤ {MOST_SLOW}", outcome.slow <= MOST_SLOW)


def judge_stop(text: str, outcome: Outcome) -> list[Row]:
    """Only 503 with Retry-After, none late, none slow."""
    wrong = [a for a in outcome.failed if a.status != 503 or not a.retry_after]
    late = [a for a in outcome.failed if a.came > outcome.ended + RECOVERY_SECONDS]
    longest = max(a.seconds for a in outcome.answers)
    return [
        zero(text, outcome, "only 503 with Retry-After", len(wrong)),
        Row(
            NAME,
            f"{text}: longest answer",
            f"{longest:.2f} s",
            None,
            f"≤ {LONGEST_SECONDS:g} s",
            longest <= LONGEST_SECONDS,
        ),
        Row(
            NAME,
            f"{text}: failures later than {RECOVERY_SECONDS:g} s after its return",
            str(len(late)),
            None,
            "0",
            not late,
        ),
    ]


def zero(text: str, outcome: Outcome, target: str, wrong: int) -> Row:
    return Row(NAME, text, outcome.describe(), None, target, wrong == 0)
