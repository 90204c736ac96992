"""Check and repair of the rollups of 10 million entries while members write.

Most members write three entries a day for a year; one has a million entries. All of
their totals are missing, which is the most that a repair has to do. Meanwhile two
writers create entries, one for the large member and one for the others in turn, whose
longest transaction shows how long a ledger was locked. The check afterwards must find
nothing wrong, although they go on.
"""

import os
import resource
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle

import psycopg

from benchmarks.client import percentile
from benchmarks.dataset import IDS_PER_MEMBER, DatasetSpec, vacuum_and_checkpoint
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.memory import PROC, list_child_pids
from benchmarks.report import Row, log_progress, max_ratio_row
from core.db.locks import AdvisoryLock

NAME = "totals"
ENTRIES, LARGE_MEMBER_ENTRIES, ENTRIES_PER_MEMBER = 10_000_000, 1_000_000, 1_000
MAX_REPAIR_MINUTES, MAX_LOCK_SECONDS = 5, 1
PAUSE_SECONDS = 0.005

# Three entries a day, or as many as fill ten years; some memos are frequent, and each
# has a category of its own; every third entry has a tag, every 200th is pending.
ADD_ENTRIES = """
INSERT INTO account_entry (member_id, date, type, amount, category_id, wallet_id, memo,
    pending, created_at, updated_at)
SELECT member, DATE '2016-01-01' + number / greatest(3, %(count)s / 3650), type,
    100 + hash %% 300000,
    member * %(ids)s + 8 + CASE type WHEN 'income' THEN shop %% 10
                           ELSE 10 + shop %% 30 END,
    member * %(ids)s + hash / 7 %% 5,
    'memo of shop ' || shop || CASE WHEN %(count)s > 10000
                               THEN ' at ' || number %% 200 ELSE '' END,
    hash %% 200 = 0, now(), now()
FROM generate_series(0, %(count)s - 1) number,
    generate_series(%(first)s::int, %(last)s) member,
    LATERAL (SELECT abs(hashint8(number::bigint * 100000 + member)::bigint) AS hash) h,
    LATERAL (SELECT CASE WHEN hash / 11 %% 10 = 0 THEN 'income' ELSE 'expense' END
        AS type, (338 * power(hash %% 100000 / 100000.0, 2))::int AS shop) texts
"""
ADD_TAGS = """
INSERT INTO account_entry_tag (entry_id, tag_id, member_id, position)
SELECT id, member_id * %s + id %% 12, member_id, 0 FROM account_entry WHERE id %% 3 = 0
"""
TOTALS = (
    *("account_day_total", "account_wallet_month_total", "account_category_total"),
    *("account_wallet_total", "account_memo_total", "account_tag_total"),
)
WRITE = """
INSERT INTO account_entry (member_id, date, type, amount, category_id, wallet_id, memo,
    pending, created_at, updated_at)
VALUES (%s, '2016-06-01', 'expense', 7, %s, %s, 'memo of shop 1', false, now(), now())
"""


@dataclass(frozen=True)
class Cost:
    """The cost of a command: seconds, and processor seconds with PostgreSQL's."""

    seconds: float
    processor_seconds: float


def make_dataset(scale: float) -> DatasetSpec:
    """Return typical members and a large one, all without entries so far."""
    entries = int(ENTRIES * scale)
    large = min(LARGE_MEMBER_ENTRIES, entries // 2)
    members = max(10, (entries - large) // ENTRIES_PER_MEMBER)
    return DatasetSpec(members, 0, (0,), scale)


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    spec = environment.spec
    typical, large = range(1, spec.members + 1), spec.large_member(0)
    large_size = min(LARGE_MEMBER_ENTRIES, int(ENTRIES * spec.scale) // 2)
    with psycopg.connect(environment.database.url, autocommit=True) as connection:
        log_progress("loading entries without totals")
        connection.execute("SET session_replication_role = replica")
        add_entries(connection, typical, ENTRIES_PER_MEMBER)
        add_entries(connection, [large], large_size)
        connection.execute(ADD_TAGS, [IDS_PER_MEMBER])
        stored = connection.execute("SELECT count(*) FROM account_entry").fetchone()
    entries = int(stored[0]) if stored else 0
    vacuum_and_checkpoint(environment.database.url)

    log_progress(f"repairing the totals of {entries:,} entries")
    with write_continuously(environment.database.url, typical, large) as writes:
        repair = measure_command(environment, "check_totals", "--repair")
    longest = {name: max(times) for name, times in writes.items()}
    totals = count_totals(environment.database.url)
    log_progress("checking them")
    with write_continuously(environment.database.url, typical, large) as writes:
        check = measure_command(environment, "check_totals")

    to_minutes = ENTRIES / entries / 60
    rows = [
        max_ratio_row(
            NAME,
            f"repair, all totals missing; ratio: minutes for {ENTRIES:,} entries",
            f"{repair.seconds:.0f} s for {entries:,} entries, {totals:,} totals",
            repair.seconds * to_minutes,
            MAX_REPAIR_MINUTES,
        ),
        Row(
            NAME,
            "repair with the writers, processor time; ratio: minutes",
            f"{repair.processor_seconds:.0f} s",
            repair.processor_seconds * to_minutes,
        ),
        Row(
            NAME,
            "check, nothing wrong; ratio: minutes",
            f"{check.seconds:.0f} s, {check.processor_seconds:.0f} s of processors",
            check.seconds * to_minutes,
        ),
    ]
    for name, seconds in longest.items():
        text = f"longest write during the repair, {name}; ratio: seconds"
        usual = percentile(writes[name], 0.5)
        level = f"{seconds * 1000:.0f} ms, median of the check {usual * 1000:.1f} ms"
        rows.append(max_ratio_row(NAME, text, level, seconds, MAX_LOCK_SECONDS))
    return rows


def add_entries(
    connection: psycopg.Connection, members: Sequence[int], count: int
) -> None:
    """Load entries of members with consecutive ids, who take turns in the table."""
    values = {"first": members[0], "last": members[-1], "ids": IDS_PER_MEMBER}
    psycopg.ClientCursor(connection).execute(ADD_ENTRIES, values | {"count": count})


def measure_command(environment: BenchmarkEnvironment, *arguments: str) -> Cost:
    """Run the command; raise CalledProcessError if it failed."""
    with psycopg.connect(environment.database.url) as connection:
        backend = (PROC / str(connection.info.backend_pid) / "status").read_text()
    _, _, parent = backend.partition("PPid:")
    server = int(parent.split()[0])
    started, before = time.perf_counter(), read_processor_seconds(server)
    environment.manage(*arguments)
    return Cost(time.perf_counter() - started, read_processor_seconds(server) - before)


def read_processor_seconds(server: int) -> float:
    """Return the processor time of a process, its children and those of this one.

    Children that have ended count too.
    """
    ticks = 0
    for pid in (server, *list_child_pids(server)):
        _, _, fields = (PROC / str(pid) / "stat").read_text().rpartition(") ")
        # utime, stime, and, of the ended children of the server, cutime and cstime.
        ticks += sum(map(int, fields.split()[11 : 15 if pid == server else 13]))
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ticks / os.sysconf("SC_CLK_TCK") + own.ru_utime + own.ru_stime


def count_totals(url: str) -> int:
    with psycopg.connect(url) as connection:
        counts = " UNION ALL ".join(f"SELECT count(*) FROM {name}" for name in TOTALS)
        return sum(int(count) for (count,) in connection.execute(counts))


@contextmanager
def write_continuously(
    url: str, typical: Sequence[int], large: int
) -> Iterator[dict[str, list[float]]]:
    """Create entries during the block; yield the durations by kind of member."""
    stopped = threading.Event()
    writes: dict[str, list[float]] = {"the large member": [], "typical members": []}

    def write(members: Sequence[int], durations: list[float]) -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            for member in cycle(members):
                if stopped.wait(PAUSE_SECONDS):
                    return
                wallet = member * IDS_PER_MEMBER
                started = time.perf_counter()
                with connection.transaction():
                    connection.execute(
                        "SELECT pg_advisory_xact_lock(%s, %s)",
                        [AdvisoryLock.LEDGER, member],
                    )
                    connection.execute(WRITE, [member, wallet + 20, wallet])
                durations.append(time.perf_counter() - started)

    threads = [
        threading.Thread(target=write, args=(members, durations))
        for members, durations in zip([[large], typical], writes.values(), strict=True)
    ]
    for thread in threads:
        thread.start()
    try:
        yield writes
    finally:
        stopped.set()
        for thread in threads:
            thread.join()
