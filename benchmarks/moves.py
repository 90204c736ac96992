"""Deletion with `moveTo` of a wallet and a category with a million entries.

All entries of a large member are in one wallet and one category, six in ten with a memo
of their own. The request is timed over HTTP, the job as a worker runs it. Meanwhile two
writers create entries, one for the large member and one for others in turn.

    python -m benchmarks.moves          (a worker)
"""

import http.client
import time
from statistics import median

import psycopg

from benchmarks.dataset import IDS_PER_MEMBER, DatasetSpec, vacuum_and_checkpoint
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.report import Row, log_progress, max_ratio_row
from benchmarks.totals import write_continuously
from devstack.stores.data_dir import LOOPBACK

NAME = "moves"
ENTRIES, TYPICAL_MEMBERS, ENTRIES_PER_MEMBER = 1_000_000, 100, 1_000
# What is promised, and what the time of the job is extrapolated to.
PROMISED_ENTRIES, MAX_JOB_MINUTES, MAX_REQUEST_SECONDS = 5_000_000, 10, 1
# Of the ids of a member: neither is what the writers name.
WALLET, WALLET_TARGET, CATEGORY, CATEGORY_TARGET = 1, 2, 19, 21
ADD_ENTRIES = """
INSERT INTO account_entry (member_id, date, type, amount, category_id, wallet_id, memo,
    pending, created_at, updated_at)
SELECT %(member)s, DATE '2016-01-01' + number / greatest(1, %(count)s / 3650),
    'expense', 100 + number %% 300000, %(category)s, %(wallet)s,
    'memo ' || number %% (%(count)s * 6 / 10 + 1), number %% 200 = 0, now(), now()
FROM generate_series(0, %(count)s - 1) number
"""
ADD_TAGS = """
INSERT INTO account_entry_tag (entry_id, tag_id, member_id, position)
SELECT id, member_id * %(ids)s + id %% 12, member_id, 0 FROM account_entry
WHERE member_id = %(member)s AND id %% 3 = 0
"""
LAST_RUN = """
SELECT state, count, extract(epoch FROM ended_at - started_at)::float FROM job_run
WHERE job = 'move_entries' ORDER BY id DESC LIMIT 1
"""


def make_dataset(scale: float) -> DatasetSpec:
    """Return typical members and a large one, whose entries are added later."""
    return DatasetSpec(TYPICAL_MEMBERS, ENTRIES_PER_MEMBER, (0,), scale)


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    spec = environment.spec
    member, count = spec.large_member(0), int(ENTRIES * spec.scale)
    first_id = member * IDS_PER_MEMBER
    log_progress(f"loading {count:,} entries of one member")
    with psycopg.connect(environment.database.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        cursor = psycopg.ClientCursor(connection)
        values = {"member": member, "count": count, "ids": IDS_PER_MEMBER}
        values |= {"category": first_id + CATEGORY, "wallet": first_id + WALLET}
        cursor.execute(ADD_ENTRIES, values)
        cursor.execute(ADD_TAGS, values)
    environment.manage("check_totals", "--repair")
    vacuum_and_checkpoint(environment.database.url)
    rows = []
    for kind, source, target in (
        ("wallets", WALLET, WALLET_TARGET),
        ("categories", CATEGORY, CATEGORY_TARGET),
    ):
        path = f"/api/account/{kind}/{first_id + source}?moveTo={first_id + target}"
        rows += measure_move(environment, kind, path, member, count)
    environment.manage("check_totals")
    return rows


def measure_move(
    environment: BenchmarkEnvironment, kind: str, path: str, member: int, count: int
) -> list[Row]:
    """Time the request and the job, which move all entries of the member."""
    server = environment.service_target("/", member)
    connection = http.client.HTTPConnection(LOOPBACK, server.port, timeout=60)
    started = time.perf_counter()
    connection.request("DELETE", path, headers=dict(server.headers))
    response = connection.getresponse()
    body = response.read()
    request_seconds = time.perf_counter() - started
    if response.status != http.client.ACCEPTED:
        raise RuntimeError(f"{path}: {response.status} {body[:300]!r}")

    log_progress(f"moving the entries: {kind}")
    typical = range(1, environment.spec.members + 1)
    with write_continuously(environment.database.url, typical, member) as writes:
        environment.run("-m", "benchmarks.moves")
    with psycopg.connect(environment.database.url) as database:
        run = database.execute(LAST_RUN).fetchone()
    if run is None or run[0] != "DONE" or run[1] < count:
        raise RuntimeError(f"the job did not move {count} entries: {run}")
    minutes = run[2] * PROMISED_ENTRIES / count / 60
    rows = [
        max_ratio_row(
            NAME,
            f"{kind}: request; ratio: seconds",
            f"{request_seconds * 1000:.0f} ms",
            request_seconds,
            MAX_REQUEST_SECONDS,
        ),
        max_ratio_row(
            NAME,
            f"{kind}: job; ratio: minutes for {PROMISED_ENTRIES:,} entries",
            f"{run[2]:.0f} s for {run[1]:,} entries",
            minutes,
            MAX_JOB_MINUTES,
        ),
    ]
    for name, durations in writes.items():
        level = (
            f"{max(durations) * 1000:.0f} ms, median {median(durations) * 1000:.1f} ms"
        )
        rows.append(
            Row(
                NAME,
                f"{kind}: longest write meanwhile, {name}; ratio: seconds",
                level,
                max(durations),
            )
        )
    return rows


if __name__ == "__main__":
    # The job as a worker of Celery runs it.
    import django

    django.setup()
    from ledger.tasks import move_entries

    move_entries()
