"""Month, year, trend and budgets: read from kept totals, flat over the history."""

import http.client
import json
from collections.abc import Callable

import psycopg

from benchmarks.client import TIMEOUT_SECONDS, Client, Target, Timing, time_in_turn
from benchmarks.entries import LARGE
from benchmarks.environment import Stage
from benchmarks.report import Row, at_most, milliseconds
from benchmarks.sessions import PATH as TRIVIAL
from devstack.stores.data_dir import LOOPBACK as HOST

NAME = "statistics"
YEAR, MONTH, FIRST, LAST = 2023, 3, "2023-03-01", "2023-03-31"
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
_SAME_ANSWER = """
    WITH month AS MATERIALIZED (
        SELECT id, date, type, category_id, wallet_id, amount FROM account_entry
        WHERE member_id = %(member)s AND date BETWEEN %(first)s AND %(last)s
            AND NOT pending
    )
    SELECT e.date, e.type, e.category_id, c.name, p.name, e.wallet_id, w.name,
        NULL AS tag, sum(e.amount), count(*)
    FROM month e
    LEFT JOIN account_category c ON c.id = e.category_id
    LEFT JOIN account_category p ON p.id = c.parent_id
    LEFT JOIN account w ON w.id = e.wallet_id
    GROUP BY GROUPING SETS ((e.type, e.date), (e.type, e.category_id, c.name, p.name),
        (e.type, e.wallet_id, w.name))
    UNION ALL
    SELECT NULL, e.type, NULL, NULL, NULL, NULL, NULL, t.name, sum(e.amount), count(*)
    FROM month e JOIN account_entry_tag l ON l.entry_id = e.id
    JOIN account_tag t ON t.id = l.tag_id
    GROUP BY e.type, t.id
    UNION ALL
    SELECT NULL, type, NULL, NULL, NULL, NULL, NULL, NULL, sum(amount), count(*)
    FROM account_entry
    WHERE member_id = %(member)s AND NOT pending
        AND date BETWEEN %(first)s::date - interval '1 month' AND %(first)s::date - 1
    GROUP BY type
"""
"""What the month's answer says, asked of the entries themselves."""
_BUDGETS = """
    INSERT INTO account_budget (member_id, category_id, type, year, month, amount)
    SELECT member_id, id, 'expense', %s, %s, 500000 FROM account_category
    WHERE type = 'expense' ON CONFLICT DO NOTHING
"""


def measure(stage: Stage, rounds: int) -> list[Row]:
    with psycopg.connect(stage.database.address, autocommit=True) as connection:
        connection.execute("UPDATE member SET plan = 'PREMIUM'")
        connection.execute(_BUDGETS, [YEAR, MONTH])
        rows = []
        for text, path in PATHS.items():
            rows += measure_growth(stage, text, path, rounds)
        return rows + measure_month(stage, connection, rounds)


def measure_growth(stage: Stage, text: str, path: str, rounds: int) -> list[Row]:
    shape = stage.shape
    names = [f"{size:,}" for size in shape.sizes]
    members = [shape.member_of_size(index) for index in range(len(shape.sizes))]
    calls: dict[str, Callable[[], object]] = {
        name: Client(stage.ask_ours(path, member))
        for name, member in zip(names, members, strict=True)
    }
    calls["trivial"] = Client(stage.ask_ours(TRIVIAL, members[LARGE]))
    times = time_in_turn(calls, rounds, REPEATS)
    level = ", ".join(f"{name}: {milliseconds(times[name].median)}" for name in names)
    ratio = times[names[-1]].to(times[names[0]])
    large = times[names[LARGE]]
    return [
        at_most(NAME, f"{text}, growth {names[-1]} : {names[0]}", level, ratio, 1.5),
        Row(NAME, f"{text}, {names[LARGE]} entries : T", milliseconds(large.median),
            large.to(times["trivial"])),
    ]  # fmt: skip


def measure_month(
    stage: Stage, connection: psycopg.Connection, rounds: int
) -> list[Row]:
    member = stage.shape.member_of_size(LARGE)
    target = stage.ask_ours(PATHS["month"], member)
    times = time_in_turn(
        {
            "ours": Client(target),
            "trivial": Client(stage.ask_ours(TRIVIAL, member)),
            "sql": lambda: connection.execute(
                _SAME_ANSWER, {"member": member, "first": FIRST, "last": LAST}
            ).fetchall(),
            "write": write_then_read(target),
        },
        rounds,
        REPEATS,
    )
    both: tuple[Timing, Timing] = (times["trivial"], times["sql"])
    ours, write = times["ours"], times["write"]
    return [
        at_most(NAME, "month : T + Q", milliseconds(ours.median), ours.to(*both), 1.5),
        at_most(NAME, "write an entry, then the month : T",
                milliseconds(write.median), write.to(times["trivial"]), 6.0),
    ]  # fmt: skip


def write_then_read(target: Target) -> Callable[[], object]:
    """One entry written and the month's statistics read, over one connection."""
    read = Client(target)
    connection = http.client.HTTPConnection(HOST, target.port, timeout=TIMEOUT_SECONDS)
    headers = {**target.headers, "Content-Type": "application/json"}
    body = json.dumps({"date": FIRST, "type": "expense", "amount": 1000})

    def call() -> object:
        connection.request("POST", "/api/account/entries", body, headers)
        response = connection.getresponse()
        response.read()
        if response.status != http.client.CREATED:
            raise AssertionError(response.status)
        return read()

    return call
