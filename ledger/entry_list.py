"""The entry list: filters, pages and counts, in one query.

It reads a page as finished JSON, with names and tags, and the count, which comes from a
rollup table where the filters allow it.
"""

from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

import orjson
from django.db import connection
from django.db.models import Q

from accounts.models import Member
from core.api.pagination import PageRequest
from core.db.like import escape_like
from core.db.rows import fetch_all
from core.errors import NotFoundError
from ledger.models import Category
from ledger.models.base import EntryType

# The JSON of an entry (spec 3.4). PostgreSQL builds it: reading the values of a page
# and writing them again takes Python three times as long as all the rest. Names are
# looked up for the rows of the page, not joined before the cut. With the number of rows
# in its text, and no offset, PostgreSQL plans the statement once (decision 0066).
_PAGE = """
    SELECT {count} AS total, coalesce(string_agg(
        row_to_json(entry)::text, ',' ORDER BY entry.date DESC, entry.id DESC
    ), '') AS entries
    FROM (
        SELECT e.id, e.date, e.type, e.amount,
            (SELECT c.name FROM account_category c
             WHERE c.member_id = %s AND c.id = e.category_id) AS category,
            e.wallet_id AS "walletId",
            (SELECT row_to_json(found) FROM (
                SELECT w.id, w.name FROM account w
                WHERE w.member_id = %s AND w.id = e.wallet_id
            ) found) AS wallet,
            e.memo,
            ARRAY(
                SELECT tag.name FROM account_entry_tag link JOIN account_tag tag
                    ON tag.member_id = link.member_id AND tag.id = link.tag_id
                WHERE link.member_id = %s AND link.entry_id = e.id
                ORDER BY link.position
            ) AS tags,
            e.currency,
            trim_scale(e.original_amount) AS "originalAmount",
            trim_scale(e.exchange_rate) AS "exchangeRate",
            e.installment_months AS "installmentMonths",
            e.pending,
            e.created_at AS "createdAt",
            e.updated_at AS "updatedAt"
        FROM (
            SELECT * FROM account_entry e WHERE {where}
            ORDER BY e.date DESC, e.id DESC {cut}
        ) e
    ) entry
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


class EntryPage(NamedTuple):
    """The count over all pages, and one page as the JSON of its entries."""

    total: int
    entries: str


def list_entries_page(
    member: Member, filters: EntryFilter, page: PageRequest
) -> tuple[int, orjson.Fragment]:
    """Return the count and one page, newest first: by date, then by id."""
    conditions = _conditions(member, filters)
    where, params = _join_conditions(conditions)
    count_sql, count_params = _count_query(filters, conditions)
    cut = f"LIMIT {page.size}"
    if page.offset:
        cut += " OFFSET %s"
        params.append(page.offset)
    sql = _PAGE.format(count=f"({count_sql})", where=where, cut=cut)
    owner = [member.pk] * 3
    (found,) = fetch_all(sql, [*count_params, *owner, *params], EntryPage)
    return found.total, orjson.Fragment(f"[{found.entries}]")


def get_entry_payload(member: Member, entry_id: int) -> orjson.Fragment:
    """Return the JSON of one entry of the member; raise `NotFoundError`."""
    sql = _PAGE.format(count="1", where="e.member_id = %s AND e.id = %s", cut="")
    (found,) = fetch_all(sql, [*[member.pk] * 4, entry_id], EntryPage)
    if not found.entries:
        raise NotFoundError
    return orjson.Fragment(found.entries)


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
