"""Take in bookings on bank accounts: incomes, expenses and own moves (spec 4.12)."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts.models import Member
from card_alerts import BankBooking, ParseResult
from core.db.rows import fetch_all
from core.db.transactions import retry_on_conflict
from ledger.card_notifications.announcements import (
    Announcement,
    Payments,
    list_of_same_value,
    merge_announcement,
)
from ledger.card_notifications.bank_matching import (
    NumberedWallet,
    find_account,
    find_own_move,
)
from ledger.card_notifications.booking_intake import (
    BookingIntake,
    cancel_booking,
    join_move,
    record_entry,
    record_own_move,
)
from ledger.card_notifications.counters import increment_notification_count
from ledger.card_notifications.follow_ups import (
    build_booking_fingerprint,
    is_booking_of_payment,
)
from ledger.card_notifications.outcomes import Action, IncomingNotification, Outcome
from ledger.card_notifications.own_moves import choose_other_wallet, find_mirror
from ledger.encryption import DecryptionError
from ledger.locking import lock_ledger
from ledger.models import Ledger, Wallet
from ledger.rates import RateCache
from ledger.wallets import decrypt_account_number, list_wallets

_WALLETS = """
    SELECT id, member_id, name, kind, institution,
        account_number AS encrypted_account_number
    FROM account
    WHERE member_id = %s AND NOT archived
    ORDER BY sort_order, id
"""


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
    own_move = find_own_move(booking, account, wallets, member.display_name)
    reason = None
    if own_move and not (
        booking.currency is None and choose_other_wallet(member, account, own_move)
    ):
        reason = own_move.reason
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
    intake = BookingIntake(
        member=member,
        booking=booking,
        account=account,
        announcement=Announcement(fingerprint, wallet_id=account.pk),
        own_move=find_own_move(booking, account, wallets, member.display_name),
        outcome=Outcome(
            Action.IGNORED,
            parsed,
            account,
            is_captured=True,
            balance_difference=_balance_difference(member, booking, account),
        ),
        now=now,
        rates=rates,
    )
    known = list_of_same_value(member, fingerprint)
    of_account = Payments(row for row in known if row.wallet_id == account.pk)
    repeated = of_account.find(fingerprint)
    if repeated:
        entry_id = repeated[0].entry_id
        if repeated[0].is_own_move and entry_id is None:
            return intake.ignored()
        return intake.duplicate(entry_id)
    if booking.is_cancelled:
        return cancel_booking(intake, of_account, known)
    paid = Payments(known).find_first(
        lambda row: is_booking_of_payment(fingerprint, row)
    )
    if paid and not intake.own_move:
        merged = merge_announcement(member, paid, intake.announcement, account, now)
        return intake.duplicate(paid[0].entry_id, merged)
    mirror = None
    if intake.can_have_mirror:
        mirror = find_mirror(member, known, fingerprint, account, intake.own_move)
    if mirror is not None:
        return join_move(intake, mirror)
    if intake.own_move is not None:
        return record_own_move(intake, intake.own_move)
    return record_entry(intake)


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
