"""Find what belongs to a payment: its cancellation, its preliminary and final amount.

Texts come in any order: each of them looks for those that came before (spec 4.6, 4.10).
All functions are called under `lock_ledger`.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from accounts.models import Member
from card_alerts import Kind
from ledger.card_notifications.announcements import (
    Announcement,
    Payments,
    fingerprint_of,
)
from ledger.card_notifications.deduplication import (
    MAX_CANCELLATION_AGE,
    MAX_CLOCK_SKEW,
    PaymentFingerprint,
    is_cancelled_by,
    minute_of,
)
from ledger.card_notifications.follow_ups import MAX_PRELIMINARY_AGE, is_preliminary_of
from ledger.entries import delete_locked_entry
from ledger.models import Entry, Notification


def find_approval(
    member: Member,
    known: Payments,
    cancellation: PaymentFingerprint,
    original_date: date | None,
) -> tuple[list[Notification], Entry] | None:
    """Return the notifications of the newest matching approval that has an entry."""
    entries = Entry.objects.owned_by(member).select_related("wallet", "category")
    for rows in known.not_cancelled():
        for row in rows:
            approval = fingerprint_of(row)
            if row.kind == Kind.APPROVAL and is_cancelled_by(
                approval, cancellation, original_date
            ):
                entry = entries.filter(pk=row.entry_id).first()
                if entry is not None:
                    return rows, entry
    return None


def find_partly_cancelled(
    member: Member, cancellation: PaymentFingerprint, original_date: date | None
) -> Entry | None:
    """Return the entry of the newest approval of which this may be a part."""
    approvals = Notification.objects.owned_by(member).filter(
        kind=Kind.APPROVAL,
        is_cancelled=False,
        currency=cancellation.currency,
        value__gte=cancellation.value,
        happened_at__range=(
            cancellation.happened_at - MAX_CANCELLATION_AGE,
            cancellation.happened_at + MAX_CLOCK_SKEW,
        ),
    )
    entries = Entry.objects.owned_by(member).select_related("wallet", "category")
    for row in approvals.order_by("-happened_at", "-pk"):
        # Of the same value, as a cancellation of the whole would be.
        approval = replace(fingerprint_of(row), value=cancellation.value)
        if is_cancelled_by(approval, cancellation, original_date):
            entry: Entry | None = entries.filter(pk=row.entry_id).first()
            if entry is not None:
                return entry
    return None


def take_waiting_cancellation(
    member: Member, known: Payments, approval: PaymentFingerprint
) -> bool:
    """Return True if the cancellation of an approval came before it.

    That cancellation is then used up. It is not earlier than the approval: a payment
    after a cancellation is another one.
    """
    for rows in known.not_cancelled():
        row = rows[0]
        cancellation = fingerprint_of(row)
        if (
            row.kind == Kind.CANCELLATION
            and row.awaits_counterpart
            and minute_of(approval) <= minute_of(cancellation)
            and is_cancelled_by(approval, cancellation, row.original_date)
        ):
            stop_waiting(member, rows)
            return True
    return False


def stop_waiting(member: Member, rows: Sequence[Notification]) -> None:
    """Record that a cancellation has found its approval."""
    stored = Notification.objects.owned_by(member)
    stored.filter(pk__in=[row.pk for row in rows]).update(awaits_counterpart=False)


def replace_preliminary(
    member: Member, known: Payments, final: PaymentFingerprint
) -> list[Notification]:
    """Delete the pending entry of the amount that was reserved for a payment.

    Return its notifications, the first one first.
    """
    for rows in known.not_cancelled():
        if any(is_preliminary_of(fingerprint_of(row), final) for row in rows):
            entries = Entry.objects.owned_by(member)
            pending = entries.filter(pk=rows[0].entry_id, pending=True).first()
            if pending is not None:
                known.mark_cancelled(member, rows)
                delete_locked_entry(pending)
                return rows
    return []


def link_preliminary(
    member: Member, rows: Sequence[Notification], entry_id: int | None
) -> None:
    """Refer a preliminary amount to the entry of its final one.

    A final amount that has one replaces no other.
    """
    stored = Notification.objects.owned_by(member)
    stored.filter(pk__in=[row.pk for row in rows]).update(entry_id=entry_id)


def find_final(member: Member, preliminary: PaymentFingerprint) -> Notification | None:
    """Return the final approval that came before its preliminary one.

    The earliest that is not the final one of another.
    """
    if not preliminary.is_preliminary:
        return None
    since, until = (
        preliminary.happened_at,
        preliminary.happened_at + MAX_PRELIMINARY_AGE,
    )
    approvals = Notification.objects.owned_by(member).filter(
        kind=Kind.APPROVAL,
        currency=preliminary.currency,
        happened_at__gte=since - MAX_PRELIMINARY_AGE,
        happened_at__lte=until,
    )
    rows: list[Notification] = list(approvals.order_by("happened_at", "pk"))
    taken = {row.entry_id for row in rows if row.is_preliminary}
    for row in rows:
        if (
            not row.is_cancelled
            and row.entry_id not in taken
            and is_preliminary_of(preliminary, fingerprint_of(row))
        ):
            return row
    return None


def settle_preliminary(
    member: Member, same: Sequence[Notification], announcement: Announcement
) -> Announcement:
    """Return an announcement of a known payment; one that is final makes all final.

    Otherwise the next final amount would replace a payment that needs none any more.
    """
    fingerprint = announcement.fingerprint
    preliminary = [row for row in same if row.is_preliminary]
    if fingerprint.is_preliminary == (len(preliminary) == len(same)):
        return announcement
    stored = Notification.objects.owned_by(member)
    stored.filter(pk__in=[row.pk for row in preliminary]).update(is_preliminary=False)
    return replace(announcement, fingerprint=replace(fingerprint, is_preliminary=False))
