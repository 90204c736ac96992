"""Entries of imported files that a notification announces once more (spec 3.29)."""

from dataclasses import replace
from datetime import datetime, time
from typing import Any, NamedTuple

from core.db.rows import fetch_one
from ledger.base.ledger_write import LockedLedger
from ledger.entry_shape import EntryShape
from ledger.models import Entry
from ledger.notifications.compare import MAX_TIME_DIFFERENCE
from ledger.notifications.plan import Action, CreateEntry, Plan

# As an import takes a row for a typed-in entry.
MAX_DAYS = 3
_FIND = """
    SELECT e.id, e.time FROM account_entry e
    JOIN account_import_key k
        ON k.member_id = e.member_id AND k.entry_id = e.id
        AND k.wallet_id IS DISTINCT FROM e.to_wallet_id AND k.freed_by IS NULL
    WHERE e.member_id = %(member)s AND e.wallet_id = %(wallet)s AND e.type = %(type)s
        AND e.date BETWEEN %(date)s::date - %(days)s AND %(date)s::date + %(days)s
        AND (
            e.time IS NULL OR %(time)s::time IS NULL
            OR abs(extract(epoch FROM (e.date + e.time)
                - (%(date)s::date + %(time)s::time))) <= %(seconds)s
        )
        AND e.to_wallet_id IS NOT DISTINCT FROM %(to_wallet)s
        AND CASE WHEN %(currency)s::text IS NULL THEN e.amount = %(amount)s
            ELSE (e.currency, e.original_amount) = (%(currency)s, %(original)s) END
        AND NOT EXISTS (
            SELECT FROM account_notification n
            WHERE n.member_id = e.member_id AND n.entry_id = e.id
        )
    ORDER BY abs(e.date - %(date)s::date), e.id LIMIT 1
"""


class _Found(NamedTuple):
    id: int
    time: time | None


def adopt_imported(ledger: LockedLedger, plan: Plan, now: datetime) -> tuple[Plan, int]:
    """Let a plan make no second entry of a payment that a file has brought.

    Returns the plan, and the id of the entry that stands for its new one; 0 for none.
    It is found by wallet, amount and day, and gets the time of the text if it has none.
    """
    shapes = [step.shape for step in plan.steps if isinstance(step, CreateEntry)]
    is_new = plan.action in (Action.CREATED, Action.REFUND_PENDING)
    if not is_new or len(shapes) != 1 or plan.replaced_entry_id is not None:
        return plan, 0
    shape = shapes[0]
    found = _find(ledger, shape)
    if found is None:
        return plan, 0
    merged: tuple[str, ...] = ()
    if found.time is None and shape.time is not None:
        rows = Entry.objects.owned_by(ledger.member).filter(pk=found.id)
        rows.update(time=shape.time, updated_at=now)
        merged = ("time",)
    steps = [step for step in plan.steps if not isinstance(step, CreateEntry)]
    adopted = replace(plan, action=Action.DUPLICATE, steps=steps, merged=merged)
    return adopted, found.id


def _find(ledger: LockedLedger, shape: EntryShape) -> _Found | None:
    if not isinstance(shape.wallet, int) or shape.date is None:
        return None
    params: dict[str, Any] = {
        "member": ledger.member.pk,
        "wallet": shape.wallet,
        "to_wallet": shape.to_wallet,
        "type": shape.type,
        "date": shape.date,
        "days": MAX_DAYS,
        "time": shape.time,
        "seconds": MAX_TIME_DIFFERENCE.total_seconds(),
        "amount": shape.amount,
        "currency": shape.currency,
        "original": shape.original_amount,
    }
    return fetch_one(_FIND, params, _Found)
