"""Month, year, trend and budgets, read from totals: independent of the history."""

import http.client
import json
from collections.abc import Callable

import psycopg

from benchmarks.client import (
    REQUEST_TIMEOUT_SECONDS,
    Client,
    Target,
    time_interleaved,
)
from benchmarks.entries import LARGE_INDEX
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.report import Row, format_milliseconds, max_ratio_row
from benchmarks.sessions import PATH as TRIVIAL
from devstack.stores.data_dir import LOOPBACK

NAME = "statistics"
YEAR, MONTH, FIRST_DAY, LAST_DAY = 2023, 3, "2023-03-01", "2023-03-31"
PATHS = {
    "month": f"/api/account/statistics/month?year={YEAR}&month={MONTH}",
    "year": f"/api/account/statistics/year?year={YEAR}",
    "range of a year by week": "/api/account/statistics/range"
    f"?from={YEAR}-01-05&to={YEAR}-12-30&groupBy=week",
    "trend of 60 months": "/api/account/networth/trend?months=60",
    "trend of 52 weeks": "/api/account/networth/trend?unit=WEEK&weeks=52",
    "budget status": f"/api/account/budgets/status?year={YEAR}&month={MONTH}",
}
REPEATS = 20
# Q: the figures of the month's response, computed from the entries in one statement.
_MONTH_SQL = """
    WITH month AS MATERIALIZED (
        SELECT id, date, type, category_id, wallet_id, amount FROM account_entry
        WHERE member_id = %(member)s AND date BETWEEN %(first)s AND %(last)s
            AND NOT pending
    )
    SELECT e.date, e.type, e.category_id, c.name, p.name, e.wallet_id, w.name,
        NULL AS tag, sum(e.amount), count(*)
    FROM month e
    LEFT JOIN account_category c ON c.member_id = %(member)s AND c.id = e.category_id
    LEFT JOIN account_category p ON p.member_id = %(member)s AND p.id = c.parent_id
    LEFT JOIN account w ON w.member_id = %(member)s AND w.id = e.wallet_id
    GROUP BY GROUPING SETS ((e.type, e.date), (e.type, e.category_id, c.name, p.name),
        (e.type, e.wallet_id, w.name))
    UNION ALL
    SELECT NULL, e.type, NULL, NULL, NULL, NULL, NULL, t.name, sum(e.amount), count(*)
    FROM month e JOIN account_entry_tag l
        ON l.member_id = %(member)s AND l.entry_id = e.id
    JOIN account_tag t ON t.member_id = l.member_id AND t.id = l.tag_id
    GROUP BY e.type, t.id, t.name
    UNION ALL
    SELECT NULL, type, NULL, NULL, NULL, NULL, NULL, NULL, sum(amount), count(*)
    FROM account_entry
    WHERE member_id = %(member)s AND NOT pending
        AND date BETWEEN %(first)s::date - interval '1 month' AND %(first)s::date - 1
    GROUP BY type
"""
_BUDGETS_SQL = """
    INSERT INTO account_budget (member_id, category_id, type, year, month, amount)
    SELECT member_id, id, 'expense', %s, %s, 500000 FROM account_category
    WHERE type = 'expense' ON CONFLICT DO NOTHING
"""


def measure(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    with psycopg.connect(environment.database.url, autocommit=True) as connection:
        connection.execute("UPDATE member SET plan = 'PREMIUM'")
        connection.execute(_BUDGETS_SQL, [YEAR, MONTH])
        rows = []
        for text, path in PATHS.items():
            rows += measure_growth(environment, text, path, rounds)
        return rows + measure_month(environment, connection, rounds)


def measure_growth(
    environment: BenchmarkEnvironment, text: str, path: str, rounds: int
) -> list[Row]:
    spec = environment.spec
    names = [f"{size:,}" for size in spec.sizes]
    members = [spec.large_member(index) for index in range(len(spec.sizes))]
    calls: dict[str, Callable[[], object]] = {
        name: Client(environment.service_target(path, member))
        for name, member in zip(names, members, strict=True)
    }
    calls["trivial"] = Client(environment.service_target(TRIVIAL, members[LARGE_INDEX]))
    times = time_interleaved(calls, rounds, REPEATS)
    level = ", ".join(
        f"{name}: {format_milliseconds(times[name].median)}" for name in names
    )
    ratio = times[names[-1]].ratio_to(times[names[0]])
    large = times[names[LARGE_INDEX]]
    return [
        max_ratio_row(
            NAME, f"{text}, growth {names[-1]} : {names[0]}", level, ratio, 1.5
        ),
        Row(
            NAME,
            f"{text}, {names[LARGE_INDEX]} entries : T",
            format_milliseconds(large.median),
            large.ratio_to(times["trivial"]),
        ),
    ]


def measure_month(
    environment: BenchmarkEnvironment, connection: psycopg.Connection, rounds: int
) -> list[Row]:
    member = environment.spec.large_member(LARGE_INDEX)
    target = environment.service_target(PATHS["month"], member)
    times = time_interleaved(
        {
            "service": Client(target),
            "trivial": Client(environment.service_target(TRIVIAL, member)),
            "sql": lambda: connection.execute(
                _MONTH_SQL, {"member": member, "first": FIRST_DAY, "last": LAST_DAY}
            ).fetchall(),
            "write": write_then_read(target),
        },
        rounds,
        REPEATS,
    )
    service, write = times["service"], times["write"]
    return [
        max_ratio_row(
            NAME,
            "month : T + Q",
            format_milliseconds(service.median),
            service.ratio_to(times["trivial"], times["sql"]),
            1.5,
        ),
        max_ratio_row(
            NAME,
            "write an entry, then the month : T",
            format_milliseconds(write.median),
            write.ratio_to(times["trivial"]),
            6.0,
        ),
    ]


def write_then_read(target: Target) -> Callable[[], object]:
    """Return a function that writes an entry and reads the month's statistics."""
    read = Client(target)
    connection = http.client.HTTPConnection(
        LOOPBACK, target.port, timeout=REQUEST_TIMEOUT_SECONDS
    )
    headers = {**target.headers, "Content-Type": "application/json"}
    body = json.dumps({"date": FIRST_DAY, "type": "expense", "amount": 1000})

    def call() -> object:
        connection.request("POST", "/api/account/entries", body, headers)
        response = connection.getresponse()
        response.read()
        if response.status != http.client.CREATED:
            raise AssertionError(response.status)
        return read()

    return call
