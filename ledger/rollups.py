"""The ledger's rollups: the queries that define them, and their rebuild.

Triggers maintain them, row by row (`ledger/sql`). Whoever writes very many entries of
one member computes them once, afterwards, with `bulk_write`.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.db import connection

from accounts.models import Member
from core.db.rollup_audit import Rollup
from ledger.effects import BALANCE_CHANGE_SQL, FLOW_SQL
from ledger.models.base import OwnedModel

_MONTH = "date - (extract(day FROM date)::int - 1)"
_NORMALIZED_MEMO = "translate(lower(memo), E' \\t\\n\\u00a0\\u3000', '')"
_COUNT_COLUMNS = (
    *("income_count", "expense_count"),
    *("pending_income_count", "pending_expense_count"),
)
_COUNTS_OR_ZERO = ", ".join(f"coalesce({each}, 0) AS {each}" for each in _COUNT_COLUMNS)
_COUNTS = """
    count(*) FILTER (WHERE type = 'income' AND NOT pending) AS income_count,
    count(*) FILTER (WHERE type = 'expense' AND NOT pending) AS expense_count,
    count(*) FILTER (WHERE type = 'income' AND pending) AS pending_income_count,
    count(*) FILTER (WHERE type = 'expense' AND pending) AS pending_expense_count
"""
_FLOWS = f"""
    coalesce(sum({FLOW_SQL}) FILTER (WHERE category_type = 'income' AND NOT pending),
        0)::bigint AS income,
    coalesce(sum({FLOW_SQL}) FILTER (WHERE category_type = 'expense' AND NOT pending),
        0)::bigint AS expense
"""
_BALANCE_CHANGE = f"CASE WHEN pending THEN 0 ELSE {BALANCE_CHANGE_SQL} END"

ROLLUPS = (
    Rollup(
        "account_ledger",
        ("member_id",),
        _COUNT_COLUMNS,
        f"""
        SELECT member_id, {_COUNTS_OR_ZERO}
        FROM (SELECT member_id FROM account_ledger WHERE {{scope}}) ledger
        LEFT JOIN (
            SELECT member_id, {_COUNTS} FROM account_entry WHERE {{scope}} GROUP BY 1
        ) entries USING (member_id)
        """,
        is_whole_table=False,
    ),
    Rollup(
        "account_day_total",
        ("member_id", "date"),
        ("income", "expense", "wallet_change", *_COUNT_COLUMNS),
        f"""
        SELECT member_id, date, {_FLOWS},
            coalesce(sum({_BALANCE_CHANGE}) FILTER (WHERE wallet_id IS NOT NULL),
                0)::bigint AS wallet_change,
            {_COUNTS}
        FROM account_entry WHERE {{scope}} GROUP BY 1, 2
        """,
    ),
    Rollup(
        "account_wallet_month_total",
        ("member_id", "month", "wallet_id"),
        ("income", "expense", *_COUNT_COLUMNS),
        f"""
        SELECT member_id, {_MONTH} AS month, coalesce(wallet_id, 0) AS wallet_id,
            {_FLOWS}, {_COUNTS}
        FROM account_entry WHERE {{scope}} GROUP BY 1, 2, 3
        """,
    ),
    Rollup(
        "account_category_total",
        ("member_id", "month", "type", "category_id"),
        ("amount", "entry_count", "pending_count"),
        f"""
        SELECT member_id, {_MONTH} AS month, category_type AS type,
            coalesce(category_id, 0) AS category_id,
            coalesce(sum({FLOW_SQL}) FILTER (WHERE NOT pending), 0)::bigint AS amount,
            count(*) FILTER (WHERE NOT pending) AS entry_count,
            count(*) FILTER (WHERE pending) AS pending_count
        FROM account_entry WHERE {{scope}} GROUP BY 1, 2, 3, 4
        """,
    ),
    Rollup(
        "account_wallet_total",
        ("member_id", "wallet_id"),
        ("balance", "entry_count"),
        f"""
        SELECT member_id, wallet_id, sum({_BALANCE_CHANGE})::bigint AS balance,
            count(*) AS entry_count
        FROM account_entry WHERE {{scope}} AND wallet_id IS NOT NULL GROUP BY 1, 2
        """,
    ),
    Rollup(
        "account_memo_total",
        ("member_id", "type", "memo", "category_id"),
        ("entry_count",),
        f"""
        SELECT member_id, category_type AS type, {_NORMALIZED_MEMO} AS memo, category_id,
            count(*) AS entry_count
        FROM account_entry
        WHERE {{scope}} AND NOT pending AND category_id IS NOT NULL
            AND {_NORMALIZED_MEMO} <> ''
        GROUP BY 1, 2, 3, 4
        """,
    ),
    Rollup(
        "account_tag_total",
        ("member_id", "month", "type", "tag_id"),
        ("amount", "entry_count"),
        f"""
        SELECT entry.member_id, {_MONTH} AS month, category_type AS type, link.tag_id,
            sum({FLOW_SQL})::bigint AS amount, count(*) AS entry_count
        FROM (SELECT * FROM account_entry WHERE {{scope}} AND NOT pending) entry
        JOIN account_entry_tag link
            ON link.member_id = entry.member_id AND link.entry_id = entry.id
        GROUP BY 1, 2, 3, 4
        """,
    ),
)
# The scope of a statement about the rows of one member.
OF_MEMBER = "member_id = %(member)s"
# What a repair has computed before does not hold any more (`ledger.rollup_repair`).
_CHANGE_VERSION = f"""
    UPDATE account_ledger SET rollup_version = rollup_version + 1 WHERE {OF_MEMBER}
"""


@contextmanager
def bulk_write(member: Member) -> Iterator[None]:
    """Compute the member's rollups once, after the block, instead of row by row.

    Call under `lock_ledger`.
    """
    with without_triggers():
        yield
        _rebuild_rollups(member)


@contextmanager
def without_triggers() -> Iterator[None]:
    """Keep the triggers of totals from doing anything in the block."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ledger.is_bulk_write = 'on'")
        yield
        cursor.execute("SET LOCAL ledger.is_bulk_write = 'off'")


def delete_rollups(
    member: Member, models: Iterable[type[OwnedModel]], **key: int
) -> None:
    """Delete the rows of what was deleted, such as those of a wallet.

    `key` are conditions of a queryset.

    Call under `lock_ledger`.
    """
    with connection.cursor() as cursor:
        cursor.execute(_CHANGE_VERSION, {"member": member.pk})
    for model in models:
        model._default_manager.filter(member_id=member.pk, **key).delete()


def _rebuild_rollups(member: Member) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_CHANGE_VERSION, {"member": member.pk})
        for rollup in ROLLUPS:
            for statement in rollup.make_rebuild_statements(OF_MEMBER):
                cursor.execute(statement, {"member": member.pk})
