"""Comparison of the rollup tables with the entries, and their rebuilding.

Triggers maintain the rollups. This is for operators who want a proof, or who changed
entries with triggers disabled.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

MONTH_SQL = "date - (extract(day FROM date)::int - 1)"
NORMALIZED_MEMO_SQL = "translate(lower(memo), E' \\t\\n\\u00a0\\u3000', '')"
SIGNED_AMOUNT_SQL = "CASE type WHEN 'income' THEN amount ELSE -amount END"


@dataclass(frozen=True, slots=True)
class RollupTable:
    """A rollup table, its columns, and a query that computes them from the entries."""

    table: str
    columns: str
    source_query: str


ROLLUP_TABLES = (
    RollupTable(
        "account_ledger_total",
        "member_id, entry_count, pending_count",
        "SELECT member_id, count(*), count(*) FILTER (WHERE pending)"
        " FROM account_entry GROUP BY 1",
    ),
    RollupTable(
        "account_month_total",
        "member_id, month, type, pending, amount, entry_count",
        f"SELECT member_id, {MONTH_SQL}, type, pending, sum(amount), count(*)"
        " FROM account_entry GROUP BY 1, 2, 3, 4",
    ),
    RollupTable(
        "account_entry_total",
        "member_id, month, type, pending, category_id, wallet_id, amount, entry_count",
        f"SELECT member_id, {MONTH_SQL}, type, pending, category_id, wallet_id,"
        " sum(amount), count(*) FROM account_entry GROUP BY 1, 2, 3, 4, 5, 6",
    ),
    RollupTable(
        "account_day_total",
        "member_id, date, type, pending, wallet_id, amount, entry_count",
        "SELECT member_id, date, type, pending, wallet_id, sum(amount), count(*)"
        " FROM account_entry GROUP BY 1, 2, 3, 4, 5",
    ),
    RollupTable(
        "account_tag_total",
        "member_id, month, tag_id, type, amount, entry_count",
        f"SELECT e.member_id, {MONTH_SQL}, l.tag_id, type, sum(amount), count(*)"
        " FROM account_entry e JOIN account_entry_tag l ON l.entry_id = e.id"
        " WHERE NOT pending GROUP BY 1, 2, 3, 4",
    ),
    RollupTable(
        "account_memo_total",
        "member_id, type, memo, category_id, entry_count",
        f"SELECT member_id, type, {NORMALIZED_MEMO_SQL}, category_id, count(*)"
        " FROM account_entry WHERE NOT pending AND category_id IS NOT NULL"
        f" AND {NORMALIZED_MEMO_SQL} <> '' GROUP BY 1, 2, 3, 4",
    ),
    RollupTable(
        "account_wallet_total",
        "wallet_id, member_id, balance, entry_count",
        f"SELECT wallet_id, member_id,"
        f" coalesce(sum({SIGNED_AMOUNT_SQL}) FILTER (WHERE NOT pending), 0), count(*)"
        " FROM account_entry WHERE wallet_id IS NOT NULL GROUP BY 1, 2",
    ),
)


def count_drift() -> dict[str, int]:
    """Return by table how many of its rows differ from the entries."""
    drift = {}
    with transaction.atomic(), connection.cursor() as cursor:
        # One snapshot, so that concurrent writes are no drift.
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute("SET LOCAL statement_timeout = 0")
        for rollup in ROLLUP_TABLES:
            # Rows of 0 entries are left over from deletions and mean the same as none.
            stored = (
                f"SELECT {rollup.columns} FROM {rollup.table} WHERE entry_count <> 0"
            )
            computed = rollup.source_query
            cursor.execute(
                f"SELECT count(*) FROM (({stored} EXCEPT {computed})"
                f" UNION ALL ({computed} EXCEPT {stored})) AS different"
            )
            drift[rollup.table] = int(cursor.fetchone()[0])
    return drift


def rebuild_rollups(report: Callable[[str], Any] = str) -> None:
    """Rebuild all rollup tables from the entries, reporting each one.

    Writers of entries wait until the end.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute("LOCK TABLE account_entry IN SHARE ROW EXCLUSIVE MODE")
        for rollup in ROLLUP_TABLES:
            cursor.execute(f"DELETE FROM {rollup.table}")
            cursor.execute(
                f"INSERT INTO {rollup.table} ({rollup.columns}) {rollup.source_query}"
            )
            report(f"{rollup.table}: rebuilt")
