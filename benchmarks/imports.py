"""Imports of large files over HTTP: reading, the commit, its undo, others meanwhile.

The files are made of the entries of a member: all of them are new to an equal ledger
but for their amounts, or a part of them is in it already.
"""

import io
import statistics
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from msoffcrypto.format.ooxml import OOXMLFile
from openpyxl import Workbook

from benchmarks.client import Client, Series, Target, get_json
from benchmarks.dataset import DatasetSpec
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.load import in_background
from benchmarks.processes import list_child_pids, measure_rss
from benchmarks.report import Row, bounded, compare, log_progress
from benchmarks.restore import BACKUP_PATH, RESTORE_PATH

NAME = "import"
IMPORTS = "/api/account/imports"
OPERATIONS = "/api/account/operations"
MAX_READ_SECONDS, MAX_SMALL_READ_SECONDS = 15.0, 2.0
MAX_READER_MIB = 448
MAX_COMMIT_IN_RESTORES, MAX_UNDO_IN_COMMITS, MAX_T_BESIDE = 2.5, 2.0, 1.1
SAMPLE_INTERVAL_SECONDS = 0.01
# As many as read at once; a second one takes the second processor of a small machine.
MAX_READERS = 2
# Until a reader is at work.
START_SECONDS = 2
REQUESTS = 300
# Enough to reach each web process.
CONNECTIONS = 10
PASSWORD = "900101"
# Its key takes longer to derive than the reader may take, but at the smallest sizes.
SPINS, FEW_SPINS = 10_000_000, 100_000
HEADER = "date,wallet,category,memo,amount\n"
# Of the mixed file a tenth is in the ledger already, and two tenths are transfers; the
# rest has amounts that no entry of the ledger has.
MIXED, NEW = "mixed", "new"
MAKE_ROWS = """
    SELECT CASE WHEN number %% 10 IN (3, 4) AND %(is_mixed)s THEN
            format('%%s,Wallet %%s,,move %%s,%%s', date, wallet, number / 10,
                (number %% 10 * 2 - 7) * (300000 + number / 10))
        ELSE
            format('%%s,Wallet %%s,%%s,%%s,%%s', date, wallet, category, memo,
                sign * (amount + CASE WHEN number %% 10 = 7 AND %(is_mixed)s
                    THEN 0 ELSE 200000 END))
        END
    FROM (
        SELECT row_number() OVER (ORDER BY e.date, e.id) AS number, e.date, e.amount,
            e.wallet_id - %(member)s * 100 AS wallet, c.name AS category, e.memo,
            CASE e.type WHEN 'income' THEN 1 ELSE -1 END AS sign
        FROM account_entry e
        LEFT JOIN account_category c
            ON c.member_id = e.member_id AND c.id = e.category_id
        WHERE e.member_id = %(member)s
    ) rows
    ORDER BY number LIMIT %(count)s
"""


def make_dataset(scale: float) -> DatasetSpec:
    sizes = int(10_000 * scale), int(100_000 * scale)
    return DatasetSpec(50, 1_000, (100, *sizes, 100), scale)


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    # Ledgers of members of its own: imports and restores change them.
    member = 7 * environment.spec.all_members[-1]
    _, small, large, _ = environment.spec.sizes
    environment.add_members([member], large)
    environment.add_members([member + 1], large)
    rows = []
    for count, maximum in (
        (small, MAX_SMALL_READ_SECONDS),
        (large, MAX_READ_SECONDS),
    ):
        log_progress(f"reading {count:,} rows")
        rows += measure_reading(environment, member, count, maximum)
    return [
        *rows,
        *measure_commit(environment, member, large),
        *measure_others(environment, member),
    ]


def make_file(
    environment: BenchmarkEnvironment, member: int, count: int, kind: str
) -> bytes:
    values = {"member": member, "count": count, "is_mixed": kind == MIXED}
    with psycopg.connect(environment.database_url) as connection:
        found = connection.execute(MAKE_ROWS, values).fetchall()
    return (HEADER + "\n".join(text for (text,) in found)).encode()


def measure_reading(
    environment: BenchmarkEnvironment, member: int, count: int, maximum: float
) -> list[Row]:
    """Measure an upload until its answer: read, matched and stored."""
    target = environment.service_target(IMPORTS, member)
    upload = target.uploading("file", make_file(environment, member, count, MIXED))
    times = []
    with measure_memory(environment) as memory:
        for number in range(environment.effort.rounds + 1):
            started = time.perf_counter()
            found = get_json(upload)
            if number:  # the first round warms up
                times.append(time.perf_counter() - started)
            Client(to_import(target, found, "", "DELETE"))()
    seconds = statistics.median(times)
    counts = {name: number for name, number in found["counts"].items() if number}
    what = f"{count:,} rows beside {environment.spec.large_size:,} entries"
    reader = f"memory of the reader of {count:,} rows, MiB"
    growth = f"memory added to the web process by {count:,} rows, MiB"
    level = f"{seconds:.1f} s, {counts}"
    return [
        bounded(NAME, f"{what}, read and matched, seconds", level, seconds, maximum),
        bounded(NAME, reader, "", memory.reader, MAX_READER_MIB),
        bounded(NAME, growth, f"from {memory.before:.0f}", memory.added),
    ]


def to_import(
    target: Target, found: Mapping[str, Any], action: str, method: str
) -> Target:
    """Return a request to an import without a body."""
    path = f"{IMPORTS}/{found['id']}{action}"
    return Target(target.port, path, target.headers, method=method)


def measure_commit(
    environment: BenchmarkEnvironment, member: int, count: int
) -> list[Row]:
    """Compare commits of a file of all entries with a restore of them, and undos."""
    other = member + 1
    backup = Client(environment.service_target(BACKUP_PATH, other))()
    restore = environment.service_target(RESTORE_PATH, other).uploading("file", backup)
    times: dict[str, list[float]] = {"restore": []}
    files = {kind: make_file(environment, member, count, kind) for kind in (NEW, MIXED)}
    rows = []
    for number in range(environment.effort.rounds + 1):
        log_progress(f"committing {count:,} rows")
        timed = {"restore": time_call(restore)}
        for kind, content in files.items():
            with measure_memory(environment) as memory:
                timed |= commit_and_undo(environment, member, kind, content)
            if not number:
                name = f"memory added to the web process by a commit, {kind} rows, MiB"
                rows.append(bounded(NAME, name, "", memory.added))
        for name, seconds in timed.items():
            if number:
                times.setdefault(name, []).append(seconds)
    series = {name: Series(tuple(values)) for name, values in times.items()}
    for kind in files:
        commit, undo = f"commit of {kind}", f"undo of {kind}"
        what = f"{count:,} rows, {kind}"
        is_bound = kind == NEW
        rows += compare(
            NAME,
            series,
            [
                (
                    f"commit of {what} : restore of as many",
                    commit,
                    ["restore"],
                    MAX_COMMIT_IN_RESTORES if is_bound else None,
                ),
                (f"undo of {what} : its commit", undo, [commit], MAX_UNDO_IN_COMMITS),
            ],
        )
    return rows


def commit_and_undo(
    environment: BenchmarkEnvironment, member: int, kind: str, content: bytes
) -> dict[str, float]:
    """Return the seconds of both; the ledger is as before."""
    target = environment.service_target(IMPORTS, member)
    forget_commits(environment, member)
    found = get_json(target.uploading("file", content))
    committed = time_call(to_import(target, found, "/commit", "POST"))
    newest = environment.service_target(f"{OPERATIONS}?size=1", member)
    (operation,) = get_json(newest)["results"]
    path = f"{OPERATIONS}/{operation['id']}/undo"
    undone = time_call(environment.service_target(path, member).sending({}))
    Client(to_import(target, found, "", "DELETE"))()
    return {f"commit of {kind}": committed, f"undo of {kind}": undone}


def forget_commits(environment: BenchmarkEnvironment, member: int) -> None:
    """Begin the day anew, in which imports make 200,000 entries at most."""
    with psycopg.connect(environment.database_url, autocommit=True) as connection:
        connection.execute(
            "UPDATE account_operation SET at = at - interval '2 days'"
            " WHERE member_id = %s",
            [member],
        )


def time_call(target: Target) -> float:
    client = Client(target)
    started = time.perf_counter()
    client()
    return time.perf_counter() - started


def measure_others(environment: BenchmarkEnvironment, member: int) -> list[Row]:
    """Compare T alone with T while readers take the processor time that they may."""
    is_large = environment.spec.scale >= 0.1
    file = make_slow_workbook(SPINS if is_large else FEW_SPINS)
    other = member + 1
    target = environment.service_target(IMPORTS, member)
    upload = target.uploading("file", file, password=PASSWORD)
    statuses: set[int] = set()

    def send(stopped: threading.Event) -> None:
        while not stopped.is_set():
            statuses.add(Client(upload).exchange(upload).status)

    # Each process knows the member of a session from its first answer, and lets members
    # of one address wait for each other until then.
    for each in (member, other) * CONNECTIONS:
        environment.trivial_client(each)()
    time_trivial(environment, other)  # warms up
    times: dict[str, list[float]] = {"alone": []}
    for _ in range(environment.effort.rounds):
        times["alone"].append(time_trivial(environment, other))
        for readers in range(1, MAX_READERS + 1):
            with in_background(*[send] * readers):
                if is_large:
                    time.sleep(START_SECONDS)
                beside = time_trivial(environment, other)
            times.setdefault(f"beside {readers}", []).append(beside)
    series = {name: Series(tuple(values)) for name, values in times.items()}
    answered = f"at the limit of time, answered {sorted(statuses)}"
    return compare(
        NAME,
        series,
        [
            (f"T beside a reader {answered} : T", "beside 1", ["alone"], MAX_T_BESIDE),
            (f"T beside {MAX_READERS} readers : T", "beside 2", ["alone"], None),
        ],
    )


def time_trivial(environment: BenchmarkEnvironment, member: int) -> float:
    """Return the median of requests over some seconds."""
    # The server has closed an earlier connection while readers came to their end.
    client = environment.trivial_client(member)
    times = []
    for _ in range(min(REQUESTS, 3 * environment.effort.max_repeats)):
        started = time.perf_counter()
        client()
        times.append(time.perf_counter() - started)
        time.sleep(SAMPLE_INTERVAL_SECONDS)
    return statistics.median(times)


def make_slow_workbook(spins: int) -> bytes:
    """Return an encrypted workbook whose key is derived in so many steps."""
    plain, encrypted = io.BytesIO(), io.BytesIO()
    Workbook().save(plain)
    OOXMLFile(plain).encrypt(PASSWORD, encrypted)
    data = encrypted.getvalue()
    old, spare = b'spinCount="100000"', b' standalone="yes"'
    new = f'spinCount="{spins}"'.encode()
    # The stream keeps its length.
    at = data.index(spare)
    kept = len(spare) + len(old) - len(new)
    data = data[:at] + b" " * kept + data[at + len(spare) :]
    return data.replace(old, new)


@dataclass
class Memory:
    """MiB of the largest reader, and of the web process that has grown most."""

    reader: float = 0.0
    before: float = 0.0
    added: float = 0.0


@contextmanager
def measure_memory(environment: BenchmarkEnvironment) -> Iterator[Memory]:
    """Sample the resident memory of web processes and of the readers below them."""
    # A server has started.
    environment.service_target(IMPORTS, environment.spec.typical_member)
    before = {pid: measure_rss(pid) for pid in environment.list_workers()}
    memory = Memory(before=max(before.values()))

    def watch(stopped: threading.Event) -> None:
        while not stopped.wait(SAMPLE_INTERVAL_SECONDS):
            for pid, size in before.items():
                memory.added = max(memory.added, measure_rss(pid) - size)
                readers = map(measure_rss, list_child_pids(pid))
                memory.reader = max(memory.reader, *readers, 0.0)

    with in_background(watch):
        yield memory
