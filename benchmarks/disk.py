"""Bytes on disk an entry, and bytes of WAL a POST of one, by relation.

Members write three entries a day with random categories, wallets and memos, and a tag
on every third. The entries of the size are created through the service's own function,
day by day, by members who take turns; those of the WAL are posted over HTTP.

    python -m benchmarks.disk FIRST_DAY DAYS MEMBER_ID...
"""

import http.client
import json
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import psycopg
from psycopg.rows import namedtuple_row

from benchmarks.client import REQUEST_TIMEOUT_SECONDS
from benchmarks.dataset import (
    IDS_PER_MEMBER,
    INCOME_MINORS,
    MINORS,
    TAGS,
    WALLETS,
    DatasetSpec,
)
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.report import Row, log_progress, max_ratio_row
from devstack.stores.data_dir import LOOPBACK

NAME = "disk"
PATH = "/api/account/entries"
MEMBERS, DAYS, ENTRIES_PER_DAY = 100, 365, 3
MIN_MEMBERS, MIN_DAYS = 10, 60
FIRST_DAY = date(2025, 11, 1)
WRITERS = 2
SEED = 20_261_101
# The first write of a page after a checkpoint logs the whole page, so the size of the
# log depends on the number of posts between two checkpoints (5 minutes).
POSTS = 3_000
MAX_DISK_BYTES, MAX_WAL_BYTES = 550, 2_500
# Relations below this share of the total are added up in one row.
MIN_SHARE = 0.002
PLACES = (
    *("강남", "역삼", "서초", "잠실", "홍대", "신촌", "여의도", "판교", "분당", "수원"),
    *("Main St", "Station", "Airport", "Harbor", "Old Town", "Campus"),
)
MERCHANTS = (
    *("스타벅스", "이디야커피", "GS25", "CU", "세븐일레븐", "이마트", "홈플러스"),
    *("쿠팡", "배달의민족", "올리브영", "다이소", "파리바게뜨", "교보문고", "CGV"),
    *("Blue Bottle", "IKEA", "Uniqlo", "Subway", "Costco", "Decathlon"),
)
OTHER_MEMOS = (
    *("월급", "관리비", "전기요금", "통신비", "보험료", "월세", "용돈", "택시", "버스"),
    *("점심", "저녁 회식", "커피", "병원", "약국", "주차비", "기름값", "생일 선물", ""),
)
MEMOS = (
    *OTHER_MEMOS,
    *(f"{merchant} {place}" for merchant in MERCHANTS for place in PLACES),
)


@dataclass(frozen=True)
class RandomEntry:
    """An entry as a member may write it; wallets, categories and tags by number."""

    day: date
    is_income: bool
    amount: int
    category: str
    wallet: int
    memo: str
    tags: tuple[str, ...]


def generate_entries(
    chance: random.Random, day: date, count: int
) -> Iterator[RandomEntry]:
    for _ in range(count):
        is_income = chance.random() < 0.1
        minors = range(INCOME_MINORS) if is_income else range(INCOME_MINORS, MINORS)
        # Some memos are frequent, and most of them have a category of their own.
        number = int(len(MEMOS) * chance.random() ** 2)
        minor = number if chance.random() < 0.9 else chance.randrange(MINORS)
        yield RandomEntry(
            day=day,
            is_income=is_income,
            amount=chance.randrange(10, 3_000) * 100,
            category=f"Minor {minors[minor % len(minors)]}",
            wallet=chance.randrange(WALLETS),
            memo=MEMOS[number],
            tags=(f"tag {chance.randrange(TAGS)}",) if chance.random() < 1 / 3 else (),
        )


def make_dataset(scale: float) -> DatasetSpec:
    """Return members without entries."""
    return DatasetSpec(max(MIN_MEMBERS, int(MEMBERS * scale)), 0, (), scale)


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    days = max(MIN_DAYS, int(DAYS * environment.spec.scale))
    with psycopg.connect(environment.database.url, autocommit=True) as connection:
        # As much writing as elsewhere in a year comes in minutes here, so vacuum comes
        # as often. Nothing is lost without waiting for the disk at each entry.
        set_server(connection, autovacuum_naptime="1s", synchronous_commit="off")
        before = measure_relations(connection)
        write_entries(environment, days)
        connection.execute("VACUUM ANALYZE")
        entries = count_entries(connection)
        rows = list_size_rows(before, measure_relations(connection), entries)
        set_server(connection, autovacuum="off", synchronous_commit="on")
        rows += measure_wal(environment, connection, FIRST_DAY + timedelta(days))
        log_progress("rewriting the tables")
        connection.execute("VACUUM FULL")
        rewritten = sum(measure_relations(connection).values()) - sum(before.values())
        level = f"{rewritten / count_entries(connection):.0f} bytes"
        return [*rows, Row(NAME, "an entry after VACUUM FULL, without WAL", level)]


def set_server(connection: psycopg.Connection, **settings: str) -> None:
    """Change settings of the server for all its connections."""
    for name, value in settings.items():
        connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
    connection.execute("SELECT pg_reload_conf()")


def write_entries(environment: BenchmarkEnvironment, days: int) -> None:
    """Create the entries in several processes, each with members of its own."""
    members = environment.spec.all_members
    log_progress(f"writing {len(members) * days * ENTRIES_PER_DAY:,} entries")
    processes = [
        environment.start(
            *("-m", "benchmarks.disk", FIRST_DAY.isoformat(), str(days)),
            *map(str, members[number::WRITERS]),
        )
        for number in range(WRITERS)
    ]
    for process in processes:
        if process.wait() != 0:
            raise subprocess.CalledProcessError(process.returncode, process.args)


def count_entries(connection: psycopg.Connection) -> int:
    row = connection.execute("SELECT count(*) FROM account_entry").fetchone()
    return int(row[0]) if row else 0


def measure_relations(connection: psycopg.Connection) -> dict[str, int]:
    """Return the bytes of each table without its indexes, and of each index."""
    rows = connection.execute(
        """
        SELECT coalesce(i.indrelid::regclass || ': index ', '') || c.relname
               || CASE WHEN i.indrelid IS NULL THEN ': rows' ELSE '' END,
               pg_table_size(c.oid)
        FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'i')
        """
    )
    return dict(rows.fetchall())


def list_size_rows(
    before: dict[str, int], after: dict[str, int], entries: int
) -> list[Row]:
    grown = {name: size - before.get(name, 0) for name, size in after.items()}
    total = sum(grown.values())
    rows, rest = [], 0
    for name, size in sorted(grown.items(), key=lambda item: -item[1]):
        if size < MIN_SHARE * total:
            rest += size
        else:
            rows.append(Row(NAME, f"disk: {name}", f"{size / entries:.1f} bytes"))
    rows.append(Row(NAME, "disk: the rest", f"{rest / entries:.1f} bytes"))
    tables: dict[str, int] = {}
    for name, size in grown.items():
        table = name.partition(":")[0]
        tables[table] = tables.get(table, 0) + size
    by_table = ", ".join(
        f"{table} {size / entries:.0f}"
        for table, size in sorted(tables.items(), key=lambda item: -item[1])
        if size >= MIN_SHARE * total
    )
    return [
        max_ratio_row(
            NAME,
            f"bytes an entry on disk, of {entries:,} entries",
            by_table,
            total / entries,
            MAX_DISK_BYTES,
        ),
        *rows,
    ]


def measure_wal(
    environment: BenchmarkEnvironment, connection: psycopg.Connection, day: date
) -> list[Row]:
    """Post entries after a checkpoint and read what they left in the log."""
    count = max(300, int(POSTS * environment.spec.scale))
    poster = EntryPoster(environment)
    poster.post(day, len(environment.spec.all_members))  # opens connections and caches
    connection.execute("CREATE EXTENSION IF NOT EXISTS pg_walinspect")
    connection.execute("CHECKPOINT")
    log_progress(f"posting {count:,} entries")
    start = read_lsn(connection)
    poster.post(day + timedelta(1), count)
    # What comes in the next minutes, when most of the pages were logged once.
    middle = read_lsn(connection)
    poster.post(day + timedelta(2), count)
    end = read_lsn(connection)
    first, second = (
        read_wal_totals(connection, start, middle, count),
        read_wal_totals(connection, middle, end, count),
    )
    rows = [
        max_ratio_row(
            NAME,
            f"bytes of WAL a POST, {name} {count:,} after a checkpoint",
            totals.summary(),
            totals.size,
            MAX_WAL_BYTES,
        )
        for name, totals in (("the first", first), ("the next", second))
    ]
    cursor = connection.cursor(row_factory=namedtuple_row)
    blocks: Sequence[Any] = cursor.execute(
        """
        WITH block AS (
            SELECT *, record_length - sum(block_fpi_length) OVER record AS other_length
            FROM pg_get_wal_block_info(%(start)s, %(end)s, false)
            WINDOW record AS (PARTITION BY start_lsn)
        )
        SELECT coalesce(i.indrelid::regclass || ': index ', '') || c.relname AS name,
               sum(block_fpi_length) / %(count)s AS images,
               coalesce(sum(other_length) FILTER (WHERE block_id = 0), 0)
                   / %(count)s AS rest,
               count(*) FILTER (WHERE block_id = 0) / %(count)s::numeric AS records
        FROM block
        JOIN pg_class c ON pg_relation_filenode(c.oid) = block.relfilenode
        LEFT JOIN pg_index i ON i.indexrelid = c.oid
        WHERE block.reldatabase = (
            SELECT oid FROM pg_database WHERE datname = current_database()
        )
        GROUP BY 1
        ORDER BY sum(record_length) DESC
        """,
        {"start": start, "end": middle, "count": count},
    ).fetchall()
    for block in blocks:
        level = (
            f"{block.images:.0f} bytes of page images, "
            f"{block.rest:.0f} of {block.records:.1f} records"
        )
        if block.images + block.rest >= 1:
            rows.append(Row(NAME, f"WAL: {block.name}", level))
    return rows


def read_lsn(connection: psycopg.Connection) -> str:
    row = connection.execute("SELECT pg_current_wal_insert_lsn()::text").fetchone()
    return str(row[0]) if row else ""


@dataclass(frozen=True)
class WalTotals:
    """Bytes of WAL per POST."""

    size: float
    page_images: float
    records: float

    def summary(self) -> str:
        return (
            f"{self.page_images:.0f} of page images, "
            f"{self.size - self.page_images:.0f} of {self.records:.1f} records"
        )


def read_wal_totals(
    connection: psycopg.Connection, start: str, end: str, count: int
) -> WalTotals:
    # pg_stat_wal is written by each process only now and then; this is the log itself.
    row = connection.execute(
        """
        SELECT (%(end)s::pg_lsn - %(start)s::pg_lsn)::float / %(count)s,
               sum(fpi_size)::float / %(count)s, sum(count)::float / %(count)s
        FROM pg_get_wal_stats(%(start)s, %(end)s)
        """,
        {"start": start, "end": end, "count": count},
    ).fetchone()
    return WalTotals(*(row or (0.0, 0.0, 0.0)))


class EntryPoster:
    """Posts entries of all members in turn on one connection."""

    def __init__(self, environment: BenchmarkEnvironment) -> None:
        self.chance = random.Random(SEED)
        self.targets = {
            member: environment.service_target(PATH, member)
            for member in environment.spec.all_members
        }
        port = next(iter(self.targets.values())).port
        self.connection = http.client.HTTPConnection(
            LOOPBACK, port, timeout=REQUEST_TIMEOUT_SECONDS
        )

    def post(self, day: date, count: int) -> None:
        members = list(self.targets)
        for entry in generate_entries(self.chance, day, count):
            member = self.chance.choice(members)
            body = {
                "date": entry.day.isoformat(),
                "type": "income" if entry.is_income else "expense",
                "amount": entry.amount,
                "category": entry.category,
                "walletId": member * IDS_PER_MEMBER + entry.wallet,
                "memo": entry.memo,
                "tags": entry.tags,
            }
            headers = {
                **self.targets[member].headers,
                "Content-Type": "application/json",
            }
            self.connection.request("POST", PATH, json.dumps(body), headers)
            response = self.connection.getresponse()
            text = response.read()
            if response.status != http.client.CREATED:
                raise AssertionError(f"{PATH}: {response.status} {text[:300]!r}")


def main() -> None:
    """Create the entries of these members through the service's own function."""
    import django

    django.setup()
    from accounts.models import Member
    from ledger.entries import create_entry
    from ledger.entry_data import EntryData
    from ledger.models import Wallet

    first_day, days, *ids = sys.argv[1:]
    members = list(Member.objects.filter(pk__in=ids).order_by("pk"))
    wallets = {wallet.pk: wallet for wallet in Wallet.objects.all()}
    chance = random.Random(SEED + members[0].pk)
    for number in range(int(days)):
        day = date.fromisoformat(first_day) + timedelta(number)
        written_at = datetime.combine(day, time(12), UTC)
        for _ in range(ENTRIES_PER_DAY):
            for member in members:
                (entry,) = generate_entries(chance, day, 1)
                data = EntryData(
                    date=entry.day,
                    type="income" if entry.is_income else "expense",
                    amount=entry.amount,
                    category=entry.category,
                    wallet=wallets[member.pk * IDS_PER_MEMBER + entry.wallet],
                    memo=entry.memo,
                    tags=entry.tags,
                )
                create_entry(member, data, written_at)


if __name__ == "__main__":
    main()
