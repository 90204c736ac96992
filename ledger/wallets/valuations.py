"""Typed-in values of wallets (spec 3.2).

A transfer dated after the last typed value, or written after it on the same day,
changes the value: money paid in is no loss.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from datetime import date, datetime
from typing import NamedTuple

from accounts.models import Member
from core.db.rows import fetch_all, prepared_cursor
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.models import Valuation, Wallet
from ledger.rollups.effects import BALANCE_CHANGE_SQL

_TRANSFERS = f"""
    SELECT wallet_id, date, created_at, {BALANCE_CHANGE_SQL} AS change
    FROM account_entry
    WHERE member_id = %(member)s AND line_count = 0 AND to_wallet_id IS NOT NULL
        AND NOT pending AND wallet_id {{of_wallet}}
    UNION ALL
    SELECT to_wallet_id, date, created_at, -({BALANCE_CHANGE_SQL})
    FROM account_entry
    WHERE member_id = %(member)s AND NOT pending AND to_wallet_id {{of_wallet}}
    UNION ALL
    SELECT part.own_id, part.date, part.created_at, {BALANCE_CHANGE_SQL}
    FROM (
        SELECT e.wallet_id AS own_id, e.date, e.created_at, e.type, l.amount
        FROM account_entry e JOIN account_entry_line l
            ON l.member_id = e.member_id AND l.entry_id = e.id
        WHERE e.member_id = %(member)s AND e.line_count > 0 AND NOT e.pending
            AND l.wallet_id IS NOT NULL AND e.wallet_id {{of_wallet}}
    ) part
    UNION ALL
    SELECT part.other_id, part.date, part.created_at, -({BALANCE_CHANGE_SQL})
    FROM (
        SELECT l.wallet_id AS other_id, e.date, e.created_at, e.type, l.amount
        FROM account_entry_line l JOIN account_entry e
            ON e.member_id = l.member_id AND e.id = l.entry_id
        WHERE l.member_id = %(member)s AND NOT e.pending AND l.wallet_id {{of_wallet}}
    ) part
"""  # noqa: S608 - constants
# The sum of transfers since the last typed value; 0 without a typed value.
_MOVED_SINCE = f"""
    coalesce((
        SELECT sum(moved.change)
        FROM (
            SELECT date, written_at FROM account_valuation
            WHERE member_id = %(member)s AND wallet_id = {{wallet}}
            ORDER BY date DESC LIMIT 1
        ) typed, ({_TRANSFERS}) moved
        WHERE moved.date > typed.date
            OR (moved.date = typed.date AND moved.created_at > typed.written_at)
    ), 0)
"""  # noqa: S608 - constants


def moved_since_sql(wallet: str) -> str:
    """Return an expression; `wallet` is a column of the outer query."""
    return _MOVED_SINCE.format(wallet=wallet, of_wallet=f"= {wallet}")


_SET_VALUE = """
    WITH typed AS (
        INSERT INTO account_valuation (member_id, wallet_id, date, value, written_at)
        VALUES (%(member)s, %(wallet)s, %(day)s, %(value)s, %(now)s)
        ON CONFLICT (member_id, wallet_id, date)
        DO UPDATE SET value = excluded.value, written_at = excluded.written_at
    )
    UPDATE account SET current_value = last.value
    FROM (
        SELECT coalesce((
            SELECT v.value FROM account_valuation v
            WHERE v.member_id = %(member)s AND v.wallet_id = %(wallet)s
                AND v.date > %(day)s
            ORDER BY v.date DESC LIMIT 1
        ), %(value)s) AS value
    ) last
    WHERE member_id = %(member)s AND id = %(wallet)s
        AND current_value IS DISTINCT FROM last.value
"""
_IN_TYPED_WALLETS = """
    IN (
        SELECT id FROM account
        WHERE member_id = %(member)s AND manual_valuation
            AND current_value IS NOT NULL
    )
"""
_HISTORY = f"""
    SELECT w.id AS wallet_id, NULL::date AS date, NULL::timestamptz AS at,
        w.current_value AS value, false AS is_typed
    FROM account w
    WHERE w.member_id = %(member)s AND w.manual_valuation
        AND w.current_value IS NOT NULL
    UNION ALL
    SELECT v.wallet_id, v.date, v.written_at, v.value, true
    FROM account_valuation v
    WHERE v.member_id = %(member)s AND v.wallet_id {_IN_TYPED_WALLETS}
    UNION ALL
    SELECT moved.wallet_id, moved.date, moved.created_at, moved.change, false
    FROM ({_TRANSFERS.format(of_wallet=_IN_TYPED_WALLETS)}) moved
    ORDER BY date
"""  # noqa: S608 - constants


class _HistoryRow(NamedTuple):
    """A typed value, the change by a transfer, or without a date a wallet."""

    wallet_id: int
    date: date | None
    at: datetime | None
    value: int
    is_typed: bool


class _Step(NamedTuple):
    day: date
    at: datetime
    value: int


class ValueHistory:
    def __init__(self, value: int, typed: list[_Step], transfers: list[_Step]) -> None:
        self._value = value
        self._typed = typed
        self._transfers = transfers

    def at(self, day: date) -> int:
        """Return the last typed value by this day, changed by transfers since.

        The first typed value counts for all days before it.
        """
        if not self._typed:
            return self._value
        number = bisect_right(self._typed, day, key=lambda step: step.day)
        if number == 0:
            return self._typed[0].value
        last = self._typed[number - 1]
        return last.value + sum(
            step.value
            for step in self._transfers
            if step.day <= day and (step.day, step.at) > (last.day, last.at)
        )


def get_value_histories(member: Member) -> dict[int, ValueHistory]:
    params = {"member": member.pk}
    values: dict[int, int] = {}
    typed: dict[int, list[_Step]] = defaultdict(list)
    transfers: dict[int, list[_Step]] = defaultdict(list)
    for row in fetch_all(_HISTORY, params, _HistoryRow):
        if row.date is None or row.at is None:
            values[row.wallet_id] = row.value
            continue
        steps = typed if row.is_typed else transfers
        steps[row.wallet_id].append(_Step(row.date, row.at, row.value))
    return {
        wallet_id: ValueHistory(value, typed[wallet_id], transfers[wallet_id])
        for wallet_id, value in values.items()
    }


def list_valuations(member: Member, wallet_id: int) -> Iterable[Valuation]:
    rows = Valuation.objects.owned_by(member).filter(wallet_id=wallet_id)
    ordered: Iterable[Valuation] = rows.order_by("date")
    return ordered


@ledger_write
def set_valuation(
    ledger: LockedLedger, wallet_id: int, day: date, value: int, now: datetime
) -> None:
    """Store the value of a wallet on a day. The last one is its `current_value`."""
    params = {"member": ledger.member.pk, "wallet": wallet_id, "value": value}
    with prepared_cursor() as cursor:
        cursor.execute(_SET_VALUE, params | {"day": day, "now": now})


def refresh_current_value(ledger: LockedLedger, wallet_id: int) -> None:
    rows = Valuation.objects.owned_by(ledger.member).filter(wallet_id=wallet_id)
    last = rows.order_by("-date").values_list("value", flat=True).first()
    stored = Wallet.objects.owned_by(ledger.member).filter(pk=wallet_id)
    # What does not change keeps its version.
    stored.exclude(current_value=last).update(current_value=last)
