"""Make entries of bookings on bank accounts, and take them back (spec 4.12).

All functions are called under `lock_ledger`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from accounts.models import Member
from card_alerts import BankBooking, BookingDirection, BookingPurpose, Reason
from ledger.card_notifications.announcements import (
    Announcement,
    Payments,
    add_notification,
)
from ledger.card_notifications.bank_matching import OwnMove
from ledger.card_notifications.category_suggestion import suggest_category
from ledger.card_notifications.deduplication import PaymentFingerprint
from ledger.card_notifications.follow_ups import BookingKind
from ledger.card_notifications.outcomes import Action, Outcome
from ledger.card_notifications.own_moves import (
    Mirror,
    choose_other_wallet,
    create_transfer,
    mark_as_own_move,
)
from ledger.entries import create_pending_entry, delete_locked_entry
from ledger.entry_data import EntryData
from ledger.merges import merge_entries
from ledger.models import Entry, Notification, Wallet
from ledger.models.base import MAX_MEMO_LENGTH, EntryType
from ledger.rates import RateCache


@dataclass(frozen=True, slots=True)
class BookingIntake:
    """A booking on an account of the member, and what is answered if it is ignored.

    `own_move` is what its text tells of a move between own wallets.
    """

    member: Member
    booking: BankBooking
    account: Wallet
    announcement: Announcement
    own_move: OwnMove | None
    outcome: Outcome
    now: datetime
    rates: RateCache

    @property
    def fingerprint(self) -> PaymentFingerprint:
        return self.announcement.fingerprint

    @property
    def type(self) -> EntryType:
        """Return the type of an entry that is no transfer."""
        is_deposit = self.booking.direction is BookingDirection.DEPOSIT
        return EntryType.INCOME if is_deposit else EntryType.EXPENSE

    @property
    def can_have_mirror(self) -> bool:
        """Return True if another account may report the same: not of bills and cash."""
        is_bill = self.own_move is not None and self.own_move.is_card_bill
        return self.booking.purpose is BookingPurpose.TRANSFER and not is_bill

    def ignored(self) -> Outcome:
        reason = self.own_move.reason if self.own_move else Reason.OWN_TRANSFER
        return replace(self.outcome, reason=reason)

    def created(self, entry_id: int) -> Outcome:
        return replace(self.outcome, action=Action.CREATED, entry_id=entry_id)

    def duplicate(self, entry_id: int | None, merged: tuple[str, ...] = ()) -> Outcome:
        return replace(
            self.outcome, action=Action.DUPLICATE, entry_id=entry_id, merged=merged
        )


def record_entry(intake: BookingIntake) -> Outcome:
    """Create a pending income for a deposit, an expense for a withdrawal."""
    entry_id = _create_entry(intake)
    announcement = replace(
        intake.announcement,
        entry_id=entry_id,
        awaits_counterpart=intake.can_have_mirror,
    )
    add_notification(intake.member, announcement)
    return intake.created(entry_id)


def record_own_move(intake: BookingIntake, own_move: OwnMove) -> Outcome:
    """Create the transfer that a booking reports, if its other wallet is known.

    Else the booking is ignored, and its mirror creates the transfer.
    """
    other = choose_other_wallet(intake.member, intake.account, own_move)
    entry_id = None if other is None else _create_transfer(intake, other)
    announcement = replace(
        intake.announcement,
        entry_id=entry_id,
        is_own_move=True,
        awaits_counterpart=intake.can_have_mirror,
    )
    add_notification(intake.member, announcement)
    return intake.ignored() if entry_id is None else intake.created(entry_id)


def join_move(intake: BookingIntake, mirror: Mirror) -> Outcome:
    """Record the second booking of a move: both are one transfer.

    The first one may be the transfer already, may have waited without an entry, or is
    merged with this one. What the member has confirmed, changed or deleted stays as it
    is, and this booking is ignored.
    """
    member, row, entry = intake.member, mirror.row, mirror.entry
    announcement = replace(intake.announcement, is_own_move=True)
    if entry is not None and mirror.is_transfer:
        mark_as_own_move(member, [row])
        add_notification(member, replace(announcement, entry_id=entry.pk))
        return intake.duplicate(entry.pk)
    if entry is not None and mirror.can_become_transfer:
        own_id = _create_entry(intake)
        # Before the merge, which refers the bookings of the income to the transfer.
        add_notification(member, replace(announcement, entry_id=own_id))
        mark_as_own_move(member, [row])
        entry_id = merge_entries(member, entry.pk, own_id, intake.now)
        outcome = intake.duplicate(entry_id, ("walletId",))
        if entry_id == entry.pk:
            return outcome
        return replace(outcome, replaced_entry_id=entry.pk)
    if row.entry_id is None:
        other = Wallet.objects.owned_by(member).get(pk=row.wallet_id)
        transfer_id = _create_transfer(intake, other)
        mark_as_own_move(member, [row], entry_id=transfer_id)
        add_notification(member, replace(announcement, entry_id=transfer_id))
        if transfer_id is None:
            return intake.ignored()
        return intake.created(transfer_id)
    if entry is not None and entry.pending and entry.currency is not None:
        # Transfers are in the home currency.
        delete_locked_entry(entry)
    mark_as_own_move(member, [row])
    add_notification(member, announcement)
    return intake.ignored()


def cancel_booking(
    intake: BookingIntake, of_account: Payments, known: Iterable[Notification]
) -> Outcome:
    """Take back the newest booking of the account with the same value.

    A pending entry is deleted; a confirmed one gets a pending opposite one.
    """
    member, announcement = intake.member, intake.announcement
    is_deposit = intake.booking.direction is BookingDirection.DEPOSIT
    kind = BookingKind.DEPOSIT if is_deposit else BookingKind.WITHDRAWAL
    found = of_account.find_first(lambda row: row.kind == kind)
    if not found:
        is_taken_back = any(
            row.kind == kind
            and row.wallet_id == intake.account.pk
            and (row.is_own_move and row.is_cancelled)
            for row in known
        )
        # The text of the other account has taken back the move.
        reason = Reason.OWN_TRANSFER if is_taken_back else Reason.NO_MATCHING_APPROVAL
        return replace(intake.outcome, reason=reason)
    of_account.mark_cancelled(member, found)
    entry_id = found[0].entry_id
    if found[0].is_own_move:
        if entry_id is None:
            add_notification(member, replace(announcement, is_own_move=True))
            return replace(intake.outcome, reason=Reason.OWN_TRANSFER)
        bookings = Notification.objects.owned_by(member).filter(entry_id=entry_id)
        bookings.filter(is_own_move=True).update(is_cancelled=True)
    entries = Entry.objects.owned_by(member).select_related("wallet", "to_wallet")
    entry = entries.filter(pk=entry_id).first()
    if entry is None or entry.pending:
        if entry is not None:
            delete_locked_entry(entry)
        add_notification(member, announcement)
        return replace(
            intake.outcome, action=Action.CANCELLED, replaced_entry_id=entry_id
        )
    data = replace(_build_entry_data(intake), wallet=entry.wallet)
    if entry.to_wallet is not None:
        data = replace(
            data,
            type=EntryType.TRANSFER.value,
            category=None,
            wallet=entry.to_wallet,
            to_wallet=entry.wallet,
        )
    else:
        opposite = EntryType.EXPENSE if is_deposit else EntryType.INCOME
        category = suggest_category(member, opposite, data.memo)
        data = replace(data, type=opposite, category=category)
    if entry.currency == data.currency:
        data = replace(data, exchange_rate=entry.exchange_rate)
    own_id = create_pending_entry(member, data, intake.now, intake.rates)
    add_notification(member, replace(announcement, entry_id=own_id))
    return replace(intake.outcome, action=Action.REFUND_PENDING, entry_id=own_id)


def _create_entry(intake: BookingIntake) -> int:
    data = _build_entry_data(intake)
    category = suggest_category(intake.member, data.type, data.memo)
    data = replace(data, category=category)
    return create_pending_entry(intake.member, data, intake.now, intake.rates)


def _create_transfer(intake: BookingIntake, other: Wallet) -> int | None:
    """Return the id of the transfer, None if there can be none.

    Transfers are in the home currency, and two wallets may be about to become one.
    """
    if intake.booking.currency is not None:
        return None
    is_deposit = intake.booking.direction is BookingDirection.DEPOSIT
    source, target = intake.account, other
    if is_deposit:
        source, target = target, source
    data = replace(
        _build_entry_data(intake),
        type=EntryType.TRANSFER.value,
        wallet=source,
        to_wallet=target,
    )
    return create_transfer(intake.member, data, intake.now, intake.rates)


def _build_entry_data(intake: BookingIntake) -> EntryData:
    """Return an income or expense without a category."""
    booking, fingerprint = intake.booking, intake.fingerprint
    return EntryData(
        date=booking.occurred_on or fingerprint.happened_at.date(),
        type=intake.type.value,
        amount=booking.amount,
        wallet=intake.account,
        memo=(booking.counterparty or "")[:MAX_MEMO_LENGTH],
        currency=booking.currency,
        original_amount=booking.original_amount,
        time=fingerprint.time_of_day,
        source=Entry.Source.NOTIFICATION.value,
    )
