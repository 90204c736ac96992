"""The rows of a ledger that a journal is made of."""

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import orjson
from django.utils import timezone

from core.api.renderers import format_decimal
from core.db.rows import fetch_all
from ledger.backup.sheet_sql import select_tag_names
from ledger.export.journals.accounts import CategoryRow, WalletRow
from ledger.export.journals.books import EntryRow, LineRow, ValuationRow
from ledger.export.journals.parts import Detail
from ledger.export.scope import Export, Scope, fetch_batches
from ledger.statistics.net_worth import WALLET_WORTHS, WalletWorth

_WALLETS = """
    SELECT id, name, kind, opening_balance,
        CASE WHEN manual_valuation THEN current_value END AS current_value
    FROM account WHERE member_id = %(member)s ORDER BY id
"""
_CATEGORIES = """
    SELECT id, type, name, parent_id FROM account_category
    WHERE member_id = %(member)s ORDER BY id
"""
_VALUATIONS = """
    SELECT wallet_id, date, value, written_at FROM account_valuation
    WHERE member_id = %(member)s ORDER BY wallet_id, date
"""
# The columns are a `_StoredEntry`.
_ENTRIES = """
    SELECT r.id, r.date, r.type, r.amount, r.wallet_id, r.memo, r.excluded,
        r.created_at, r.category_id, r.category_type, r.to_wallet_id,
        CASE WHEN r.line_count > 0 THEN (
            SELECT json_agg(json_build_array(
                l.amount, l.category_id, l.category_type, l.wallet_id, l.memo,
                l.refund_of_id
            ) ORDER BY l.position)::text
            FROM account_entry_line l
            WHERE l.member_id = %(member)s AND l.entry_id = r.id
        ) END,
        to_char(r.time, 'HH24:MI'), {tags}, r.currency, r.original_amount,
        r.exchange_rate, r.installment_months, r.refund_of_id
    FROM account_entry r
    WHERE r.member_id = %(member)s AND NOT r.pending AND {conditions}
    ORDER BY r.date, r.id
"""
_BOUNDS = """
    SELECT min(day) AS first, max(day) AS last FROM (
        SELECT min(date) AS day FROM account_entry
        WHERE member_id = %(member)s AND NOT pending
        UNION ALL
        SELECT max(date) FROM account_entry
        WHERE member_id = %(member)s AND NOT pending
        UNION ALL
        SELECT min(date) FROM account_valuation WHERE member_id = %(member)s
        UNION ALL
        SELECT max(date) FROM account_valuation WHERE member_id = %(member)s
    ) days
"""


class _StoredEntry(NamedTuple):
    id: int
    date: date
    type: str
    amount: int
    wallet_id: int | None
    memo: str
    is_excluded: bool
    created_at: datetime
    category_id: int | None
    category_type: str
    to_wallet_id: int | None
    # JSON of the fields of `LineRow`; None for a flat entry.
    lines: str | None
    time: str | None
    tags: str | None
    currency: str | None
    original_amount: Decimal | None
    exchange_rate: Decimal | None
    installment_months: int | None
    refund_of_id: int | None


class _Bounds(NamedTuple):
    first: date | None
    last: date | None


def list_wallets(export: Export) -> list[WalletRow]:
    return fetch_all(_WALLETS, {"member": export.member.pk}, WalletRow)


def list_categories(export: Export) -> list[CategoryRow]:
    return fetch_all(_CATEGORIES, {"member": export.member.pk}, CategoryRow)


def list_valuations(export: Export) -> list[ValuationRow]:
    return fetch_all(_VALUATIONS, {"member": export.member.pk}, ValuationRow)


def get_worths(export: Export) -> dict[int, int]:
    """Return what the service shows for each wallet: its balance or typed-in value."""
    rows = fetch_all(WALLET_WORTHS, {"member": export.member.pk}, WalletWorth)
    return {row.id: row.value for row in rows}


def get_days(export: Export) -> tuple[date, date]:
    """Return the first day of a journal, and the one at whose end it asserts balances.

    Days that the scope leaves open are those of entries, typed values and today.
    """
    (bounds,) = fetch_all(_BOUNDS, {"member": export.member.pk}, _Bounds)
    today = timezone.localdate(export.made_at)
    scope = export.scope
    first = scope.start or min(bounds.first or today, today)
    if scope.end is not None:
        return scope.start or min(first, scope.end), scope.end
    return first, max(bounds.last or today, today, first)


def iterate_entries(export: Export) -> Iterator[EntryRow]:
    """Yield the confirmed entries up to the end of the scope, with those before it."""
    scope = Scope(end=export.scope.end, wallet_id=export.scope.wallet_id)
    sql = _ENTRIES.format(
        conditions=scope.conditions(),
        tags=select_tag_names("account_entry_tag", "entry_id"),
    )
    params: dict[str, Any] = {"member": export.member.pk, **scope.params}
    for batch in fetch_batches(sql, params):
        for row in batch:
            yield _make_entry(_StoredEntry._make(row))


def _make_entry(row: _StoredEntry) -> EntryRow:
    if row.lines is None:
        own = (row.amount, row.category_id, row.category_type, row.to_wallet_id)
        lines = [LineRow(*own)]
    else:
        lines = [LineRow(*line) for line in orjson.loads(row.lines)]
    return EntryRow(*row[:8], lines, _list_details(row))


def _list_details(row: _StoredEntry) -> list[Detail]:
    details = []
    if row.time:
        details.append(Detail("time", row.time))
    if row.tags:
        details.append(Detail("tags", row.tags))
    if row.currency and row.original_amount is not None:
        original = format_decimal(row.original_amount)
        details.append(Detail("original", f"{original} {row.currency}"))
    if row.exchange_rate is not None:
        details.append(Detail("rate", format_decimal(row.exchange_rate)))
    if row.installment_months:
        details.append(Detail("installments", str(row.installment_months)))
    if row.refund_of_id is not None:
        details.append(Detail("refund-of", str(row.refund_of_id)))
    return details
