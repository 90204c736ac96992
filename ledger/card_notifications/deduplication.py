"""Decide which notifications report one payment, and which approval is cancelled.

Notifications are compared by what was parsed, not by their text: SMS, push and pay app
report one payment in different words, and under different names (spec 4.5, 4.6). Pure
functions.
"""

import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from card_alerts import (
    PAY_SERVICES,
    Channel,
    Kind,
    ParseResult,
    choose_better_name,
    is_gateway_name,
)

# Maximum time between two notifications of a payment without a printed time.
DEDUPLICATION_WINDOW = timedelta(minutes=5)
# The same if they come from different channels, and between two bookings of a move.
CHANNEL_WINDOW = timedelta(minutes=10)
MAX_CANCELLATION_AGE = timedelta(days=90)
# A cancellation may seem to be earlier than its approval by this much.
MAX_CLOCK_SKEW = timedelta(minutes=10)
MIN_CARD_DIGITS = 2
# Longer digits are those of an account, not of a card.
MAX_CARD_DIGITS = 4
# Larger printed totals are no money; they would not fit into the database.
MAX_COMPARED_TOTAL = 10**15
LEGAL_FORMS = ("(주)", "주식회사", "(유)", "유한회사")


def normalize_merchant(text: str) -> str:
    """Return letters and digits in one case and width, without legal forms."""
    text = unicodedata.normalize("NFKC", text).casefold()
    for form in LEGAL_FORMS:
        text = text.replace(form, "")
    return "".join(letter for letter in text if letter.isalnum())


# Pay services in the form in which merchants are compared.
_PAY_SERVICE_KEYS = {name: normalize_merchant(name) for name in PAY_SERVICES}


@dataclass(frozen=True, slots=True)
class PaymentFingerprint:
    """The fields by which payments are compared; `Notification` stores them.

    `value` is in the currency of the payment, None being the home currency.
    """

    kind: str
    is_partial: bool
    card_company: str | None
    card_hint: str | None
    currency: str | None
    value: Decimal
    merchant: str
    running_total: int | None
    balance: int | None
    # The printed time, else the time of receipt.
    happened_at: datetime
    # True if the time is printed.
    is_timed: bool
    # None if nothing tells it.
    channel: str | None = None
    # The text broke the merchant off.
    is_cut: bool = False
    is_preliminary: bool = False

    @property
    def is_of_account(self) -> bool:
        """Return True if the text prints a balance or an account."""
        return self.balance is not None or self.channel == Channel.BANK

    @property
    def time_of_day(self) -> time | None:
        """Return the printed time, to the minute; None without one."""
        if not self.is_timed:
            return None
        return self.happened_at.time().replace(second=0, microsecond=0)

    @property
    def merchant_key(self) -> str:
        """Return the merchant in the form in which merchants are compared."""
        return normalize_merchant(self.merchant)


def build_fingerprint(parsed: ParseResult, received_at: datetime) -> PaymentFingerprint:
    """Return the fingerprint of a recognized text."""
    value = parsed.original_amount if parsed.currency else parsed.amount
    return PaymentFingerprint(
        kind=parsed.kind or Kind.APPROVAL,
        is_partial=parsed.is_partial,
        card_company=parsed.card_company,
        card_hint=parsed.card_hint,
        currency=parsed.currency,
        value=Decimal(value or 0),
        merchant=parsed.merchant or "",
        running_total=total_within_limit(parsed.running_total),
        balance=total_within_limit(parsed.balance),
        happened_at=parsed.occurred_at or received_at,
        is_timed=parsed.occurred_at is not None,
        channel=parsed.channel,
        is_cut=parsed.is_merchant_cut,
        is_preliminary=parsed.is_preliminary,
    )


def total_within_limit(total: Decimal | int | None) -> int | None:
    """Return whole units; fractions of a foreign balance are not compared."""
    if total is None or not -MAX_COMPARED_TOTAL <= total <= MAX_COMPARED_TOTAL:
        return None
    return int(total)


def deduplication_key(payment: PaymentFingerprint) -> str:
    """Return the key that is unique per member, equal for a repeated text.

    Notifications with one key always report the same payment. Those with different
    keys may do so too, which `is_same_payment` decides.
    """
    seconds = int(payment.happened_at.timestamp())
    window = 60 if payment.is_timed else int(DEDUPLICATION_WINDOW.total_seconds())
    parts = (
        payment.kind,
        payment.is_partial,
        payment.card_company,
        payment.card_hint,
        payment.channel,
        payment.currency,
        payment.value.normalize(),
        payment.merchant_key,
        payment.running_total,
        payment.balance,
        payment.is_timed,
        seconds // window,
    )
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()


def is_same_payment(one: PaymentFingerprint, other: PaymentFingerprint) -> bool:
    """Return True if both report the same payment, or the same cancellation."""
    for name in ("kind", "is_partial", "currency", "value"):
        if getattr(one, name) != getattr(other, name):
            return False
    if contradicts(one, other):
        return False
    if one.is_timed and other.is_timed:
        return True
    window = CHANNEL_WINDOW if _is_other_channel(one, other) else DEDUPLICATION_WINDOW
    return abs(one.happened_at - other.happened_at) < window


def contradicts(one: PaymentFingerprint, other: PaymentFingerprint) -> bool:
    """Return True if two notifications of one value cannot report one payment."""
    is_timed = one.is_timed and other.is_timed
    return (
        (is_timed and minute_of(one) != minute_of(other))
        or differ(one.running_total, other.running_total)
        or differ(one.balance, other.balance)
        or not _can_have_same_digits(one, other)
        or not is_same_issuer(one, other)
        or not _can_be_same_merchant(one, other)
    )


def find_payment(
    payments: Iterable[Sequence[PaymentFingerprint]], payment: PaymentFingerprint
) -> int | None:
    """Return the number of the payment that is reported once more, or None.

    Each of `payments` is what has been reported of one. One of its reports is repeated,
    or the same in other words; and none contradicts.
    """
    known = list(payments)
    key = deduplication_key(payment)
    for number, reports in enumerate(known):
        if any(deduplication_key(report) == key for report in reports):
            return number
    for number, reports in enumerate(known):
        if any(is_same_payment(payment, report) for report in reports) and not any(
            contradicts(payment, report) for report in reports
        ):
            return number
    return None


def choose_name(reports: Iterable[PaymentFingerprint]) -> str:
    """Return the best name that the reports of one payment give to its merchant.

    The shop before a gateway, the whole before a part (spec 4.5). Of two such names
    that of the card, since lines of accounts abbreviate; else the first one.
    """
    best: PaymentFingerprint | None = None
    for report in reports:
        if best is None or not best.merchant:
            best = report
            continue
        one, other = _marked_name(best), _marked_name(report)
        is_better = other != one and choose_better_name(one, other) == other
        is_worse = choose_better_name(other, one) == one
        is_of_card = best.is_of_account and not report.is_of_account
        if is_better or (report.merchant and is_of_card and not is_worse):
            best = report
    return best.merchant if best else ""


def is_cancelled_by(
    approval: PaymentFingerprint,
    cancellation: PaymentFingerprint,
    original_date: date | None,
) -> bool:
    """Return True if the card, the amount, the age and the date or merchant match.

    The date is that of the approval, if the cancellation prints it.
    """
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


def is_same_issuer(one: PaymentFingerprint, other: PaymentFingerprint) -> bool:
    """Return True unless both name a company, and the companies differ.

    A pay service and the card that it charges both report a payment: they count as
    one company if both name the merchant, or one of them a payment gateway.
    """
    if not differ(one.card_company, other.card_company):
        return True
    if (one.card_company in PAY_SERVICES) == (other.card_company in PAY_SERVICES):
        return False
    return bool(one.merchant and other.merchant) and (
        is_same_merchant(one, other) or _may_name_differently(one, other)
    )


def is_same_merchant(one: PaymentFingerprint, other: PaymentFingerprint) -> bool:
    """Return True if one merchant contains the other, or is the other's pay service.

    An empty merchant is contained in every other.
    """
    one_key, other_key = one.merchant_key, other.merchant_key
    if one_key in other_key or other_key in one_key:
        return True
    for app, card_key in ((one, other_key), (other, one_key)):
        service_key = _PAY_SERVICE_KEYS.get(app.card_company or "")
        if service_key and card_key:
            return service_key in card_key or card_key in service_key
    return False


def _can_be_same_merchant(one: PaymentFingerprint, other: PaymentFingerprint) -> bool:
    """Return True unless two merchants are those of two payments.

    Two texts of one company, or of one channel, with different merchants are two
    payments; texts of different channels may name one merchant differently.
    """
    if is_same_merchant(one, other):
        return True
    has_companies = one.card_company is not None and other.card_company is not None
    is_one_channel = one.channel is not None and one.channel == other.channel
    if one.is_timed and other.is_timed and not has_companies and not is_one_channel:
        return True
    return _may_name_differently(one, other)


def _may_name_differently(one: PaymentFingerprint, other: PaymentFingerprint) -> bool:
    """Return True if two channels may give different names to one merchant.

    One prints a balance or an account and the other does not, one names a gateway, or
    one name is cut (spec 4.5).
    """
    return _is_other_channel(one, other) and (
        one.is_of_account != other.is_of_account
        or is_gateway_name(one.merchant)
        or is_gateway_name(other.merchant)
        or one.is_cut
        or other.is_cut
    )


def _is_other_channel(one: PaymentFingerprint, other: PaymentFingerprint) -> bool:
    return differ(one.channel, other.channel)


def _can_have_same_digits(one: PaymentFingerprint, other: PaymentFingerprint) -> bool:
    """Return True unless the digits of both cards are printed and differ.

    The digits of an account are not those of its card.
    """
    if one.is_of_account != other.is_of_account:
        hints = (one.card_hint, other.card_hint)
        if any(len(card_token(hint)) > MAX_CARD_DIGITS for hint in hints):
            return True
    return can_be_same_card(one.card_hint, other.card_hint)


def _marked_name(payment: PaymentFingerprint) -> str:
    """Return the merchant with a mark if it is cut."""
    return f"{payment.merchant}…" if payment.is_cut else payment.merchant


def can_be_same_card(one: str | None, other: str | None) -> bool:
    """Return True unless the last digits differ; a star matches any digit."""
    first, second = card_token(one), card_token(other)
    if not first or not second:
        return True
    length = min(len(first), len(second))
    return all(
        a == b or "*" in (a, b)
        for a, b in zip(first[-length:], second[-length:], strict=True)
    )


def card_token(hint: str | None) -> str:
    """Return the digits and stars of a card hint, or "" if it is a product's name."""
    token = hint or ""
    digits = sum(letter.isdigit() for letter in token)
    is_token = all(letter.isdigit() or letter == "*" for letter in token)
    return token if is_token and digits >= MIN_CARD_DIGITS else ""


def minute_of(payment: PaymentFingerprint) -> int:
    return int(payment.happened_at.timestamp()) // 60


def differ(one: object, other: object) -> bool:
    """Return True for two values that are given and differ."""
    return one is not None and other is not None and one != other
