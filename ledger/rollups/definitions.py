"""Queries that define the rollups, and writes of many rows.

Triggers maintain the rollups row by row (`ledger/sql`).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection

from core.db.planning import without_nested_loops
from core.db.rollup_audit import Rollup
from ledger.base.bulk_rows import format_ids
from ledger.base.ledger_write import LockedLedger
from ledger.models.base import OwnedModel
from ledger.rollups.effects import BALANCE_CHANGE_SQL, FLOW_SQL, LINES_SQL

_MONTH = "date - (extract(day FROM date)::int - 1)"


def normalize_memo_sql(text: str) -> str:
    """Return the SQL of a text as the rollup by memo has it."""
    return f"translate(lower({text}), E' \\t\\n\\u00a0\\u3000', '')"


_NORMALIZED_MEMO = normalize_memo_sql("memo")
_TYPES = ("income", "expense", "transfer")
_COUNT_COLUMNS = (
    *(f"{each}_count" for each in _TYPES),
    *(f"pending_{each}_count" for each in _TYPES),
)
_COUNTS_OR_ZERO = ", ".join(f"coalesce({each}, 0) AS {each}" for each in _COUNT_COLUMNS)
_COUNTS = ", ".join(
    f"count(*) FILTER (WHERE type = '{type_}' AND {state}) AS {prefix}{type_}_count"
    for state, prefix in (("NOT pending", ""), ("pending", "pending_"))
    for type_ in _TYPES
)
_FLOW_COLUMNS = (
    *("income", "expense", "refunded", "excluded_income", "excluded_expense"),
    *("flow_count", "excluded_count", "transferring_count"),
)
# Entries with their flows and transfers; lines of split entries are added up.
_BOOKED = f"""
    SELECT member_id, date, type, pending, excluded, wallet_id, amount,
        CASE WHEN to_wallet_id IS NULL AND category_type = 'income'
            THEN {FLOW_SQL} ELSE 0 END AS income,
        CASE WHEN to_wallet_id IS NULL AND category_type = 'expense'
            THEN {FLOW_SQL} ELSE 0 END AS expense,
        CASE WHEN type = 'income' AND category_type = 'expense'
            THEN amount ELSE 0 END AS refunded,
        to_wallet_id IS NULL AS has_flow,
        0 AS transfer_in,
        CASE WHEN to_wallet_id IS NULL THEN 0 ELSE amount END AS transfer_out
    FROM account_entry WHERE {{scope}} AND line_count = 0
    UNION ALL
    SELECT member_id, date, type, pending, excluded, wallet_id, entry_amount,
        coalesce(sum({FLOW_SQL})
            FILTER (WHERE other_wallet_id IS NULL AND category_type = 'income'), 0),
        coalesce(sum({FLOW_SQL})
            FILTER (WHERE other_wallet_id IS NULL AND category_type = 'expense'), 0),
        coalesce(-sum(least({FLOW_SQL}, 0))
            FILTER (WHERE other_wallet_id IS NULL AND category_type = 'expense'), 0),
        bool_or(other_wallet_id IS NULL),
        coalesce(sum(greatest({BALANCE_CHANGE_SQL}, 0))
            FILTER (WHERE other_wallet_id IS NOT NULL), 0),
        coalesce(-sum(least({BALANCE_CHANGE_SQL}, 0))
            FILTER (WHERE other_wallet_id IS NOT NULL), 0)
    FROM ({LINES_SQL}) line
    GROUP BY member_id, id, date, type, pending, excluded, wallet_id, entry_amount
"""
_FLOWS = """
    coalesce(sum(income) FILTER (WHERE NOT pending AND NOT excluded), 0)::bigint
        AS income,
    coalesce(sum(expense) FILTER (WHERE NOT pending AND NOT excluded), 0)::bigint
        AS expense,
    coalesce(sum(refunded) FILTER (WHERE NOT pending AND NOT excluded), 0)::bigint
        AS refunded,
    coalesce(sum(income) FILTER (WHERE NOT pending AND excluded), 0)::bigint
        AS excluded_income,
    coalesce(sum(expense) FILTER (WHERE NOT pending AND excluded), 0)::bigint
        AS excluded_expense,
    count(*) FILTER (WHERE has_flow AND NOT pending AND NOT excluded) AS flow_count,
    count(*) FILTER (WHERE has_flow AND NOT pending AND excluded) AS excluded_count,
    count(*) FILTER (
        WHERE transfer_in + transfer_out <> 0 AND NOT pending AND NOT excluded
    ) AS transferring_count
"""
_BALANCE_CHANGE = f"CASE WHEN pending THEN 0 ELSE {BALANCE_CHANGE_SQL} END"
# Other wallets that entries move, each once.
_OTHER_WALLETS = f"""
    SELECT member_id, date, type, pending, excluded, other_wallet_id AS wallet_id,
        CASE WHEN pending THEN 0 ELSE -sum({BALANCE_CHANGE_SQL}) END AS wallet_change,
        CASE WHEN pending OR excluded THEN 0
            ELSE -sum(least({BALANCE_CHANGE_SQL}, 0)) END AS transfer_in,
        CASE WHEN pending OR excluded THEN 0
            ELSE sum(greatest({BALANCE_CHANGE_SQL}, 0)) END AS transfer_out
    FROM (
        SELECT member_id, id, date, type, pending, excluded, amount,
            to_wallet_id AS other_wallet_id
        FROM account_entry
        WHERE {{scope}} AND line_count = 0 AND to_wallet_id IS NOT NULL
        UNION ALL
        SELECT member_id, id, date, type, pending, excluded, amount, other_wallet_id
        FROM ({LINES_SQL}) line WHERE other_wallet_id IS NOT NULL
    ) part
    GROUP BY member_id, id, date, type, pending, excluded, other_wallet_id
"""


def _sums(columns: Iterable[str]) -> str:
    return ", ".join(f"sum({each})::bigint AS {each}" for each in columns)


# Flows count for the entry's own wallet only.
_NO_FLOWS = ", ".join("0" for _ in _FLOW_COLUMNS)
_WALLET_MONTH_COLUMNS = (
    *_FLOW_COLUMNS,
    *("wallet_change", "transfer_in", "transfer_out"),
    *_COUNT_COLUMNS,
)
_CATEGORY_FLOWS = f"""
    SELECT member_id, date, category_type, coalesce(category_id, 0)
        AS category_id, pending, excluded, {FLOW_SQL} AS flow,
        CASE WHEN type = 'income' AND category_type = 'expense'
            THEN amount ELSE 0 END AS refunded
    FROM account_entry
    WHERE {{scope}} AND line_count = 0 AND to_wallet_id IS NULL
    UNION ALL
    SELECT member_id, date, category_type, coalesce(category_id, 0),
        pending, excluded, sum({FLOW_SQL}),
        CASE category_type WHEN 'expense'
            THEN -sum(least({FLOW_SQL}, 0)) ELSE 0 END
    FROM ({LINES_SQL}) line
    WHERE other_wallet_id IS NULL
    GROUP BY member_id, id, date, category_type, category_id, pending, excluded
"""

ROLLUPS = (
    Rollup(
        "account_ledger",
        ("member_id",),
        _COUNT_COLUMNS,
        f"""
        SELECT member_id, {_COUNTS_OR_ZERO}
        FROM (SELECT member_id FROM account_ledger WHERE {{scope}}) ledger
        LEFT JOIN (
            SELECT member_id, {_COUNTS} FROM account_entry
            WHERE {{scope}} AND line_count IS NOT NULL GROUP BY 1
        ) entries USING (member_id)
        """,
        is_whole_table=False,
    ),
    Rollup(
        "account_day_total",
        ("member_id", "date"),
        (*_FLOW_COLUMNS, "wallet_change", "transferred", *_COUNT_COLUMNS),
        f"""
        SELECT member_id, date, {_FLOWS},
            coalesce(sum(income - expense)
                FILTER (WHERE wallet_id IS NOT NULL AND NOT pending),
                0)::bigint AS wallet_change,
            coalesce(sum(transfer_in + transfer_out)
                FILTER (WHERE NOT pending AND NOT excluded), 0)::bigint AS transferred,
            {_COUNTS}
        FROM ({_BOOKED}) booked GROUP BY 1, 2
        """,
    ),
    Rollup(
        "account_wallet_month_total",
        ("member_id", "month", "wallet_id"),
        _WALLET_MONTH_COLUMNS,
        f"""
        SELECT member_id, month, wallet_id, {_sums(_WALLET_MONTH_COLUMNS)}
        FROM (
            SELECT member_id, {_MONTH} AS month, coalesce(wallet_id, 0) AS wallet_id,
                {_FLOWS}, sum({_BALANCE_CHANGE})::bigint AS wallet_change,
                coalesce(sum(transfer_in) FILTER (WHERE NOT pending AND NOT excluded),
                    0)::bigint AS transfer_in,
                coalesce(sum(transfer_out) FILTER (WHERE NOT pending AND NOT excluded),
                    0)::bigint AS transfer_out,
                {_COUNTS}
            FROM ({_BOOKED}) booked GROUP BY 1, 2, 3
            UNION ALL
            SELECT member_id, {_MONTH}, wallet_id, {_NO_FLOWS},
                sum(wallet_change), sum(transfer_in), sum(transfer_out), {_COUNTS}
            FROM ({_OTHER_WALLETS}) other GROUP BY 1, 2, 3
        ) both_sides
        GROUP BY 1, 2, 3
        """,
    ),
    Rollup(
        "account_category_total",
        ("member_id", "month", "type", "category_id"),
        ("amount", "refunded", "entry_count", "pending_count", "excluded_count"),
        f"""
        SELECT member_id, {_MONTH} AS month, category_type AS type, category_id,
            coalesce(sum(flow) FILTER (WHERE NOT pending AND NOT excluded), 0)::bigint
                AS amount,
            coalesce(sum(refunded) FILTER (WHERE NOT pending AND NOT excluded),
                0)::bigint AS refunded,
            count(*) FILTER (WHERE NOT pending AND NOT excluded) AS entry_count,
            count(*) FILTER (WHERE pending) AS pending_count,
            count(*) FILTER (WHERE NOT pending AND excluded) AS excluded_count
        FROM ({_CATEGORY_FLOWS}) flows
        GROUP BY 1, 2, 3, 4
        """,
    ),
    Rollup(
        "account_wallet_total",
        ("member_id", "wallet_id"),
        ("balance", "entry_count"),
        f"""
        SELECT member_id, wallet_id, sum(balance)::bigint AS balance,
            sum(entry_count)::bigint AS entry_count
        FROM (
            SELECT member_id, wallet_id, sum({_BALANCE_CHANGE})::bigint AS balance,
                count(*) AS entry_count
            FROM account_entry
            WHERE {{scope}} AND wallet_id IS NOT NULL AND line_count IS NOT NULL
            GROUP BY 1, 2
            UNION ALL
            SELECT member_id, wallet_id, sum(wallet_change), count(*)
            FROM ({_OTHER_WALLETS}) other GROUP BY 1, 2
        ) both_sides
        GROUP BY 1, 2
        """,
    ),
    Rollup(
        "account_memo_total",
        ("member_id", "type", "memo", "category_id"),
        ("entry_count",),
        f"""
        SELECT member_id, category_type AS type, {_NORMALIZED_MEMO} AS memo,
            category_id, count(*) AS entry_count
        FROM account_entry
        WHERE {{scope}} AND NOT pending AND NOT excluded AND category_id IS NOT NULL
            AND type = category_type AND {_NORMALIZED_MEMO} <> ''
        GROUP BY 1, 2, 3, 4
        """,
    ),
    Rollup(
        "account_tag_total",
        ("member_id", "month", "type", "tag_id"),
        ("amount", "refunded", "entry_count"),
        f"""
        SELECT entry.member_id, {_MONTH} AS month, entry.category_type AS type,
            link.tag_id, sum(flow)::bigint AS amount, sum(refunded)::bigint AS refunded,
            sum(entry_count)::bigint AS entry_count
        FROM (
            SELECT member_id, id, date, category_type, {FLOW_SQL} AS flow,
                CASE WHEN type = 'income' AND category_type = 'expense'
                    THEN amount ELSE 0 END AS refunded,
                1 AS entry_count
            FROM account_entry
            WHERE {{scope}} AND NOT pending AND NOT excluded AND line_count = 0
                AND to_wallet_id IS NULL
            UNION ALL
            SELECT member_id, id, date, category_type, sum({FLOW_SQL}),
                CASE category_type WHEN 'expense'
                    THEN -sum(least({FLOW_SQL}, 0)) ELSE 0 END,
                CASE category_type
                    WHEN min(category_type) OVER (PARTITION BY member_id, id)
                    THEN 1 ELSE 0 END
            FROM ({LINES_SQL}) line
            WHERE NOT pending AND NOT excluded AND other_wallet_id IS NULL
            GROUP BY member_id, id, date, category_type
        ) entry
        JOIN account_entry_tag link
            ON link.member_id = entry.member_id AND link.entry_id = entry.id
        WHERE link.member_id = %(member)s
        GROUP BY 1, 2, 3, 4
        """,
    ),
)
OF_MEMBER = "member_id = %(member)s"
# Restricts the source of a rollup to some entries with their lines and tags.
_SOME_ENTRIES = f"""
    WITH account_entry AS MATERIALIZED (
        SELECT * FROM account_entry WHERE {OF_MEMBER} AND id = ANY(%(ids)s::bigint[])
    ), account_entry_line AS MATERIALIZED (
        SELECT * FROM account_entry_line
        WHERE {OF_MEMBER} AND entry_id = ANY(%(ids)s::bigint[])
    ), account_entry_tag AS MATERIALIZED (
        SELECT * FROM account_entry_tag
        WHERE {OF_MEMBER} AND entry_id = ANY(%(ids)s::bigint[])
    )
"""
_ADD_ENTRIES = {
    rollup.table: _SOME_ENTRIES
    + rollup.make_addition_statement(
        f"SELECT {', '.join(rollup.key)},"
        f" {', '.join(f'%(sign)s * {each}' for each in rollup.columns)}"
        f" FROM ({rollup.source_query.format(scope=OF_MEMBER)}) source"
    )
    for rollup in ROLLUPS
}
_MOVE_ROWS = """
    WITH moved AS (
        DELETE FROM {table} WHERE {scope} AND {column} = %(source)s
        RETURNING {key}, {columns}
    )
    {addition}
"""
# Voids differences that a repair has computed (`ledger.rollups.repair`).
_CHANGE_VERSION = f"""
    UPDATE account_ledger SET rollup_version = rollup_version + 1 WHERE {OF_MEMBER}
"""


@contextmanager
def bulk_write(ledger: LockedLedger) -> Iterator[None]:
    """Compute the rollups once, after the block, in place of the triggers."""
    with without_triggers():
        yield
        _rebuild_rollups(ledger)


@contextmanager
def without_triggers() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ledger.is_bulk_write = 'on'")
        yield
        cursor.execute("SET LOCAL ledger.is_bulk_write = 'off'")


def add_entries(
    ledger: LockedLedger,
    ids: Sequence[int],
    *,
    sign: int = 1,
    tables: Collection[str] = tuple(_ADD_ENTRIES),
) -> None:
    """Add entries to rollups, or subtract them (`sign` -1), without triggers.

    `tables` are the rollups that change.
    """
    if not ids:
        return
    # As text: a list would be adapted again for each statement.
    listed = format_ids(ids)
    params: Any = {"member": ledger.member.pk, "ids": listed, "sign": sign}
    with without_nested_loops(), connection.cursor() as cursor:
        for table, statement in _ADD_ENTRIES.items():
            if table in tables:
                cursor.execute(statement, params)


def move_rollups(ledger: LockedLedger, column: str, source: int, target: int) -> None:
    params = {"member": ledger.member.pk, "source": source, "target": target}
    with connection.cursor() as cursor:
        cursor.execute(_CHANGE_VERSION, params)
        for rollup in ROLLUPS:
            if column in rollup.key:
                cursor.execute(_make_move_statement(rollup, column), params)


def _make_move_statement(rollup: Rollup, column: str) -> str:
    columns = ", ".join(
        "%(target)s::bigint" if each == column else each
        for each in rollup.key + rollup.columns
    )
    return _MOVE_ROWS.format(
        table=rollup.table,
        scope=OF_MEMBER,
        column=column,
        key=", ".join(rollup.key),
        columns=", ".join(rollup.columns),
        addition=rollup.make_addition_statement(f"SELECT {columns} FROM moved"),
    )


def delete_rollups(
    ledger: LockedLedger, models: Iterable[type[OwnedModel]], **key: int
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_CHANGE_VERSION, {"member": ledger.member.pk})
    for model in models:
        model._default_manager.filter(member_id=ledger.member.pk, **key).delete()


def _rebuild_rollups(ledger: LockedLedger) -> None:
    params = {"member": ledger.member.pk}
    with without_nested_loops(), connection.cursor() as cursor:
        cursor.execute(_CHANGE_VERSION, params)
        for rollup in ROLLUPS:
            for statement in rollup.make_rebuild_statements(OF_MEMBER):
                cursor.execute(statement, params)
