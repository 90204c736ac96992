"""Requests of clients that keep a copy: changes, batches, bulk changes, undo."""

import json
import statistics
import time
from itertools import count
from typing import Any

import psycopg

from benchmarks.client import Calls, Client, Target, get_json
from benchmarks.dataset import IDS_PER_MEMBER
from benchmarks.entries import ENTRY, NEWEST_PATH, read_page
from benchmarks.entries import PATH as ENTRIES
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.report import Row, bounded, compare, log_progress

NAME = "sync"
CHANGES = "/api/account/changes"
OPERATIONS = "/api/account/operations"
REPEATS = 30
ROWS, CHANGED = 500, 10_000
MAX_NOTHING_NEW, MAX_ROWS_IN_T_AND_Q, MIN_TIMES_FASTER = 1.2, 2.5, 15
MAX_SECONDS = 1.5
_NEWEST = """
    SELECT id FROM account_entry WHERE member_id = %s ORDER BY date DESC LIMIT %s
"""


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    member = environment.spec.large_member()
    return [
        *measure_changes(environment, member),
        *measure_batch(environment, member),
        *measure_bulk_change(environment, member),
    ]


def measure_changes(environment: BenchmarkEnvironment, member: int) -> list[Row]:
    rows = min(ROWS, environment.spec.large_size)
    whole = environment.service_target(f"{CHANGES}?size={rows}", member)
    log_progress("reading all changes")
    page = get_json(whole)
    while page["hasMore"]:
        path = f"{CHANGES}?size=1000&since={page['cursor']}"
        page = get_json(environment.service_target(path, member))
    nothing_new = f"{CHANGES}?since={page['cursor']}"
    with psycopg.connect(environment.database_url, autocommit=True) as connection:
        calls: Calls = {
            "nothing new": Client(environment.service_target(nothing_new, member)),
            f"{rows} rows": Client(whole),
            "newest 50": Client(environment.service_target(NEWEST_PATH, member)),
            "T": environment.trivial_client(member),
            "Q": lambda: read_page(connection, member),
        }
        times = environment.time(calls, REPEATS)
    return compare(
        NAME,
        times,
        [
            ("changes, nothing new : T", "nothing new", ["T"], MAX_NOTHING_NEW),
            (
                f"changes, {rows} rows : (T + Q)",
                f"{rows} rows",
                ["T", "Q"],
                MAX_ROWS_IN_T_AND_Q,
            ),
            (f"changes, {rows} rows : newest 50", f"{rows} rows", ["newest 50"], None),
        ],
    )


def measure_batch(environment: BenchmarkEnvironment, member: int) -> list[Row]:
    """Send what an offline phone has, in one request or one after the other."""
    size = min(ROWS, environment.spec.large_size)
    first = member * IDS_PER_MEMBER
    entry = ENTRY | {"walletId": first}
    single = Client(environment.service_target(ENTRIES, member).sending(entry))
    operations = [{"op": "create", "entry": entry}] * size
    batch = environment.service_target(f"{ENTRIES}/batch", member)
    calls: Calls = {
        "requests": lambda: [single() for _ in range(size)],
        "batch": Client(batch.sending({"operations": operations})),
    }
    times = environment.time(calls, 2)
    ratio = times["requests"].ratio_to(times["batch"])
    level = " : ".join(
        f"{times[name].median * 1000:.0f} ms" for name in ("requests", "batch")
    )
    # The smallest run shows that it runs.
    minimum = MIN_TIMES_FASTER if size == ROWS else None
    name = f"{size} requests : a batch of {size}"
    return [bounded(NAME, name, level, ratio, minimum=minimum)]


def measure_bulk_change(environment: BenchmarkEnvironment, member: int) -> list[Row]:
    size = min(CHANGED, environment.spec.large_size)
    with psycopg.connect(environment.database_url) as connection:
        newest = connection.execute(_NEWEST, [member, size]).fetchall()
    body = {"ids": [entry_id for (entry_id,) in newest]}
    target, number = environment.service_target(ENTRIES, member), count()
    rows = []
    for name in ("memo", "category and tags"):
        changing, undoing = [], []
        for _ in range(environment.effort.rounds):
            turn = next(number)
            change: dict[str, object] = {"set": {"memo": f"bulk {turn}"}}
            if name != "memo":
                change = {"set": {"category": f"Minor {10 + turn % 2}"}}
                change["addTags"] = [f"tag {turn % 12}"]
            seconds, answer = time_call(target.sending(body | change, "PATCH"))
            changing.append(seconds)
            path = f"{OPERATIONS}/{answer['operationId']}/undo"
            undo = environment.service_target(path, member).sending({})
            undoing.append(time_call(undo)[0])
        for what, seconds_of in (("bulk change", changing), ("its undo", undoing)):
            middle = statistics.median(seconds_of)
            label = f"{what} of {size:,}, {name}; seconds"
            rows.append(bounded(NAME, label, f"{middle:.2f} s", middle, MAX_SECONDS))
    return rows


def time_call(target: Target) -> tuple[float, Any]:
    """Return the seconds until the answer, and the answer."""
    client = Client(target)
    started = time.monotonic()
    answer = client()
    return time.monotonic() - started, json.loads(answer)
