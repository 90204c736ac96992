"""Take in bookings on bank accounts: incomes, expenses and own moves (spec 4.12)."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts.models import Member
from card_alerts import (
    BankBooking,
    BookingDirection,
    BookingPurpose,
    ParseResult,
    Reason,
)
from core.db.rows import fetch_all
from core.db.transactions import retry_on_conflict
from ledger.card_notifications.announcements import (
    Announcement,
    Payments,
    add_notification,
    list_of_same_value,
    merge_announcement,
)
from ledger.card_notifications.bank_matching import (
    NumberedWallet,
    find_account,
    find_own_move,
)
from ledger.card_notifications.category_suggestion import suggest_category
from ledger.card_notifications.counters import increment_notification_count
from ledger.card_notifications.deduplication import (
    CHANNEL_WINDOW,
    PaymentFingerprint,
)
from ledger.card_notifications.follow_ups import (
    BookingKind,
    build_booking_fingerprint,
    is_booking_of_payment,
)
from ledger.card_notifications.outcomes import Action, IncomingNotification, Outcome
from ledger.encryption import DecryptionError
from ledger.entries import create_pending_entry, delete_locked_entry
from ledger.entry_data import EntryData
from ledger.locking import lock_ledger
from ledger.models import Entry, Ledger, Notification, Wallet
from ledger.models.base import MAX_MEMO_LENGTH, EntryType
from ledger.rates import RateCache
from ledger.wallets import decrypt_account_number, list_wallets

_WALLETS = """
    SELECT id, member_id, name, kind, institution,
        account_number AS encrypted_account_number
    FROM account
    WHERE member_id = %s AND NOT archived
    ORDER BY sort_order, id
"""
_OPPOSITE = {
    BookingKind.DEPOSIT: BookingKind.WITHDRAWAL,
    BookingKind.WITHDRAWAL: BookingKind.DEPOSIT,
}


def captures_bank_texts(member: Member) -> bool:
    """Return whether the member has bookings on bank accounts taken in."""
    rows = Ledger.objects.owned_by(member)
    # None if the member has just left.
    return bool(rows.values_list("captures_bank_texts", flat=True).first())


@retry_on_conflict
def set_captures_bank_texts(member: Member, is_on: bool) -> None:
    """Switch the intake of bookings on bank accounts on or off."""
    with transaction.atomic():
        lock_ledger(member)
        Ledger.objects.owned_by(member).update(captures_bank_texts=is_on)


def read_booking(member: Member, parsed: ParseResult) -> Outcome:
    """Return the account of a booking, and why it would be ignored; store nothing."""
    booking = parsed.bank_booking
    wallets = _list_wallets(member)
    account = find_account(booking, wallets) if booking else None
    if booking is None or account is None:
        return Outcome(Action.IGNORED, parsed, reason=parsed.reason)
    reason = find_own_move(booking, account, wallets, member.display_name)
    action = Action.IGNORED if reason else Action.CREATED
    return Outcome(
        action,
        parsed,
        account,
        reason=reason,
        is_captured=True,
        balance_difference=_balance_difference(member, booking, account),
    )


@retry_on_conflict
def process_booking(
    member: Member,
    incoming: IncomingNotification,
    parsed: ParseResult,
    booking: BankBooking,
    now: datetime,
    rates: RateCache,
) -> Outcome:
    """Process a booking in one transaction, and count it.

    It is ignored, as if bookings were not taken in, unless an account of the member
    fits.
    """
    with transaction.atomic():
        lock_ledger(member)
        outcome = _record_booking(member, incoming, parsed, booking, now, rates)
        increment_notification_count(now, recognized=outcome.is_captured)
    return outcome


def _record_booking(
    member: Member,
    incoming: IncomingNotification,
    parsed: ParseResult,
    booking: BankBooking,
    now: datetime,
    rates: RateCache,
) -> Outcome:
    wallets = _list_wallets(member)
    account = find_account(booking, wallets)
    if account is None:
        return Outcome(Action.IGNORED, parsed, reason=parsed.reason)
    received_at = timezone.localtime(incoming.received_at)
    fingerprint = build_booking_fingerprint(booking, received_at)
    known = list_of_same_value(member, fingerprint)
    outcome = Outcome(
        Action.IGNORED,
        parsed,
        account,
        is_captured=True,
        balance_difference=_balance_difference(member, booking, account),
    )
    announcement = Announcement(fingerprint, wallet_id=account.pk)
    own_move = find_own_move(booking, account, wallets, member.display_name)

    of_account = Payments(row for row in known if row.wallet_id == account.pk)
    repeated = of_account.find(fingerprint)
    if repeated:
        if repeated[0].is_own_move:
            return replace(outcome, reason=own_move or Reason.OWN_TRANSFER)
        entry_id = repeated[0].entry_id
        return replace(outcome, action=Action.DUPLICATE, entry_id=entry_id)
    if booking.is_cancelled:
        return _cancel_booking(
            member, booking, outcome, announcement, of_account, now, rates
        )
    paid = Payments(known).find_first(
        lambda row: is_booking_of_payment(fingerprint, row)
    )
    if paid and not own_move:
        return replace(
            outcome,
            action=Action.DUPLICATE,
            entry_id=paid[0].entry_id,
            merged=merge_announcement(member, paid, announcement, account, now),
        )

    return _record_move_or_entry(
        member, booking, outcome, announcement, known, own_move, now, rates
    )


def _record_move_or_entry(
    member: Member,
    booking: BankBooking,
    outcome: Outcome,
    announcement: Announcement,
    known: list[Notification],
    own_move: Reason | None,
    now: datetime,
    rates: RateCache,
) -> Outcome:
    """Record a new booking as an own move, else as a pending entry."""
    fingerprint, account = announcement.fingerprint, outcome.wallet
    is_transfer = booking.purpose is BookingPurpose.TRANSFER
    is_bill = own_move is Reason.CARD_BILL
    mirror = None
    if is_transfer and not is_bill:
        mirror = _find_mirror(known, fingerprint, announcement.wallet_id)
    if own_move or mirror:
        if mirror is not None:
            _take_back(member, mirror)
        add_notification(
            member,
            replace(
                announcement,
                is_own_move=True,
                awaits_counterpart=is_transfer and not is_bill and mirror is None,
            ),
        )
        return replace(outcome, reason=own_move or Reason.OWN_TRANSFER)

    is_deposit = booking.direction is BookingDirection.DEPOSIT
    type_ = EntryType.INCOME if is_deposit else EntryType.EXPENSE
    data = _build_entry_data(member, booking, fingerprint, account, type_)
    entry_id = create_pending_entry(member, data, now, rates)
    add_notification(
        member,
        replace(announcement, entry_id=entry_id, awaits_counterpart=is_transfer),
    )
    return replace(outcome, action=Action.CREATED, entry_id=entry_id)


def _cancel_booking(
    member: Member,
    booking: BankBooking,
    outcome: Outcome,
    announcement: Announcement,
    known: Payments,
    now: datetime,
    rates: RateCache,
) -> Outcome:
    """Take back the newest booking of the account with the same value."""
    is_deposit = booking.direction is BookingDirection.DEPOSIT
    kind = BookingKind.DEPOSIT if is_deposit else BookingKind.WITHDRAWAL
    found = known.find_first(lambda row: row.kind == kind)
    if not found:
        return replace(outcome, reason=Reason.NO_MATCHING_APPROVAL)
    known.mark_cancelled(member, found)
    if found[0].is_own_move:
        add_notification(member, replace(announcement, is_own_move=True))
        return replace(outcome, reason=Reason.OWN_TRANSFER)
    entries = Entry.objects.owned_by(member)
    entry = entries.filter(pk=found[0].entry_id).first()
    if entry is None or entry.pending:
        if entry is not None:
            delete_locked_entry(entry)
        add_notification(member, announcement)
        return replace(outcome, action=Action.CANCELLED)
    type_ = EntryType.EXPENSE if is_deposit else EntryType.INCOME
    fingerprint = announcement.fingerprint
    data = _build_entry_data(member, booking, fingerprint, entry.wallet, type_)
    if entry.currency == data.currency:
        data = replace(data, exchange_rate=entry.exchange_rate)
    entry_id = create_pending_entry(member, data, now, rates)
    add_notification(member, replace(announcement, entry_id=entry_id))
    return replace(outcome, action=Action.REFUND_PENDING, entry_id=entry_id)


def _find_mirror(
    known: Iterable[Notification],
    booking: PaymentFingerprint,
    account_id: int | None,
) -> Notification | None:
    """Return the opposite booking on another account that has no counterpart yet."""
    kind = _OPPOSITE[BookingKind(booking.kind)]
    for row in known:
        if (
            row.kind == kind
            and row.awaits_counterpart
            and not row.is_cancelled
            and row.wallet_id != account_id
            and abs(row.happened_at - booking.happened_at) <= CHANNEL_WINDOW
        ):
            return row
    return None


def _take_back(member: Member, mirror: Notification) -> None:
    """Record the first booking of a move as one, and delete its pending entry.

    A confirmed entry stays: the member has said what the booking was.
    """
    entry = Entry.objects.owned_by(member).filter(pk=mirror.entry_id).first()
    is_confirmed = entry is not None and not entry.pending
    if entry is not None and entry.pending:
        delete_locked_entry(entry)
    rows = Notification.objects.owned_by(member).filter(pk=mirror.pk)
    rows.update(is_own_move=not is_confirmed, awaits_counterpart=False)


def _build_entry_data(
    member: Member,
    booking: BankBooking,
    fingerprint: PaymentFingerprint,
    wallet: Wallet | None,
    type_: EntryType,
) -> EntryData:
    memo = (booking.counterparty or "")[:MAX_MEMO_LENGTH]
    return EntryData(
        date=booking.occurred_on or fingerprint.happened_at.date(),
        type=type_,
        amount=booking.amount,
        category=suggest_category(member, type_, memo),
        wallet=wallet,
        memo=memo,
        currency=booking.currency,
        original_amount=booking.original_amount,
        time=fingerprint.time_of_day,
        source=Entry.Source.NOTIFICATION.value,
    )


def _list_wallets(member: Member) -> list[NumberedWallet]:
    """Return the wallets that are not archived, bank accounts with their numbers."""
    found = []
    for wallet in fetch_all(_WALLETS, [member.pk], Wallet):
        number = None
        if wallet.kind == Wallet.Kind.BANK:
            try:
                number = decrypt_account_number(wallet)
            except DecryptionError:
                # As without a number: the name of the bank decides.
                number = None
        found.append(NumberedWallet(wallet, number))
    return found


def _balance_difference(
    member: Member, booking: BankBooking, account: Wallet
) -> int | None:
    """Return the printed balance less the account's, in whole home-currency units."""
    if booking.balance is None or booking.balance_currency is not None:
        return None
    balances = list_wallets(member).filter(pk=account.pk)
    return int(booking.balance) - int(balances.values_list("balance", flat=True).get())
