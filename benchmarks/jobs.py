"""Due recurring rules booked a second by one and by two workers.

Every member has one due rule, the dearest case: a transaction for each. The ledgers
hold entries already, so that totals and indexes have something to change.

    python -m benchmarks.jobs          (a worker)
"""

import psycopg

from benchmarks.dataset import DatasetSpec
from benchmarks.environment import COMMAND_TIMEOUT_SECONDS, BenchmarkEnvironment
from benchmarks.report import Row, log_progress, max_ratio_row

NAME = "jobs"
MEMBERS, ENTRIES_PER_MEMBER = 4_000, 30
DUE_RULES, MAX_MINUTES = 1_000_000, 30
WORKERS = (1, 2)
# Without a break since before the rules were due.
MAKE_PREMIUM = """
UPDATE member SET plan = 'PREMIUM', plan_expires_at = now() + interval '1 year'
"""
ADD_RULES = """
INSERT INTO account_recurring (member_id, name, type, amount, category_id, wallet_id,
    memo, frequency, interval, anchor_date, next_date, active)
SELECT member.id, 'Rent', 'expense', 500000, category.id, wallet.id, 'rent', 'MONTHLY',
    1, today.day, today.day, true
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
"""
LAST_RUN = """
SELECT state, count, extract(epoch FROM ended_at - started_at)::float FROM job_run
WHERE job = 'run_recurring' ORDER BY id DESC LIMIT 1
"""


def make_dataset(scale: float) -> DatasetSpec:
    return DatasetSpec(max(200, int(MEMBERS * scale)), ENTRIES_PER_MEMBER, ())


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    with psycopg.connect(environment.settings["DATABASE_URL"], autocommit=True) as db:
        db.execute(MAKE_PREMIUM)
        return [measure_workers(environment, db, workers) for workers in WORKERS]


def measure_workers(
    environment: BenchmarkEnvironment, db: psycopg.Connection, workers: int
) -> Row:
    """Book a new due rule of each member by so many workers at once."""
    rules = db.execute(ADD_RULES).rowcount
    db.execute("VACUUM ANALYZE account_recurring")
    db.execute("CHECKPOINT")
    log_progress(f"booking {rules} rules with {workers} workers")
    processes = [environment.start("-m", "benchmarks.jobs") for _ in range(workers)]
    codes = [process.wait(COMMAND_TIMEOUT_SECONDS) for process in processes]
    row = db.execute(LAST_RUN).fetchone()
    if any(codes) or row is None or row[:2] != ("DONE", rules):
        raise RuntimeError(f"the run did not book {rules} rules: {codes}, {row}")
    seconds = row[2]
    minutes = DUE_RULES / (rules / seconds) / 60
    label = f"{workers} workers" if workers > 1 else "1 worker"
    measured = f"{rules / seconds:.0f} rules/s, {seconds:.1f} s for {rules:,}"
    name = f"{label}; ratio: minutes for {DUE_RULES:,} due rules"
    if workers < max(WORKERS):
        return Row(NAME, name, measured, minutes)
    return max_ratio_row(NAME, name, measured, minutes, MAX_MINUTES)


if __name__ == "__main__":
    # The job as a worker of Celery runs it.
    import django

    django.setup()
    # The application whose queue the helpers are called through; nobody reads it here.
    import config.celery  # noqa: F401
    from ledger.tasks import run_recurring

    run_recurring()
