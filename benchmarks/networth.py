"""Net worth, computed from monthly totals: independent of the number of entries."""

from collections.abc import Callable

import psycopg

from benchmarks.client import Client, time_interleaved
from benchmarks.entries import LARGE_INDEX
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.report import Row, format_milliseconds, max_ratio_row

NAME = "networth"
PATH = "/api/account/networth"
REPEATS = 20

_SUM_SQL = """
    SELECT wallet_id, sum(CASE type WHEN 'income' THEN amount ELSE -amount END)
    FROM account_entry WHERE member_id = %s AND NOT pending GROUP BY wallet_id
"""


def measure(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    spec = environment.spec
    members = [spec.large_member(index) for index in range(len(spec.sizes))]
    calls: dict[str, Callable[[], object]] = {
        f"{size:,}": Client(environment.service_target(PATH, member))
        for size, member in zip(spec.sizes, members, strict=True)
    }
    calls["trivial"] = Client(environment.trivial_target(members[LARGE_INDEX]))
    with psycopg.connect(environment.database.url, autocommit=True) as connection:
        for index in (LARGE_INDEX, -1):
            calls[f"sum {index}"] = sum_in_sql(connection, members[index])
        times = time_interleaved(calls, rounds, REPEATS)
    names = [f"{size:,}" for size in spec.sizes]
    level = ", ".join(
        f"{name}: {format_milliseconds(times[name].median)}" for name in names
    )
    first, large, last = times[names[0]], times[names[LARGE_INDEX]], times[names[-1]]
    text = f"growth, {names[-1]} : {names[0]} entries"
    rows = [
        max_ratio_row(NAME, text, level, last.ratio_to(first), 1.5),
        max_ratio_row(
            NAME,
            f"{names[LARGE_INDEX]} entries : {environment.trivial_name}",
            format_milliseconds(large.median),
            large.ratio_to(times["trivial"]),
            2.0,
        ),
    ]
    for index, timing in ((LARGE_INDEX, large), (-1, last)):
        total = times[f"sum {index}"]
        text = f"the sum over {names[index]} entries in SQL : ours over HTTP"
        rows.append(
            Row(NAME, text, format_milliseconds(total.median), total.ratio_to(timing))
        )
    return rows


def sum_in_sql(connection: psycopg.Connection, member: int) -> Callable[[], object]:
    return lambda: connection.execute(_SUM_SQL, [member]).fetchall()
