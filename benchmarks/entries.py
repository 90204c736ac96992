"""The entry list: the newest page, a filtered one, a deep one, growth, isolation."""

import json
from collections.abc import Callable
from urllib.parse import urlencode

import psycopg

from benchmarks.client import Client, Timing, time_in_turn
from benchmarks.dataset import FILTERED
from benchmarks.environment import Stage
from benchmarks.load import load_in_turn
from benchmarks.report import Row, at_least, at_most, milliseconds
from benchmarks.sessions import PATH as TRIVIAL

NAME = "entries"
PATH = "/api/account/entries"
SIZE = 50
NEWEST = f"{PATH}?size={SIZE}"
MONTH = f"{NEWEST}&{urlencode(FILTERED)}&category=Minor%2020"
SECONDS = 3
REPEATS = 30
LARGE = 2
"""The position of the member with 100,000 entries among the sizes."""

_PAGE = """
    SELECT e.id, e.date, e.type, e.amount, c.name, e.wallet_id, w.name, e.memo,
           e.currency, e.original_amount, e.exchange_rate, e.installment_months,
           e.pending, e.created_at, e.updated_at,
           (SELECT sum(entries) FROM account_month_total t WHERE t.member_id = %(id)s)
    FROM (SELECT * FROM account_entry WHERE member_id = %(id)s
          ORDER BY date DESC, id DESC LIMIT %(size)s) e
    LEFT JOIN account_category c ON c.id = e.category_id
    LEFT JOIN account w ON w.id = e.wallet_id
    ORDER BY e.date DESC, e.id DESC
"""
_TAGS = """
    SELECT l.entry_id, t.name FROM account_entry_tag l
    JOIN account_tag t ON t.id = l.tag_id
    WHERE l.entry_id = ANY(%s) ORDER BY l.entry_id, l.position
"""


def measure(stage: Stage, rounds: int) -> list[Row]:
    large = stage.shape.member_of_size(LARGE)
    check_bodies(stage, large)
    return [
        *measure_one_client(stage, large, rounds),
        *measure_load(stage, stage.shape.plain, stage.shape.each, rounds),
        *measure_load(stage, large, stage.shape.sizes[LARGE], rounds),
        *measure_growth(stage, rounds),
        measure_isolation(stage, rounds),
        count_statements(stage, large),
    ]


def check_bodies(stage: Stage, member: int) -> None:
    """Ours and the serializer's: the same entries with the same tags, and pages."""
    bodies = [
        json.loads(Client(target)())
        for target in (
            stage.ask_ours(NEWEST, member),
            stage.ask_peer(f"/entries?size={SIZE}", member),
            stage.ask_peer(f"/entries/values?size={SIZE}", member),
        )
    ]
    found = [(b["count"], [(e["id"], e["tags"]) for e in b["results"]]) for b in bodies]
    if any(each != found[0] for each in found) or len(found[0][1]) != SIZE:
        raise AssertionError("the contenders answer differently")


def measure_one_client(stage: Stage, member: int, rounds: int) -> list[Row]:
    deep = f"{NEWEST}&page={stage.shape.sizes[LARGE] // SIZE // 2}"
    with psycopg.connect(stage.database.address, autocommit=True) as connection:
        times = time_in_turn(
            {
                "trivial": Client(stage.ask_ours(TRIVIAL, member)),
                "sql": read_bare(connection, member),
                "newest": Client(stage.ask_ours(NEWEST, member)),
                "filtered": Client(stage.ask_ours(MONTH, member)),
                "deep": Client(stage.ask_ours(deep, member)),
                "serializer": Client(stage.ask_peer(f"/entries?size={SIZE}", member)),
                "values": Client(
                    stage.ask_peer(f"/entries/values?size={SIZE}", member)
                ),
            },
            rounds,
            REPEATS,
        )
    newest, parts = times["newest"], (times["trivial"], times["sql"])
    rows = [
        Row(NAME, "T, our trivial GET, one client", milliseconds(parts[0].median)),
        Row(NAME, "Q, the page's bare SQL, one client", milliseconds(parts[1].median)),
        at_most(
            NAME,
            "newest 50 : T + Q",
            milliseconds(newest.median),
            newest.to(*parts),
            2.5,
        ),
    ]
    for name, text in (
        ("filtered", "month and category : newest 50"),
        ("deep", "page in the middle : newest 50"),
        ("serializer", "DRF ModelSerializer : newest 50"),
        ("values", "DRF .values() + orjson : newest 50"),
    ):
        rows.append(compare(text, times[name], newest))
    return rows


def compare(text: str, timing: Timing, other: Timing) -> Row:
    return Row(NAME, text, milliseconds(timing.median), timing.to(other))


def read_bare(connection: psycopg.Connection, member: int) -> Callable[[], object]:
    """The same rows without a web server, a session or a serializer."""

    def read() -> object:
        rows = connection.execute(_PAGE, {"id": member, "size": SIZE}).fetchall()
        return connection.execute(_TAGS, [[row[0] for row in rows]]).fetchall()

    return read


def measure_load(stage: Stage, member: int, entries: int, rounds: int) -> list[Row]:
    """Eight connections at once; the peers count the member's entries each time."""
    loads = load_in_turn(
        {
            "ours": stage.ask_ours(NEWEST, member),
            "serializer": stage.ask_peer(f"/entries?size={SIZE}", member),
            "values": stage.ask_peer(f"/entries/values?size={SIZE}", member),
        },
        rounds,
        SECONDS,
    )
    ours, of = loads["ours"], f"of {entries:,}, 8 connections"
    serializer, values = loads["serializer"], loads["values"]
    return [
        Row(NAME, f"ours, newest 50 {of}", ours.describe()),
        at_least(
            NAME,
            f"ours : DRF ModelSerializer, newest 50 {of}",
            serializer.describe(),
            ours.to(serializer),
            1.8,
        ),
        Row(
            NAME,
            f"ours : DRF .values() + orjson, newest 50 {of}",
            values.describe(),
            ours.to(values),
        ),
    ]


def measure_growth(stage: Stage, rounds: int) -> list[Row]:
    """The newest page and a month, of members with 1 to 1,000 times the rows."""
    sizes = stage.shape.sizes
    rows = []
    for text, path in (("newest 50", NEWEST), ("month and category", MONTH)):
        calls = {
            f"{size:,}": Client(stage.ask_ours(path, stage.shape.member_of_size(index)))
            for index, size in enumerate(sizes)
        }
        times = time_in_turn(calls, rounds, REPEATS)
        first, last = times[f"{sizes[0]:,}"], times[f"{sizes[-1]:,}"]
        level = ", ".join(
            f"{name}: {milliseconds(t.median)}" for name, t in times.items()
        )
        name = f"growth of {text}, {sizes[-1]:,} : {sizes[0]:,} entries"
        if path is NEWEST:
            rows.append(at_most(NAME, name, level, last.to(first), 1.5))
        else:
            rows.append(Row(NAME, name, level, last.to(first)))
    return rows


def measure_isolation(stage: Stage, rounds: int) -> Row:
    """The same member among all others and alone in a database."""
    alone = stage.prepare_alone()
    times = time_in_turn(
        {
            "big": Client(stage.ask_ours(NEWEST, stage.shape.plain)),
            "alone": Client(stage.ask_beside(NEWEST, alone, stage.shape.plain)),
        },
        rounds,
        2 * REPEATS,
    )
    big, small = times["big"], times["alone"]
    level = f"{milliseconds(big.median)} : {milliseconds(small.median)}"
    return at_most(NAME, "member in the big table : alone", level, big.to(small), 1.1)


def count_statements(stage: Stage, member: int) -> Row:
    """SQL statements of a page of one and of fifty rows."""
    words = ("-m", "benchmarks.statements", PATH, str(member), "1", str(SIZE))
    output = stage.run(*words, LOG_LEVEL="WARNING")
    one, many = json.loads(output)
    level = f"{one} for 1 row, {many} for {SIZE}"
    return Row(NAME, "statements of a page", level, None, "the same", one == many)
