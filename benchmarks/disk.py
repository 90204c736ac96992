"""Bytes on disk an entry, and bytes of WAL a POST of one, by relation."""

import random
from datetime import date, timedelta

import psycopg

from benchmarks.client import Client
from benchmarks.dataset import (
    IDS_PER_MEMBER,
    INCOME_MINORS,
    MINORS,
    TAGS,
    WALLETS,
    DatasetSpec,
)
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.report import Row, bounded, log_progress

NAME = "disk"
PATH = "/api/account/entries"
MEMBERS, DAYS, ENTRIES_PER_DAY = 100, 365, 3
FIRST_DAY = date(2025, 11, 1)
SEED, MEMOS = 20_261_101, 150
# The first write of a page after a checkpoint logs the whole page, so the size depends
# on the posts between two checkpoints (5 minutes).
POSTS = 3_000
MAX_DISK_BYTES, MAX_WAL_BYTES = 550, 2_500
# Smaller relations are added up in one row.
MIN_SHARE = 0.002
# Bytes of each table without its indexes, and of each index.
LIST_RELATIONS = """
    SELECT coalesce(i.indrelid::regclass || ': index ', '') || c.relname
           || CASE WHEN i.indrelid IS NULL THEN ': rows' ELSE '' END,
           pg_table_size(c.oid)
    FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'i')
"""
READ_LSN = "SELECT pg_current_wal_insert_lsn()::text"
# Processes write pg_stat_wal only now and then.
WAL_TOTALS = """
    SELECT (%(end)s::pg_lsn - %(start)s::pg_lsn)::float / %(count)s,
           sum(fpi_size)::float / %(count)s, sum(count)::float / %(count)s
    FROM pg_get_wal_stats(%(start)s, %(end)s)
"""


def make_dataset(scale: float) -> DatasetSpec:
    return DatasetSpec(max(10, int(MEMBERS * scale)), 0, (), scale)


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    members, scale = environment.spec.members, environment.spec.scale
    days = max(2, int(DAYS * scale))
    count = members * days * ENTRIES_PER_DAY
    with psycopg.connect(environment.database_url, autocommit=True) as connection:
        # A year of writing comes in minutes here, so vacuum comes as often.
        set_server(connection, autovacuum_naptime="1s", synchronous_commit="off")
        before: dict[str, int] = dict(connection.execute(LIST_RELATIONS).fetchall())
        log_progress(f"posting {count:,} entries")
        post(environment, FIRST_DAY, count)
        connection.execute("VACUUM ANALYZE")
        after: dict[str, int] = dict(connection.execute(LIST_RELATIONS).fetchall())
        rows = list_size_rows(before, after, count)
        set_server(connection, autovacuum="off", synchronous_commit="on")
        rows += measure_wal(environment, connection, FIRST_DAY + timedelta(days))
        set_server(connection, autovacuum_naptime="1min", autovacuum="on")
    return rows


def set_server(connection: psycopg.Connection, **settings: str) -> None:
    for name, value in settings.items():
        connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
    connection.execute("SELECT pg_reload_conf()")


def post(environment: BenchmarkEnvironment, first_day: date, count: int) -> None:
    members = environment.spec.all_members[: environment.spec.members]
    targets = [environment.service_target(PATH, member) for member in members]
    chance, client = random.Random(f"{SEED} {first_day}"), Client(targets[0])
    for number in range(count):
        member = number % len(members)
        day = first_day + timedelta(number // ENTRIES_PER_DAY // len(members))
        body = make_entry(chance, members[member], day)
        client.send(targets[member].sending(body))


def make_entry(chance: random.Random, member: int, day: date) -> dict[str, object]:
    """Return an entry; some memos are frequent."""
    is_income = chance.random() < 0.1
    minors = range(INCOME_MINORS) if is_income else range(INCOME_MINORS, MINORS)
    return {
        "date": day.isoformat(),
        "type": "income" if is_income else "expense",
        "amount": chance.randrange(10, 3_000) * 100,
        "category": f"Minor {chance.choice(minors)}",
        "walletId": member * IDS_PER_MEMBER + chance.randrange(WALLETS),
        "memo": f"이디야커피 {int(MEMOS * chance.random() ** 2)}",
        "tags": [f"tag {chance.randrange(TAGS)}"] if chance.random() < 1 / 3 else [],
    }


def list_size_rows(
    before: dict[str, int], after: dict[str, int], entries: int
) -> list[Row]:
    grown = {name: size - before.get(name, 0) for name, size in after.items()}
    total = sum(grown.values())
    text = f"bytes an entry on disk, of {entries:,} entries"
    rows = [bounded(NAME, text, "", total / entries, MAX_DISK_BYTES)]
    rest = 0
    for name, size in sorted(grown.items(), key=lambda item: -item[1]):
        if size < MIN_SHARE * total:
            rest += size
        else:
            rows.append(Row(NAME, f"disk: {name}", f"{size / entries:.1f} bytes"))
    return [*rows, Row(NAME, "disk: the rest", f"{rest / entries:.1f} bytes")]


def measure_wal(
    environment: BenchmarkEnvironment, connection: psycopg.Connection, day: date
) -> list[Row]:
    count = max(20, int(POSTS * environment.spec.scale))
    post(environment, day, environment.spec.members)  # opens connections and caches
    connection.execute("CREATE EXTENSION IF NOT EXISTS pg_walinspect")
    connection.execute("CHECKPOINT")
    log_progress(f"posting {count:,} entries twice")
    rows = []
    for name in ("first", "next"):
        start = next(connection.execute(READ_LSN))[0]
        post(environment, day, count)
        end = next(connection.execute(READ_LSN))[0]
        values = {"start": start, "end": end, "count": count}
        size, images, records = next(connection.execute(WAL_TOTALS, values))
        text = f"bytes of WAL a POST, the {name} {count:,} after a checkpoint"
        level = f"{images:.0f} of page images, {records:.1f} records"
        rows.append(bounded(NAME, text, level, size, MAX_WAL_BYTES))
    return rows
