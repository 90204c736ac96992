"""Typed-in values of wallets, with their history, and how transfers move them.

The last typed value of a wallet is also its `current_value`. A transfer into or out of
the wallet that is dated after it, or written after it on the same day, moves the value
with it (spec 3.2), so that money that is paid in is no loss until the next typing.
Other entries leave it alone.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from datetime import date, datetime
from typing import NamedTuple

from django.utils import timezone

from accounts.models import Member
from core.db.rows import fetch_all, prepared_cursor
from ledger.effects import BALANCE_CHANGE_SQL
from ledger.models import Valuation, Wallet

# What transfers move into the wallets of a condition, by day and time of writing.
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
"""  # noqa: S608 - of constants only
# What they have moved since the last typed value of a wallet; 0 where none was typed.
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
"""  # noqa: S608 - of constants only


def moved_since_sql(wallet: str) -> str:
    """Return an expression, with the wallet as a column of the query around it."""
    return _MOVED_SINCE.format(wallet=wallet, of_wallet=f"= {wallet}")


_TYPE_VALUE = """
    WITH typed AS (
        INSERT INTO account_valuation (member_id, wallet_id, date, value, written_at)
        VALUES (%(member)s, %(wallet)s, %(day)s, %(value)s, %(now)s)
        ON CONFLICT (member_id, wallet_id, date)
        DO UPDATE SET value = excluded.value, written_at = excluded.written_at
    )
    UPDATE account SET current_value = coalesce((
        SELECT v.value FROM account_valuation v
        WHERE v.member_id = %(member)s AND v.wallet_id = %(wallet)s
            AND v.date > %(day)s
        ORDER BY v.date DESC LIMIT 1
    ), %(value)s)
    WHERE member_id = %(member)s AND id = %(wallet)s
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
"""  # noqa: S608 - of constants only


class _HistoryRow(NamedTuple):
    """A typed value, what a transfer adds to one, or (no date) a wallet."""

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
    """The value of one wallet on each day."""

    def __init__(self, value: int, typed: list[_Step], transfers: list[_Step]) -> None:
        self._value = value
        self._typed = typed
        self._transfers = transfers

    def at(self, day: date) -> int:
        """Return the last typed value by this day, moved by transfers since then.

        Before the first typed value it is that one.
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
    """Return the histories, by wallet, of those whose typed-in value counts."""
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
    """Return the typed-in values of a wallet, oldest first."""
    rows = Valuation.objects.owned_by(member).filter(wallet_id=wallet_id)
    ordered: Iterable[Valuation] = rows.order_by("date")
    return ordered


def type_value(wallet: Wallet, value: int, day: date, now: datetime) -> None:
    """Store a value of a wallet; call under `lock_ledger`.

    The last one is its `current_value`.
    """
    params = {"member": wallet.member_id, "wallet": wallet.pk, "value": value}
    with prepared_cursor() as cursor:
        cursor.execute(_TYPE_VALUE, params | {"day": day, "now": now})


def type_value_today(wallet: Wallet, value: int, now: datetime) -> None:
    type_value(wallet, value, timezone.localdate(now), now)


def take_last_value(wallet: Wallet) -> None:
    """Set `current_value` to the last typed value; call under `lock_ledger`."""
    rows = Valuation.objects.owned_by(wallet.member).filter(wallet_id=wallet.pk)
    last = rows.order_by("-date").values_list("value", flat=True).first()
    wallet.current_value = last
    stored = Wallet.objects.filter(member_id=wallet.member_id, pk=wallet.pk)
    stored.update(current_value=last)
