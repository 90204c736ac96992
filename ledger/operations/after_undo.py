"""Changes of other rows that an undo brings with it."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import date
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, connection
from django.db.models import F

from ledger.base.bulk_rows import format_ids
from ledger.base.ledger_write import LockedLedger
from ledger.base.operations import keep_entries
from ledger.entries.refunds import RATE_MARGIN
from ledger.entries.rows import stamp
from ledger.entry_shape import EXPENSE, MAX_TAGS_PER_ENTRY
from ledger.investments.trading import QuantityChange, find_first_negative_day
from ledger.models import (
    Entry,
    EntryLine,
    EntryTag,
    QuickEntry,
    QuickEntryTag,
    RecurringRule,
    RecurringTag,
    RowKind,
    Trade,
    Valuation,
)
from ledger.models.operations import NOTIFICATION
from ledger.moving.rebuild import release_refunds
from ledger.operations.snapshots import Table
from ledger.rollups.definitions import add_entries, without_triggers

# Expenses that refunds of these entries, or to them, refer to.
_REFUNDED = """
    SELECT refund_of_id FROM account_entry
    WHERE member_id = %(member)s AND refund_of_id = ANY(%(ids)s::bigint[])
    UNION SELECT refund_of_id FROM account_entry_line
    WHERE member_id = %(member)s AND refund_of_id = ANY(%(ids)s::bigint[])
    UNION SELECT refund_of_id FROM account_entry
    WHERE member_id = %(member)s AND id = ANY(%(ids)s::bigint[])
        AND refund_of_id IS NOT NULL
    UNION SELECT refund_of_id FROM account_entry_line
    WHERE member_id = %(member)s AND entry_id = ANY(%(ids)s::bigint[])
        AND refund_of_id IS NOT NULL
"""
_CHANGED_EXPENSES = """
    SELECT id FROM account_entry
    WHERE member_id = %(member)s AND version > %(operation)s
    UNION SELECT refund_of_id FROM account_entry
    WHERE member_id = %(member)s AND version > %(operation)s
        AND refund_of_id IS NOT NULL
    UNION SELECT l.refund_of_id
    FROM account_entry e JOIN account_entry_line l
        ON l.member_id = e.member_id AND l.entry_id = e.id
    WHERE e.member_id = %(member)s AND e.version > %(operation)s
        AND l.refund_of_id IS NOT NULL
"""
_OWNERS_OF_TAG = """
    SELECT DISTINCT link.{owner}
    FROM account_operation_row kept CROSS JOIN LATERAL
        jsonb_populate_recordset(NULL::{table}, kept.before -> '{part}') link
    JOIN {owners} r ON r.member_id = kept.member_id AND r.id = link.{owner}
    WHERE kept.member_id = %(member)s AND kept.operation_id = %(operation)s
        AND kept.kind = 'tag' AND kept.row_id = ANY(%(ids)s::bigint[])
        AND (
            SELECT count(*) FROM {table} t
            WHERE t.member_id = %(member)s AND t.{owner} = link.{owner}
        ) < %(most)s
"""
_GIVE_TAG_BACK = """
    INSERT INTO {table} (member_id, {owner}, tag_id, position)
    SELECT kept.member_id, link.{owner}, link.tag_id, link.position
    FROM account_operation_row kept CROSS JOIN LATERAL
        jsonb_populate_recordset(NULL::{table}, kept.before -> '{part}') link
    WHERE kept.member_id = %(member)s AND kept.operation_id = %(operation)s
        AND kept.kind = 'tag' AND kept.row_id = ANY(%(ids)s::bigint[])
        AND link.{owner} = ANY(%(owners)s::bigint[])
    ON CONFLICT DO NOTHING
"""
_RETURN_NOTIFICATIONS = """
    UPDATE account_notification n
    SET entry_id = (kept.before -> 'row' ->> 'entry_id')::bigint
    FROM account_operation_row kept
    WHERE kept.member_id = %(member)s AND kept.operation_id = %(operation)s
        AND kept.kind = %(kind)s
        AND (kept.before -> 'row' ->> 'entry_id')::bigint = ANY(%(entries)s::bigint[])
        AND n.member_id = kept.member_id AND n.id = kept.row_id
"""
_USERS: dict[str, tuple[tuple[Any, str], ...]] = {
    RowKind.TAG: (
        (EntryTag, "tag_id"),
        (QuickEntryTag, "tag_id"),
        (RecurringTag, "tag_id"),
    ),
    RowKind.WALLET: ((Valuation, "wallet_id"),),
    RowKind.STOCK: ((Trade, "stock_id"),),
}
_TAGGED: tuple[tuple[Any, Any, str, str], ...] = (
    (Entry, EntryTag, "entry_id", "entryLinks"),
    (QuickEntry, QuickEntryTag, "quick_entry_id", "quickEntryLinks"),
    (RecurringRule, RecurringTag, "rule_id", "ruleLinks"),
)


class UnfitTradeError(IntegrityError):
    """A trade does not fit those that were made since."""


def list_trade_days(
    ledger: LockedLedger, trade_ids: Iterable[int]
) -> list[tuple[int, date]]:
    """Return stock and day of trades."""
    trades = Trade.objects.owned_by(ledger.member).filter(pk__in=list(trade_ids))
    return list(trades.order_by().values_list("stock_id", "date"))


def require_holdings(ledger: LockedLedger, days: Iterable[tuple[int, date]]) -> None:
    """Raise `UnfitTradeError` if more is sold than held from one of the days on."""
    for stock_id, day in days:
        change = QuantityChange(stock_id, day, Decimal(0))
        if find_first_negative_day(ledger.member, stock_id, [change]) is not None:
            raise UnfitTradeError


def find_used(ledger: LockedLedger, table: Table, ids: Iterable[int]) -> set[int]:
    """Return the rows that others use, and that would take these with them."""
    used: set[int] = set()
    for model, column in _USERS.get(table.kind, ()):
        rows = model.objects.owned_by(ledger.member)
        found = rows.filter(**{f"{column}__in": list(ids)}).order_by()
        used.update(found.values_list(column, flat=True))
    return used


def unlink_refunds(ledger: LockedLedger, expense_ids: Sequence[int]) -> None:
    """Let the refunds of entries that are removed stand alone."""
    entries = Entry.objects.owned_by(ledger.member)
    entries.filter(refund_of__in=expense_ids).update(refund_of=None)
    lines = EntryLine.objects.owned_by(ledger.member)
    lines = lines.filter(refund_of__in=expense_ids).order_by()
    owners = list(lines.values_list("entry_id", flat=True).distinct())
    lines.update(refund_of=None)
    stamp(ledger, owners)


def list_changed_expenses(ledger: LockedLedger, operation_id: int) -> set[int]:
    """Return the expenses that were written after an operation, or their refunds.

    All others have the refunds that they had before it.
    """
    params = {"member": ledger.member.pk, "operation": operation_id}
    with connection.cursor() as cursor:
        cursor.execute(_CHANGED_EXPENSES, params)
        return {expense_id for (expense_id,) in cursor.fetchall()}


def release_lost_refunds(
    ledger: LockedLedger, entry_ids: Iterable[int], changed: Collection[int]
) -> None:
    """Release the refunds of `changed` expenses that are less, or none, by now."""
    params: dict[str, Any] = {
        "member": ledger.member.pk,
        "ids": format_ids(entry_ids),
    }
    with connection.cursor() as cursor:
        cursor.execute(_REFUNDED, params)
        ids = [each for (each,) in cursor.fetchall() if each in changed]
    if ids:
        rows = Entry.objects.owned_by(ledger.member).filter(pk__in=ids).order_by()
        amounts = {
            row.pk: 0
            if row.type != EXPENSE
            # Rates differ from day to day.
            else int(row.amount * (RATE_MARGIN if row.currency else 1))
            for row in rows
        }
        release_refunds(ledger.member, amounts)


def give_tags_back(
    ledger: LockedLedger, operation_id: int, tag_ids: Iterable[int]
) -> None:
    """Attach restored tags to the rows that had them, as far as these have room.

    Those rows get a new version: clients have taken the tag off them.
    """
    params: dict[str, Any] = {
        "member": ledger.member.pk,
        "operation": operation_id,
        "ids": format_ids(tag_ids),
        "most": MAX_TAGS_PER_ENTRY,
    }
    for model, links, owner, part in _TAGGED:
        names = {"table": links._meta.db_table, "owner": owner, "part": part}
        with connection.cursor() as cursor:
            sql = _OWNERS_OF_TAG.format(owners=model._meta.db_table, **names)
            cursor.execute(sql, params)
            owners = [row_id for (row_id,) in cursor.fetchall()]
        if not owners:
            continue
        total = {"account_tag_total"} if model is Entry else set()
        rows = model.objects.owned_by(ledger.member).filter(pk__in=owners)
        entries = owners if model is Entry else []
        with keep_many(ledger, entries), without_triggers():
            add_entries(ledger, entries, sign=-1, tables=total)
            given = params | {"owners": format_ids(owners)}
            with connection.cursor() as cursor:
                cursor.execute(_GIVE_TAG_BACK.format(**names), given)
            add_entries(ledger, entries, tables=total)
            rows.update(version=F("version"))


def keep_many(
    ledger: LockedLedger, entry_ids: Collection[int]
) -> AbstractContextManager[None]:
    """Keep entries together, if there are any; else rows are kept one by one."""
    if not entry_ids:
        return nullcontext()
    return keep_entries(ledger.member.pk, changed=entry_ids)


def return_notifications(
    ledger: LockedLedger, operation_id: int, entry_ids: Iterable[int]
) -> None:
    """Attach notifications to these entries again, which had them before."""
    params: dict[str, Any] = {
        "member": ledger.member.pk,
        "operation": operation_id,
        "kind": NOTIFICATION,
        "entries": format_ids(entry_ids),
    }
    with connection.cursor() as cursor:
        cursor.execute(_RETURN_NOTIFICATIONS, params)
