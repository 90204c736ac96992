"""The entry list: the newest page, a filtered one, a deep one, growth, isolation."""

import json
from collections.abc import Callable
from urllib.parse import urlencode

import psycopg

from benchmarks.client import Client, Timing, time_interleaved
from benchmarks.dataset import MONTH_FILTER
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.load import load_interleaved
from benchmarks.report import Row, format_milliseconds, max_ratio_row, min_ratio_row
from benchmarks.sessions import PATH as TRIVIAL

NAME = "entries"
PATH = "/api/account/entries"
PAGE_SIZE = 50
NEWEST_PATH = f"{PATH}?size={PAGE_SIZE}"
MONTH_PATH = f"{NEWEST_PATH}&{urlencode(MONTH_FILTER)}&category=Minor%2020"
LOAD_DURATION_SECONDS = 3
REPEATS = 30
LARGE_INDEX = 2
"""The position of the member with 100,000 entries among the sizes."""

_PAGE_SQL = """
    SELECT e.id, e.date, e.type, e.amount, c.name, e.wallet_id, w.name, e.memo,
           e.currency, e.original_amount, e.exchange_rate, e.installment_months,
           e.pending, e.created_at, e.updated_at,
           (SELECT sum(t.entry_count) FROM account_month_total t
            WHERE t.member_id = %(id)s)
    FROM (SELECT * FROM account_entry WHERE member_id = %(id)s
          ORDER BY date DESC, id DESC LIMIT %(size)s) e
    LEFT JOIN account_category c ON c.id = e.category_id
    LEFT JOIN account w ON w.id = e.wallet_id
    ORDER BY e.date DESC, e.id DESC
"""
_TAGS_SQL = """
    SELECT l.entry_id, t.name FROM account_entry_tag l
    JOIN account_tag t ON t.id = l.tag_id
    WHERE l.entry_id = ANY(%s) ORDER BY l.entry_id, l.position
"""


def measure(stage: BenchmarkEnvironment, rounds: int) -> list[Row]:
    large = stage.dataset_spec.large_member(LARGE_INDEX)
    check_same_responses(stage, large)
    return [
        *measure_one_client(stage, large, rounds),
        *measure_load(
            stage,
            stage.dataset_spec.typical_member,
            stage.dataset_spec.entries_per_member,
            rounds,
        ),
        *measure_load(stage, large, stage.dataset_spec.sizes[LARGE_INDEX], rounds),
        *measure_growth(stage, rounds),
        measure_isolation(stage, rounds),
        count_statements(stage, large),
    ]


def check_same_responses(stage: BenchmarkEnvironment, member: int) -> None:
    """Ours and the serializer's: the same entries with the same tags, and pages."""
    bodies = [
        json.loads(Client(target)())
        for target in (
            stage.service_target(NEWEST_PATH, member),
            stage.baseline_target(f"/entries?size={PAGE_SIZE}", member),
            stage.baseline_target(f"/entries/values?size={PAGE_SIZE}", member),
        )
    ]
    found = [(b["count"], [(e["id"], e["tags"]) for e in b["results"]]) for b in bodies]
    if any(each != found[0] for each in found) or len(found[0][1]) != PAGE_SIZE:
        raise AssertionError("the contenders answer differently")


def measure_one_client(
    stage: BenchmarkEnvironment, member: int, rounds: int
) -> list[Row]:
    deep = (
        f"{NEWEST_PATH}&page={stage.dataset_spec.sizes[LARGE_INDEX] // PAGE_SIZE // 2}"
    )
    with psycopg.connect(stage.database.address, autocommit=True) as connection:
        times = time_interleaved(
            {
                "trivial": Client(stage.service_target(TRIVIAL, member)),
                "sql": bare_sql_reader(connection, member),
                "newest": Client(stage.service_target(NEWEST_PATH, member)),
                "filtered": Client(stage.service_target(MONTH_PATH, member)),
                "deep": Client(stage.service_target(deep, member)),
                "serializer": Client(
                    stage.baseline_target(f"/entries?size={PAGE_SIZE}", member)
                ),
                "values": Client(
                    stage.baseline_target(f"/entries/values?size={PAGE_SIZE}", member)
                ),
            },
            rounds,
            REPEATS,
        )
    newest, parts = times["newest"], (times["trivial"], times["sql"])
    rows = [
        Row(
            NAME, "T, our trivial GET, one client", format_milliseconds(parts[0].median)
        ),
        Row(
            NAME,
            "Q, the page's bare SQL, one client",
            format_milliseconds(parts[1].median),
        ),
        max_ratio_row(
            NAME,
            "newest 50 : T + Q",
            format_milliseconds(newest.median),
            newest.ratio_to(*parts),
            2.5,
        ),
    ]
    for name, text in (
        ("filtered", "month and category : newest 50"),
        ("deep", "page in the middle : newest 50"),
        ("serializer", "DRF ModelSerializer : newest 50"),
        ("values", "DRF .values() + orjson : newest 50"),
    ):
        rows.append(ratio_row(text, times[name], newest))
    return rows


def ratio_row(text: str, timing: Timing, other: Timing) -> Row:
    return Row(NAME, text, format_milliseconds(timing.median), timing.ratio_to(other))


def bare_sql_reader(
    connection: psycopg.Connection, member: int
) -> Callable[[], object]:
    """The same rows without a web server, a session or a serializer."""

    def read() -> object:
        rows = connection.execute(
            _PAGE_SQL, {"id": member, "size": PAGE_SIZE}
        ).fetchall()
        return connection.execute(_TAGS_SQL, [[row[0] for row in rows]]).fetchall()

    return read


def measure_load(
    stage: BenchmarkEnvironment, member: int, entries: int, rounds: int
) -> list[Row]:
    """Eight connections at once; the peers count the member's entries each time."""
    loads = load_interleaved(
        {
            "ours": stage.service_target(NEWEST_PATH, member),
            "serializer": stage.baseline_target(f"/entries?size={PAGE_SIZE}", member),
            "values": stage.baseline_target(
                f"/entries/values?size={PAGE_SIZE}", member
            ),
        },
        rounds,
        LOAD_DURATION_SECONDS,
    )
    ours, of = loads["ours"], f"of {entries:,}, 8 connections"
    serializer, values = loads["serializer"], loads["values"]
    return [
        Row(NAME, f"ours, newest 50 {of}", ours.summary()),
        min_ratio_row(
            NAME,
            f"ours : DRF ModelSerializer, newest 50 {of}",
            serializer.summary(),
            ours.ratio_to(serializer),
            1.8,
        ),
        Row(
            NAME,
            f"ours : DRF .values() + orjson, newest 50 {of}",
            values.summary(),
            ours.ratio_to(values),
        ),
    ]


def measure_growth(stage: BenchmarkEnvironment, rounds: int) -> list[Row]:
    """The newest page and a month, of members with 1 to 1,000 times the rows."""
    sizes = stage.dataset_spec.sizes
    rows = []
    for text, path in (("newest 50", NEWEST_PATH), ("month and category", MONTH_PATH)):
        calls = {
            f"{size:,}": Client(
                stage.service_target(path, stage.dataset_spec.large_member(index))
            )
            for index, size in enumerate(sizes)
        }
        times = time_interleaved(calls, rounds, REPEATS)
        first, last = times[f"{sizes[0]:,}"], times[f"{sizes[-1]:,}"]
        level = ", ".join(
            f"{name}: {format_milliseconds(t.median)}" for name, t in times.items()
        )
        name = f"growth of {text}, {sizes[-1]:,} : {sizes[0]:,} entries"
        if path is NEWEST_PATH:
            rows.append(max_ratio_row(NAME, name, level, last.ratio_to(first), 1.5))
        else:
            rows.append(Row(NAME, name, level, last.ratio_to(first)))
    return rows


def measure_isolation(stage: BenchmarkEnvironment, rounds: int) -> Row:
    """The same member among all others and alone in a database."""
    alone = stage.create_single_member_database()
    times = time_interleaved(
        {
            "big": Client(
                stage.service_target(NEWEST_PATH, stage.dataset_spec.typical_member)
            ),
            "alone": Client(
                stage.service_target_on(
                    NEWEST_PATH, alone, stage.dataset_spec.typical_member
                )
            ),
        },
        rounds,
        2 * REPEATS,
    )
    big, small = times["big"], times["alone"]
    level = f"{format_milliseconds(big.median)} : {format_milliseconds(small.median)}"
    return max_ratio_row(
        NAME, "member in the big table : alone", level, big.ratio_to(small), 1.1
    )


def count_statements(stage: BenchmarkEnvironment, member: int) -> Row:
    """SQL statements of a page of one and of fifty rows."""
    words = ("-m", "benchmarks.statements", PATH, str(member), "1", str(PAGE_SIZE))
    output = stage.run(*words, LOG_LEVEL="WARNING")
    one, many = json.loads(output)
    level = f"{one} for 1 row, {many} for {PAGE_SIZE}"
    return Row(NAME, "statements of a page", level, None, "the same", one == many)
