"""When two notifications tell of one payment, and what a cancellation cancels. Pure.

Judged by what was parsed, not by the text: one payment is announced by SMS, push and
pay app in different words (spec 4.5).
"""

import hashlib
import unicodedata
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from card_alerts.issuers import PAY_SERVICES
from card_alerts.result import Kind, ParseResult

DEDUPLICATION_WINDOW = timedelta(minutes=5)
"""How far apart the channels announce a payment whose time is not printed."""
MAX_CANCELLATION_AGE = timedelta(days=90)
MAX_CLOCK_SKEW = timedelta(minutes=10)
"""How much later than its cancellation an approval may seem to be."""
MIN_CARD_DIGITS = 2
MAX_COMPARED_TOTAL = 10**15
"""Printed totals beyond this are no money and compare nothing."""
LEGAL_FORMS = ("(주)", "주식회사", "(유)", "유한회사")


@dataclass(frozen=True, slots=True)
class PaymentFingerprint:
    """One notification as it is compared; `value` is in the payment's own currency.

    Rows of `Notification` have the same fields.
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
    happened_at: datetime
    is_timed: bool


def build_fingerprint(parsed: ParseResult, received_at: datetime) -> PaymentFingerprint:
    """Of a recognized text; what prints no time happened when it was received."""
    value = parsed.original_amount if parsed.currency else parsed.amount
    return PaymentFingerprint(
        kind=parsed.kind or Kind.APPROVAL,
        is_partial=parsed.is_partial,
        card_company=parsed.card_company,
        card_hint=parsed.card_hint,
        currency=parsed.currency,
        value=Decimal(value or 0),
        merchant=parsed.merchant or "",
        running_total=_bounded(parsed.running_total),
        balance=_bounded(parsed.balance),
        happened_at=parsed.occurred_at or received_at,
        is_timed=parsed.occurred_at is not None,
    )


def deduplication_key(one: PaymentFingerprint) -> str:
    """What the database keeps unique per member: equal for texts sent again.

    Announcements with one key are always the same payment; the opposite is decided
    by `is_same_payment` under the member's lock.
    """
    seconds = int(one.happened_at.timestamp())
    slot = (
        seconds // 60
        if one.is_timed
        else seconds // int(DEDUPLICATION_WINDOW.total_seconds())
    )
    parts = (
        *(one.kind, one.is_partial, one.card_company, one.currency),
        *(
            one.value.normalize(),
            normalize_merchant(one.merchant),
            one.running_total,
            one.balance,
        ),
        *(one.is_timed, slot),
    )
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()


def is_same_payment(one: PaymentFingerprint, other: PaymentFingerprint) -> bool:
    """Whether both announce one payment, or one cancellation."""
    if (one.kind, one.is_partial, one.currency, one.value) != (
        *(other.kind, other.is_partial, other.currency, other.value),
    ):
        return False
    if (
        not is_same_issuer(one, other)
        or _differ(one.running_total, other.running_total)
        or _differ(one.balance, other.balance)
    ):
        return False
    if one.is_timed and other.is_timed:
        same_company = one.card_company is not None and other.card_company is not None
        return _minute(one) == _minute(other) and not (
            same_company and not is_same_merchant(one, other)
        )
    apart = abs(one.happened_at - other.happened_at)
    return apart < DEDUPLICATION_WINDOW and is_same_merchant(one, other)


def is_cancelled_by(
    approval: PaymentFingerprint,
    cancellation: PaymentFingerprint,
    original_date: date | None,
) -> bool:
    """By card, currency and amount, and the printed original day or the merchant."""
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
    return is_similar_merchant(approval.merchant, cancellation.merchant)


def is_same_issuer(one: PaymentFingerprint, other: PaymentFingerprint) -> bool:
    """Whether nothing tells two companies apart.

    A pay app tells of a payment by some card: beside a card's own message it is the
    same one only where both name the merchant, or the card names the app as such.
    """
    if not _differ(one.card_company, other.card_company):
        return True
    if (one.card_company in PAY_SERVICES) == (other.card_company in PAY_SERVICES):
        return False
    return bool(one.merchant and other.merchant) and is_same_merchant(one, other)


def is_same_merchant(one: PaymentFingerprint, other: PaymentFingerprint) -> bool:
    """Loosely; a card may name the pay app, through which it paid, as its merchant."""
    if is_similar_merchant(one.merchant, other.merchant):
        return True
    for app, card in ((one, other), (other, one)):
        if app.card_company in PAY_SERVICES and card.merchant:
            return is_similar_merchant(app.card_company or "", card.merchant)
    return False


def is_similar_merchant(one: str, other: str) -> bool:
    """One merchant contains the other; one that is not told may be any."""
    one, other = normalize_merchant(one), normalize_merchant(other)
    return one in other or other in one


def can_be_same_card(one: str | None, other: str | None) -> bool:
    """Whether two card tokens may be of one card: digits and masks only can differ."""
    first, second = card_token(one), card_token(other)
    if not first or not second:
        return True
    length = min(len(first), len(second))
    return all(
        a == b or "*" in (a, b)
        for a, b in zip(first[-length:], second[-length:], strict=True)
    )


def normalize_merchant(text: str) -> str:
    """Letters and digits alone, in one case and width, without forms of companies."""
    text = unicodedata.normalize("NFKC", text).casefold()
    for form in LEGAL_FORMS:
        text = text.replace(form, "")
    return "".join(letter for letter in text if letter.isalnum())


def card_token(hint: str | None) -> str:
    """The digits and stars of a card token; nothing where it is a product's name."""
    token = hint or ""
    digits = sum(letter.isdigit() for letter in token)
    is_token = digits >= MIN_CARD_DIGITS and all(
        letter.isdigit() or letter == "*" for letter in token
    )
    return token if is_token else ""


def _bounded(total: int | None) -> int | None:
    return total if total is not None and abs(total) <= MAX_COMPARED_TOTAL else None


def _minute(one: PaymentFingerprint) -> int:
    return int(one.happened_at.timestamp()) // 60


def _differ(one: object, other: object) -> bool:
    return one is not None and other is not None and one != other
