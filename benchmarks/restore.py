"""Restore of a large ledger over HTTP, against the floor and against the usual way.

The floor reads the same workbook with calamine and replaces the entries and tag links
by COPY, without a check. The usual way reads with openpyxl and writes with bulk_create.
Both run in a process of their own with Django, without HTTP:

    python -m benchmarks.restore floor|usual FILE MEMBER ROUNDS
"""

import http.client
import json
import sys
import time
import uuid
from pathlib import Path
from statistics import median as middle
from typing import Any

import psycopg

from benchmarks.client import Client, Target
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.memory import measure_peak_memory
from benchmarks.report import Row, max_ratio_row, min_ratio_row
from devstack.stores.data_dir import LOOPBACK

NAME = "restore"
BACKUP_PATH, RESTORE_PATH = "/api/account/backup", "/api/account/restore"
SMALL_INDEX, LARGE_INDEX = 1, 2
"""The positions of the members with 10,000 and 100,000 entries among the sizes."""
ORM_ROUNDS = 1
MAX_PEAK_MIB = 300
TABLES = ("account", "account_category", "account_tag", "account_entry")


def measure(stage: BenchmarkEnvironment, rounds: int) -> list[Row]:
    shape = stage.dataset_spec
    small, large = shape.large_member(SMALL_INDEX), shape.large_member(LARGE_INDEX)
    advance_sequences(stage)
    files = {member: download_backup(stage, member) for member in (small, large)}
    ours: dict[int, list[float]] = {small: [], large: []}
    floor: list[float] = []
    for number in range(rounds + 1):  # the first one warms up
        for member, times in ours.items():
            seconds = upload(stage.service_target(RESTORE_PATH, member), files[member])
            times += [seconds] if number else []
        found = run_baseline(stage, "floor", files[large], large, 1)
        floor += found if number else []
    with measure_peak_memory(stage.list_workers) as peak:
        upload(stage.service_target(RESTORE_PATH, large), files[large])
    usual = run_baseline(stage, "usual", files[large], large, ORM_ROUNDS)
    upload(
        stage.service_target(RESTORE_PATH, large), files[large]
    )  # others measure what is left
    size = f"{shape.sizes[LARGE_INDEX]:,} entries"
    memory = "peak memory of a web process with its reader, MiB"
    return [
        *comparison_rows(size, ours[large], floor, usual),
        max_ratio_row(
            NAME,
            f"growth, {size} : {shape.sizes[SMALL_INDEX]:,}",
            f"{middle(ours[small]):.2f} s : {middle(ours[large]):.2f} s",
            middle(ours[large]) / middle(ours[small]),
            11.0,
        ),
        max_ratio_row(NAME, memory, size, peak.megabytes, MAX_PEAK_MIB),
    ]


def comparison_rows(
    size: str, ours: list[float], floor: list[float], usual: list[float]
) -> list[Row]:
    """Ours beside both; and how far the usual way lies above the floor.

    Constraints and kept totals cost all three the same time in the database, so that
    no restore is further below the usual way than the floor is.
    """
    return [
        max_ratio_row(
            NAME,
            f"{size} over HTTP : calamine + COPY of the same rows",
            f"{middle(ours):.2f} s : {middle(floor):.2f} s",
            middle([own / least for own, least in zip(ours, floor, strict=True)]),
            1.5,
        ),
        min_ratio_row(
            NAME,
            f"{size}, openpyxl + bulk_create : ours over HTTP",
            f"{middle(usual):.2f} s",
            middle(usual) / middle(ours),
            6.0,
        ),
        Row(
            NAME,
            f"{size}, openpyxl + bulk_create : calamine + COPY",
            "",
            middle(usual) / middle(floor),
        ),
    ]


def download_backup(stage: BenchmarkEnvironment, member: int) -> Path:
    path = stage.folder / f"backup-{member}.xlsx"
    path.write_bytes(Client(stage.service_target(BACKUP_PATH, member))())
    path.chmod(0o644)
    return path


def upload(target: Target, path: Path) -> float:
    """Seconds from the first byte sent to the answer, which comes after the commit."""
    mark = uuid.uuid4().hex
    head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n'
    kind = "Content-Type: application/octet-stream\r\n\r\n"
    body = f"{head}{kind}".encode() + path.read_bytes() + f"\r\n--{mark}--\r\n".encode()
    headers = {
        **target.headers,
        "Content-Type": f"multipart/form-data; boundary={mark}",
    }
    connection = http.client.HTTPConnection(LOOPBACK, target.port, timeout=120)
    started = time.perf_counter()
    connection.request("POST", target.path, body, headers)
    response = connection.getresponse()
    answer = response.read()
    spent = time.perf_counter() - started
    if response.status != http.client.OK:
        raise AssertionError(f"{target.path}: {response.status} {answer[:300]!r}")
    return spent


def advance_sequences(stage: BenchmarkEnvironment) -> None:
    """The data came with its ids; new ones begin behind them."""
    with psycopg.connect(stage.database.address, autocommit=True) as connection:
        for table in TABLES:
            connection.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'),"
                f" (SELECT max(id) FROM {table}))"
            )


def run_baseline(
    stage: BenchmarkEnvironment, name: str, path: Path, member: int, rounds: int
) -> list[float]:
    words = ("-m", "benchmarks.restore", name, str(path), str(member), str(rounds))
    found: list[float] = json.loads(stage.run(*words))
    return found


def main() -> None:
    import django

    django.setup()
    name, path, member, rounds = sys.argv[1:]
    run = {"floor": run_copy_baseline, "usual": run_orm_baseline}[name]
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
            for id_, row in zip(ids, rows, strict=True):
                category = categories.get((row[1], row[3]))
                wallet = wallets.get(row[4])
                amount = int(row[2])
                copy.write_row(
                    (
                        *(id_, member, row[0], row[1], amount, category, wallet),
                        *(row[5], row[11], "now", "now"),
                    )
                )
        with cursor.copy(
            "COPY account_entry_tag (entry_id, tag_id, member_id, position) FROM STDIN"
        ) as copy:
            for id_, row in zip(ids, rows, strict=True):
                for place, tag in enumerate(split_tags(row[6])):
                    copy.write_row((id_, tags[tag], member, place))


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
                    date=row[0],
                    type=row[1],
                    amount=row[2],
                    category_id=categories.get((row[1], row[3])),
                    wallet_id=wallets.get(row[4]),
                    memo=row[5] or "",
                    pending=row[11],
                )
                for row in rows
            ],
            batch_size=2_000,
        )
        EntryTag.objects.bulk_create(
            (
                EntryTag(entry=e, tag_id=tags[tag], member_id=member, position=place)
                for e, row in zip(entries, rows, strict=True)
                for place, tag in enumerate(split_tags(row[6]))
            ),
            batch_size=5_000,
        )


def split_tags(cell: Any) -> list[str]:
    return [name for name in str(cell or "").split(", ") if name]


def clear_entries(cursor: Any, member: int) -> tuple[dict[Any, int], ...]:
    """Delete the entries; the ids of what they refer to, by name."""
    cursor.execute("SET LOCAL statement_timeout = 0")
    cursor.execute("DELETE FROM account_entry_tag WHERE member_id = %s", [member])
    cursor.execute("DELETE FROM account_entry WHERE member_id = %s", [member])
    found = []
    for columns, table in (
        ("name", "account"),
        ("type, name", "account_category"),
        ("name", "account_tag"),
    ):
        cursor.execute(
            f"SELECT id, {columns} FROM {table} WHERE member_id = %s", [member]
        )
        found.append({name_key(row[1:]): row[0] for row in cursor.fetchall()})
    return tuple(found)


def name_key(names: tuple[str, ...]) -> Any:
    return names[0] if len(names) == 1 else names


def reserve_ids(cursor: Any, count: int) -> list[int]:
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
