"""Compare notifications: same payment, cancellation, preliminary amount. Pure.

SMS, push and pay app word one payment differently (spec 4.5, 4.6, 4.10, 4.12).
"""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from card_alerts import (
    PAY_SERVICES,
    Channel,
    Kind,
    choose_better_name,
    is_gateway_name,
)
from ledger.notifications.message import (
    DEDUPLICATION_WINDOW,
    LEGAL_FORMS,
    BookingKind,
    Fingerprint,
    normalize_merchant,
)
from ledger.notifications.wallets import can_be_same_card, get_card_digits

# Time between reports of two channels without a printed time, or bookings of a move.
CHANNEL_WINDOW = timedelta(minutes=10)
MAX_CANCELLATION_AGE = timedelta(days=90)
# A cancellation may seem this much earlier than its approval.
MAX_CLOCK_SKEW = timedelta(minutes=10)
# Between the times that a bank prints in its text and in its list of payments: others
# are two payments, whose amounts happen to be equal.
MAX_TIME_DIFFERENCE = timedelta(minutes=5)
MAX_PRELIMINARY_AGE = timedelta(days=3)
# Longer digits belong to an account, not to a card.
MAX_CARD_DIGITS = 4
_PAY_SERVICE_KEYS = {name: normalize_merchant(name) for name in PAY_SERVICES}


def is_same_payment(one: Fingerprint, other: Fingerprint) -> bool:
    for name in ("kind", "is_partial", "currency", "value"):
        if getattr(one, name) != getattr(other, name):
            return False
    if contradicts(one, other):
        return False
    if one.is_timed and other.is_timed:
        return True
    is_other_channel = _differ(one.channel, other.channel)
    window = CHANNEL_WINDOW if is_other_channel else DEDUPLICATION_WINDOW
    return abs(one.happened_at - other.happened_at) < window


def contradicts(one: Fingerprint, other: Fingerprint) -> bool:
    """Return True if two notifications of one value cannot report one payment."""
    is_timed = one.is_timed and other.is_timed
    return (
        (is_timed and minute_of(one) != minute_of(other))
        or _differ(one.running_total, other.running_total)
        or _differ(one.balance, other.balance)
        or not _can_have_same_digits(one, other)
        or not is_same_issuer(one, other)
        or not _can_be_same_merchant(one, other)
    )


def find_payment(
    payments: Iterable[Sequence[Fingerprint]], payment: Fingerprint
) -> int | None:
    """Return the number of the payment that is reported once more, or None.

    A repeated text comes first. Other words contradict no report of their payment.
    """
    known = list(payments)
    key = payment.key
    for number, reports in enumerate(known):
        if any(report.key == key for report in reports):
            return number
    for number, reports in enumerate(known):
        if any(is_same_payment(payment, report) for report in reports) and not any(
            contradicts(payment, report) for report in reports
        ):
            return number
    return None


def _is_plainer(one: Fingerprint, other: Fingerprint) -> bool:
    """Return True for one of two writings of a name: 바람커피 before (주)바람커피."""
    if one.is_of_account is not other.is_of_account:
        return False
    is_same = one.merchant_key == other.merchant_key
    return is_same and _count_legal_forms(one) < _count_legal_forms(other)


def _count_legal_forms(report: Fingerprint) -> int:
    return sum(form in report.merchant for form in LEGAL_FORMS)


def choose_name(reports: Iterable[Fingerprint]) -> str:
    """Return the best name of the merchant (spec 4.5).

    A shop is better than a gateway, a whole name than a part, a card's report than an
    account's.
    """
    best: Fingerprint | None = None
    for report in reports:
        if best is None or not best.merchant:
            best = report
            continue
        one, other = _mark_cut(best), _mark_cut(report)
        is_better = other != one and choose_better_name(one, other) == other
        is_worse = choose_better_name(other, one) == one
        is_of_card = best.is_of_account and not report.is_of_account
        is_preferred = (report.merchant and is_of_card) or _is_plainer(report, best)
        if is_better or (is_preferred and not is_worse):
            best = report
    return best.merchant if best else ""


def is_cancelled_by(
    approval: Fingerprint, cancellation: Fingerprint, original_date: date | None
) -> bool:
    """Compare card, amount, age, and the printed day, else the merchant."""
    if (approval.currency, approval.value) != (
        cancellation.currency,
        cancellation.value,
    ):
        return False
    if not is_same_issuer(approval, cancellation):
        return False
    if not can_be_same_card(approval.card_hint, cancellation.card_hint):
        return False
    age = cancellation.happened_at - approval.happened_at
    if not -MAX_CLOCK_SKEW <= age <= MAX_CANCELLATION_AGE:
        return False
    if original_date is not None:
        return approval.happened_at.date() == original_date
    one, other = approval.merchant_key, cancellation.merchant_key
    return one in other or other in one


def is_preliminary_of(preliminary: Fingerprint, final: Fingerprint) -> bool:
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


def is_booking_of_payment(booking: Fingerprint, payment: Fingerprint) -> bool:
    """Return True if a bank reported a payment by check card as a withdrawal."""
    if (booking.kind, payment.kind) != (BookingKind.WITHDRAWAL, Kind.APPROVAL):
        return False
    if (booking.currency, booking.value) != (payment.currency, payment.value):
        return False
    is_other_issuer = _differ(booking.card_company, payment.card_company)
    if is_other_issuer and payment.card_company not in PAY_SERVICES:
        return False
    if _differ(booking.balance, payment.balance) or payment.channel == Channel.BANK:
        return False
    if booking.is_timed and payment.is_timed:
        return minute_of(booking) == minute_of(payment)
    return abs(booking.happened_at - payment.happened_at) < CHANNEL_WINDOW


def is_same_issuer(one: Fingerprint, other: Fingerprint) -> bool:
    """Return True unless both name a company, and the companies differ.

    A pay service and the card behind it count as one company if both name the merchant,
    or one names a payment gateway.
    """
    if not _differ(one.card_company, other.card_company):
        return True
    if (one.card_company in PAY_SERVICES) == (other.card_company in PAY_SERVICES):
        return False
    return bool(one.merchant and other.merchant) and (
        is_same_merchant(one, other) or _may_name_differently(one, other)
    )


def is_same_merchant(one: Fingerprint, other: Fingerprint) -> bool:
    """Return True if one name contains the other, or is its pay service."""
    one_key, other_key = one.merchant_key, other.merchant_key
    if one_key in other_key or other_key in one_key:
        return True
    for app, card_key in ((one, other_key), (other, one_key)):
        service_key = _PAY_SERVICE_KEYS.get(app.card_company or "")
        if service_key and card_key:
            return service_key in card_key or card_key in service_key
    return False


def _can_be_same_merchant(one: Fingerprint, other: Fingerprint) -> bool:
    if is_same_merchant(one, other):
        return True
    has_companies = one.card_company is not None and other.card_company is not None
    is_one_channel = one.channel is not None and one.channel == other.channel
    if one.is_timed and other.is_timed and not has_companies and not is_one_channel:
        return True
    return _may_name_differently(one, other)


def _may_name_differently(one: Fingerprint, other: Fingerprint) -> bool:
    return _differ(one.channel, other.channel) and (
        one.is_of_account != other.is_of_account
        or is_gateway_name(one.merchant)
        or is_gateway_name(other.merchant)
        or one.is_cut
        or other.is_cut
    )


def _can_have_same_digits(one: Fingerprint, other: Fingerprint) -> bool:
    if one.is_of_account != other.is_of_account:
        hints = (one.card_hint, other.card_hint)
        if any(len(get_card_digits(hint)) > MAX_CARD_DIGITS for hint in hints):
            return True
    return can_be_same_card(one.card_hint, other.card_hint)


def minute_of(payment: Fingerprint) -> int:
    return int(payment.happened_at.timestamp()) // 60


def _mark_cut(payment: Fingerprint) -> str:
    return f"{payment.merchant}…" if payment.is_cut else payment.merchant


def _differ(one: object, other: object) -> bool:
    return one is not None and other is not None and one != other
