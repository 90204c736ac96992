"""Transfers to cards that may be the payment of a bill already (spec 3.30)."""

from collections.abc import Collection
from datetime import date
from typing import Any

from django.db import connection

from ledger.base.ledger_write import LockedLedger

_FIND = """
    SELECT EXISTS (
        SELECT FROM account_entry e
        WHERE e.member_id = %(member)s AND e.to_wallet_id = ANY(%(cards)s::bigint[])
            AND e.date >= %(since)s AND e.amount = %(amount)s {condition}
    ) OR EXISTS (
        SELECT FROM account_entry_line l
        JOIN account_entry e ON e.member_id = l.member_id AND e.id = l.entry_id
        WHERE l.member_id = %(member)s AND l.wallet_id = ANY(%(cards)s::bigint[])
            AND e.type = 'transfer' AND e.date >= %(since)s {condition}
        GROUP BY e.id HAVING sum(l.amount) = %(amount)s
    )
"""


def has_payment(
    ledger: LockedLedger, wallet_ids: Collection[int], amount: int, since: date
) -> bool:
    """Return True if a transfer of this amount lies on a day or later, pending or not.

    It goes to one of the wallets, or has lines for them that add up to the amount.
    """
    return _exists(ledger, wallet_ids, amount, since, "")


def has_pending_payment(
    ledger: LockedLedger, wallet_ids: Collection[int], amount: int, since: date
) -> bool:
    """Return True if such a transfer waits to be confirmed."""
    return _exists(ledger, wallet_ids, amount, since, "AND e.pending")


def _exists(
    ledger: LockedLedger,
    wallet_ids: Collection[int],
    amount: int,
    since: date,
    condition: str,
) -> bool:
    params: dict[str, Any] = {
        "member": ledger.member.pk,
        "cards": list(wallet_ids),
        "amount": amount,
        "since": since,
    }
    with connection.cursor() as cursor:
        cursor.execute(_FIND.format(condition=condition), params)
        (found,) = cursor.fetchone()
    return bool(found)
