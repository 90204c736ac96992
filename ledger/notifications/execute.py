"""Steps of a plan that write."""

from dataclasses import fields, replace
from datetime import datetime

import orjson

from core.db.rows import prepared_cursor
from ledger.base.ledger_write import LockedLedger
from ledger.entries.amounts import estimate_amounts
from ledger.entries.facts import get_entry, read_original
from ledger.entries.merges import unmerge_entry
from ledger.entries.refunds import link_refund
from ledger.entries.writing import insert_entry
from ledger.entry_shape import EXPENSE, TRANSFER
from ledger.errors import MissingWalletError
from ledger.models import Category, Entry, Notification, Wallet
from ledger.notifications.category_suggestion import suggest_category
from ledger.notifications.message import Fingerprint
from ledger.notifications.plan import (
    NEW,
    CompleteEntry,
    CreateEntry,
    StoreRow,
    UpdateRows,
)

_FINGERPRINT = [field.name for field in fields(Fingerprint)]
_ROW = [field.name for field in fields(StoreRow) if field.name != "fingerprint"]
_COLUMNS = [*_ROW, *_FINGERPRINT]
_STORE_ROW = f"""
    INSERT INTO account_notification (member_id, notif_key, {", ".join(_COLUMNS)})
    VALUES (%(member)s, %(key)s, {", ".join(f"%({name})s" for name in _COLUMNS)})
"""  # noqa: S608 - constants


def create_pending_entry(ledger: LockedLedger, step: CreateEntry, now: datetime) -> int:
    """Return the id of the new entry; raise `MissingWalletError`."""
    shape = estimate_amounts(step.shape, ledger.rates)
    if step.refund_of is not None:
        expense = get_entry(ledger, step.refund_of)
        shape = link_refund(shape, read_original(ledger, expense))
    shape = shape.with_category_types()
    if shape.type != TRANSFER and shape.category is None and not shape.lines:
        type_ = shape.category_type or EXPENSE
        category = suggest_category(ledger.member, type_, shape.memo)
        shape = replace(shape, category=category)
    if shape.installment_months is not None:
        # A wallet that the request names was read before the lock.
        cards = Wallet.objects.owned_by(ledger.member).filter(kind=Wallet.Kind.CARD)
        if not cards.filter(pk=shape.wallet).exists():
            shape = replace(shape, installment_months=None)
    shape.validate()
    entry_id = insert_entry(ledger.member, shape, now, is_pending=True)
    if entry_id is None:
        raise MissingWalletError
    return entry_id


def complete_pending_entry(
    ledger: LockedLedger, step: CompleteEntry, now: datetime
) -> None:
    changes = dict(step.changes)
    if step.category_type is not None:
        type_ = step.category_type
        name = suggest_category(ledger.member, type_, changes["memo"])
        suggested = Category.objects.owned_by(ledger.member).filter(type=type_)
        changes["category"] = suggested.filter(name=name).first() if name else None
    rows = Entry.objects.owned_by(ledger.member).filter(pk=step.entry_id)
    rows.update(**changes, updated_at=now)


def unmerge_bookings(ledger: LockedLedger, entry_id: int, now: datetime) -> None:
    """Take a transfer apart: its bookings were no move."""
    ids = unmerge_entry.within(ledger, entry_id, now).ids
    rows = Notification.objects.owned_by(ledger.member).filter(entry_id__in=ids)
    rows.update(is_own_move=False)


def write_rows(
    ledger: LockedLedger, step: StoreRow | UpdateRows, created_id: int
) -> None:
    if isinstance(step, UpdateRows):
        rows = Notification.objects.owned_by(ledger.member)
        if step.move_of is None:
            rows = rows.filter(pk__in=step.ids)
        else:
            rows = rows.filter(entry_id=step.move_of, is_own_move=True)
        changes = dict(step.values)
        if changes.get("entry_id") == NEW:
            changes["entry_id"] = created_id
        rows.update(**changes)
        return
    fingerprint = step.fingerprint
    values = {name: getattr(step, name) for name in _ROW}
    values |= {name: getattr(fingerprint, name) for name in _FINGERPRINT}
    if step.entry_id == NEW:
        values["entry_id"] = created_id
    if step.doubts is not None:
        values["doubts"] = orjson.dumps(step.doubts).decode()
    # The unique key is a second guard against duplicates.
    values |= {"member": ledger.member.pk, "key": fingerprint.key}
    with prepared_cursor() as cursor:
        cursor.execute(_STORE_ROW, values)
