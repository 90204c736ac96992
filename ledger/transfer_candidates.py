"""Pairs of an expense and an income that look like one transfer (spec 3.20)."""

from datetime import date, timedelta
from typing import NamedTuple

from accounts.models import Member
from core.db.rows import fetch_all

# From the day of the expense to that of the income.
MAX_DAYS = 4
# Until its last day, where a request names no first one.
CANDIDATE_PERIOD = timedelta(90)
# More are not compared; the nearest come first.
MAX_PAIRS = 10_000

_PAIRS = """
    SELECT o.id AS out_id, i.id AS in_id, o.amount, i.date - o.date AS days
    FROM account_entry o JOIN account_entry i
        ON i.member_id = o.member_id AND i.amount = o.amount
        AND i.date BETWEEN o.date AND o.date + %(days)s
    WHERE o.member_id = %(member)s AND o.date BETWEEN %(start)s AND %(end)s
        AND o.type = 'expense' AND i.type = 'income'
        AND o.wallet_id IS NOT NULL AND i.wallet_id IS NOT NULL
        AND o.wallet_id <> i.wallet_id
        AND o.line_count = 0 AND i.line_count = 0
        AND NOT o.is_reversal AND NOT i.is_reversal
        AND o.currency IS NULL AND i.currency IS NULL AND o.amount > 0
        AND i.refund_of_id IS NULL
        AND NOT EXISTS (
            SELECT FROM account_entry r
            WHERE r.member_id = o.member_id AND r.refund_of_id = o.id
        )
    ORDER BY days, o.date, o.id, i.id
    LIMIT %(limit)s
"""


class TransferCandidate(NamedTuple):
    """An expense and an income of equal amounts; `days` lie between them."""

    out_id: int
    in_id: int
    amount: int
    days: int


def list_transfer_candidates(
    member: Member, start: date, end: date
) -> list[TransferCandidate]:
    """Return pairs whose expense is in the range, nearest first.

    Each entry is in one pair only.
    """
    params = {"member": member.pk, "start": start, "end": end}
    params |= {"days": MAX_DAYS, "limit": MAX_PAIRS}
    used: set[int] = set()
    candidates = []
    for pair in fetch_all(_PAIRS, params, TransferCandidate):
        if pair.out_id not in used and pair.in_id not in used:
            used |= {pair.out_id, pair.in_id}
            candidates.append(pair)
    return candidates
