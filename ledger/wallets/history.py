"""History and reconciliation of a wallet."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

import orjson
from django.utils import timezone
from django.utils.translation import gettext

from accounts.models import Member
from core.api.fields import MAX_AMOUNT
from core.api.pagination import DayKey
from core.db.rows import fetch_all
from core.errors import InvalidFieldError
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.entries.listing import list_payloads
from ledger.entries.writing import create_entry
from ledger.entry_shape import EXPENSE, INCOME, EntryShape
from ledger.models import Entry
from ledger.rollups.effects import BALANCE_CHANGE_SQL
from ledger.wallets.valuations import get_value_histories, set_valuation
from ledger.wallets.wallets import get_wallet

# Changes of one wallet by confirmed entries in a range of days.
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
"""  # noqa: S608 - constants
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
"""  # noqa: S608 - constants
# The day of the last entry of a page. Each part is read in the order of its index: a
# page costs the same however many entries follow.
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
"""  # noqa: S608 - constants
_FIRST_DAY = """
    SELECT least(
        (
            SELECT min(date) FROM account_entry
            WHERE member_id = %(member)s AND wallet_id = %(wallet)s
        ), (
            SELECT min(date) FROM account_entry
            WHERE member_id = %(member)s AND to_wallet_id = %(wallet)s
        ), (
            SELECT min(e.date)
            FROM account_entry_line l JOIN account_entry e
                ON e.member_id = l.member_id AND e.id = l.entry_id
            WHERE l.member_id = %(member)s AND l.wallet_id = %(wallet)s
        )
    ) AS day
"""
_SUM_AFTER = f"""
    SELECT coalesce(sum(change), 0)::bigint AS change
    FROM ({_MOVES}) moves WHERE date > %(day)s
"""  # noqa: S608 - constants


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
    """Rows as JSON; `next` is the key of the last row if more follow."""

    rows: list[dict[str, Any]]
    next: DayKey | None


def list_history(
    member: Member,
    wallet_id: int,
    start: date,
    end: date,
    after: DayKey | None,
    size: int,
) -> HistoryPage:
    """List the entries that change a wallet, oldest first, after a key.

    Each has `change` and `balanceAfter`. Rollups by month give the balance before.
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
        "after_id": after.row_id if after else 0,
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
    return HistoryPage(rows, DayKey(moves[-1].date, moves[-1].id) if has_more else None)


@dataclass(frozen=True, slots=True)
class Reconciliation:
    before: int
    difference: int
    entry_id: int | None


@ledger_write
def reconcile(
    ledger: LockedLedger,
    wallet_id: int,
    day: date,
    balance: int,
    now: datetime,
    *,
    dry_run: bool = False,
) -> Reconciliation:
    """Correct the balance at the end of a day by an excluded entry of that day.

    A wallet with a manual valuation gets a typed-in value instead. Raises
    `InvalidFieldError` for a day before the wallet or after today, and if an entry
    cannot hold the difference.
    """
    member = ledger.member
    wallet = get_wallet(member, wallet_id)
    _check_day(member, wallet, day, now)
    if wallet.manual_valuation and wallet.current_value is not None:
        before = get_value_histories(member)[wallet_id].at(day)
    else:
        before = balance_at(member, wallet, day)
    difference = balance - before
    if abs(difference) > MAX_AMOUNT and not wallet.manual_valuation:
        detail = gettext("Differs from the balance of that day by more than {limit}.")
        raise InvalidFieldError(
            "balance", detail.format(limit=f"{MAX_AMOUNT:,}"), "max_value"
        )
    if dry_run or not difference:
        return Reconciliation(before, difference, None)
    if wallet.manual_valuation:
        set_valuation.within(ledger, wallet_id, day, balance, now)
        return Reconciliation(before, difference, None)
    shape = EntryShape(
        date=day,
        type=INCOME if difference > 0 else EXPENSE,
        amount=abs(difference),
        wallet=wallet_id,
        excluded=True,
        source=Entry.Source.ADJUSTMENT.value,
    )
    entry_id = create_entry.within(ledger, shape, now)
    return Reconciliation(before, difference, entry_id)


def _check_day(member: Member, wallet: Any, day: date, now: datetime) -> None:
    if day > timezone.localdate(now):
        raise InvalidFieldError("date", gettext("Must not be after today."))
    params = {"member": member.pk, "wallet": wallet.pk}
    (entries,) = fetch_all(_FIRST_DAY, params, _Day)
    made = wallet.created_at and timezone.localdate(wallet.created_at)
    days = [each for each in (entries.day, made) if each is not None]
    if days and day < min(days):
        detail = gettext("Must not be before the wallet and its first entry.")
        raise InvalidFieldError("date", detail)


def balance_at(member: Member, wallet: Any, day: date) -> int:
    params = {"member": member.pk, "wallet": wallet.pk, "since": day, "day": day}
    params["until"] = date.max
    (after,) = fetch_all(_SUM_AFTER, params, _Sum)
    balance: int = wallet.balance
    return balance - after.change
