"""Reads what the judging of rows needs to know of a ledger."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from accounts.models import Member
from core.db.rows import fetch_all
from ledger.imports.judging import (
    JudgedRow,
    KnownEntry,
    KnownKey,
    KnownLedger,
)

# Entries before and after the days of the file that its rows may be.
MARGIN = timedelta(5)
# Of a merged transfer the income has lost its id.
_KEYS = """
    SELECT k.digest, k.wallet_id, k.entry_id,
        coalesce(e.id, m.entry_id) AS living_id,
        coalesce(e.wallet_id, t.wallet_id) AS from_id,
        coalesce(e.to_wallet_id, t.to_wallet_id) AS to_id,
        w.id IS NULL AND k.wallet_id <> 0 AS is_wallet_gone
    FROM account_import_key k
    LEFT JOIN account_entry e ON e.member_id = k.member_id AND e.id = k.entry_id
    LEFT JOIN account_merged_entry m
        ON m.member_id = k.member_id AND m.former_id = k.entry_id
        AND m.type = 'income' AND e.id IS NULL
    LEFT JOIN account_entry t ON t.member_id = m.member_id AND t.id = m.entry_id
    LEFT JOIN account w ON w.member_id = k.member_id AND w.id = k.wallet_id
    WHERE k.member_id = %(member)s AND k.freed_by IS NULL
        AND k.digest = ANY(%(digests)s::bytea[])
"""
_ENTRIES = """
    WITH wanted AS (
        SELECT unnest(%(amounts)s::bigint[]) AS amount
    ), keyed AS (
        SELECT coalesce(m.entry_id, k.entry_id) AS entry_id,
            array_agg(k.wallet_id) AS wallet_ids
        FROM account_import_key k
        LEFT JOIN account_merged_entry m
            ON m.member_id = k.member_id AND m.former_id = k.entry_id
            AND m.type = 'income'
        WHERE k.member_id = %(member)s AND k.freed_by IS NULL
            AND k.entry_id IS NOT NULL
        GROUP BY 1
    )
    SELECT e.id, e.type, e.amount, e.date, e.time, e.wallet_id, e.to_wallet_id,
        e.pending, e.category_id IS NOT NULL AS has_category,
        e.source = 'NOTIFICATION' AS is_notified,
        e.type IN ('income', 'expense') AND e.line_count = 0 AND NOT e.is_reversal
            AND e.currency IS NULL AND e.refund_of_id IS NULL AND NOT e.pending
            AND NOT EXISTS (
                SELECT FROM account_entry r
                WHERE r.member_id = e.member_id AND r.refund_of_id = e.id
            )
            AND NOT EXISTS (
                SELECT FROM account_entry_line l
                WHERE l.member_id = e.member_id AND l.refund_of_id = e.id
            ) AS is_half,
        e.memo, e.currency, e.original_amount,
        coalesce(keyed.wallet_ids, '{}'::bigint[]) AS keyed
    FROM account_entry e LEFT JOIN keyed ON keyed.entry_id = e.id
    WHERE e.member_id = %(member)s AND e.date BETWEEN %(start)s AND %(end)s
        AND e.line_count IS NOT NULL
        AND (
            e.amount IN (SELECT amount FROM wanted)
            OR e.currency = ANY(%(currencies)s)
        )
    ORDER BY e.date, e.id
"""


class _KeyRow(NamedTuple):
    digest: bytes
    wallet_id: int
    entry_id: int | None
    living_id: int | None
    from_id: int | None
    to_id: int | None
    is_wallet_gone: bool


def load_known(member: Member, rows: Sequence[JudgedRow]) -> KnownLedger:
    """Return the keys and entries that rows of these days and amounts may be."""
    if not rows:
        return KnownLedger()
    keys: dict[bytes, list[KnownKey]] = defaultdict(list)
    digests = [digest for row in rows for digest in row.digests]
    for found in fetch_all(_KEYS, {"member": member.pk, "digests": digests}, _KeyRow):
        keys[bytes(found.digest)].append(_make_key(found))
    days = [row.record.date for row in rows]
    records = [row.record for row in rows]
    params: dict[str, Any] = {
        "member": member.pk,
        "start": max(min(days), date.min + MARGIN) - MARGIN,
        "end": min(max(days), date.max - MARGIN) + MARGIN,
        "amounts": list({each.amount for each in records if each.amount}),
        "currencies": list({each.currency for each in records if each.currency}),
    }
    return KnownLedger(keys, fetch_all(_ENTRIES, params, KnownEntry))


def _make_key(row: _KeyRow) -> KnownKey:
    wallets: Iterable[int | None] = [row.wallet_id]
    if row.is_wallet_gone:
        # Its entries have moved to another wallet.
        wallets = [row.wallet_id, row.from_id, row.to_id]
    is_deleted = row.entry_id is not None and row.living_id is None
    return KnownKey(frozenset(each or 0 for each in wallets), row.living_id, is_deleted)
