"""The entry list: filters, pages and counts, in one query.

A page is read as finished JSON. Rollup tables have the count of many filters.
"""

from calendar import monthrange
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, NamedTuple

import orjson
from django.db import connection
from django.db.models import Exists, OuterRef, Q

from accounts.models import Member
from core.api.pagination import DayKey, PageRequest
from core.db.like import escape_like
from core.db.rows import fetch_all, fetch_one
from core.errors import NotFoundError
from ledger.base.ownership import get_owned_or_404
from ledger.entries.json_fields import (
    ENTRY_TEXT,
    FIELDS,
    LAST_FIELDS,
    select_fields,
)
from ledger.models import Category, Entry, EntryLine, Wallet
from ledger.models.base import EntryType
from ledger.rollups.definitions import normalize_memo_sql

# The share of an entry in the figure of the statistics that the filters name: 0 if it
# counts in none, or if it is found from its other wallet.
_MATCHED = """CASE
    WHEN e.pending OR e.excluded {or_elsewhere} THEN 0
    WHEN e.line_count > 0 THEN (
        SELECT coalesce(sum(CASE WHEN (e.type = 'income') = (l.category_type = 'income')
            THEN l.amount ELSE -l.amount END), 0)
        FROM account_entry_line l
        WHERE l.member_id = %(member)s AND l.entry_id = e.id
            AND l.wallet_id IS NULL AND {of_line}
    )
    WHEN e.to_wallet_id IS NOT NULL THEN 0
    WHEN (e.type = 'income') = (e.category_type = 'income') THEN e.amount
    ELSE -e.amount
END"""
_ALL_FIELDS = select_fields(FIELDS | LAST_FIELDS)
# The rows of a list whose count stands in a rollup are read in its order; any others
# are found once, for count and page together.
_IN_ORDER = """
    SELECT e.* FROM account_entry e WHERE {where} {and_after}
    ORDER BY e.date DESC, e.id DESC {cut}
"""
_FOUND = """
    WITH found AS MATERIALIZED (
        SELECT e.id, e.date FROM account_entry e WHERE {where}
    )
"""
_OF_FOUND = """
    SELECT e.* FROM (
        SELECT e.id FROM found e WHERE true {and_after}
        ORDER BY e.date DESC, e.id DESC {cut}
    ) page JOIN account_entry e ON e.member_id = %(member)s AND e.id = page.id
"""
_COUNT_FOUND = "SELECT count(*) FROM found"
_PAGE = """
    {found}
    SELECT ({count}) AS total, coalesce(string_agg(
        {entry_text}, ',' ORDER BY entry.date DESC, entry.id DESC
    ), '') AS entries
    FROM (SELECT {fields} FROM ({rows}) e) entry
"""
# A page by key reads one row more, which tells that others follow.
_IS_AFTER = "AND (e.date, e.id) < (%(after_day)s::date, %(after_id)s::bigint)"
_PAGE_AFTER = """
    {found}
    SELECT ({count}) AS total, coalesce(string_agg(
        {entry_text}, ',' ORDER BY e.date DESC, e.id DESC
    ) FILTER (WHERE e.place <= {size}), '') AS entries, count(*) > {size} AS has_more
    FROM (
        SELECT e.*, row_number() OVER (ORDER BY e.date DESC, e.id DESC) AS place
        FROM ({rows}) e
    ) e CROSS JOIN LATERAL (SELECT {fields}) entry
"""
_EACH = f"""
    SELECT id, {ENTRY_TEXT} AS entry FROM (
        SELECT {_ALL_FIELDS}
        FROM account_entry e WHERE e.member_id = %(member)s AND e.id = ANY(%(ids)s)
    ) entry
"""  # noqa: S608 - constants
# Includes split entries. Used only if a line has the category: no index covers both.
_IN_CATEGORY_OR_LINE = """
    (e.category_id = ANY(%(categories)s) OR e.id = ANY(ARRAY(
        SELECT l.entry_id FROM account_entry_line l
        WHERE l.member_id = %(member)s AND l.category_id = ANY(%(categories)s)
    )))
"""
# Flat entries, and lines, that count in the statistics of the categories.
_HAS_PART = """
    (e.line_count = 0 AND e.to_wallet_id IS NULL AND {of_entry}
    OR e.line_count > 0 AND EXISTS (
        SELECT FROM account_entry_line l
        WHERE l.member_id = %(member)s AND l.entry_id = e.id
            AND l.wallet_id IS NULL AND {of_line}
    ))
"""
# Entries that are in no rollup of memos, or whose category has such a memo there. The
# rollup's index has the memos of a member one beside the other, while the entries lie
# all over the table. The inner SELECT changes the keyword once, not for each row.
_MAY_HAVE_MEMO = """
    (e.category_id = ANY(ARRAY(
        SELECT DISTINCT t.category_id FROM account_memo_total t
        WHERE t.member_id = %(member)s AND t.memo LIKE (SELECT {normalized_keyword})
    )) OR e.category_id IS NULL OR e.pending OR e.excluded OR e.is_reversal)
""".format(normalized_keyword=normalize_memo_sql("%(keyword)s"))  # noqa: S608 - constants
_HAS_MEMO = """
    (e.memo ILIKE %(keyword)s OR e.line_count > 0 AND EXISTS (
        SELECT FROM account_entry_line l
        WHERE l.member_id = %(member)s AND l.entry_id = e.id
            AND l.memo ILIKE %(keyword)s
    ))
"""
_IN_WALLET_OR_LINE = """
    (e.wallet_id = %(wallet)s OR e.to_wallet_id = %(wallet)s OR e.id = ANY(ARRAY(
        SELECT l.entry_id FROM account_entry_line l
        WHERE l.member_id = %(member)s AND l.wallet_id = %(wallet)s
    )))
"""
_ONE = f"""
    SELECT version, {ENTRY_TEXT} AS entry FROM (
        SELECT {_ALL_FIELDS}
        FROM account_entry e WHERE e.member_id = %(member)s AND e.id = %(entry)s
    ) entry
"""  # noqa: S608 - constants
_HAS_TAG = """
    EXISTS (
        SELECT FROM account_entry_tag link JOIN account_tag tag
            ON tag.member_id = link.member_id AND tag.id = link.tag_id
        WHERE link.member_id = e.member_id AND link.entry_id = e.id
            AND tag.name = %(tag)s
    )
"""
_IS_REFUND = """
    (e.refund_of_id = %(refund_of)s OR e.id = ANY(ARRAY(
        SELECT l.entry_id FROM account_entry_line l
        WHERE l.member_id = %(member)s AND l.refund_of_id = %(refund_of)s
    )))
"""
_IS_OF_TYPE = "e.type = %(type)s"
_IS_PENDING = "e.pending = %(pending)s"
_COUNT_FROM_ROLLUP = (
    "SELECT coalesce(sum({columns}), 0)::bigint FROM {table} t WHERE {where}"
)


class Condition(NamedTuple):
    """An SQL condition of entries, and of a rollup's rows if it differs there."""

    sql: str
    rollup_sql: str = ""


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Filters of the list; None does not filter. Both days are inclusive."""

    start: date | None = None
    end: date | None = None
    type: str | None = None
    category: str | None = None
    category_id: int | None = None
    category_type: str | None = None
    uncategorized: bool = False
    refund_of: int | None = None
    wallet_id: int | None = None
    tag: str | None = None
    keyword: str | None = None
    pending: bool | None = None
    min_amount: int | None = None
    max_amount: int | None = None

    @property
    def has_category(self) -> bool:
        return self.category is not None or self.category_id is not None

    @property
    def has_figure(self) -> bool:
        """Return True if the filters name a figure of the statistics."""
        has_type = self.category_type is not None
        return self.has_category or has_type or self.uncategorized


@dataclass(frozen=True, slots=True)
class Scope:
    category_ids: list[int] = field(default_factory=list)
    category_has_lines: bool = False
    category_has_reversals: bool = False
    wallet_is_linked: bool = False


class EntryPage(NamedTuple):
    total: int
    entries: str


class EntryPageAfter(NamedTuple):
    total: int
    entries: str
    has_more: bool


class EntryRow(NamedTuple):
    """An entry as JSON."""

    version: int
    entry: str


class EntryText(NamedTuple):
    id: int
    entry: str


def list_entries_page(
    member: Member, filters: EntryFilter, page: PageRequest
) -> tuple[int, orjson.Fragment, DayKey | None]:
    """Return the count and one page, newest first: by date, then by id.

    With a filter of categories each entry has `matchedAmount`, its share in their
    figure of the statistics. The key of the last entry comes with a page whose next
    one is read by key. Raises `NotFoundError` for an unknown wallet, category or
    expense.
    """
    scope = _find_scope(member, filters)
    cut = f"LIMIT {page.size}" + (" OFFSET %(offset)s" if page.offset else "")
    sql = _PAGE.format(
        fields=_select_fields(filters),
        entry_text=ENTRY_TEXT,
        **_select_rows(filters, scope, cut),
    )
    params = _params(member, filters, scope) | {"offset": page.offset}
    (found,) = fetch_all(sql, params, EntryPage)
    key = _find_last_key(found.entries) if page.next_is_by_key else None
    return found.total, orjson.Fragment(f"[{found.entries}]"), key


def list_entries_after(
    member: Member, filters: EntryFilter, after: DayKey, size: int
) -> tuple[int, orjson.Fragment, DayKey | None]:
    """Return the count of all, the entries after a key, and the key of the next page.

    Any page costs the same. Raises `NotFoundError` as `list_entries_page` does.
    """
    scope = _find_scope(member, filters)
    rows = _select_rows(filters, scope, f"LIMIT {size} + 1", _IS_AFTER)
    sql = _PAGE_AFTER.format(
        fields=_select_fields(filters), entry_text=ENTRY_TEXT, size=size, **rows
    )
    params = _params(member, filters, scope)
    params |= {"after_day": after.day, "after_id": after.row_id}
    (found,) = fetch_all(sql, params, EntryPageAfter)
    key = _find_last_key(found.entries) if found.has_more else None
    return found.total, orjson.Fragment(f"[{found.entries}]"), key


def _find_last_key(entries: str) -> DayKey | None:
    rows = orjson.loads(f"[{entries}]")
    if not rows:
        return None
    return DayKey(date.fromisoformat(rows[-1]["date"]), rows[-1]["id"])


def _select_fields(filters: EntryFilter) -> str:
    if not filters.has_figure:
        return _ALL_FIELDS
    is_elsewhere = "OR e.wallet_id IS DISTINCT FROM %(wallet)s"
    matched = _MATCHED.format(
        or_elsewhere="" if filters.wallet_id is None else is_elsewhere,
        of_line=_part_sql(filters, "l"),
    )
    return select_fields(FIELDS | {"matchedAmount": matched} | LAST_FIELDS)


def _part_sql(filters: EntryFilter, row: str) -> str:
    """Return the condition of an entry or line that is booked on the categories."""
    conditions = []
    if filters.has_category:
        conditions.append(f"{row}.category_id = ANY(%(categories)s)")
    if filters.category_type is not None:
        conditions.append(f"{row}.category_type = %(category_type)s")
    if filters.uncategorized:
        conditions.append(f"{row}.category_id IS NULL")
    return " AND ".join(conditions)


def list_entry_ids(member: Member, filters: EntryFilter, limit: int) -> list[int]:
    """Return the ids of up to `limit` entries, in no order.

    Raises `NotFoundError` as `list_entries_page` does.
    """
    scope = _find_scope(member, filters)
    where = _join_conditions(_conditions(filters, scope))
    sql = f"SELECT e.id FROM account_entry e WHERE {where} LIMIT {limit:d}"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(sql, _params(member, filters, scope))
        return [row[0] for row in cursor.fetchall()]


def get_entry_payload(
    member: Member, entry_id: int, more: Mapping[str, Any] | None = None
) -> orjson.Fragment:
    """Return an entry with `more` members; raise `NotFoundError` for an unknown one."""
    return extend_payload(get_entry_row(member, entry_id).entry, more)


def extend_payload(text: str, more: Mapping[str, Any] | None) -> orjson.Fragment:
    if more is None:
        return orjson.Fragment(text)
    end = orjson.dumps(more).decode()
    return orjson.Fragment(f"{text[:-1]},{end[1:]}")


def get_entry_row(member: Member, entry_id: int) -> EntryRow:
    """Raise `NotFoundError` for an unknown one."""
    row = fetch_one(_ONE, {"member": member.pk, "entry": entry_id}, EntryRow)
    if row is None:
        raise NotFoundError
    return row


def list_payloads(member: Member, ids: list[int]) -> dict[int, str]:
    rows = fetch_all(_EACH, {"member": member.pk, "ids": ids}, EntryText)
    return {row.id: row.entry for row in rows}


def count_pending_entries(member: Member) -> int:
    filters, scope = EntryFilter(pending=True), Scope()
    conditions = _conditions(filters, scope)
    sql = _count_in_rollup("account_ledger", filters, conditions)
    with connection.cursor() as cursor:
        cursor.execute(sql, _params(member, filters, scope))
        return int(cursor.fetchone()[0])


def _find_scope(member: Member, filters: EntryFilter) -> Scope:
    scope = Scope()
    if filters.refund_of is not None:
        get_owned_or_404(Entry.objects.all(), member, filters.refund_of)
    if filters.has_category:
        categories = Category.objects.owned_by(member)
        named = Q()
        if filters.category is not None:
            named = Q(name=filters.category) | Q(parent__name=filters.category)
        if filters.category_id is not None:
            named &= Q(pk=filters.category_id)
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
        if not found and filters.category_id is not None:
            # It may be there under another name.
            get_owned_or_404(Category.objects.all(), member, filters.category_id)
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


def _params(member: Member, filters: EntryFilter, scope: Scope) -> dict[str, Any]:
    keyword = filters.keyword and f"%{escape_like(filters.keyword)}%"
    return {
        "member": member.pk,
        "start": filters.start,
        "end": filters.end,
        "type": filters.type,
        "pending": filters.pending,
        "min_amount": filters.min_amount,
        "max_amount": filters.max_amount,
        "keyword": keyword,
        "tag": filters.tag,
        "categories": scope.category_ids,
        "category_type": filters.category_type,
        "refund_of": filters.refund_of,
        "wallet": filters.wallet_id,
    }


def _conditions(filters: EntryFilter, scope: Scope) -> list[Condition]:
    plain = [
        ("e.date >= %(start)s", filters.start),
        ("e.date <= %(end)s", filters.end),
        (_IS_OF_TYPE, filters.type),
        (_IS_PENDING, filters.pending),
        ("e.amount >= %(min_amount)s", filters.min_amount),
        ("e.amount <= %(max_amount)s", filters.max_amount),
        (_MAY_HAVE_MEMO, filters.keyword),
        (_HAS_MEMO, filters.keyword),
        (_IS_REFUND, filters.refund_of),
        (_HAS_TAG, filters.tag),
    ]
    conditions = [Condition("e.member_id = %(member)s")]
    conditions += [Condition(sql) for sql, value in plain if value is not None]
    if filters.has_category:
        sql = "e.category_id = ANY(%(categories)s)"
        has_lines = scope.category_has_lines
        conditions.append(Condition(_IN_CATEGORY_OR_LINE if has_lines else sql, sql))
    if filters.category_type is not None or filters.uncategorized:
        of_entry, of_line = _part_sql(filters, "e"), _part_sql(filters, "l")
        sql = _HAS_PART.format(of_entry=of_entry, of_line=of_line)
        conditions.append(Condition(sql))
    if filters.wallet_id is not None:
        sql = "e.wallet_id = %(wallet)s"
        is_linked = scope.wallet_is_linked
        conditions.append(Condition(_IN_WALLET_OR_LINE if is_linked else sql, sql))
    return conditions


def _select_rows(
    filters: EntryFilter, scope: Scope, cut: str, and_after: str = ""
) -> dict[str, str]:
    """Return the parts of a page's statement that find its rows and count all."""
    conditions = _conditions(filters, scope)
    where = _join_conditions(conditions)
    if rollup := _choose_rollup(filters, scope):
        return {
            "found": "",
            "count": _count_in_rollup(rollup, filters, conditions),
            "rows": _IN_ORDER.format(where=where, and_after=and_after, cut=cut),
        }
    return {
        "found": _FOUND.format(where=where),
        "count": _COUNT_FOUND,
        "rows": _OF_FOUND.format(and_after=and_after, cut=cut),
    }


def _count_in_rollup(
    rollup: str, filters: EntryFilter, conditions: list[Condition]
) -> str:
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
    # Rollups have one row for all types, or for pending and confirmed entries: columns
    # distinguish them. The date of a month is its first day.
    date_column = "t.date" if rollup == "account_day_total" else "t.month"
    where = " AND ".join(
        (each.rollup_sql or each.sql).replace("e.date", date_column).replace("e.", "t.")
        for each in conditions
        if each.sql != _IS_PENDING and (has_type_column or each.sql != _IS_OF_TYPE)
    )
    return _COUNT_FROM_ROLLUP.format(
        columns=" + ".join(counts), table=rollup, where=where
    )


def _selected(value: Any, values: Iterable[Any]) -> list[Any]:
    return list(values) if value is None else [value]


def _choose_rollup(filters: EntryFilter, scope: Scope) -> str | None:
    """Return the smallest rollup table with all filtered columns, or None.

    No rollup has memos, tags or single amounts, or categories together with wallets.
    Rollups of a category or a wallet are by month.
    """
    by_row = (
        *(filters.tag, filters.keyword, filters.min_amount, filters.max_amount),
        *(filters.category_type, filters.refund_of),
    )
    if filters.uncategorized or any(value is not None for value in by_row):
        return None
    # An open range begins or ends with a month, too.
    start, end = filters.start, filters.end
    starts_month = start is None or start.day == 1
    ends_month = end is None or end.day == monthrange(end.year, end.month)[1]
    has_category, has_wallet = (
        filters.has_category,
        filters.wallet_id is not None,
    )
    if has_category or has_wallet:
        if (has_category and has_wallet) or not (starts_month and ends_month):
            return None
        # A split entry counts in each of its categories, and a rollup has the type of
        # the category.
        if scope.category_has_lines or (
            filters.type is not None and scope.category_has_reversals
        ):
            return None
        return (
            "account_category_total" if has_category else "account_wallet_month_total"
        )
    return "account_ledger" if start is end is None else "account_day_total"


def _join_conditions(conditions: list[Condition]) -> str:
    return " AND ".join(each.sql for each in conditions)
