"""Restore of a large ledger over HTTP, compared with a floor.

The floor reads the same workbook with calamine, in a subprocess without HTTP, validates
nothing, and writes with COPY into empty tables without foreign keys, indexes and
triggers.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
from python_calamine import CalamineWorkbook

from benchmarks.client import Client, Series, Target, get_json
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.processes import measure_peak_memory
from benchmarks.report import Row, bounded

NAME = "restore"
BACKUP_PATH, RESTORE_PATH = "/api/account/backup", "/api/account/restore"
MAX_PEAK_MIB = 300
CREATE_BARE_TABLES = """
    DROP TABLE IF EXISTS bare_entry, bare_entry_tag;
    CREATE TABLE bare_entry (
        LIKE account_entry INCLUDING DEFAULTS, PRIMARY KEY (member_id, id)
    );
    CREATE TABLE bare_entry_tag (
        LIKE account_entry_tag INCLUDING DEFAULTS,
        PRIMARY KEY (member_id, entry_id, tag_id)
    );
"""
COPY_ENTRIES = """
    COPY bare_entry (id, member_id, date, type, amount, category_id, wallet_id, memo,
        pending, is_reversal, line_count, created_at, updated_at) FROM STDIN
"""
COPY_TAGS = "COPY bare_entry_tag (entry_id, tag_id, member_id, position) FROM STDIN"


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    # A restored ledger has other ids.
    small = 3 * environment.spec.all_members[-1]
    large = small + 1
    *_, small_size, large_size, _ = environment.spec.sizes
    environment.add_members([small], small_size)
    environment.add_members([large], large_size)
    path = environment.directory / "backup.xlsx"
    uploads: dict[int, Target] = {}
    for member in (small, large):
        path.write_bytes(Client(environment.service_target(BACKUP_PATH, member))())
        target = environment.service_target(RESTORE_PATH, member)
        uploads[member] = target.uploading("file", path.read_bytes())
    calls: dict[str, Callable[[], float]] = {
        "small": lambda: upload(uploads[small]),
        "large": lambda: upload(uploads[large]),
        "floor": lambda: run_floor(environment, path, large),
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(environment.effort.rounds + 1):
        for name, call in calls.items():
            seconds = call()
            times[name] += [seconds] if number else []  # the first round warms up
    with measure_peak_memory(environment.list_workers) as peak:
        upload(uploads[large])
    medians = {name: median(values) for name, values in times.items()}
    size, own = f"{large_size:,} entries", f"{medians['large']:.2f} s"
    ratio = Series(tuple(times["large"])).ratio_to(Series(tuple(times["floor"])))
    growth = medians["large"] / medians["small"]
    return [
        bounded(
            NAME,
            f"{size} over HTTP : calamine + COPY into a table without triggers and"
            " foreign keys",
            f"{own} : {medians['floor']:.2f} s",
            ratio,
            2.0,
        ),
        bounded(
            NAME,
            f"growth, {size} : {small_size:,}",
            f"{own} : {medians['small']:.2f} s",
            growth,
            11.0,
        ),
        bounded(
            NAME,
            "peak memory of a web process with its reader, MiB",
            size,
            peak.mebibytes,
            MAX_PEAK_MIB,
        ),
        measure_tags(environment, small, large_size // 2),
        measure_undo(environment, uploads[large], large),
    ]


def measure_undo(
    environment: BenchmarkEnvironment, restore: Target, member: int
) -> Row:
    """Compare the undo of a restore with the restore: both replace equal ledgers."""
    restoring, undoing = [], []
    for _ in range(environment.effort.rounds):
        restoring.append(upload(restore))
        newest = environment.service_target("/api/account/operations?size=1", member)
        (operation,) = get_json(newest)["results"]
        path = f"/api/account/operations/{operation['id']}/undo"
        undo = environment.service_target(path, member)
        undoing.append(upload(undo.sending({"force": True})))
    undone, restored = median(undoing), median(restoring)
    level = f"{undone:.2f} s : {restored:.2f} s"
    return bounded(
        NAME, "undo of a restore : the restore", level, undone / restored, 1.2
    )


def measure_tags(environment: BenchmarkEnvironment, member: int, size: int) -> Row:
    """Compare entries with two tags with the same ones without tags."""
    target = environment.service_target(RESTORE_PATH, member)
    times: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(environment.effort.rounds):
        for has_tags, seconds in times.items():
            body = make_rows(size, has_tags=has_tags)
            seconds.append(upload(target.sending_raw(body, "application/json")))
    tagged, plain = median(times[True]), median(times[False])
    return bounded(
        NAME,
        f"{size:,} entries with two tags : without",
        f"{tagged:.2f} s : {plain:.2f} s",
        tagged / plain,
        1.3,
    )


def make_rows(size: int, *, has_tags: bool) -> bytes:
    """Return a backup as JSON: a memo each, and one entry in ten with two lines."""
    entries: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    for number in range(size):
        entry: dict[str, Any] = {
            "date": f"{2016 + number % 10}-{number % 12 + 1:02}-{number % 28 + 1:02}",
            "type": "expense",
            "amount": 1_000,
            "memo": f"memo {number % 5_000}",
        }
        if has_tags:
            entry["tags"] = [f"a{number % 40}", f"b{number % 37}"]
        if number % 10 == 0:
            entry["key"] = str(number)
            lines += [{"entry": str(number), "amount": 500}] * 2
        entries.append(entry)
    tags = [{"name": f"{letter}{n}"} for letter in "ab" for n in range(40)]
    book = {"tags": tags, "entries": entries, "lines": lines}
    return json.dumps(book, separators=(",", ":")).encode()


def upload(target: Target) -> float:
    """Return the seconds until the response, after the commit."""
    client = Client(target)
    started = time.perf_counter()
    client()
    return time.perf_counter() - started


def run_floor(environment: BenchmarkEnvironment, path: Path, member: int) -> float:
    """Return the seconds from file to commit."""
    with psycopg.connect(environment.database_url, autocommit=True) as connection:
        connection.execute(CREATE_BARE_TABLES)
    output = environment.run("-m", "benchmarks.restore", str(path), str(member))
    return float(json.loads(output))


def main() -> None:
    path, member = sys.argv[1], int(sys.argv[2])
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        started = time.perf_counter()
        copy_entries(connection.cursor(), path, member)
        connection.commit()
    print(json.dumps(time.perf_counter() - started))


def copy_entries(cursor: psycopg.Cursor, path: str, member: int) -> None:
    wallets, categories, tags = read_ids_by_name(cursor, member)
    sheet = CalamineWorkbook.from_path(path).get_sheet_by_name("entries")
    rows: Any = sheet.iter_rows()
    header = next(rows)
    links: list[tuple[int, int, int, int]] = []
    with cursor.copy(COPY_ENTRIES) as copy:
        for entry_id, values in enumerate(rows):
            row = dict(zip(header, values, strict=True))
            category = categories.get((row["type"], row["category"]))
            copy.write_row(
                (
                    *(entry_id, member, row["date"], row["type"], int(row["amount"])),
                    *(category, wallets.get(row["wallet"]), row["memo"]),
                    *(row["pending"], False, 0, "now", "now"),
                )
            )
            for position, tag in enumerate(filter(None, row["tags"].split(", "))):
                links.append((entry_id, tags[tag], member, position))
    with cursor.copy(COPY_TAGS) as copy:
        for link in links:
            copy.write_row(link)


def read_ids_by_name(cursor: Any, member: int) -> tuple[dict[Any, int], ...]:
    """Return wallets by name, categories by type and name, tags by name."""
    ids_by_name = []
    for key, table in (
        ("name", "account"),
        ("ROW(type, name)", "account_category"),
        ("name", "account_tag"),
    ):
        cursor.execute(f"SELECT {key}, id FROM {table} WHERE member_id = %s", [member])
        ids_by_name.append(dict(cursor.fetchall()))
    return tuple(ids_by_name)


if __name__ == "__main__":
    main()
