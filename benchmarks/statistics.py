"""Month, year, trend and budgets, read from totals: independent of the history."""

import http.client
import json
from collections.abc import Callable
from datetime import date

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
from devstack.stores.data_dir import LOOPBACK

NAME = "statistics"
YEAR, MONTH = 2023, 3
FIRST_DAY, LAST_DAY = date(YEAR, MONTH, 1), date(YEAR, MONTH, 31)
PATHS = {
    "month": f"/api/account/statistics/month?year={YEAR}&month={MONTH}",
    "year": f"/api/account/statistics/year?year={YEAR}",
    "range of a year by week": "/api/account/statistics/range"
    f"?from={YEAR}-01-05&to={YEAR}-12-30&groupBy=week",
    "trend of 60 months": "/api/account/networth/trend?months=60",
    "trend of 52 weeks": "/api/account/networth/trend?unit=WEEK&weeks=52",
    "budget status": f"/api/account/budgets/status?year={YEAR}&month={MONTH}",
}
# These have their own targets below, or none for their level.
WITHOUT_LEVEL_TARGET = {"month", "budget status"}
REPEATS = 20
# Q: the figures of the month's response from the totals that are kept, prepared.
_MONTH_SQL = """
    SELECT NULL::date AS day, t.type, c.id, c.name, p.name AS parent,
        sum(t.amount) FILTER (WHERE t.type = 'income') AS income,
        sum(t.amount) FILTER (WHERE t.type = 'expense') AS expense,
        sum(t.entry_count) AS count
    FROM account_category_total t
    LEFT JOIN account_category c ON c.member_id = %(member)s AND c.id = t.category_id
    LEFT JOIN account_category p ON p.member_id = %(member)s AND p.id = c.parent_id
    WHERE t.member_id = %(member)s AND t.month = %(first)s
    GROUP BY t.type, c.id, c.name, p.name
    UNION ALL
    SELECT date, NULL, NULL, NULL, NULL, income, expense, income_count + expense_count
    FROM account_day_total
    WHERE member_id = %(member)s
        AND date BETWEEN %(first)s - interval '1 month' AND %(last)s
    UNION ALL
    SELECT NULL, NULL, w.id, w.name, NULL, t.income, t.expense,
        t.income_count + t.expense_count
    FROM account_wallet_month_total t
    LEFT JOIN account w ON w.member_id = %(member)s AND w.id = t.wallet_id
    WHERE t.member_id = %(member)s AND t.month = %(first)s
    UNION ALL
    SELECT NULL, NULL, g.id, g.name, NULL,
        sum(t.amount) FILTER (WHERE t.type = 'income'),
        sum(t.amount) FILTER (WHERE t.type = 'expense'), sum(t.entry_count)
    FROM account_tag_total t
    JOIN account_tag g ON g.member_id = t.member_id AND g.id = t.tag_id
    WHERE t.member_id = %(member)s AND t.month = %(first)s
    GROUP BY g.id, g.name
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
    calls["trivial"] = Client(environment.trivial_target(members[LARGE_INDEX]))
    times = time_interleaved(calls, rounds, REPEATS)
    level = ", ".join(
        f"{name}: {format_milliseconds(times[name].median)}" for name in names
    )
    ratio = times[names[-1]].ratio_to(times[names[0]])
    large = times[names[LARGE_INDEX]]
    has_level_target = text not in WITHOUT_LEVEL_TARGET
    growth_name = f"{text}, growth {names[-1]} : {names[0]}"
    level_name = f"{text}, {names[LARGE_INDEX]} entries : {environment.trivial_name}"
    large_level = format_milliseconds(large.median)
    large_ratio = large.ratio_to(times["trivial"])
    return [
        max_ratio_row(
            NAME, growth_name, level, ratio, 1.3 if has_level_target else 1.5
        ),
        max_ratio_row(NAME, level_name, large_level, large_ratio, 2.5)
        if has_level_target
        else Row(NAME, level_name, large_level, large_ratio),
    ]


def measure_month(
    environment: BenchmarkEnvironment, connection: psycopg.Connection, rounds: int
) -> list[Row]:
    member = environment.spec.large_member(LARGE_INDEX)
    target = environment.service_target(PATHS["month"], member)
    times = time_interleaved(
        {
            "service": Client(target),
            "trivial": Client(environment.trivial_target(member)),
            "sql": lambda: connection.execute(
                _MONTH_SQL,
                {"member": member, "first": FIRST_DAY, "last": LAST_DAY},
                prepare=True,
                binary=True,
            ).fetchall(),
            "write": write_then_read(target),
        },
        rounds,
        REPEATS,
    )
    service, write = times["service"], times["write"]
    trivial, sql, t = times["trivial"], times["sql"], environment.trivial_name
    return [
        max_ratio_row(
            NAME,
            f"month : ({t} + Q)",
            " : ".join(
                format_milliseconds(timing.median) for timing in (service, trivial, sql)
            ),
            service.ratio_to(trivial, sql),
            1.8,
        ),
        max_ratio_row(
            NAME,
            f"write an entry, then the month : {t}",
            format_milliseconds(write.median),
            write.ratio_to(trivial),
            4.0,
        ),
    ]


def write_then_read(target: Target) -> Callable[[], object]:
    """Return a function that writes an entry and reads the month's statistics."""
    read = Client(target)
    connection = http.client.HTTPConnection(
        LOOPBACK, target.port, timeout=REQUEST_TIMEOUT_SECONDS
    )
    headers = {**target.headers, "Content-Type": "application/json"}
    body = json.dumps(
        {"date": FIRST_DAY.isoformat(), "type": "expense", "amount": 1000}
    )

    def call() -> object:
        connection.request("POST", "/api/account/entries", body, headers)
        response = connection.getresponse()
        response.read()
        if response.status != http.client.CREATED:
            raise AssertionError(response.status)
        return read()

    return call
