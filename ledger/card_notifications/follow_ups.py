"""Decide what belongs to a payment besides its own announcements.

The withdrawal by which a bank tells a check card's payment (spec 4.12), and the final
amount after a preliminary one (spec 4.10). Pure functions.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from card_alerts import PAY_SERVICES, BankBooking, BookingDirection, Channel, Kind
from ledger.card_notifications.deduplication import (
    CHANNEL_WINDOW,
    PaymentFingerprint,
    can_be_same_card,
    differ,
    is_same_issuer,
    is_same_merchant,
    minute_of,
    total_within_limit,
)

# Between a preliminary approval and the final one.
MAX_PRELIMINARY_AGE = timedelta(days=3)


class BookingKind(StrEnum):
    """The kind of a notification that is a booking on a bank account."""

    DEPOSIT = "deposit"
    WITHDRAWAL = "withdrawal"


def build_booking_fingerprint(
    booking: BankBooking, received_at: datetime
) -> PaymentFingerprint:
    """Return the fingerprint of a booking on a bank account, or of its cancellation."""
    kind: str = BookingKind.WITHDRAWAL
    if booking.is_cancelled:
        kind = Kind.CANCELLATION
    elif booking.direction is BookingDirection.DEPOSIT:
        kind = BookingKind.DEPOSIT
    value = booking.original_amount if booking.currency else booking.amount
    return PaymentFingerprint(
        kind=kind,
        is_partial=False,
        card_company=booking.bank,
        card_hint=booking.account_hint,
        currency=booking.currency,
        value=Decimal(value or 0),
        merchant=booking.counterparty or "",
        running_total=None,
        balance=total_within_limit(booking.balance),
        happened_at=booking.occurred_at or received_at,
        is_timed=booking.occurred_at is not None,
        channel=Channel.BANK,
    )


def is_preliminary_of(
    preliminary: PaymentFingerprint, final: PaymentFingerprint
) -> bool:
    """Return True if a preliminary approval was replaced by the final one."""
    age = final.happened_at - preliminary.happened_at
    return (
        preliminary.is_preliminary
        and not final.is_preliminary
        and final.kind == Kind.APPROVAL
        and preliminary.currency == final.currency
        and timedelta(0) <= age <= MAX_PRELIMINARY_AGE
        and is_same_issuer(preliminary, final)
        and can_be_same_card(preliminary.card_hint, final.card_hint)
        and bool(preliminary.merchant and final.merchant)
        and is_same_merchant(preliminary, final)
    )


def is_booking_of_payment(
    booking: PaymentFingerprint, payment: PaymentFingerprint
) -> bool:
    """Return True if a withdrawal is the one of an approval, told by the bank.

    The bank's app announces what a check card pays as a withdrawal.
    """
    if (booking.kind, payment.kind) != (BookingKind.WITHDRAWAL, Kind.APPROVAL):
        return False
    if (booking.currency, booking.value) != (payment.currency, payment.value):
        return False
    is_other_issuer = differ(booking.card_company, payment.card_company)
    if is_other_issuer and payment.card_company not in PAY_SERVICES:
        return False
    if differ(booking.balance, payment.balance) or payment.channel == Channel.BANK:
        return False
    if booking.is_timed and payment.is_timed:
        return minute_of(booking) == minute_of(payment)
    return abs(booking.happened_at - payment.happened_at) < CHANNEL_WINDOW
