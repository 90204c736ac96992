"""Due recurring rules booked a second by one and by two workers.

Every member has one due rule, the dearest case: a transaction for each.
"""

import re
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg

from benchmarks.dataset import DatasetSpec
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.report import Row, bounded, log_progress

NAME = "jobs"
MEMBERS, ENTRIES_PER_MEMBER = 4_000, 30
DUE_RULES, MAX_MINUTES = 1_000_000, 30
WORKERS = (1, 2)
ADD_RULES = """
    INSERT INTO account_recurring (member_id, name, type, amount, category_id,
        wallet_id, memo, frequency, interval, anchor_date, next_date, active)
    SELECT member.id, 'Rent', 'expense', 500000, category.id, wallet.id, 'rent',
        'MONTHLY', 1, today.day, today.day, true
    FROM member
    CROSS JOIN (SELECT (now() AT TIME ZONE 'Asia/Seoul')::date AS day) today
    JOIN LATERAL (
        SELECT id FROM account_category
        WHERE member_id = member.id AND type = 'expense' AND parent_id IS NOT NULL
        ORDER BY id LIMIT 1
    ) category ON true
    JOIN LATERAL (
        SELECT id FROM account WHERE member_id = member.id ORDER BY id LIMIT 1
    ) wallet ON true
    WHERE member.plan = 'PREMIUM' AND member.status = 'ACTIVE'
"""


def make_dataset(scale: float) -> DatasetSpec:
    return DatasetSpec(max(200, int(MEMBERS * scale)), ENTRIES_PER_MEMBER, (), scale)


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    with psycopg.connect(environment.database_url, autocommit=True) as connection:
        # The plan has to be older than the rules are due.
        connection.execute(
            "UPDATE member SET plan_expires_at = now() + interval '1 year'"
            " WHERE plan = 'PREMIUM'"
        )
        return [measure_workers(environment, connection, count) for count in WORKERS]


def measure_workers(
    environment: BenchmarkEnvironment, connection: psycopg.Connection, workers: int
) -> Row:
    rules = connection.execute(ADD_RULES).rowcount
    connection.execute("VACUUM ANALYZE account_recurring")
    connection.execute("CHECKPOINT")
    log_progress(f"booking {rules} rules with {workers} workers")
    started = time.monotonic()
    with ThreadPoolExecutor(workers) as pool:
        runs = [
            pool.submit(environment.manage, "run_recurring") for _ in range(workers)
        ]
        outputs = [run.result() for run in runs]
    seconds = time.monotonic() - started
    booked = [int(re.findall(r"(\d+) booked", output)[0]) for output in outputs]
    if sum(booked) != rules:
        raise AssertionError(f"{booked} of {rules} rules were booked")
    minutes = DUE_RULES / (rules / seconds) / 60
    measured = f"{rules / seconds:.0f} rules/s, {seconds:.1f} s for {rules:,}"
    name = f"{workers} workers; ratio: minutes for {DUE_RULES:,} due rules"
    maximum = MAX_MINUTES if workers == max(WORKERS) else None
    return bounded(NAME, name, measured, minutes, maximum)
