"""The entries that move a wallet, with its balance after each, and reconciling it."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

import orjson
from django.db import transaction
from django.utils.translation import gettext

from accounts.models import Member
from core.api.fields import MAX_AMOUNT
from core.db.rows import fetch_all
from core.db.transactions import retry_on_conflict
from core.errors import InvalidFieldError
from ledger.effects import BALANCE_CHANGE_SQL
from ledger.entries import create_entry
from ledger.entry_data import EntryData
from ledger.entry_list import list_payloads
from ledger.locking import lock_ledger
from ledger.models import Entry, Wallet
from ledger.models.base import EntryType
from ledger.moves import raise_if_moving
from ledger.ownership import get_owned_or_404
from ledger.valuations import get_value_histories, type_value
from ledger.wallets import get_wallet, list_wallets

# What confirmed entries add to one wallet in a range of days.
_MOVES = f"""
    SELECT id, date, sum({BALANCE_CHANGE_SQL}) AS change FROM (
        SELECT id, date, type, amount FROM account_entry
        WHERE member_id = %(member)s AND wallet_id = %(wallet)s AND NOT pending
            AND line_count IS NOT NULL AND date BETWEEN %(since)s AND %(until)s
        UNION ALL
        SELECT id, date, type, -amount FROM account_entry
        WHERE member_id = %(member)s AND to_wallet_id = %(wallet)s AND NOT pending
            AND date BETWEEN %(since)s AND %(until)s
        UNION ALL
        SELECT e.id, e.date, e.type, -l.amount
        FROM account_entry_line l JOIN account_entry e
            ON e.member_id = l.member_id AND e.id = l.entry_id
        WHERE l.member_id = %(member)s AND l.wallet_id = %(wallet)s AND NOT e.pending
            AND e.line_count > 0 AND e.date BETWEEN %(since)s AND %(until)s
    ) part
    GROUP BY id, date
"""  # noqa: S608 - of constants only
_AFTER_KEY = """
    (%(after_date)s::date IS NULL
        OR (date, id) > (%(after_date)s::date, %(after_id)s::bigint))
"""
_PAGE = f"""
    SELECT id, date, change, balance_after FROM (
        SELECT id, date, change, (
            w.opening_balance + coalesce(before.earlier, 0)
            + sum(moves.change) OVER (ORDER BY date, id)
        )::bigint AS balance_after
        FROM ({_MOVES}) moves, (
            SELECT opening_balance FROM account
            WHERE member_id = %(member)s AND id = %(wallet)s
        ) w, (
            SELECT sum(wallet_change) AS earlier FROM account_wallet_month_total
            WHERE member_id = %(member)s AND wallet_id = %(wallet)s
                AND month < %(since)s
        ) before
    ) balances
    WHERE {_AFTER_KEY} AND date BETWEEN %(start)s AND %(end)s
    ORDER BY date, id LIMIT %(limit)s
"""  # noqa: S608 - of constants only
# The day of the last entry of a page. Each part is read in the order of its index, so
# that a page costs the same however many entries follow.
_LAST_DAY = f"""
    SELECT max(date) AS day FROM (
        SELECT date, id FROM (
            (
                SELECT date, id FROM account_entry
                WHERE member_id = %(member)s AND wallet_id = %(wallet)s AND NOT pending
                    AND line_count IS NOT NULL AND {_AFTER_KEY}
                    AND date BETWEEN %(from)s AND %(end)s
                ORDER BY date, id LIMIT %(limit)s
            ) UNION (
                SELECT date, id FROM account_entry
                WHERE member_id = %(member)s AND to_wallet_id = %(wallet)s
                    AND NOT pending AND {_AFTER_KEY}
                    AND date BETWEEN %(from)s AND %(end)s
                ORDER BY date, id LIMIT %(limit)s
            ) UNION (
                SELECT e.date, e.id
                FROM account_entry_line l JOIN account_entry e
                    ON e.member_id = l.member_id AND e.id = l.entry_id
                WHERE l.member_id = %(member)s AND l.wallet_id = %(wallet)s
                    AND NOT e.pending AND e.line_count > 0
                    AND e.date BETWEEN %(from)s AND %(end)s
            )
        ) found
        WHERE {_AFTER_KEY} ORDER BY date, id LIMIT %(limit)s
    ) page
"""  # noqa: S608 - of constants only
_SUM_AFTER = f"""
    SELECT coalesce(sum(change), 0)::bigint AS change
    FROM ({_MOVES}) moves WHERE date > %(day)s
"""  # noqa: S608 - of constants only


class HistoryKey(NamedTuple):
    """The last row of a page."""

    day: date
    entry_id: int


class _Move(NamedTuple):
    id: int
    date: date
    change: int
    balance_after: int


class _Sum(NamedTuple):
    change: int


class _Day(NamedTuple):
    day: date | None


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Rows as JSON objects; `next` is the key of the last one, if more follow."""

    rows: list[dict[str, Any]]
    next: HistoryKey | None


def list_history(
    member: Member,
    wallet_id: int,
    start: date,
    end: date,
    after: HistoryKey | None,
    size: int,
) -> HistoryPage:
    """Return the entries that move a wallet, oldest first, after a key.

    Each has `change` and `balanceAfter`; the last of all equals the balance. Totals by
    month stand for what was before.
    """
    get_wallet(member, wallet_id)
    since = max(start, after.day) if after else start
    params = {
        "member": member.pk,
        "wallet": wallet_id,
        "from": since,
        "since": since.replace(day=1),
        "start": start,
        "end": end,
        "after_date": after and after.day,
        "after_id": after.entry_id if after else 0,
        "limit": size + 1,
    }
    (last,) = fetch_all(_LAST_DAY, params, _Day)
    if last.day is None:
        return HistoryPage([], None)
    found = fetch_all(_PAGE, params | {"until": last.day}, _Move)
    moves = found[:size]
    payloads = list_payloads(member, [move.id for move in moves])
    rows = [
        orjson.loads(payloads[move.id])
        | {"change": move.change, "balanceAfter": move.balance_after}
        for move in moves
    ]
    has_more = len(found) > size
    return HistoryPage(
        rows, HistoryKey(moves[-1].date, moves[-1].id) if has_more else None
    )


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The balance before, what it lacked, and the entry that adds it."""

    before: int
    difference: int
    entry_id: int | None


@retry_on_conflict
def reconcile(
    member: Member,
    wallet_id: int,
    day: date,
    balance: int,
    now: datetime,
    *,
    dry_run: bool = False,
) -> Reconciliation:
    """Make the balance at the end of a day what it should be.

    An excluded entry of that day adds what is missing; a wallet with a manual valuation
    gets a typed-in value instead. A dry run writes nothing. Raises `InvalidFieldError`
    if an entry cannot hold the difference.
    """
    with transaction.atomic():
        lock_ledger(member)
        wallet: Wallet = get_owned_or_404(list_wallets(member), member, wallet_id)
        raise_if_moving(wallet)
        if wallet.manual_valuation and wallet.current_value is not None:
            return _reconcile_value(member, wallet, day, balance, now, dry_run=dry_run)
        before = _balance_at(member, wallet, day)
        difference = balance - before
        if abs(difference) > MAX_AMOUNT and not wallet.manual_valuation:
            detail = gettext(
                "Differs from the balance of that day by more than {limit}."
            )
            raise InvalidFieldError(
                "balance", detail.format(limit=f"{MAX_AMOUNT:,}"), "max_value"
            )
        if dry_run or not difference:
            return Reconciliation(before, difference, None)
        if wallet.manual_valuation:
            type_value(wallet, balance, day, now)
            return Reconciliation(before, difference, None)
        type_ = EntryType.INCOME if difference > 0 else EntryType.EXPENSE
        data = EntryData(
            date=day,
            type=type_.value,
            amount=abs(difference),
            wallet=wallet,
            excluded=True,
            source=Entry.Source.ADJUSTMENT.value,
        )
        return Reconciliation(before, difference, create_entry(member, data, now))


def _reconcile_value(
    member: Member,
    wallet: Wallet,
    day: date,
    balance: int,
    now: datetime,
    *,
    dry_run: bool,
) -> Reconciliation:
    histories = get_value_histories(member)
    before = histories[wallet.pk].at(day)
    if not dry_run and before != balance:
        type_value(wallet, balance, day, now)
    return Reconciliation(before, balance - before, None)


def _balance_at(member: Member, wallet: Any, day: date) -> int:
    """Return the balance at the end of a day."""
    params = {"member": member.pk, "wallet": wallet.pk, "since": day, "day": day}
    params["until"] = date.max
    (after,) = fetch_all(_SUM_AFTER, params, _Sum)
    balance: int = wallet.balance
    return balance - after.change
