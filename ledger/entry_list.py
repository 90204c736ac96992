"""The entry list: filters, pages and counts, in one query.

It reads a page as finished JSON, with names and tags, and the count, which comes from a
rollup table where the filters allow it.
"""

from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, NamedTuple

import orjson
from django.db import connection
from django.db.models import Exists, OuterRef, Q

from accounts.models import Member
from core.api.pagination import PageRequest
from core.db.like import escape_like
from core.db.rows import fetch_all
from core.errors import NotFoundError
from ledger.models import Category, Entry, EntryLine, Wallet
from ledger.models.base import EntryType
from ledger.ownership import get_owned_or_404

# The JSON of an entry (spec 3.4). PostgreSQL builds it: reading the values of a page
# and writing them again takes Python three times as long as all the rest. Names are
# looked up for the rows of the page, not joined before the cut. With the number of rows
# in its text, and no offset, PostgreSQL plans the statement once (decision 0066).
_COLUMNS = """
        SELECT e.id, e.date, e.type, e.amount,
            (SELECT c.name FROM account_category c
             WHERE c.member_id = %s AND c.id = e.category_id) AS category,
            e.wallet_id AS "walletId",
            (SELECT row_to_json(found) FROM (
                SELECT w.id, w.name FROM account w
                WHERE w.member_id = %s AND w.id = e.wallet_id
            ) found) AS wallet,
            e.to_wallet_id AS "toWalletId",
            CASE WHEN e.to_wallet_id IS NOT NULL THEN (
                SELECT row_to_json(found) FROM (
                    SELECT w.id, w.name FROM account w
                    WHERE w.member_id = %s AND w.id = e.to_wallet_id
                ) found
            ) END AS "toWallet",
            e.category_id AS "categoryId",
            e.category_type AS "categoryType",
            e.memo,
            CASE WHEN e.line_count > 0 THEN (
                SELECT json_agg(json_build_object(
                    'id', l.id, 'amount', l.amount, 'category', c.name,
                    'categoryId', l.category_id, 'categoryType', l.category_type,
                    'walletId', l.wallet_id,
                    'wallet', CASE WHEN w.id IS NOT NULL
                        THEN json_build_object('id', w.id, 'name', w.name) END,
                    'memo', l.memo
                ) ORDER BY l.position)
                FROM account_entry_line l
                LEFT JOIN account_category c
                    ON c.member_id = l.member_id AND c.id = l.category_id
                LEFT JOIN account w ON w.member_id = l.member_id AND w.id = l.wallet_id
                WHERE l.member_id = %s AND l.entry_id = e.id
            ) ELSE '[]' END AS lines,
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
            e.refund_of_id AS "refundOf",
            CASE WHEN e.type = 'expense' THEN (
                SELECT coalesce(sum(r.amount), 0) FROM account_entry r
                WHERE r.member_id = %s AND r.refund_of_id = e.id AND NOT r.pending
            ) END AS refunded,
            to_char(e.time, 'HH24:MI') AS time,
            e.excluded,
            e.source,{matched}
            e.pending,
            e.created_at AS "createdAt",
            e.updated_at AS "updatedAt"
"""
_PAGE = f"""
    SELECT {{count}} AS total, coalesce(string_agg(
        row_to_json(entry)::text, ',' ORDER BY entry.date DESC, entry.id DESC
    ), '') AS entries
    FROM (
        {_COLUMNS}
        FROM (
            SELECT * FROM account_entry e WHERE {{where}}
            ORDER BY e.date DESC, e.id DESC {{cut}}
        ) e
    ) entry
"""  # noqa: S608 - of constants only
_EACH = f"""
    SELECT id, row_to_json(entry)::text AS entry FROM (
        {_COLUMNS.format(matched="")}
        FROM account_entry e WHERE e.member_id = %s AND e.id = ANY(%s)
    ) entry
"""  # noqa: S608 - of constants only
# The share of an entry that is booked on the categories of the filter.
_MATCHED = """
            CASE WHEN e.line_count > 0 THEN (
                SELECT sum(l.amount) FROM account_entry_line l
                WHERE l.member_id = %s AND l.entry_id = e.id AND l.category_id = ANY(%s)
            ) ELSE e.amount END AS "matchedAmount","""
# Of a split entry too; only where there are any, as no index has both.
_IN_CATEGORY_OR_LINE = """
    (e.category_id = ANY(%s) OR e.id = ANY(ARRAY(
        SELECT l.entry_id FROM account_entry_line l
        WHERE l.member_id = %s AND l.category_id = ANY(%s)
    )))
"""
_IN_WALLET_OR_LINE = """
    (e.wallet_id = %s OR e.to_wallet_id = %s OR e.id = ANY(ARRAY(
        SELECT l.entry_id FROM account_entry_line l
        WHERE l.member_id = %s AND l.wallet_id = %s
    )))
"""
# How often the statement names the member before its filters.
OWNER_COUNT = 6
_ONE = _PAGE.format(
    count="1", where="e.member_id = %s AND e.id = %s", cut="", matched=""
)
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


class Condition(NamedTuple):
    """An SQL condition of entries with its values, and the one of a rollup's rows."""

    sql: str
    values: tuple[Any, ...]
    rollup_sql: str = ""
    rollup_values: tuple[Any, ...] = ()


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


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of the filters that the rows of category and wallet decide."""

    category_ids: list[int] = field(default_factory=list)
    category_has_lines: bool = False
    category_has_reversals: bool = False
    wallet_is_linked: bool = False


class EntryPage(NamedTuple):
    """The count over all pages, and one page as the JSON of its entries."""

    total: int
    entries: str


class EntryText(NamedTuple):
    id: int
    entry: str


def list_entries_page(
    member: Member, filters: EntryFilter, page: PageRequest
) -> tuple[int, orjson.Fragment]:
    """Return the count and one page, newest first: by date, then by id.

    Raises `NotFoundError` for a wallet that is not the member's. With a category, each
    entry has the part of its amount that is booked on it.
    """
    scope = _find_scope(member, filters)
    conditions = _conditions(member, filters, scope)
    where, params = _join_conditions(conditions)
    count_sql, count_params = _count_query(filters, scope, conditions)
    cut = f"LIMIT {page.size}"
    if page.offset:
        cut += " OFFSET %s"
        params.append(page.offset)
    matched, matched_params = "", []
    if filters.category is not None:
        matched, matched_params = _MATCHED, [member.pk, scope.category_ids]
    sql = _PAGE.format(count=f"({count_sql})", where=where, cut=cut, matched=matched)
    owner = [member.pk] * OWNER_COUNT
    (found,) = fetch_all(
        sql, [*count_params, *owner, *matched_params, *params], EntryPage
    )
    return found.total, orjson.Fragment(f"[{found.entries}]")


def get_entry_payload(member: Member, entry_id: int) -> orjson.Fragment:
    """Return the JSON of one entry of the member; raise `NotFoundError`."""
    params = [*[member.pk] * (OWNER_COUNT + 1), entry_id]
    (found,) = fetch_all(_ONE, params, EntryPage)
    if not found.entries:
        raise NotFoundError
    return orjson.Fragment(found.entries)


def list_payloads(member: Member, ids: list[int]) -> dict[int, str]:
    """Return the JSON of these entries of the member, by id."""
    params = [*[member.pk] * (OWNER_COUNT + 1), ids]
    return {row.id: row.entry for row in fetch_all(_EACH, params, EntryText)}


def count_pending_entries(member: Member) -> int:
    """Count the entries that await confirmation."""
    filters, scope = EntryFilter(pending=True), Scope()
    conditions = _conditions(member, filters, scope)
    return _count(*_count_query(filters, scope, conditions))


def _find_scope(member: Member, filters: EntryFilter) -> Scope:
    """Look the category and the wallet of the filters up."""
    scope = Scope()
    if filters.category is not None:
        # Those of the categories with this name and of their minor ones.
        categories = Category.objects.owned_by(member)
        named = Q(name=filters.category) | Q(parent__name=filters.category)
        of_category: Any = {"member_id": member.pk, "category": OuterRef("pk")}
        rows = (
            categories.filter(named)
            .order_by()
            .annotate(
                has_lines=Exists(EntryLine.objects.filter(**of_category)),
                has_reversals=Exists(
                    Entry.objects.filter(is_reversal=True, **of_category)
                ),
            )
        )
        found = list(rows.values_list("id", "has_lines", "has_reversals"))
        scope = Scope(
            category_ids=[row[0] for row in found],
            category_has_lines=any(row[1] for row in found),
            category_has_reversals=any(row[2] for row in found),
        )
    if filters.wallet_id is not None:
        of_wallet: Any = {"member_id": member.pk}
        wallets = Wallet.objects.annotate(
            is_linked=Exists(
                Entry.objects.filter(to_wallet=OuterRef("pk"), **of_wallet)
            )
            | Exists(EntryLine.objects.filter(wallet=OuterRef("pk"), **of_wallet))
        )
        wallet = get_owned_or_404(wallets, member, filters.wallet_id)
        scope = replace(scope, wallet_is_linked=wallet.is_linked)
    return scope


def _conditions(member: Member, filters: EntryFilter, scope: Scope) -> list[Condition]:
    """Return the conditions of the filters that are set."""
    plain = [
        ("e.date >= %s", filters.start),
        ("e.date <= %s", filters.end),
        ("e.type = %s", filters.type),
        ("e.pending = %s", filters.pending),
        ("e.amount >= %s", filters.min_amount),
        ("e.amount <= %s", filters.max_amount),
        ("e.memo ILIKE %s", filters.keyword and f"%{escape_like(filters.keyword)}%"),
        (_HAS_TAG, filters.tag),
    ]
    conditions = [Condition("e.member_id = %s", (member.pk,))]
    conditions += [
        Condition(sql, (value,)) for sql, value in plain if value is not None
    ]
    if filters.category is not None:
        ids = scope.category_ids
        by_category = ("e.category_id = ANY(%s)", (ids,))
        if scope.category_has_lines:
            conditions.append(
                Condition(_IN_CATEGORY_OR_LINE, (ids, member.pk, ids), *by_category)
            )
        else:
            conditions.append(Condition(*by_category))
    if filters.wallet_id is not None:
        wallet = filters.wallet_id
        by_wallet = ("e.wallet_id = %s", (wallet,))
        if scope.wallet_is_linked:
            values = (wallet, wallet, member.pk, wallet)
            conditions.append(Condition(_IN_WALLET_OR_LINE, values, *by_wallet))
        else:
            conditions.append(Condition(*by_wallet))
    return conditions


def _count_query(
    filters: EntryFilter, scope: Scope, conditions: list[Condition]
) -> tuple[str, list[Any]]:
    """Return the SQL that counts the entries, and its parameters."""
    rollup = _choose_rollup(filters, scope)
    if rollup is None:
        where, params = _join_conditions(conditions)
        return _COUNT.format(where=where), params
    if rollup == "account_category_total":
        columns = {
            True: "t.pending_count",
            False: "t.entry_count + t.excluded_count",
        }
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
            Condition(
                (each.rollup_sql or each.sql)
                .replace("e.date", date_column)
                .replace("e.", "t."),
                each.rollup_values or each.values,
            )
            for each in conditions
            if each.sql != "e.pending = %s"
            and (has_type_column or each.sql != "e.type = %s")
        ]
    )
    sql = _COUNT_FROM_ROLLUP.format(
        columns=" + ".join(counts), table=rollup, where=where
    )
    return sql, params


def _selected(value: Any, values: Iterable[Any]) -> list[Any]:
    """Return the value that a filter selects, or all of them without a filter."""
    return list(values) if value is None else [value]


def _choose_rollup(filters: EntryFilter, scope: Scope) -> str | None:
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
        # A split entry counts in each of its categories, and the type of the rollup is
        # that of the category.
        if scope.category_has_lines or (
            filters.type is not None and scope.category_has_reversals
        ):
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
    where = " AND ".join(each.sql for each in conditions)
    return where, [value for each in conditions for value in each.values]
