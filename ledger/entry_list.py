"""The entry list: filters, pages and counts, in two queries.

The first reads a page, with names joined and the count, which comes from a rollup table
where the filters allow it. The second reads the tags of all entries of the page.
"""

from calendar import monthrange
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Q

from accounts.models import Member
from core.api.pagination import PageRequest
from core.db.like import escape_like
from core.db.rows import fetch_all
from core.errors import NotFoundError
from ledger.models import Category
from ledger.models.base import EntryType
from ledger.tags import get_tag_names_by_entry

# Timestamps come as ISO 8601 texts: parsing and formatting them again would take longer
# than the rest of the page. Names are looked up for the rows of the page, not joined
# before the cut.
_PAGE = """
    SELECT {count} AS total,
        e.id, e.date, e.type, e.amount,
        (SELECT c.name FROM account_category c
         WHERE c.member_id = %s AND c.id = e.category_id) AS category,
        e.wallet_id,
        (SELECT w.name FROM account w
         WHERE w.member_id = %s AND w.id = e.wallet_id) AS wallet_name,
        e.memo, e.currency, e.original_amount, e.exchange_rate,
        e.installment_months, e.pending,
        to_json(e.created_at) #>> '{{}}' AS created_at,
        to_json(e.updated_at) #>> '{{}}' AS updated_at
    FROM (
        SELECT * FROM account_entry e WHERE {where}
        ORDER BY e.date DESC, e.id DESC LIMIT %s OFFSET %s
    ) e
    ORDER BY e.date DESC, e.id DESC
"""
_HAS_TAG = """
    EXISTS (
        SELECT FROM account_entry_tag link JOIN account_tag tag
            ON tag.member_id = link.member_id AND tag.id = link.tag_id
        WHERE link.member_id = e.member_id AND link.entry_id = e.id AND tag.name = %s
    )
"""
_COUNT = "SELECT count(*) FROM account_entry e WHERE {where}"
_COUNT_FROM_ROLLUP = (
    "SELECT coalesce(sum({columns}), 0)::bigint FROM {table} t WHERE {where}"
)

# An SQL condition with one placeholder, and its value.
Condition = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """The filters of the list; None does not filter. Both days are inclusive."""

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


class EntryRow(NamedTuple):
    """A row of a page; `total` is the count over all pages, the same in each row."""

    total: int
    id: int
    date: date
    type: str
    amount: int
    category: str | None
    wallet_id: int | None
    wallet_name: str | None
    memo: str
    currency: str | None
    original_amount: Decimal | None
    exchange_rate: Decimal | None
    installment_months: int | None
    pending: bool
    created_at: str
    updated_at: str


def list_entries_page(
    member: Member, filters: EntryFilter, page: PageRequest
) -> tuple[int, list[dict[str, Any]]]:
    """Return the count and one page, newest first: by date, then by id."""
    conditions = _conditions(member, filters)
    where, params = _join_conditions(conditions)
    count_sql, count_params = _count_query(filters, conditions)
    rows = fetch_all(
        _PAGE.format(count=f"({count_sql})", where=where),
        [*count_params, member.pk, member.pk, *params, page.size, page.offset],
        EntryRow,
    )
    if rows:
        return rows[0].total, entries_payload(member, rows)
    # A page without rows cannot tell the count.
    return _count(count_sql, count_params), []


def get_entry_payload(member: Member, entry_id: int) -> dict[str, Any]:
    """Return one entry of the member; raise `NotFoundError`."""
    sql = _PAGE.format(count=1, where="e.member_id = %s AND e.id = %s")
    params = [member.pk, member.pk, member.pk, entry_id, 1, 0]
    rows = fetch_all(sql, params, EntryRow)
    if not rows:
        raise NotFoundError
    return entries_payload(member, rows)[0]


def entries_payload(member: Member, rows: Sequence[EntryRow]) -> list[dict[str, Any]]:
    """Return the JSON fields of entries (spec 3.4)."""
    # By hand, without a serializer: this is the most frequent list, with long pages.
    tags = get_tag_names_by_entry(member, [row.id for row in rows])
    return [
        {
            "id": row.id,
            "date": row.date,
            "type": row.type,
            "amount": row.amount,
            "category": row.category,
            "walletId": row.wallet_id,
            "wallet": (
                None
                if row.wallet_id is None
                else {"id": row.wallet_id, "name": row.wallet_name}
            ),
            "memo": row.memo,
            "tags": tags.get(row.id, []),
            "currency": row.currency,
            "originalAmount": row.original_amount,
            "exchangeRate": row.exchange_rate,
            "installmentMonths": row.installment_months,
            "pending": row.pending,
            "createdAt": row.created_at,
            "updatedAt": row.updated_at,
        }
        for row in rows
    ]


def count_pending_entries(member: Member) -> int:
    """Count the entries that await confirmation."""
    filters = EntryFilter(pending=True)
    return _count(*_count_query(filters, _conditions(member, filters)))


def _conditions(member: Member, filters: EntryFilter) -> list[Condition]:
    """Return the conditions of the filters that are set."""
    category_ids: list[int] | None = None
    if filters.category is not None:
        # Those of the categories with this name and of their minor ones.
        categories = Category.objects.owned_by(member)
        named = Q(name=filters.category) | Q(parent__name=filters.category)
        rows = categories.filter(named).order_by()
        category_ids = list(rows.values_list("id", flat=True))
    optional: list[Condition] = [
        ("e.date >= %s", filters.start),
        ("e.date <= %s", filters.end),
        ("e.type = %s", filters.type),
        ("e.category_id = ANY(%s)", category_ids),
        ("e.wallet_id = %s", filters.wallet_id),
        ("e.pending = %s", filters.pending),
        ("e.amount >= %s", filters.min_amount),
        ("e.amount <= %s", filters.max_amount),
        ("e.memo ILIKE %s", filters.keyword and f"%{escape_like(filters.keyword)}%"),
        (_HAS_TAG, filters.tag),
    ]
    given = [(sql, value) for sql, value in optional if value is not None]
    return [("e.member_id = %s", member.pk), *given]


def _count_query(
    filters: EntryFilter, conditions: list[Condition]
) -> tuple[str, list[Any]]:
    """Return the SQL that counts the entries, and its parameters."""
    rollup = _choose_rollup(filters)
    if rollup is None:
        where, params = _join_conditions(conditions)
        return _COUNT.format(where=where), params
    if rollup == "account_category_total":
        columns = {True: "t.pending_count", False: "t.entry_count"}
        counts = [columns[each] for each in _selected(filters.pending, (False, True))]
        has_type_column = True
    else:
        counts = [
            f"t.{'pending_' * pending}{type_}_count"
            for pending in _selected(filters.pending, (False, True))
            for type_ in _selected(filters.type, EntryType.values)
        ]
        has_type_column = False
    # The rollups have one row for all types or for pending and confirmed entries; what
    # is counted is a matter of columns. By month, the date is the first day of it.
    date_column = "t.date" if rollup == "account_day_total" else "t.month"
    where, params = _join_conditions(
        [
            (sql.replace("e.date", date_column).replace("e.", "t."), value)
            for sql, value in conditions
            if sql != "e.pending = %s" and (has_type_column or sql != "e.type = %s")
        ]
    )
    sql = _COUNT_FROM_ROLLUP.format(
        columns=" + ".join(counts), table=rollup, where=where
    )
    return sql, params


def _selected(value: Any, values: Iterable[Any]) -> list[Any]:
    """Return the value that a filter selects, or all of them without a filter."""
    return list(values) if value is None else [value]


def _choose_rollup(filters: EntryFilter) -> str | None:
    """Return the smallest rollup table with all filtered columns, None without one.

    No rollup has memos, tags or single amounts, or categories together with wallets;
    those with a category or a wallet are by month.
    """
    by_row = (filters.tag, filters.keyword, filters.min_amount, filters.max_amount)
    if by_row != (None,) * 4:
        return None
    # A range that is open begins or ends with a month, too.
    start, end = filters.start, filters.end
    starts_month = start is None or start.day == 1
    ends_month = end is None or end.day == monthrange(end.year, end.month)[1]
    has_category, has_wallet = (
        filters.category is not None,
        filters.wallet_id is not None,
    )
    if has_category or has_wallet:
        if (has_category and has_wallet) or not (starts_month and ends_month):
            return None
        return (
            "account_category_total" if has_category else "account_wallet_month_total"
        )
    return "account_ledger" if start is end is None else "account_day_total"


def _count(sql: str, params: list[Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return int(cursor.fetchone()[0])


def _join_conditions(conditions: list[Condition]) -> tuple[str, list[Any]]:
    """Return the WHERE clause and its parameters."""
    where = " AND ".join(sql for sql, _ in conditions)
    return where, [value for _, value in conditions]
