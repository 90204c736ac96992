"""Restore of a large ledger over HTTP, compared with two baselines.

The `copy` baseline is the lower bound: it reads the same workbook with calamine and
replaces entries and tag links with COPY, without validation. The `orm` baseline reads
with openpyxl and writes with bulk_create. Both run in a subprocess, without HTTP:

    python -m benchmarks.restore copy|orm FILE MEMBER ROUNDS
"""

import http.client
import json
import sys
import time
import uuid
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from benchmarks.client import Client, Target
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.memory import measure_peak_memory
from benchmarks.report import Row, max_ratio_row, min_ratio_row
from devstack.stores.data_dir import LOOPBACK

NAME = "restore"
BACKUP_PATH, RESTORE_PATH = "/api/account/backup", "/api/account/restore"
# Indexes of the members with 10,000 and 100,000 entries in `DatasetSpec.sizes`.
SMALL_INDEX, LARGE_INDEX = 1, 2
ORM_ROUNDS = 1
MAX_PEAK_MIB = 300
# Column numbers of the sheet "entries"; the baselines restore these only.
DATE, TYPE, AMOUNT, CATEGORY, WALLET, MEMO, TAGS, PENDING = 0, 1, 2, 3, 4, 5, 6, 11
TABLES = ("account", "account_category", "account_tag", "account_entry")


def measure(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    spec = environment.spec
    small, large = spec.large_member(SMALL_INDEX), spec.large_member(LARGE_INDEX)
    advance_sequences(environment)
    files = {member: download_backup(environment, member) for member in (small, large)}
    service_times: dict[int, list[float]] = {small: [], large: []}
    copy_times: list[float] = []
    for number in range(rounds + 1):
        is_warm_up = number == 0
        for member, times in service_times.items():
            seconds = upload(
                environment.service_target(RESTORE_PATH, member), files[member]
            )
            times += [] if is_warm_up else [seconds]
        seconds_list = run_baseline(environment, "copy", files[large], large, 1)
        copy_times += [] if is_warm_up else seconds_list
    with measure_peak_memory(environment.list_workers) as peak:
        upload(environment.service_target(RESTORE_PATH, large), files[large])
    orm_times = run_baseline(environment, "orm", files[large], large, ORM_ROUNDS)
    # Leave the data as the service restores it for the benchmarks that follow.
    upload(environment.service_target(RESTORE_PATH, large), files[large])
    small_time, large_time = median(service_times[small]), median(service_times[large])
    size = f"{spec.sizes[LARGE_INDEX]:,} entries"
    memory_text = "peak memory of a web process with its reader, MiB"
    return [
        *comparison_rows(size, service_times[large], copy_times, orm_times),
        max_ratio_row(
            NAME,
            f"growth, {size} : {spec.sizes[SMALL_INDEX]:,}",
            f"{small_time:.2f} s : {large_time:.2f} s",
            large_time / small_time,
            11.0,
        ),
        max_ratio_row(NAME, memory_text, size, peak.mebibytes, MAX_PEAK_MIB),
    ]


def comparison_rows(
    size: str,
    service_times: list[float],
    copy_times: list[float],
    orm_times: list[float],
) -> list[Row]:
    """Compare the service with both baselines, and these with each other.

    Constraints and the triggers of the totals cost all three the same time in the
    database, so the ratio of the baselines is the best that a restore can reach.
    """
    return [
        max_ratio_row(
            NAME,
            f"{size} over HTTP : calamine + COPY of the same rows",
            f"{median(service_times):.2f} s : {median(copy_times):.2f} s",
            median(
                [
                    own / baseline
                    for own, baseline in zip(service_times, copy_times, strict=True)
                ]
            ),
            1.5,
        ),
        min_ratio_row(
            NAME,
            f"{size}, openpyxl + bulk_create : ours over HTTP",
            f"{median(orm_times):.2f} s",
            median(orm_times) / median(service_times),
            6.0,
        ),
        Row(
            NAME,
            f"{size}, openpyxl + bulk_create : calamine + COPY",
            "",
            median(orm_times) / median(copy_times),
        ),
    ]


def download_backup(environment: BenchmarkEnvironment, member: int) -> Path:
    path = environment.directory / f"backup-{member}.xlsx"
    path.write_bytes(Client(environment.service_target(BACKUP_PATH, member))())
    path.chmod(0o644)
    return path


def upload(target: Target, path: Path) -> float:
    """Upload a workbook; return the seconds until the response, after the commit."""
    boundary = uuid.uuid4().hex
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n'
    )
    content_type = "Content-Type: application/octet-stream\r\n\r\n"
    body = (
        f"{head}{content_type}".encode()
        + path.read_bytes()
        + f"\r\n--{boundary}--\r\n".encode()
    )
    headers = {
        **target.headers,
        "Content-Type": f"multipart/form-data; boundary={boundary}",
    }
    connection = http.client.HTTPConnection(LOOPBACK, target.port, timeout=120)
    started = time.perf_counter()
    connection.request("POST", target.path, body, headers)
    response = connection.getresponse()
    response_body = response.read()
    duration = time.perf_counter() - started
    if response.status != http.client.OK:
        raise AssertionError(
            f"{target.path}: {response.status} {response_body[:300]!r}"
        )
    return duration


def advance_sequences(environment: BenchmarkEnvironment) -> None:
    """Set the sequences behind the ids of the loaded data."""
    with psycopg.connect(environment.database.url, autocommit=True) as connection:
        for table in TABLES:
            connection.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'),"
                f" (SELECT max(id) FROM {table}))"
            )


def run_baseline(
    environment: BenchmarkEnvironment, name: str, path: Path, member: int, rounds: int
) -> list[float]:
    """Run a baseline in a subprocess and return the seconds of each round."""
    arguments = ("-m", "benchmarks.restore", name, str(path), str(member), str(rounds))
    durations: list[float] = json.loads(environment.run(*arguments))
    return durations


def main() -> None:
    import django

    django.setup()
    name, path, member, rounds = sys.argv[1:]
    run = {"copy": run_copy_baseline, "orm": run_orm_baseline}[name]
    times = []
    for _ in range(int(rounds)):
        started = time.perf_counter()
        run(path, int(member))
        times.append(time.perf_counter() - started)
    print(json.dumps(times))


def run_copy_baseline(path: str, member: int) -> None:
    from django.db import connection, transaction
    from python_calamine import CalamineWorkbook

    workbook = CalamineWorkbook.from_path(path)
    rows: list[Any] = workbook.get_sheet_by_name("entries").to_python()[1:]
    with transaction.atomic(), connection.cursor() as cursor:
        wallets, categories, tags = clear_entries(cursor, member)
        ids = reserve_ids(cursor, len(rows))
        with cursor.copy(
            "COPY account_entry (id, member_id, date, type, amount, category_id,"
            " wallet_id, memo, pending, created_at, updated_at) FROM STDIN"
        ) as copy:
            for entry_id, row in zip(ids, rows, strict=True):
                category = categories.get((row[TYPE], row[CATEGORY]))
                wallet = wallets.get(row[WALLET])
                amount = int(row[AMOUNT])
                copy.write_row(
                    (
                        *(
                            entry_id,
                            member,
                            row[DATE],
                            row[TYPE],
                            amount,
                            category,
                            wallet,
                        ),
                        *(row[MEMO], row[PENDING], "now", "now"),
                    )
                )
        with cursor.copy(
            "COPY account_entry_tag (entry_id, tag_id, member_id, position) FROM STDIN"
        ) as copy:
            for entry_id, row in zip(ids, rows, strict=True):
                for position, tag in enumerate(split_tags(row[TAGS])):
                    copy.write_row((entry_id, tags[tag], member, position))


def run_orm_baseline(path: str, member: int) -> None:
    from django.db import connection, transaction
    from openpyxl import load_workbook

    from ledger.models import Entry, EntryTag

    sheet = load_workbook(path, read_only=True)["entries"]
    rows: list[Any] = list(sheet.iter_rows(min_row=2, values_only=True))
    with transaction.atomic(), connection.cursor() as cursor:
        wallets, categories, tags = clear_entries(cursor, member)
        entries = Entry.objects.bulk_create(
            [
                Entry(
                    member_id=member,
                    date=row[DATE],
                    type=row[TYPE],
                    amount=row[AMOUNT],
                    category_id=categories.get((row[TYPE], row[CATEGORY])),
                    wallet_id=wallets.get(row[WALLET]),
                    memo=row[MEMO] or "",
                    pending=row[PENDING],
                )
                for row in rows
            ],
            batch_size=2_000,
        )
        EntryTag.objects.bulk_create(
            (
                EntryTag(
                    entry=entry, tag_id=tags[tag], member_id=member, position=position
                )
                for entry, row in zip(entries, rows, strict=True)
                for position, tag in enumerate(split_tags(row[TAGS]))
            ),
            batch_size=5_000,
        )


def split_tags(cell: Any) -> list[str]:
    return [name for name in str(cell or "").split(", ") if name]


def clear_entries(cursor: Any, member: int) -> tuple[dict[Any, int], ...]:
    """Delete the entries; return the ids of wallets, categories and tags by name."""
    cursor.execute("SET LOCAL statement_timeout = 0")
    cursor.execute("DELETE FROM account_entry_tag WHERE member_id = %s", [member])
    cursor.execute("DELETE FROM account_entry WHERE member_id = %s", [member])
    ids_by_name = []
    for columns, table in (
        ("name", "account"),
        ("type, name", "account_category"),
        ("name", "account_tag"),
    ):
        cursor.execute(
            f"SELECT id, {columns} FROM {table} WHERE member_id = %s", [member]
        )
        ids_by_name.append(
            {lookup_key(names): id_ for id_, *names in cursor.fetchall()}
        )
    return tuple(ids_by_name)


def lookup_key(names: list[str]) -> Any:
    """Return the name alone, or a tuple such as (type, name)."""
    return names[0] if len(names) == 1 else tuple(names)


def reserve_ids(cursor: Any, count: int) -> list[int]:
    """Draw `count` ids of entries from their sequence."""
    cursor.execute(
        "WITH source AS MATERIALIZED"
        " (SELECT pg_get_serial_sequence('account_entry', 'id')::regclass AS name)"
        " SELECT array_agg(nextval(name)) FROM source, generate_series(1, %s)",
        [count],
    )
    ids: list[int] = cursor.fetchone()[0]
    return ids


if __name__ == "__main__":
    main()
