"""Moves between own wallets: one pending transfer each (spec 4.12).

All functions are called under `lock_ledger`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from accounts.models import Member
from ledger.card_notifications.announcements import Payments, fingerprint_of
from ledger.card_notifications.bank_matching import OwnMove
from ledger.card_notifications.deduplication import CHANNEL_WINDOW, PaymentFingerprint
from ledger.card_notifications.follow_ups import BookingKind, is_booking_of_payment
from ledger.entries import create_pending_entry
from ledger.entry_data import EntryData
from ledger.merges import unmerge_entry
from ledger.models import Entry, MergedEntry, Notification, Wallet
from ledger.models.base import EntryType
from ledger.rates import RateCache

_OPPOSITE = {
    BookingKind.DEPOSIT: BookingKind.WITHDRAWAL,
    BookingKind.WITHDRAWAL: BookingKind.DEPOSIT,
}
_TYPES = {
    BookingKind.DEPOSIT: EntryType.INCOME,
    BookingKind.WITHDRAWAL: EntryType.EXPENSE,
}


@dataclass(frozen=True, slots=True)
class Mirror:
    """The booking on the other account of a move, and its entry if that exists."""

    row: Notification
    entry: Entry | None

    @property
    def is_transfer(self) -> bool:
        return self.entry is not None and self.entry.type == EntryType.TRANSFER

    @property
    def can_become_transfer(self) -> bool:
        """Return True if the entry is pending, and as the booking said.

        Any other one stays: the member has said what the booking was.
        """
        entry = self.entry
        return (
            entry is not None
            and entry.pending
            and entry.type == _TYPES[BookingKind(self.row.kind)]
            and entry.wallet_id == self.row.wallet_id
            and entry.amount == self.row.value
            and entry.line_count == 0
            and entry.currency is None
            and entry.refund_of_id is None
            and not entry.is_reversal
            and not Entry.objects.filter(
                member_id=entry.member_id, refund_of=entry.pk
            ).exists()
        )


def find_mirror(
    member: Member,
    known: Iterable[Notification],
    booking: PaymentFingerprint,
    account: Wallet,
    own_move: OwnMove | None,
) -> Mirror | None:
    """Return the opposite booking on another account that has no counterpart yet.

    The nearest in time; neither its text nor that of this booking names a third wallet.
    """
    kind = _OPPOSITE[BookingKind(booking.kind)]
    rows = [
        row
        for row in known
        if row.kind == kind
        and row.awaits_counterpart
        and not row.is_cancelled
        and row.wallet_id != account.pk
        and abs(row.happened_at - booking.happened_at) <= CHANNEL_WINDOW
    ]
    if own_move is not None:
        told = {wallet.pk for wallet in own_move.candidates}
        rows = [row for row in rows if row.wallet_id in told]
    rows.sort(key=lambda row: abs(row.happened_at - booking.happened_at))
    ids = [row.entry_id for row in rows if row.entry_id is not None]
    entries = Entry.objects.owned_by(member).in_bulk(ids) if ids else {}
    for row in rows:
        entry = entries.get(row.entry_id)
        wallets = {row.wallet_id, account.pk}
        if (
            entry is None
            or entry.type != EntryType.TRANSFER
            or {entry.wallet_id, entry.to_wallet_id} == wallets
        ):
            return Mirror(row, entry)
    return None


def choose_other_wallet(
    member: Member, account: Wallet, own_move: OwnMove
) -> Wallet | None:
    """Return the only wallet that the other side of a move can be, None if several.

    Of several cards of an issuer it is the one whose bill was paid before, else the
    first one: no other text tells it.
    """
    candidates = {wallet.pk: wallet for wallet in own_move.candidates}
    if len(candidates) <= 1 or not own_move.is_card_bill:
        return own_move.candidates[0] if len(candidates) == 1 else None
    earlier = Entry.objects.owned_by(member).filter(
        type=EntryType.TRANSFER,
        wallet=account.pk,
        to_wallet__in=list(candidates),
        pending=False,
    )
    last = earlier.order_by("-date", "-id").values_list("to_wallet", flat=True).first()
    return own_move.candidates[0] if last is None else candidates[last]


def create_transfer(
    member: Member, data: EntryData, now: datetime, rates: RateCache
) -> int | None:
    """Create a pending transfer and return its id.

    None if the entries of one wallet move to the other, or those of both to a third.
    """
    wallets = [wallet.pk for wallet in (data.wallet, data.to_wallet) if wallet]
    moving = Wallet.objects.owned_by(member).filter(
        pk__in=wallets, moving_to__isnull=False
    )
    targets = dict(moving.values_list("pk", "moving_to"))
    if len({targets.get(pk, pk) for pk in wallets}) == 1:
        return None
    return create_pending_entry(member, data, now, rates)


def mark_as_own_move(
    member: Member, rows: Iterable[Notification], **values: object
) -> None:
    """Record that bookings are those of one move, and wait for no other one."""
    stored = Notification.objects.owned_by(member)
    stored.filter(pk__in=[row.pk for row in rows]).update(
        is_own_move=True, awaits_counterpart=False, **values
    )


def find_booking_of_payment(
    member: Member, known: Payments, payment: PaymentFingerprint, now: datetime
) -> list[Notification]:
    """Return the withdrawal by which the bank reported an approval, oldest first.

    It waits for no counterpart any more. Where a deposit had made a pending transfer of
    it, an expense and an income are made again: the approval says that it was none.
    """
    for rows in known.not_cancelled():
        row = rows[0]
        if not any(
            is_booking_of_payment(fingerprint_of(each), payment) for each in rows
        ) or (row.is_own_move and not _undo_merge(member, row, now)):
            continue
        stored = Notification.objects.owned_by(member)
        stored.filter(pk__in=[each.pk for each in rows]).update(
            awaits_counterpart=False
        )
        return rows
    return []


def _undo_merge(member: Member, row: Notification, now: datetime) -> bool:
    """Take a pending transfer apart that two bookings made; False for any other one."""
    merged = MergedEntry.objects.owned_by(member).filter(entry=row.entry_id)
    entries = Entry.objects.owned_by(member).filter(pk=row.entry_id)
    is_pending_transfer = entries.filter(
        pending=True, type=EntryType.TRANSFER, to_wallet__isnull=False
    )
    if row.entry_id is None or not merged.exists() or not is_pending_transfer.exists():
        return False
    ids = unmerge_entry(member, row.entry_id, now)
    Notification.objects.owned_by(member).filter(entry_id__in=ids).update(
        is_own_move=False
    )
    return True
