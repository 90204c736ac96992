"""Reads what the judging of rows needs to know of a ledger.

What belongs together is joined here: for rows that were written a moment ago the
database has no statistics, and would compare each with each.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from accounts.models import Member
from core.db.rows import fetch_all
from ledger.base.bulk_rows import format_ids
from ledger.cards.existing_payments import BillsOfCards, read_bills_of_cards
from ledger.imports.judging import JudgedRow, KnownEntry, KnownKey, KnownLedger
from ledger.models import MergedEntry, Wallet
from ledger.models.base import EntryType

# Entries before and after the days of the file that its rows may be.
MARGIN = timedelta(5)
_KEYS = """
    SELECT digest, wallet_id, entry_id FROM account_import_key
    WHERE member_id = %(member)s AND freed_by IS NULL
        AND digest = ANY(%(digests)s::bytea[])
"""
_KEYED = """
    SELECT entry_id, wallet_id FROM account_import_key
    WHERE member_id = %(member)s AND freed_by IS NULL AND entry_id IS NOT NULL
"""
_LIVING = """
    SELECT id, wallet_id, to_wallet_id FROM account_entry
    WHERE member_id = %(member)s AND id = ANY(%(ids)s::bigint[])
"""
_ENTRIES = """
    WITH wanted AS (SELECT unnest(%(amounts)s::bigint[]) AS amount)
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
        e.memo, e.currency, e.original_amount
    FROM account_entry e
    WHERE e.member_id = %(member)s AND e.date BETWEEN %(start)s AND %(end)s
        AND e.line_count IS NOT NULL
        AND (
            e.amount IN (SELECT amount FROM wanted)
            OR e.currency = ANY(%(currencies)s)
            OR (e.source = 'BILL' AND e.type = 'transfer' AND e.line_count > 0)
        )
    ORDER BY e.date, e.id
"""
# The share of each card in bills that were paid for several.
_SHARES = """
    SELECT l.entry_id, l.wallet_id, l.amount
    FROM account_entry_line l
    JOIN account_entry e
        ON e.member_id = l.member_id AND e.id = l.entry_id AND e.source = 'BILL'
    WHERE l.member_id = %(member)s AND l.entry_id = ANY(%(ids)s::bigint[])
        AND l.wallet_id IS NOT NULL
"""


class _KeyRow(NamedTuple):
    digest: bytes
    wallet_id: int
    entry_id: int | None


class _Keyed(NamedTuple):
    entry_id: int
    wallet_id: int


class _Share(NamedTuple):
    entry_id: int
    wallet_id: int
    amount: int


class _Living(NamedTuple):
    id: int
    wallet_id: int | None
    to_wallet_id: int | None


def load_known(member: Member, rows: Sequence[JudgedRow]) -> KnownLedger:
    """Return the keys and entries that rows of these days and amounts may be."""
    if not rows:
        return KnownLedger()
    merged = _read_merged(member)
    bills = read_bills_of_cards(member)
    return KnownLedger(
        _read_keys(member, rows, merged),
        _read_entries(member, rows, merged, bills),
        bills,
    )


def _read_merged(member: Member) -> dict[int, int]:
    """Return the transfers that incomes have become part of, by their former id."""
    rows = MergedEntry.objects.owned_by(member).filter(type=EntryType.INCOME)
    return dict(rows.order_by().values_list("former_id", "entry_id"))


def _read_keys(
    member: Member, rows: Sequence[JudgedRow], merged: Mapping[int, int]
) -> dict[bytes, list[KnownKey]]:
    digests = [digest for row in rows for digest in row.digests]
    found = fetch_all(_KEYS, {"member": member.pk, "digests": digests}, _KeyRow)
    if not found:
        return {}
    ids = {merged.get(row.entry_id, row.entry_id) for row in found if row.entry_id}
    params = {"member": member.pk, "ids": format_ids(ids)}
    living = {each.id: each for each in fetch_all(_LIVING, params, _Living)}
    wallets = Wallet.objects.owned_by(member).order_by()
    own = {0, *wallets.values_list("id", flat=True)}
    keys: dict[bytes, list[KnownKey]] = defaultdict(list)
    for row in found:
        entry_id = row.entry_id and merged.get(row.entry_id, row.entry_id)
        entry = living.get(entry_id) if entry_id else None
        places = {row.wallet_id}
        is_moved = row.wallet_id not in own and entry is not None
        if entry is not None and is_moved:
            # The wallet was deleted, and its entries have moved.
            places |= {entry.wallet_id or 0, entry.to_wallet_id or 0}
        is_deleted = row.entry_id is not None and entry is None
        entry_id = entry and entry.id
        known = KnownKey(frozenset(places), entry_id, is_deleted, is_moved)
        keys[bytes(row.digest)].append(known)
    return keys


def _read_entries(
    member: Member,
    rows: Sequence[JudgedRow],
    merged: Mapping[int, int],
    bills: BillsOfCards,
) -> list[KnownEntry]:
    records = [row.record for row in rows]
    days = [record.date for record in records]
    params: dict[str, Any] = {
        "member": member.pk,
        "start": max(min(days), date.min + MARGIN) - MARGIN,
        "end": min(max(days), date.max - MARGIN) + MARGIN,
        "amounts": format_ids({each.amount for each in records if each.amount}),
        "currencies": list({each.currency for each in records if each.currency}),
    }
    found = fetch_all(_ENTRIES, params, KnownEntry)
    if not found:
        return []
    keyed: dict[int, list[int]] = defaultdict(list)
    for entry_id, wallet_id in fetch_all(_KEYED, {"member": member.pk}, _Keyed):
        keyed[merged.get(entry_id, entry_id)].append(wallet_id)
    shares = _read_shares(member, found)
    known = [each._replace(shares=shares.get(each.id, ())) for each in found]
    return [each._replace(keyed=_list_sides(each, keyed, bills)) for each in known]


def _read_shares(
    member: Member, entries: Iterable[KnownEntry]
) -> dict[int, list[tuple[int, int]]]:
    """Return wallets and amounts of the lines of bills that were paid, by entry."""
    ids = {
        each.id
        for each in entries
        if each.type == EntryType.TRANSFER and each.to_wallet_id is None
    }
    if not ids:
        return {}
    shares: dict[int, list[tuple[int, int]]] = defaultdict(list)
    params = {"member": member.pk, "ids": format_ids(ids)}
    for row in fetch_all(_SHARES, params, _Share):
        shares[row.entry_id].append((row.wallet_id, row.amount))
    return shares


def _list_sides(
    entry: KnownEntry, keyed: Mapping[int, Sequence[int]], bills: BillsOfCards
) -> Sequence[int]:
    """Return the wallets whose side of the entry a file has brought.

    An entry that has moved to another wallet since counts there.
    """
    places = keyed.get(entry.id)
    if places is None:
        return ()
    sides = [entry.wallet_id or 0, entry.to_wallet_id or 0]
    sides += [wallet_id for wallet_id, _ in entry.shares]
    # The statement of any card on a bill may have its payment.
    mains = {bills.main_of(card) for card in sides[1:] if card}
    on_bills = {card for main in mains for card in bills.list_cards(main)}
    if any(place not in sides and place not in on_bills for place in places):
        return sides
    return places
