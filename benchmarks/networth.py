"""Net worth: from kept totals, so that the number of entries does not count."""

from collections.abc import Callable

import psycopg

from benchmarks.client import Client, time_in_turn
from benchmarks.entries import LARGE
from benchmarks.environment import Stage
from benchmarks.report import Row, at_most, milliseconds
from benchmarks.sessions import PATH as TRIVIAL

NAME = "networth"
PATH = "/api/account/networth"
REPEATS = 20

_ALL_ENTRIES = """
    SELECT wallet_id, sum(CASE type WHEN 'income' THEN amount ELSE -amount END)
    FROM account_entry WHERE member_id = %s AND NOT pending GROUP BY wallet_id
"""


def measure(stage: Stage, rounds: int) -> list[Row]:
    shape = stage.shape
    members = [shape.member_of_size(index) for index in range(len(shape.sizes))]
    calls: dict[str, Callable[[], object]] = {
        f"{size:,}": Client(stage.ask_ours(PATH, member))
        for size, member in zip(shape.sizes, members, strict=True)
    }
    calls["trivial"] = Client(stage.ask_ours(TRIVIAL, members[LARGE]))
    with psycopg.connect(stage.database.address, autocommit=True) as connection:
        for index in (LARGE, -1):
            calls[f"sum {index}"] = add_up(connection, members[index])
        times = time_in_turn(calls, rounds, REPEATS)
    names = [f"{size:,}" for size in shape.sizes]
    level = ", ".join(f"{name}: {milliseconds(times[name].median)}" for name in names)
    first, large, last = times[names[0]], times[names[LARGE]], times[names[-1]]
    text = f"growth, {names[-1]} : {names[0]} entries"
    rows = [
        at_most(NAME, text, level, last.to(first), 1.5),
        at_most(
            NAME,
            f"{names[LARGE]} entries : T",
            milliseconds(large.median),
            large.to(times["trivial"]),
            2.0,
        ),
    ]
    for index, own in ((LARGE, large), (-1, last)):
        total = times[f"sum {index}"]
        text = f"the sum over {names[index]} entries in SQL : ours over HTTP"
        rows.append(Row(NAME, text, milliseconds(total.median), total.to(own)))
    return rows


def add_up(connection: psycopg.Connection, member: int) -> Callable[[], object]:
    return lambda: connection.execute(_ALL_ENTRIES, [member]).fetchall()
