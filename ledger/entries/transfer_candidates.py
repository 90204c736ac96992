"""Pairs of an expense and an income that look like one transfer (spec 3.20)."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import date, timedelta
from operator import attrgetter
from typing import Any, NamedTuple

from django.utils.translation import gettext

from accounts.models import Member
from core.db.rows import fetch_all
from core.errors import InvalidFieldError
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.base.quotas import require_room
from ledger.entry_shape import EXPENSE, INCOME
from ledger.models import DismissedTransfer, Entry

# From the day of the expense to the day of the income, nearest first. Banks date a
# credit before its debit over midnight.
DAYS = (0, 1, 2, 3, 4, -1)
# Until its last day, where a request names no first one.
CANDIDATE_PERIOD = timedelta(90)
# Pairs are found in memory.
MAX_CANDIDATE_DAYS = 400
# An expense may be larger by a fee of this share of the income.
MAX_FEE_PERCENT = 5
# Entries of one day that are compared with another one, so that the steps stay linear
# in the number of entries. Among more, none is taken for its only one.
MAX_COMPARED = 50

# Dismissed pairs of which nothing has changed since (contract C5).
DISMISSED_PAIRS = """(
    SELECT p.expense_id, p.income_id FROM account_dismissed_transfer p
    JOIN account_entry e ON e.member_id = p.member_id AND e.id = p.expense_id
    JOIN account_entry i ON i.member_id = p.member_id AND i.id = p.income_id
    WHERE p.member_id = %(member)s AND e.type = 'expense' AND i.type = 'income'
        AND (e.amount, e.date, e.wallet_id)
            = (p.expense_amount, p.expense_date, p.expense_wallet_id)
        AND (i.amount, i.date, i.wallet_id)
            = (p.income_amount, p.income_date, p.income_wallet_id)
)"""
_DISMISSED = f"SELECT expense_id, income_id FROM {DISMISSED_PAIRS} pairs"  # noqa: S608
_ENTRIES = """
    SELECT e.id, e.type, e.amount, e.date, e.wallet_id FROM account_entry e
    WHERE e.member_id = %(member)s AND e.date BETWEEN %(start)s AND %(end)s
        AND e.type IN ('expense', 'income') AND e.wallet_id IS NOT NULL
        AND e.line_count = 0 AND NOT e.is_reversal AND e.currency IS NULL
        AND e.amount > 0 AND e.refund_of_id IS NULL
        AND NOT EXISTS (
            SELECT FROM account_entry r
            WHERE r.member_id = e.member_id AND r.refund_of_id = e.id
        )
        AND NOT EXISTS (
            SELECT FROM account_entry_line l
            WHERE l.member_id = e.member_id AND l.refund_of_id = e.id
        )
    ORDER BY e.date, e.id
"""


class DismissedPair(NamedTuple):
    expense_id: int
    income_id: int


class FlatEntry(NamedTuple):
    """A flat entry of a wallet."""

    id: int
    type: str
    amount: int
    date: date
    wallet_id: int


class TransferCandidate(NamedTuple):
    """An expense and an income; `days` lie between them, -1 to 4.

    `amount` is the expense's, which is larger than the income by `fee`.
    """

    out_id: int
    in_id: int
    amount: int
    days: int
    fee: int


def list_transfer_candidates(
    member: Member, start: date, end: date
) -> list[TransferCandidate]:
    """Return pairs whose expense is in the range: equal amounts first, then nearest.

    Each entry is in one pair only.
    """
    # Expenses out of the range may have the same incomes, as may theirs.
    margin = timedelta(2 * max(DAYS))
    params = {
        "member": member.pk,
        "start": max(start, date.min + margin) - margin,
        "end": min(end, date.max - margin) + margin,
    }
    entries = fetch_all(_ENTRIES, params, FlatEntry)
    dismissed = fetch_all(_DISMISSED, params, DismissedPair)
    expenses = [entry for entry in entries if entry.type == "expense"]
    incomes = [entry for entry in entries if entry.type == "income"]
    in_range = {entry.id for entry in expenses if start <= entry.date <= end}
    pairs = pair_transfers(expenses, incomes, set(dismissed))
    return [pair for pair in pairs if pair.out_id in in_range]


@ledger_write
def dismiss_transfer(ledger: LockedLedger, expense_id: int, income_id: int) -> None:
    """Offer the two no more until amount, date or wallet of one changes.

    Raises `InvalidFieldError` unless they are an expense and an income with wallets.
    """
    expense = _get_half(ledger, expense_id, EXPENSE, "outId")
    income = _get_half(ledger, income_id, INCOME, "inId")
    pairs = DismissedTransfer.objects.owned_by(ledger.member)
    pairs.filter(expense=expense_id, income=income_id).delete()
    require_room(ledger, DismissedTransfer)
    DismissedTransfer.objects.create(
        member=ledger.member,
        **_snapshot("expense", expense),
        **_snapshot("income", income),
    )


@ledger_write
def restore_candidate(ledger: LockedLedger, expense_id: int, income_id: int) -> None:
    """Offer the two again, if they fit."""
    _get_half(ledger, expense_id, EXPENSE, "outId")
    _get_half(ledger, income_id, INCOME, "inId")
    pairs = DismissedTransfer.objects.owned_by(ledger.member)
    pairs.filter(expense=expense_id, income=income_id).delete()


def _snapshot(name: str, entry: Entry) -> dict[str, Any]:
    return {
        f"{name}_id": entry.pk,
        f"{name}_amount": entry.amount,
        f"{name}_date": entry.date,
        f"{name}_wallet_id": entry.wallet_id,
    }


def _get_half(ledger: LockedLedger, entry_id: int, type_: str, name: str) -> Entry:
    rows = Entry.objects.owned_by(ledger.member).filter(pk=entry_id, type=type_)
    entry: Entry | None = rows.exclude(wallet=None).first()
    if entry is None:
        detail = {
            EXPENSE: gettext("Must be an expense with a wallet."),
            INCOME: gettext("Must be an income with a wallet."),
        }
        raise InvalidFieldError(name, detail[type_], "does_not_exist")
    return entry


def pair_transfers(
    expenses: Sequence[FlatEntry],
    incomes: Sequence[FlatEntry],
    dismissed: Container[tuple[int, int]] = (),
) -> list[TransferCandidate]:
    """Pair expenses with incomes of other wallets, each at most once.

    Equal amounts come first, the nearest days before the others, and as many of the
    same two days as possible. Then come pairs with a fee, where each is the other's
    only one. Pairs that were dismissed are none. Both lists are ordered by date and id.
    The steps are linear in the number of entries, times the number of wallets.
    """
    pairs: list[TransferCandidate] = []
    for days in DAYS:
        found = _pair_equal(expenses, incomes, days, dismissed)
        pairs += [found[entry.id] for entry in expenses if entry.id in found]
        paired = {pair.in_id for pair in found.values()}
        expenses = [entry for entry in expenses if entry.id not in found]
        incomes = [entry for entry in incomes if entry.id not in paired]
    return pairs + _pair_with_fee(expenses, incomes, dismissed)


def _pair_equal(
    expenses: Iterable[FlatEntry],
    incomes: Sequence[FlatEntry],
    days: int,
    dismissed: Container[tuple[int, int]],
) -> dict[int, TransferCandidate]:
    """Pair entries of equal amounts that are `days` apart; return pairs by expense."""
    in_by_group: dict[tuple[int, int], dict[int, list[FlatEntry]]] = {}
    # Backwards, so that the first of a wallet is taken first.
    for entry in reversed(incomes):
        group = entry.amount, entry.date.toordinal()
        by_wallet = in_by_group.setdefault(group, defaultdict(list))
        by_wallet[entry.wallet_id].append(entry)
    out_by_group: dict[tuple[int, int], list[FlatEntry]] = defaultdict(list)
    for entry in expenses:
        group = entry.amount, entry.date.toordinal() + days
        if group in in_by_group:
            out_by_group[group].append(entry)
    pairs = {}
    for group, waiting in out_by_group.items():
        left = in_by_group[group]
        # Wallets with most entries on both sides are the hardest to pair.
        count = Counter({wallet: len(rows) for wallet, rows in left.items()})
        count.update(entry.wallet_id for entry in waiting)
        for entry in waiting:
            others = {
                wallet: found
                for wallet, rows in left.items()
                if wallet != entry.wallet_id
                and (found := _find_last(entry, rows, dismissed)) is not None
            }
            count[entry.wallet_id] -= 1
            if not others:
                continue
            wallet = max(
                others,
                key=lambda each: (count[each], -left[each][others[each]].id),
            )
            income = left[wallet].pop(others[wallet])
            count[wallet] -= 1
            if not left[wallet]:
                del left[wallet]
            pairs[entry.id] = _make_candidate(entry, income)
    return pairs


def _find_last(
    expense: FlatEntry, incomes: Sequence[FlatEntry], dismissed: Container[Any]
) -> int | None:
    """Return the index of the last income that was not dismissed with the expense."""
    for index in range(len(incomes) - 1, -1, -1):
        if (expense.id, incomes[index].id) not in dismissed:
            return index
    return None


def _pair_with_fee(
    expenses: Sequence[FlatEntry],
    incomes: Sequence[FlatEntry],
    dismissed: Container[Any],
) -> list[TransferCandidate]:
    """Pair entries each of which is the other's only one, nearest first."""
    in_by_date = _group_by_date(incomes)
    out_by_date = _group_by_date(expenses)
    out_of: dict[int, FlatEntry | None] = {}
    pairs = []
    for expense in expenses:
        least = -(-expense.amount * 100 // (100 + MAX_FEE_PERCENT))
        income = _find_only(
            expense, in_by_date, DAYS, least, expense.amount - 1, dismissed
        )
        if income is None:
            continue
        if income.id not in out_of:
            most = income.amount * (100 + MAX_FEE_PERCENT) // 100
            days = [-each for each in DAYS]
            out_of[income.id] = _find_only(
                income, out_by_date, days, income.amount + 1, most, dismissed
            )
        if out_of[income.id] == expense:
            pairs.append(_make_candidate(expense, income))
    # Stable: pairs of as many days stay in the order of their expenses.
    return sorted(pairs, key=lambda pair: DAYS.index(pair.days))


def _group_by_date(entries: Iterable[FlatEntry]) -> dict[int, list[FlatEntry]]:
    by_date: dict[int, list[FlatEntry]] = defaultdict(list)
    for entry in sorted(entries, key=attrgetter("amount")):
        by_date[entry.date.toordinal()].append(entry)
    return by_date


def _find_only(
    entry: FlatEntry,
    by_date: Mapping[int, Sequence[FlatEntry]],
    days: Iterable[int],
    least: int,
    most: int,
    dismissed: Container[Any],
) -> FlatEntry | None:
    """Return the only entry of another wallet on these days with such an amount."""
    only = None
    for each in days:
        rows = by_date.get(entry.date.toordinal() + each, ())
        first = bisect_left(rows, least, key=attrgetter("amount"))
        for number in range(first, len(rows)):
            other = rows[number]
            if other.amount > most:
                break
            if number - first >= MAX_COMPARED:
                return None
            pair = (entry, other) if entry.type == EXPENSE else (other, entry)
            is_dismissed = (pair[0].id, pair[1].id) in dismissed
            if other.wallet_id != entry.wallet_id and not is_dismissed:
                if only is not None:
                    return None
                only = other
    return only


def _make_candidate(expense: FlatEntry, income: FlatEntry) -> TransferCandidate:
    return TransferCandidate(
        out_id=expense.id,
        in_id=income.id,
        amount=expense.amount,
        days=(income.date - expense.date).days,
        fee=expense.amount - income.amount,
    )
