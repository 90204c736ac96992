"""The entry list: newest, filtered and deep pages, growth and other members' rows."""

from collections.abc import Callable
from urllib.parse import urlencode

import psycopg

from benchmarks.client import Client, Target, get_json
from benchmarks.dataset import MONTH_FILTER, load_members, vacuum_and_checkpoint
from benchmarks.environment import (
    BASELINE,
    BASELINE_COMMAND,
    SERVICE_COMMAND,
    WSGI_COMMAND,
    BenchmarkEnvironment,
    bearer,
)
from benchmarks.report import Row, compare, compare_loads

NAME = "entries"
PATH = "/api/account/entries"
PAGE_SIZE = 50
NEWEST_PATH = f"{PATH}?size={PAGE_SIZE}"
MONTH_PATH = f"{NEWEST_PATH}&{urlencode(MONTH_FILTER)}&category=Minor%2020"
DRF, WSGI = "DRF ModelSerializer", "bare WSGI"
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
# Q: the page in two plain statements.
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


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    spec = environment.spec
    check_same_responses(list_subjects(environment, spec.large_member()))
    return [
        *measure_one_client(environment, spec.large_member()),
        *measure_load(environment, spec.typical_member, spec.entries_per_member),
        *measure_load(environment, spec.large_member(), spec.large_size),
        *measure_growth(environment),
        *measure_isolation(environment),
        *measure_posts(environment),
    ]


def list_subjects(environment: BenchmarkEnvironment, member: int) -> dict[str, Target]:
    environment.serve("baseline", BASELINE_COMMAND, **BASELINE)
    path = f"/entries?size={PAGE_SIZE}"
    return {
        "service": environment.service_target(NEWEST_PATH, member),
        DRF: environment.peer_target("baseline", BASELINE_COMMAND, path, member),
        WSGI: environment.peer_target("wsgi", WSGI_COMMAND, path, member),
    }


def check_same_responses(subjects: dict[str, Target]) -> None:
    """Raise AssertionError with what differs."""
    pages = {
        name: (body["count"], [(each["id"], each["tags"]) for each in body["results"]])
        for name, body in zip(subjects, map(get_json, subjects.values()), strict=True)
    }
    count, entries = pages["service"]
    for name, (other_count, others) in pages.items():
        if (other_count, len(others)) != (count, PAGE_SIZE) or others != entries:
            different = [each for each in others if each not in entries]
            raise AssertionError(
                f"{name} has {len(others)} of {other_count} entries, the service"
                f" {len(entries)} of {count}; not the same: {different[:5]}"
            )


def measure_one_client(environment: BenchmarkEnvironment, member: int) -> list[Row]:
    middle = environment.spec.large_size // PAGE_SIZE // 2
    paths = {
        "newest 50": NEWEST_PATH,
        "month and category": MONTH_PATH,
        "page in the middle": f"{NEWEST_PATH}&page={middle}",
    }
    with psycopg.connect(environment.database_url, autocommit=True) as connection:
        calls: dict[str, Callable[[], object]] = {
            name: Client(environment.service_target(path, member))
            for name, path in paths.items()
        }
        calls["T"] = environment.trivial_client(member)
        calls["Q"] = lambda: read_page(connection, member)
        times = environment.time(calls, REPEATS)
    first, *others = paths
    rows: list[tuple[str, str, list[str], float | None]] = [
        (f"{first} : (T + Q)", first, ["T", "Q"], 2.5),
        *((f"{name} : {first}", name, [first], None) for name in others),
    ]
    create = Client(environment.service_target(PATH, member).sending(ENTRY))
    return [
        *compare(NAME, times, rows),
        environment.measure_processor_time(NAME, first, calls[first]),
        environment.measure_processor_time(NAME, "POST entry", create),
    ]


def read_page(connection: psycopg.Connection, member: int) -> object:
    values = {"id": member, "size": PAGE_SIZE}
    rows = connection.execute(_PAGE_SQL, values).fetchall()
    ids = [entry_id for entry_id, *_ in rows]
    return connection.execute(_TAGS_SQL, [member, ids]).fetchall()


def measure_load(
    environment: BenchmarkEnvironment, member: int, entries: int
) -> list[Row]:
    subjects = list_subjects(environment, member)
    loads = environment.load({name: [target] for name, target in subjects.items()})
    text = f"newest 50 of {entries:,}, 8 connections"
    rows = [
        (f"service : {peer}, {text}", "service", peer, minimum)
        for peer, minimum in ((DRF, 1.8), (WSGI, 0.4))
    ]
    return compare_loads(NAME, loads, rows)


def measure_posts(environment: BenchmarkEnvironment) -> list[Row]:
    """Post as members in turn."""
    spec = environment.spec
    first = max(spec.typical_member, spec.members - POSTING_MEMBERS) + 1
    posts = [
        environment.service_target(PATH, member).sending(ENTRY)
        for member in range(first, spec.members + 1)
    ]
    trivial = environment.trivial_client(spec.typical_member).target
    loads = environment.load({"post": posts, "T": [trivial]})
    text = "POST entry : T, requests/s at 8 connections"
    return compare_loads(NAME, loads, [(text, "post", "T", 0.4)])


def measure_growth(environment: BenchmarkEnvironment) -> list[Row]:
    rows = []
    for text, path, maximum in (
        ("newest 50", NEWEST_PATH, 1.5),
        ("month and category", MONTH_PATH, None),
    ):
        calls = {
            f"{size:,}": Client(environment.service_target(path, member))
            for member, size in environment.spec.large_members.items()
        }
        first, *_, last = calls
        name = f"growth of {text}, {last} : {first} entries"
        times = environment.time(calls, REPEATS)
        rows += compare(NAME, times, [(name, last, [first], maximum)])
    return rows


def measure_isolation(environment: BenchmarkEnvironment) -> list[Row]:
    """Compare a member in the full table and alone in a database."""
    spec, member = environment.spec, environment.spec.typical_member
    url = environment.create_database("alone")
    token = environment.create_members([member], url)[member]
    with psycopg.connect(url) as connection:
        load_members(connection, [member], spec.entries_per_member)
    vacuum_and_checkpoint(url)
    environment.manage("check_totals", "--repair", DATABASE_URL=url)
    port = environment.serve("alone", SERVICE_COMMAND, DATABASE_URL=url)
    calls = {
        "shared": Client(environment.service_target(NEWEST_PATH, member)),
        "alone": Client(Target(port, NEWEST_PATH, bearer(token))),
    }
    times = environment.time(calls, 2 * REPEATS)
    environment.stop_server("alone")
    text = "member in the big table : alone"
    return compare(NAME, times, [(text, "shared", ["alone"], 1.1)])
