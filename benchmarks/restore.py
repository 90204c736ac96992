"""Restore of a large ledger over HTTP, compared with three baselines.

All read the same workbook, entries with their tags, in a subprocess without HTTP, and
validate nothing:

`floor` reads with calamine and writes with COPY into empty tables that have the columns
and primary keys of ours and nothing else: no foreign keys, indexes or triggers.
`copy` does the same into our own tables, which it empties first. The triggers of the
totals are off and no totals are computed, but PostgreSQL checks the foreign keys: no
restore can do without that.
`orm` reads with openpyxl and writes with bulk_create, otherwise as `copy`.

    python -m benchmarks.restore floor|copy|orm FILE MEMBER
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
# Sizes of the two ledgers; where the scale has no member of such a size, the two
# members in their places.
SMALL_SIZE, LARGE_SIZE = 10_000, 100_000
SMALL_INDEX, LARGE_INDEX = 1, 2
MAX_PEAK_MIB = 300
# Column numbers of the sheet "entries"; the baselines restore these only.
DATE, TYPE, AMOUNT, CATEGORY, WALLET, MEMO, TAGS, PENDING = 0, 1, 2, 3, 4, 5, 6, 11
TABLES = ("account", "account_category", "account_tag", "account_entry")
# The tables of the `floor` baseline.
CREATE_BARE_TABLES = """
    DROP TABLE IF EXISTS bare_entry, bare_entry_tag;
    CREATE TABLE bare_entry (
        LIKE account_entry, PRIMARY KEY (member_id, id)
    );
    CREATE TABLE bare_entry_tag (
        LIKE account_entry_tag, PRIMARY KEY (member_id, entry_id, tag_id)
    );
"""


def measure(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    sizes = environment.spec.sizes
    has_sizes = {SMALL_SIZE, LARGE_SIZE} <= set(sizes)
    small_index = sizes.index(SMALL_SIZE) if has_sizes else SMALL_INDEX
    large_index = sizes.index(LARGE_SIZE) if has_sizes else LARGE_INDEX
    small = environment.spec.large_member(small_index)
    large = environment.spec.large_member(large_index)
    advance_sequences(environment)
    files = {member: download_backup(environment, member) for member in (small, large)}
    service_times: dict[int, list[float]] = {small: [], large: []}
    baseline_times: dict[str, list[float]] = {"floor": [], "copy": []}
    for number in range(rounds + 1):
        is_warm_up = number == 0
        for member, times in service_times.items():
            seconds = upload(
                environment.service_target(RESTORE_PATH, member), files[member]
            )
            times += [] if is_warm_up else [seconds]
        for name, times in baseline_times.items():
            seconds = run_baseline(environment, name, files[large], large)
            times += [] if is_warm_up else [seconds]
    with measure_peak_memory(environment.list_workers) as peak:
        upload(environment.service_target(RESTORE_PATH, large), files[large])
    orm_time = run_baseline(environment, "orm", files[large], large)
    # Leave the data as the service restores it for the benchmarks that follow.
    upload(environment.service_target(RESTORE_PATH, large), files[large])
    small_time, large_time = median(service_times[small]), median(service_times[large])
    size = f"{sizes[large_index]:,} entries"
    memory_text = "peak memory of a web process with its reader, MiB"
    return [
        *comparison_rows(size, service_times[large], baseline_times, orm_time),
        max_ratio_row(
            NAME,
            f"growth, {size} : {sizes[small_index]:,}",
            f"{small_time:.2f} s : {large_time:.2f} s",
            large_time / small_time,
            11.0,
        ),
        max_ratio_row(NAME, memory_text, size, peak.mebibytes, MAX_PEAK_MIB),
    ]


def comparison_rows(
    size: str,
    service_times: list[float],
    baseline_times: dict[str, list[float]],
    orm_time: float,
) -> list[Row]:
    """Compare the service with the baselines, round by round."""

    def ratio(own_times: list[float], name: str) -> float:
        pairs = zip(own_times, baseline_times[name], strict=True)
        return median([own / baseline for own, baseline in pairs])

    levels = {name: f"{median(times):.2f} s" for name, times in baseline_times.items()}
    level = f"{median(service_times):.2f} s"
    return [
        max_ratio_row(
            NAME,
            f"{size} over HTTP : calamine + COPY into a table without triggers and"
            " foreign keys",
            f"{level} : {levels['floor']}",
            ratio(service_times, "floor"),
            2.0,
        ),
        Row(
            NAME,
            f"{size} over HTTP : calamine + COPY into our tables",
            f"{level} : {levels['copy']}",
            ratio(service_times, "copy"),
        ),
        Row(
            NAME,
            f"{size}, calamine + COPY into our tables : into one without triggers and"
            " foreign keys",
            f"{levels['copy']} : {levels['floor']}",
            ratio(baseline_times["copy"], "floor"),
        ),
        min_ratio_row(
            NAME,
            f"{size}, openpyxl + bulk_create : ours over HTTP",
            f"{orm_time:.2f} s : {level}",
            orm_time / median(service_times),
            6.0,
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
    environment: BenchmarkEnvironment, name: str, path: Path, member: int
) -> float:
    """Run a baseline in a subprocess and return its seconds, from file to commit."""
    with psycopg.connect(environment.database.url, autocommit=True) as connection:
        connection.execute(CREATE_BARE_TABLES)
    output = environment.run("-m", "benchmarks.restore", name, str(path), str(member))
    return float(json.loads(output))


def main() -> None:
    import django
    from django.db import connection, transaction

    django.setup()
    name, path, member = sys.argv[1:]
    run = {"floor": run_floor, "copy": run_copy, "orm": run_orm}[name]
    connection.ensure_connection()
    started = time.perf_counter()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        # Row by row, the totals of 100,000 entries would take minutes.
        cursor.execute("SET LOCAL ledger.is_bulk_write = 'on'")
        run(cursor, path, int(member))
    print(json.dumps(time.perf_counter() - started))


def run_floor(cursor: Any, path: str, member: int) -> None:
    copy_entries(cursor, path, member, "bare_entry", "bare_entry_tag")


def run_copy(cursor: Any, path: str, member: int) -> None:
    delete_entries(cursor, member)
    copy_entries(cursor, path, member, "account_entry", "account_entry_tag")


def copy_entries(
    cursor: Any, path: str, member: int, entry_table: str, tag_table: str
) -> None:
    from python_calamine import CalamineWorkbook

    wallets, categories, tags = read_ids_by_name(cursor, member)
    sheet = CalamineWorkbook.from_path(path).get_sheet_by_name("entries")
    rows: Any = sheet.iter_rows()
    next(rows)  # the headers
    tag_cells: list[Any] = []
    with cursor.copy(
        f"COPY {entry_table} (id, member_id, date, type, amount, category_id,"
        " wallet_id, memo, pending, created_at, updated_at) FROM STDIN"
    ) as copy:
        for entry_id, row in enumerate(rows):
            type_, amount = row[TYPE], int(row[AMOUNT])
            category = categories.get((type_, row[CATEGORY]))
            wallet = wallets.get(row[WALLET])
            copy.write_row(
                (
                    *(entry_id, member, row[DATE], type_, amount, category, wallet),
                    *(row[MEMO], row[PENDING], "now", "now"),
                )
            )
            tag_cells.append(row[TAGS])
    with cursor.copy(
        f"COPY {tag_table} (entry_id, tag_id, member_id, position) FROM STDIN"
    ) as copy:
        for entry_id, cell in enumerate(tag_cells):
            for position, tag in enumerate(split_tags(cell)):
                copy.write_row((entry_id, tags[tag], member, position))


def run_orm(cursor: Any, path: str, member: int) -> None:
    from openpyxl import load_workbook

    from ledger.models import Entry, EntryTag

    sheet = load_workbook(path, read_only=True)["entries"]
    rows: list[Any] = list(sheet.iter_rows(min_row=2, values_only=True))
    wallets, categories, tags = read_ids_by_name(cursor, member)
    delete_entries(cursor, member)
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
            EntryTag(entry=entry, tag_id=tags[tag], member_id=member, position=position)
            for entry, row in zip(entries, rows, strict=True)
            for position, tag in enumerate(split_tags(row[TAGS]))
        ),
        batch_size=5_000,
    )


def delete_entries(cursor: Any, member: int) -> None:
    cursor.execute("DELETE FROM account_entry_tag WHERE member_id = %s", [member])
    cursor.execute("DELETE FROM account_entry WHERE member_id = %s", [member])


def split_tags(cell: Any) -> list[str]:
    return [name for name in str(cell or "").split(", ") if name]


def read_ids_by_name(cursor: Any, member: int) -> tuple[dict[Any, int], ...]:
    """Return the ids of the member's wallets, categories and tags by name."""
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


if __name__ == "__main__":
    main()
