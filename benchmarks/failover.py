"""Failover under writers: the primary is killed, its standby promoted, again and again.

The web service knows both servers (`DATABASE_URL` with two hosts). Writers post entries
and readers list them while all processes of the primary are killed. The standby is
promoted a second later, which is what a failover manager needs to notice at least;
then the killed server is made the standby of the new primary. An acknowledged entry
that is missing at the end was lost.
"""

import http.client
import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import psycopg

from benchmarks.dataset import DatasetSpec
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.report import Row, log_progress, max_ratio_row
from benchmarks.stores import redirect_output
from devstack.stores.data_dir import LOOPBACK, StoreDir
from devstack.stores.postgres import Postgres
from devstack.stores.replication import RunningPostgres, ServerPair

NAME = "failover"
DATASET = DatasetSpec(members=20, entries_per_member=0, sizes=())
PATH = "/api/account/entries"
FAILOVERS = 10
WRITERS, READERS = 8, 2
PAUSE_SECONDS = 0.005
DETECTION_SECONDS = 1.0
WARMUP_SECONDS, COOLDOWN_SECONDS = 1.0, 3.0
REQUEST_TIMEOUT_SECONDS = 30
MAX_OUTAGE_SECONDS = 5.0
# The status recorded for a request without a response.
NO_RESPONSE = 0


@dataclass(frozen=True)
class Attempt:
    """One request, with its times (monotonic); `memo` is that of a posted entry."""

    memo: str | None
    sent_at: float
    ended_at: float
    status: int
    retry_after: str | None


@dataclass(frozen=True)
class Failover:
    """One failover, with its times (monotonic) and the attempts around it."""

    killed_at: float
    promoted_at: float
    rebuilt_at: float
    attempts: Sequence[Attempt]

    @property
    def outage_seconds(self) -> float:
        """Return the time from the kill until the last 503."""
        ends = [a.ended_at for a in self.attempts if a.status == 503]
        return max(ends) - self.killed_at if ends else 0.0

    @property
    def unavailable_responses(self) -> int:
        return sum(attempt.status == 503 for attempt in self.attempts)

    @property
    def write_gap_seconds(self) -> float:
        """Return the time from the kill until a later write was acknowledged."""
        return (
            min(
                a.ended_at
                for a in self.attempts
                if a.status == 201 and a.ended_at > self.promoted_at
            )
            - self.killed_at
        )

    @property
    def longest_seconds(self) -> float:
        return max(a.ended_at - a.sent_at for a in self.attempts)


@dataclass
class Load:
    """Writers and readers of the web service, and what they were answered."""

    environment: BenchmarkEnvironment
    attempts: list[Attempt] = field(default_factory=list)
    memos: Iterator[str] = field(
        default_factory=lambda: (f"failover {number}" for number in itertools.count())
    )

    @contextmanager
    def run(self) -> Iterator[None]:
        stopped = threading.Event()

        def repeat(send: Callable[[int], Attempt], member: int) -> None:
            while not stopped.wait(PAUSE_SECONDS):
                self.attempts.append(send(member))

        senders = [*[self.post] * WRITERS, *[self.get] * READERS]
        threads = [
            threading.Thread(target=repeat, args=(send, 1 + number))
            for number, send in enumerate(senders)
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stopped.set()
            for thread in threads:
                thread.join()

    def post(self, member: int) -> Attempt:
        memo = next(self.memos)
        entry = {"date": "2026-11-02", "type": "expense", "amount": 1_000, "memo": memo}
        return self.send("POST", member, json.dumps(entry), memo)

    def get(self, member: int) -> Attempt:
        return self.send("GET", member, None, None)

    def send(
        self, method: str, member: int, body: str | None, memo: str | None
    ) -> Attempt:
        target = self.environment.service_target(PATH, member)
        headers = {**target.headers, "Content-Type": "application/json"}
        connection = http.client.HTTPConnection(
            LOOPBACK, target.port, timeout=REQUEST_TIMEOUT_SECONDS
        )
        sent_at = time.monotonic()
        status, retry_after = NO_RESPONSE, None
        with suppress(OSError, http.client.HTTPException):
            connection.request(method, PATH, body, headers)
            response = connection.getresponse()
            response.read()
            status, retry_after = response.status, response.headers["Retry-After"]
        connection.close()
        return Attempt(memo, sent_at, time.monotonic(), status, retry_after)


def measure(environment: BenchmarkEnvironment, *, is_synchronous: bool) -> list[Row]:
    database = environment.database
    standby_dir = StoreDir(environment.directory / "stores" / "standby")
    assert isinstance(database.store, Postgres)
    assert database.process is not None
    primary = RunningPostgres(database.store, database.store_dir, database.process)
    with redirect_output(database.store_dir.log):
        pair = ServerPair(primary, standby_dir, is_synchronous=is_synchronous)
    try:
        environment.settings["DATABASE_URL"] = pair.url
        load = Load(environment)
        load.get(1)  # starts the web server
        failovers = []
        with load.run():
            for number in range(1, FAILOVERS + 1):
                failovers.append(fail_over(pair, load))
                log_progress(f"failover {number}: {describe(failovers[-1])}")
        environment.manage("check_totals")
        return list_rows(pair, load.attempts, failovers)
    finally:
        pair.remove()


def fail_over(pair: ServerPair, load: Load) -> Failover:
    """Kill the primary under load, promote the standby and rebuild the other one."""
    first = len(load.attempts)
    time.sleep(WARMUP_SECONDS)
    killed_at = time.monotonic()
    pair.primary.kill()
    time.sleep(DETECTION_SECONDS)
    pair.promote_standby()
    promoted_at = time.monotonic()
    # Longer than the worst outage that meets the target.
    time.sleep(COOLDOWN_SECONDS)
    with redirect_output(pair.standby.store_dir.log):
        pair.rebuild_standby()
    rebuilt_at = time.monotonic()
    return Failover(killed_at, promoted_at, rebuilt_at, load.attempts[first:])


def describe(failover: Failover) -> str:
    return (
        f"{failover.unavailable_responses} of {len(failover.attempts)} were 503, the "
        f"last {failover.outage_seconds:.1f} s after the kill; promoted after "
        f"{failover.promoted_at - failover.killed_at:.1f} s, next write after "
        f"{failover.write_gap_seconds:.1f} s, longest {failover.longest_seconds:.1f} s"
    )


def list_rows(
    pair: ServerPair, attempts: Sequence[Attempt], failovers: Sequence[Failover]
) -> list[Row]:
    with psycopg.connect(pair.primary.url) as connection:
        stored = Counter(
            memo
            for (memo,) in connection.execute(
                "SELECT memo FROM account_entry WHERE memo LIKE 'failover %'"
            )
        )
    acknowledged = {a.memo for a in attempts if a.status == 201}
    rejected = {a.memo for a in attempts if a.memo and a.status == 503}
    lost = acknowledged - set(stored)
    duplicates = sum(count > 1 for count in stored.values())
    wrong = Counter(
        attempt.status
        for attempt in attempts
        if attempt.status not in {200, 201, 503}
        or (attempt.status == 503 and not attempt.retry_after)
    )
    outages = [failover.outage_seconds for failover in failovers]
    kind = "synchronous" if pair.is_synchronous else "asynchronous"
    name = f"{kind} standby, {len(failovers)} failovers"
    # What an asynchronous standby loses is known, not aimed at.
    target, is_met = ("0", not lost) if pair.is_synchronous else ("", None)
    return [
        Row(
            NAME,
            f"{name}: acknowledged entries lost",
            f"{len(lost)} of {len(acknowledged):,}",
            None,
            target,
            is_met,
        ),
        Row(NAME, f"{name}: duplicates", str(duplicates), None, "0", not duplicates),
        Row(
            NAME,
            f"{name}: other answers than 200, 201 and 503 with Retry-After",
            f"{sum(wrong.values())} of {len(attempts):,} {dict(wrong) or ''}",
            None,
            "0",
            not wrong,
        ),
        max_ratio_row(
            NAME,
            f"{name}: last 503 after the kill, longest, s",
            ", ".join(f"{seconds:.1f}" for seconds in outages),
            max(outages),
            MAX_OUTAGE_SECONDS,
        ),
        Row(
            NAME,
            f"{name}: next acknowledged write after the kill, s",
            ", ".join(f"{f.write_gap_seconds:.1f}" for f in failovers),
        ),
        Row(
            NAME,
            f"{name}: longest answer",
            f"{max(failover.longest_seconds for failover in failovers):.1f} s",
        ),
        Row(
            NAME,
            f"{name}: writes answered 503",
            f"{len(rejected)}, of which {len(rejected & set(stored))} were stored",
        ),
        Row(
            NAME,
            f"{name}: rebuilt by pg_rewind after the promotion, s",
            ", ".join(
                f"{f.rebuilt_at - f.promoted_at - COOLDOWN_SECONDS:.1f}"
                for f in failovers
            ),
        ),
    ]
