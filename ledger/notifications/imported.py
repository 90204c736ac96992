"""Entries that a notification announces once more (spec 3.29, 4.12).

They are of imported files, or payments of card bills.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time
from typing import Any, NamedTuple

from core.db.rows import fetch_one
from ledger.base.ledger_write import LockedLedger
from ledger.entry_shape import EntryShape
from ledger.models import Entry
from ledger.notifications.compare import MAX_TIME_DIFFERENCE
from ledger.notifications.plan import Action, CreateEntry, Plan, StoreRow

# As an import takes a row for a typed-in entry.
MAX_DAYS = 3
_OF_NO_TEXT = """
    NOT EXISTS (
        SELECT FROM account_notification n
        WHERE n.member_id = e.member_id AND n.entry_id = e.id
    )
"""
_NEAR = """
    e.date BETWEEN %(date)s::date - %(days)s AND %(date)s::date + %(days)s
"""
_SAME_TIME = """(
    e.time IS NULL OR %(time)s::time IS NULL
    OR abs(extract(epoch FROM (e.date + e.time)
        - (%(date)s::date + %(time)s::time))) <= %(seconds)s
)"""
_NEAREST = "ORDER BY abs(e.date - %(date)s::date), e.id LIMIT 1"
_FIND_IMPORTED = f"""
    SELECT e.id, e.date, e.time FROM account_entry e
    JOIN account_import_key k
        ON k.member_id = e.member_id AND k.entry_id = e.id
        AND k.wallet_id IS DISTINCT FROM e.to_wallet_id AND k.freed_by IS NULL
    WHERE e.member_id = %(member)s AND e.wallet_id = %(wallet)s AND e.type = %(type)s
        AND {_NEAR} AND {_SAME_TIME}
        AND e.to_wallet_id IS NOT DISTINCT FROM %(to_wallet)s
        AND CASE WHEN %(currency)s::text IS NULL THEN e.amount = %(amount)s
            ELSE (e.currency, e.original_amount) = (%(currency)s, %(original)s) END
        AND {_OF_NO_TEXT}
    {_NEAREST}
"""  # noqa: S608 - constants
# The time of an entry is exact if it comes from the row of the bank.
_FIND_PAYMENT = f"""
    SELECT e.id, e.date, e.time FROM account_entry e
    WHERE e.member_id = %(member)s AND e.wallet_id = %(wallet)s
        AND e.type = 'transfer' AND e.source = 'BILL' AND NOT e.pending
        AND e.amount = %(amount)s AND {_NEAR}
        AND ({_SAME_TIME} OR NOT EXISTS (
            SELECT FROM account_import_key k
            WHERE k.member_id = e.member_id AND k.entry_id = e.id
                AND k.wallet_id = e.wallet_id AND k.freed_by IS NULL
        ))
        AND (e.to_wallet_id = ANY(%(cards)s::bigint[]) OR EXISTS (
            SELECT FROM account_entry_line l
            WHERE l.member_id = e.member_id AND l.entry_id = e.id
                AND l.wallet_id = ANY(%(cards)s::bigint[])
        ))
        AND {_OF_NO_TEXT}
    {_NEAREST}
"""  # noqa: S608 - constants


class _Found(NamedTuple):
    id: int
    date: date
    time: time | None


def adopt_entry(
    ledger: LockedLedger, plan: Plan, bill_cards: Sequence[int], now: datetime
) -> tuple[Plan, int]:
    """Let a plan make no second entry of a payment that the ledger has.

    `bill_cards` are those whose bill the text may tell. Returns the plan, and the id of
    the entry that stands for its new one; 0 for none.
    """
    adopted, entry_id = adopt_payment(ledger, plan, bill_cards, now)
    return (adopted, entry_id) if entry_id else adopt_imported(ledger, plan, now)


def adopt_imported(ledger: LockedLedger, plan: Plan, now: datetime) -> tuple[Plan, int]:
    """Let a plan make no second entry of a payment that a file has brought.

    It is found by wallet, amount and day, and gets the time of the text if it has none.
    """
    shape = _get_new_entry(plan)
    if shape is None:
        return plan, 0
    params = {
        "to_wallet": shape.to_wallet,
        "type": shape.type,
        "currency": shape.currency,
        "original": shape.original_amount,
    }
    found = _find(ledger, _FIND_IMPORTED, shape, params)
    return (plan, 0) if found is None else _adopt(ledger, plan, shape, found, now)


def adopt_payment(
    ledger: LockedLedger, plan: Plan, cards: Sequence[int], now: datetime
) -> tuple[Plan, int]:
    """Let the text of a card's bill make no second transfer beside its payment.

    The payment is a confirmed transfer of source BILL to one of the cards, or with
    lines for several. It takes the time of the text where the days are equal.
    """
    shape = _get_new_entry(plan)
    if shape is None or not cards or plan.action is not Action.CREATED:
        return plan, 0
    found = _find(ledger, _FIND_PAYMENT, shape, {"cards": list(cards)})
    if found is None:
        return plan, 0
    if found.date != shape.date:
        shape = replace(shape, time=None)
    steps = [
        replace(step, is_own_move=True, awaits_counterpart=False)
        if isinstance(step, StoreRow)
        else step
        for step in plan.steps
    ]
    return _adopt(ledger, replace(plan, steps=steps), shape, found, now)


def _get_new_entry(plan: Plan) -> EntryShape | None:
    """Return the only entry that a plan makes, if it replaces none."""
    shapes = [step.shape for step in plan.steps if isinstance(step, CreateEntry)]
    is_new = plan.action in (Action.CREATED, Action.REFUND_PENDING)
    if not is_new or len(shapes) != 1 or plan.replaced_entry_id is not None:
        return None
    return shapes[0]


def _find(
    ledger: LockedLedger, sql: str, shape: EntryShape, more: dict[str, Any]
) -> _Found | None:
    if not isinstance(shape.wallet, int) or shape.date is None:
        return None
    params: dict[str, Any] = {
        "member": ledger.member.pk,
        "wallet": shape.wallet,
        "date": shape.date,
        "days": MAX_DAYS,
        "time": shape.time,
        "seconds": MAX_TIME_DIFFERENCE.total_seconds(),
        "amount": shape.amount,
    }
    return fetch_one(sql, params | more, _Found)


def _adopt(
    ledger: LockedLedger, plan: Plan, shape: EntryShape, found: _Found, now: datetime
) -> tuple[Plan, int]:
    merged: tuple[str, ...] = ()
    if found.time is None and shape.time is not None:
        rows = Entry.objects.owned_by(ledger.member).filter(pk=found.id)
        rows.update(time=shape.time, updated_at=now)
        merged = ("time",)
    # The entry is confirmed: nothing is learned from its text, and nothing doubted.
    steps = [
        replace(step, text=None, sender=None, doubts=None, is_confirmed=True)
        if isinstance(step, StoreRow)
        else step
        for step in plan.steps
        if not isinstance(step, CreateEntry)
    ]
    adopted = replace(plan, action=Action.DUPLICATE, steps=steps, merged=merged)
    return adopted, found.id
