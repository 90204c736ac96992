"""The entry list: filters, pages and counts, in two statements.

The first cuts the page, joins names to its rows and reads the count, from the kept
totals where the filter allows; the second looks up the tags of all its rows.
"""

from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import connection

from accounts.models import Member
from core.api.pagination import PageRequest
from core.errors import NotFoundError
from ledger.models import Category
from ledger.tags import get_tag_names_by_entry

_PAGE = """
    SELECT {count},
        e.id, e.date, e.type, e.amount,
        (SELECT c.name FROM account_category c WHERE c.id = e.category_id),
        e.wallet_id, (SELECT w.name FROM account w WHERE w.id = e.wallet_id),
        e.memo, e.currency, e.original_amount, e.exchange_rate,
        e.installment_months, e.pending,
        to_json(e.created_at) #>> '{{}}', to_json(e.updated_at) #>> '{{}}'
    FROM (
        SELECT * FROM account_entry e WHERE {conditions}
        ORDER BY e.date DESC, e.id DESC LIMIT %s OFFSET %s
    ) e
    ORDER BY e.date DESC, e.id DESC
"""
"""Timestamps come as ISO 8601 texts: reading them into objects costs more than the
rest of the page. Names are looked up per row of the page, not joined before the cut."""
_HAS_TAG = """
    EXISTS (
        SELECT FROM account_entry_tag link JOIN account_tag tag ON tag.id = link.tag_id
        WHERE link.entry_id = e.id AND tag.member_id = e.member_id AND tag.name = %s
    )
"""
_COUNT = "SELECT count(*) FROM account_entry e WHERE {conditions}"
_COUNT_FROM_TOTALS = (
    "SELECT coalesce(sum(t.entries), 0) FROM {table} t WHERE {conditions}"
)


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Which entries are asked for; None asks for all. Both days are included."""

    start: date | None = None
    end: date | None = None
    type: str | None = None
    category: str | None = None
    wallet_id: int | None = None
    tag: str | None = None
    keyword: str | None = None
    pending: bool | None = None
    min_amount: int | None = None
    max_amount: int | None = None


Condition = tuple[str, Any]


def list_entries_page(
    member: Member, wanted: EntryFilter, page: PageRequest
) -> tuple[int, list[dict[str, Any]]]:
    """The count and one page, newest first: by date, then by id."""
    conditions = _conditions(member, wanted)
    count_sql, count_values = _count_query(wanted, conditions)
    sql = _PAGE.format(count=f"({count_sql})", conditions=_join_conditions(conditions))
    values = [*count_values, *_condition_params(conditions), page.size, page.offset]
    rows = _fetch_rows(sql, values)
    if rows:
        return rows[0][0], entries_payload(rows)
    return int(_fetch_rows(count_sql, count_values)[0][0]), []


def get_entry_payload(member: Member, entry_id: int) -> dict[str, Any]:
    """One entry of the member, or `NotFoundError`."""
    sql = _PAGE.format(count=1, conditions="e.member_id = %s AND e.id = %s")
    rows = _fetch_rows(sql, [member.pk, entry_id, 1, 0])
    if not rows:
        raise NotFoundError
    return entries_payload(rows)[0]


def entries_payload(rows: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Rows of `_PAGE` as entries (spec 3.4), by hand: lists are long."""
    tags = get_tag_names_by_entry([row[1] for row in rows])
    return [
        {
            "id": row[1],
            "date": row[2],
            "type": row[3],
            "amount": row[4],
            "category": row[5],
            "walletId": row[6],
            "wallet": None if row[6] is None else {"id": row[6], "name": row[7]},
            "memo": row[8],
            "tags": tags.get(row[1], []),
            "currency": row[9],
            "originalAmount": row[10],
            "exchangeRate": row[11],
            "installmentMonths": row[12],
            "pending": row[13],
            "createdAt": row[14],
            "updatedAt": row[15],
        }
        for row in rows
    ]


def count_pending_entries(member: Member) -> int:
    """Entries that wait to be confirmed."""
    conditions = _conditions(member, EntryFilter(pending=True))
    sql, values = _count_query(EntryFilter(pending=True), conditions)
    return int(_fetch_rows(sql, values)[0][0])


def _conditions(member: Member, wanted: EntryFilter) -> list[Condition]:
    optional: list[tuple[str, Any]] = [
        ("e.date >= %s", wanted.start),
        ("e.date <= %s", wanted.end),
        ("e.type = %s", wanted.type),
        ("e.category_id = ANY(%s)", _category_ids(member, wanted.category)),
        ("e.wallet_id = %s", wanted.wallet_id),
        ("e.pending = %s", wanted.pending),
        ("e.amount >= %s", wanted.min_amount),
        ("e.amount <= %s", wanted.max_amount),
        ("e.memo ILIKE %s", wanted.keyword and _like_pattern(wanted.keyword)),
        (_HAS_TAG, wanted.tag),
    ]
    given = [(sql, value) for sql, value in optional if value is not None]
    return [("e.member_id = %s", member.pk), *given]


def _category_ids(member: Member, name: str | None) -> list[int] | None:
    """The category of this name in each type, and its minor ones."""
    if name is None:
        return None
    rows = Category.objects.owned_by(member)
    named = rows.filter(name=name) | rows.filter(parent__name=name)
    return list(named.order_by().values_list("id", flat=True))


def _like_pattern(keyword: str) -> str:
    escaped = keyword.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _count_query(
    wanted: EntryFilter, conditions: list[Condition]
) -> tuple[str, list[Any]]:
    """How the entries are counted: from the totals, unless only rows can tell."""
    totals = _choose_totals_table(wanted)
    if totals is None:
        return _COUNT.format(
            conditions=_join_conditions(conditions)
        ), _condition_params(conditions)
    table, day = totals
    kept = [
        (sql.replace("e.date", day).replace("e.", "t."), value)
        for sql, value in conditions
    ]
    return _COUNT_FROM_TOTALS.format(
        table=table, conditions=_join_conditions(kept)
    ), _condition_params(kept)


def _choose_totals_table(wanted: EntryFilter) -> tuple[str, str] | None:
    """The smallest table of totals that can tell the count, and its column of time.

    No totals know words, tags or amounts, and those by category only whole months.
    """
    if wanted == EntryFilter():
        return "account_ledger_total", ""
    by_row = (wanted.tag, wanted.keyword, wanted.min_amount, wanted.max_amount)
    if by_row != (None,) * 4:
        return None
    if not _is_whole_months(wanted):
        return None if wanted.category is not None else ("account_day_total", "t.date")
    if wanted.category is not None or wanted.wallet_id is not None:
        return "account_entry_total", "t.month"
    return "account_month_total", "t.month"


def _is_whole_months(wanted: EntryFilter) -> bool:
    starts_month = wanted.start is None or wanted.start.day == 1
    end = wanted.end
    return starts_month and (
        end is None or end.day == monthrange(end.year, end.month)[1]
    )


def _fetch_rows(sql: str, values: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _join_conditions(conditions: list[Condition]) -> str:
    return " AND ".join(sql for sql, _ in conditions)


def _condition_params(conditions: list[Condition]) -> list[Any]:
    return [value for _, value in conditions]
