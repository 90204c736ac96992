"""Large tables for plans, and the plans of all statements that are run.

A row of each table is copied many times, with keys of its own. Copies refer to copies with the
same number. Triggers and foreign keys are off meanwhile: totals and counters stay small.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.db import connection

COPIES = 20_000
# Keys of copies are that far apart: more than the rows of a table that are there.
STEP = 100
EXPLAINED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")

# Tables that grow with members and what they do.
BIG_TABLES = (
    *("member", "auth_session", "mail", "code_request", "code", "login_ticket"),
    *("security_event", "audit_log", "inbox_item", "consent", "rate_limit"),
    *("point_history", "iap_purchase", "store_notification"),
    *("account_entry", "account_recurring", "account_request_key"),
    *("account_notification", "account_operation", "account_tombstone"),
    *("board_post", "board_comment", "board_post_vote", "board_comment_vote"),
    *("board_image", "board_post_image", "board_post_key", "board_object_deletion"),
    *("board_case", "board_report", "board_decision", "board_outside_report"),
)
# Times of copies: within two years, but where older rows are deleted.
_PAST = "now() - random() * interval '700 days'"
_RECENT = "now() - random() * interval '5 days'"
_FUTURE = "now() + (1 + random() * 20) * interval '1 day'"
SHORT_LIVED = {
    *("auth_session", "mail", "code_request", "code", "login_ticket", "rate_limit"),
    *("account_request_key", "board_post_key", "account_operation", "inbox_item"),
    *("account_tombstone", "store_notification", "security_event"),
}
# Tables whose rows lie in the order in which they were written, with an index of that.
WRITTEN_IN_ORDER = (
    *("member", "account_entry", "board_post", "board_comment"),
    *("board_post_vote", "board_comment_vote"),
)
_IN_ORDER = f"now() - ({COPIES} - n) * interval '50 minutes'"
# What most rows of a table that has been used for long have.
USUAL = {
    **{(table, "created_at"): _IN_ORDER for table in WRITTEN_IN_ORDER},
    ("mail", "state"): "'SENT'",
    ("code_request", "processed_at"): _RECENT,
    ("member", "plan"): "'FREE'",
    ("board_image", "unused_since"): "NULL",
    ("board_object_deletion", "delete_after"): _FUTURE,
    ("board_object_deletion", "next_attempt_at"): _FUTURE,
    ("board_case", "status"): "'RESOLVED'",
    ("store_notification", "processed_at"): _RECENT,
    ("iap_purchase", "is_active"): "false",
    ("account_recurring", "next_date"): "current_date + 1 + (n % 30)",
}

_LIST_COLUMNS = """
    SELECT a.attname, format_type(a.atttypid, NULL), a.atttypmod - 4,
        EXISTS (
            SELECT FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisunique
              AND a.attnum = ANY(i.indkey)
        ) AS is_in_key,
        EXISTS (
            SELECT FROM pg_constraint c WHERE c.conrelid = a.attrelid
              AND c.contype = 'f' AND a.attnum = ANY(c.conkey)
              AND c.confrelid = ANY(%(big)s::regclass[])
        ) AS is_reference
    FROM pg_attribute a
    WHERE a.attrelid = %(table)s::regclass AND a.attnum > 0 AND NOT a.attisdropped
      AND a.attgenerated = ''
"""
_LIST_CHECKS = """
    SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'c'
"""
# Columns that are unique by an expression.
UNIQUE_TEXTS = {"login_id", "email", "display_name"}


class Column(NamedTuple):
    name: str
    type: str
    length: int
    is_in_key: bool
    is_reference: bool


class SequentialScan(NamedTuple):
    table: str
    sql: str


def fill_tables() -> None:
    """Copy a row of each table, in a transaction that is rolled back."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        for table in BIG_TABLES:
            # What copies have need not go together.
            cursor.execute(_LIST_CHECKS, [table])
            for (name,) in cursor.fetchall():
                cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
            cursor.execute(_LIST_COLUMNS, {"table": table, "big": list(BIG_TABLES)})
            columns = [Column(*row) for row in cursor.fetchall()]
            names = ", ".join(f'"{column.name}"' for column in columns)
            values = ", ".join(_copy_value(table, column) for column in columns)
            cursor.execute(
                f"INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE "
                f"SELECT {values} FROM (SELECT * FROM {table} LIMIT 1) t, "
                f"generate_series(1, {COPIES}) n"
            )
            assert cursor.rowcount == COPIES, table
            cursor.execute(f"ANALYZE {table}")
        cursor.execute("SET LOCAL session_replication_role = origin")
        for table in WRITTEN_IN_ORDER:
            cursor.execute(f"SELECT brin_summarize_new_values('{table}_written')")


def _copy_value(table: str, column: Column) -> str:
    """Return the SQL of a column of copy `n` of the row `t`."""
    if usual := USUAL.get((table, column.name)):
        return usual
    value, kind = f't."{column.name}"', column.type
    if column.is_in_key or column.is_reference or column.name in UNIQUE_TEXTS:
        if kind in {"bigint", "integer"}:
            return f"{value} + n * {STEP}"
        if kind == "uuid":
            return f"md5({value}::text || n)::uuid"
        if kind == "bytea":
            return f"sha256({value} || n::text::bytea)"
        if kind in {"text", "character varying"}:
            if column.name == "email":
                return f"n || {value}"
            hashed = f"md5({value} || n)"
            return f"left({hashed}, {column.length})" if column.length > 0 else hashed
    if kind == "timestamp with time zone":
        if "expires" in column.name:
            past = _FUTURE
        else:
            past = _RECENT if table in SHORT_LIVED else _PAST
        return f"CASE WHEN {value} IS NOT NULL THEN {past} END"
    return value


@contextmanager
def collect_scans() -> Iterator[list[SequentialScan]]:
    """Yield a list that gets the sequential scans of large tables in the block."""
    scans: list[SequentialScan] = []

    def explain(
        execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any
    ) -> Any:
        if str(sql).lstrip(" (\n").upper().startswith(EXPLAINED) and not many:
            with context["connection"].connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
                (plan,) = cursor.fetchone()
            plan = json.loads(plan) if isinstance(plan, str) else plan
            scans.extend(
                SequentialScan(table, " ".join(str(sql).split()))
                for table in _list_scanned(plan[0]["Plan"])
            )
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        yield scans


def _list_scanned(plan: dict[str, Any]) -> Iterator[str]:
    if plan["Node Type"] == "Seq Scan" and plan["Relation Name"] in BIG_TABLES:
        yield plan["Relation Name"]
    for part in plan.get("Plans", []):
        yield from _list_scanned(part)
