"""The entry list: newest, filtered and deep pages, growth and other members' rows."""

import json
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlencode

import psycopg

from benchmarks.client import Client, Timing, time_interleaved
from benchmarks.dataset import MONTH_FILTER
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.load import load_interleaved
from benchmarks.report import Row, format_milliseconds, max_ratio_row, min_ratio_row

NAME = "entries"
PATH = "/api/account/entries"
PAGE_SIZE = 50
NEWEST_PATH = f"{PATH}?size={PAGE_SIZE}"
MONTH_PATH = f"{NEWEST_PATH}&{urlencode(MONTH_FILTER)}&category=Minor%2020"
LOAD_DURATION_SECONDS = 3
REPEATS = 30
POSTING_MEMBERS = 40
ENTRY = {
    "date": "2026-11-02",
    "type": "expense",
    "amount": 12_000,
    "category": "Minor 12",
    "memo": "lunch",
    "tags": ["tag 1", "tag 2"],
}
# Index of the member with 100,000 entries in `DatasetSpec.sizes`.
LARGE_INDEX = 2

# Q: what a page needs from the database, as two plain statements.
_PAGE_SQL = """
    SELECT e.id, e.date, e.type, e.amount, c.name, e.wallet_id, w.name, e.memo,
           e.currency, e.original_amount, e.exchange_rate, e.installment_months,
           e.pending, e.created_at, e.updated_at,
           (SELECT sum(t.entry_count) FROM account_category_total t
            WHERE t.member_id = %(id)s)
    FROM (SELECT * FROM account_entry WHERE member_id = %(id)s
          ORDER BY date DESC, id DESC LIMIT %(size)s) e
    LEFT JOIN account_category c ON c.member_id = %(id)s AND c.id = e.category_id
    LEFT JOIN account w ON w.member_id = %(id)s AND w.id = e.wallet_id
    ORDER BY e.date DESC, e.id DESC
"""
_TAGS_SQL = """
    SELECT l.entry_id, t.name FROM account_entry_tag l
    JOIN account_tag t ON t.member_id = l.member_id AND t.id = l.tag_id
    WHERE l.member_id = %s AND l.entry_id = ANY(%s) ORDER BY l.entry_id, l.position
"""


def measure(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    large = environment.spec.large_member(LARGE_INDEX)
    check_same_responses(environment, large)
    return [
        *measure_one_client(environment, large, rounds),
        *measure_load(
            environment,
            environment.spec.typical_member,
            environment.spec.entries_per_member,
            rounds,
        ),
        *measure_load(environment, large, environment.spec.sizes[LARGE_INDEX], rounds),
        *measure_growth(environment, rounds),
        measure_isolation(environment, rounds),
        count_statements(environment, large),
        measure_posts(environment, rounds),
    ]


def check_same_responses(environment: BenchmarkEnvironment, member: int) -> None:
    """Raise AssertionError unless all subjects list the same entries and tags."""
    bodies = [
        json.loads(Client(target)())
        for target in (
            environment.service_target(NEWEST_PATH, member),
            environment.baseline_target(f"/entries?size={PAGE_SIZE}", member),
            environment.baseline_target(f"/entries/values?size={PAGE_SIZE}", member),
            environment.wsgi_target(f"/entries?size={PAGE_SIZE}", member),
        )
    ]
    pages = [
        (body["count"], [(entry["id"], entry["tags"]) for entry in body["results"]])
        for body in bodies
    ]
    if any(page != pages[0] for page in pages) or len(pages[0][1]) != PAGE_SIZE:
        raise AssertionError("the subjects respond differently")


def measure_one_client(
    environment: BenchmarkEnvironment, member: int, rounds: int
) -> list[Row]:
    deep = f"{NEWEST_PATH}&page={environment.spec.sizes[LARGE_INDEX] // PAGE_SIZE // 2}"
    with psycopg.connect(environment.database.url, autocommit=True) as connection:
        times = time_interleaved(
            {
                "trivial": Client(environment.trivial_target(member)),
                "sql": bare_sql_reader(connection, member),
                "newest": Client(environment.service_target(NEWEST_PATH, member)),
                "filtered": Client(environment.service_target(MONTH_PATH, member)),
                "deep": Client(environment.service_target(deep, member)),
                "serializer": Client(
                    environment.baseline_target(f"/entries?size={PAGE_SIZE}", member)
                ),
                "values": Client(
                    environment.baseline_target(
                        f"/entries/values?size={PAGE_SIZE}", member
                    )
                ),
            },
            rounds,
            REPEATS,
        )
    newest, trivial, sql = times["newest"], times["trivial"], times["sql"]
    t = environment.trivial_name
    rows = [
        Row(
            NAME,
            f"{t}, the trivial GET, one client",
            format_milliseconds(trivial.median),
        ),
        Row(
            NAME,
            "Q, the page's bare SQL, one client",
            format_milliseconds(sql.median),
        ),
        max_ratio_row(
            NAME,
            f"newest 50 : ({t} + Q)",
            format_milliseconds(newest.median),
            newest.ratio_to(trivial, sql),
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
    """Return a function that reads the rows of a page and their tags in plain SQL."""

    def read() -> object:
        rows = connection.execute(
            _PAGE_SQL, {"id": member, "size": PAGE_SIZE}
        ).fetchall()
        return connection.execute(
            _TAGS_SQL, [member, [entry_id for entry_id, *_ in rows]]
        ).fetchall()

    return read


def measure_load(
    environment: BenchmarkEnvironment, member: int, entries: int, rounds: int
) -> list[Row]:
    """Measure eight connections at once; the baselines run COUNT(*) each time."""
    loads = load_interleaved(
        {
            "service": environment.service_target(NEWEST_PATH, member),
            "serializer": environment.baseline_target(
                f"/entries?size={PAGE_SIZE}", member
            ),
            "values": environment.baseline_target(
                f"/entries/values?size={PAGE_SIZE}", member
            ),
            "wsgi": environment.wsgi_target(f"/entries?size={PAGE_SIZE}", member),
        },
        rounds,
        LOAD_DURATION_SECONDS,
    )
    service, suffix = loads["service"], f"of {entries:,}, 8 connections"
    serializer, values, wsgi = loads["serializer"], loads["values"], loads["wsgi"]
    return [
        Row(NAME, f"ours, newest 50 {suffix}", service.summary()),
        min_ratio_row(
            NAME,
            f"ours : DRF ModelSerializer, newest 50 {suffix}",
            serializer.summary(),
            service.ratio_to(serializer),
            1.8,
        ),
        Row(
            NAME,
            f"ours : DRF .values() + orjson, newest 50 {suffix}",
            values.summary(),
            service.ratio_to(values),
        ),
        min_ratio_row(
            NAME,
            f"newest 50 : bare WSGI, {suffix}",
            wsgi.summary(),
            service.ratio_to(wsgi),
            0.4,
        ),
    ]


def measure_posts(environment: BenchmarkEnvironment, rounds: int) -> Row:
    """Measure eight connections that post entries, as members in turn."""
    spec = environment.spec
    members = range(
        max(spec.typical_member, spec.members - POSTING_MEMBERS) + 1, spec.members + 1
    )
    posts = [
        replace(environment.service_target(PATH, member), body=json.dumps(ENTRY))
        for member in members
    ]
    trivial = environment.trivial_target(spec.typical_member)
    loads = load_interleaved(
        {"post": posts, "trivial": trivial}, rounds, LOAD_DURATION_SECONDS
    )
    post, trivial_load = loads["post"], loads["trivial"]
    return min_ratio_row(
        NAME,
        f"POST entry, requests/s at 8 connections : {environment.trivial_name}",
        f"{post.summary()} : {trivial_load.summary()}",
        post.ratio_to(trivial_load),
        0.4,
    )


def measure_growth(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    """Time the newest page and a month of members with 1 to 1,000 times the entries."""
    sizes = environment.spec.sizes
    rows = []
    for text, path in (("newest 50", NEWEST_PATH), ("month and category", MONTH_PATH)):
        calls = {
            f"{size:,}": Client(
                environment.service_target(path, environment.spec.large_member(index))
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


def measure_isolation(environment: BenchmarkEnvironment, rounds: int) -> Row:
    """Compare the same member in the full table and alone in a database."""
    alone = environment.create_single_member_database()
    times = time_interleaved(
        {
            "shared": Client(
                environment.service_target(NEWEST_PATH, environment.spec.typical_member)
            ),
            "alone": Client(
                environment.service_target_on(
                    NEWEST_PATH, alone, environment.spec.typical_member
                )
            ),
        },
        rounds,
        2 * REPEATS,
    )
    shared, single = times["shared"], times["alone"]
    level = (
        f"{format_milliseconds(shared.median)} : {format_milliseconds(single.median)}"
    )
    return max_ratio_row(
        NAME, "member in the big table : alone", level, shared.ratio_to(single), 1.1
    )


def count_statements(environment: BenchmarkEnvironment, member: int) -> Row:
    """Compare the number of SQL statements for a page of 1 and of 50 entries."""
    arguments = ("-m", "benchmarks.statements", PATH, str(member), "1", str(PAGE_SIZE))
    output = environment.run(*arguments, LOG_LEVEL="WARNING")
    one, many = json.loads(output)
    level = f"{one} for 1 row, {many} for {PAGE_SIZE}"
    return Row(NAME, "statements of a page", level, None, "the same", one == many)
