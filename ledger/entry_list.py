"""The entry list: filters, pages and counts, in three statements at most.

The page is cut before names are joined to it, the tags of all its rows come with
one look-up, and the count is read from the kept totals where the filter allows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db import connection

from accounts.models import Member
from config.api.pagination import Page
from config.errors import NotFound
from ledger.models import Category
from ledger.tags import read_tags_of_entries

_COLUMNS = """
    e.id, e.date, e.type, e.amount, c.name, e.wallet_id, w.name, e.memo, e.currency,
    e.original_amount, e.exchange_rate, e.installment_months, e.pending, e.created_at,
    e.updated_at
"""
_PAGE = f"""
    SELECT {_COLUMNS}
    FROM (
        SELECT * FROM account_entry e WHERE {{conditions}}
        ORDER BY e.date DESC, e.id DESC LIMIT %s OFFSET %s
    ) e
    LEFT JOIN account_category c ON c.id = e.category_id
    LEFT JOIN account w ON w.id = e.wallet_id
    ORDER BY e.date DESC, e.id DESC
"""  # noqa: S608
_TAGGED = """
    EXISTS (
        SELECT FROM account_entry_tag link JOIN account_tag tag ON tag.id = link.tag_id
        WHERE link.entry_id = e.id AND tag.member_id = e.member_id AND tag.name = %s
    )
"""
_COUNT = "SELECT count(*) FROM account_entry e WHERE {conditions}"
_COUNT_KEPT = "SELECT coalesce(sum(t.entries), 0) FROM {table} t WHERE {conditions}"


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


def read_page_of_entries(
    member: Member, wanted: EntryFilter, page: Page
) -> tuple[int, list[dict[str, Any]]]:
    """The count and one page, newest first: by date, then by id."""
    conditions = _conditions(member, wanted)
    sql = _PAGE.format(conditions=_join(conditions))
    with connection.cursor() as cursor:
        cursor.execute(sql, [*_values(conditions), page.size, page.offset])
        rows = cursor.fetchall()
    count = _count(member, wanted, conditions)
    return count, describe_entries(rows)


def read_entry(member: Member, entry_id: int) -> dict[str, Any]:
    """One entry of the member, or `NotFound`."""
    sql = _PAGE.format(conditions="e.member_id = %s AND e.id = %s")
    with connection.cursor() as cursor:
        cursor.execute(sql, [member.pk, entry_id, 1, 0])
        rows = cursor.fetchall()
    if not rows:
        raise NotFound
    return describe_entries(rows)[0]


def describe_entries(rows: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Rows of `_COLUMNS` as the contract's entries, by hand: lists are long."""
    tags = read_tags_of_entries([row[0] for row in rows]) if rows else {}
    return [
        {
            "id": row[0],
            "date": row[1],
            "type": row[2],
            "amount": row[3],
            "category": row[4],
            "walletId": row[5],
            "wallet": None if row[5] is None else {"id": row[5], "name": row[6]},
            "memo": row[7],
            "tags": tags.get(row[0], []),
            "currency": row[8],
            "originalAmount": row[9],
            "exchangeRate": row[10],
            "installmentMonths": row[11],
            "pending": row[12],
            "createdAt": row[13],
            "updatedAt": row[14],
        }
        for row in rows
    ]


def count_pending(member: Member) -> int:
    """Entries that wait to be confirmed."""
    conditions: list[Condition] = [("t.member_id = %s", member.pk), ("t.pending", ())]
    return _count_kept("account_month_total", conditions)


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
        ("e.memo ILIKE %s", wanted.keyword and _containing(wanted.keyword)),
        (_TAGGED, wanted.tag),
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


def _containing(keyword: str) -> str:
    escaped = keyword.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _count(member: Member, wanted: EntryFilter, conditions: list[Condition]) -> int:
    if _fits_totals(wanted):
        return _count_from_totals(member, wanted, conditions)
    sql = _COUNT.format(conditions=_join(conditions))
    return _read_number(sql, _values(conditions))


def _fits_totals(wanted: EntryFilter) -> bool:
    """Totals are kept by whole months and know no words, tags or amounts."""
    by_row = (wanted.tag, wanted.keyword, wanted.min_amount, wanted.max_amount)
    starts_month = wanted.start is None or wanted.start.day == 1
    ends_month = wanted.end is None or (wanted.end + timedelta(days=1)).day == 1
    return by_row == (None,) * 4 and starts_month and ends_month


def _count_from_totals(
    member: Member, wanted: EntryFilter, conditions: list[Condition]
) -> int:
    if wanted.category is None and wanted.wallet_id is None:
        table = "account_month_total"
    else:
        table = "account_entry_total"
    kept = [
        (sql.replace("e.date", "t.month").replace("e.", "t."), value)
        for sql, value in conditions
    ]
    return _count_kept(table, kept)


def _count_kept(table: str, conditions: list[Condition]) -> int:
    sql = _COUNT_KEPT.format(table=table, conditions=_join(conditions))
    return _read_number(sql, _values(conditions))


def _read_number(sql: str, values: list[Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return int(cursor.fetchone()[0])


def _join(conditions: list[Condition]) -> str:
    return " AND ".join(sql for sql, _ in conditions)


def _values(conditions: list[Condition]) -> list[Any]:
    return [value for _, value in conditions if value != ()]
