"""Messages and their fingerprints. Pure."""

import hashlib
import unicodedata
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from functools import cached_property

from card_alerts import (
    BankBooking,
    BookingDirection,
    BookingPurpose,
    Channel,
    Kind,
    ParseResult,
)
from ledger.entry_shape import EntryShape
from ledger.models import Entry
from ledger.models.base import MAX_MEMO_LENGTH, CategoryType, EntryType
from ledger.notifications.wallets import KnownWallet, get_card_digits

# The time between notifications of a payment without a printed time.
DEDUPLICATION_WINDOW = timedelta(minutes=5)
# Larger numbers are no money, and would not fit into the database.
MAX_COMPARED_TOTAL = 10**15
LEGAL_FORMS = ("(주)", "주식회사", "(유)", "유한회사")


class BookingKind(StrEnum):
    DEPOSIT = "deposit"
    WITHDRAWAL = "withdrawal"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Fields by which notifications are compared; `Notification` stores them.

    `value` is in `currency`; None is the home currency.
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
    # Printed if `is_timed`, else the time of receipt.
    happened_at: datetime
    is_timed: bool
    channel: str | None = None
    # The text broke the merchant off.
    is_cut: bool = False
    is_preliminary: bool = False

    @property
    def is_of_account(self) -> bool:
        return self.balance is not None or self.channel == Channel.BANK

    @property
    def has_card_digits(self) -> bool:
        return not self.is_of_account and bool(get_card_digits(self.card_hint))

    @property
    def time_of_day(self) -> time | None:
        if not self.is_timed:
            return None
        return self.happened_at.time().replace(second=0, microsecond=0)

    @property
    def merchant_key(self) -> str:
        return normalize_merchant(self.merchant)

    @property
    def key(self) -> str:
        """Return a key per member, equal for a repeated text."""
        seconds = int(self.happened_at.timestamp())
        window = 60 if self.is_timed else int(DEDUPLICATION_WINDOW.total_seconds())
        parts = (
            self.kind,
            self.is_partial,
            self.card_company,
            self.card_hint,
            self.channel,
            self.currency,
            self.value.normalize(),
            self.merchant_key,
            self.running_total,
            self.balance,
            self.is_timed,
            seconds // window,
        )
        return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()


@dataclass(frozen=True)
class Message:
    """One message, as the parser and the taught layouts read it.

    `received_at` is in the home time zone.
    """

    parsed: ParseResult
    received_at: datetime
    text: str = ""
    sender: str = ""
    given_wallet: KnownWallet | None = None
    layout_id: int | None = None
    # Of the text, read without taught layouts.
    layout_digest: str | None = None
    taught_wallet: KnownWallet | None = None
    # The member's cards; read where the payment is known.
    cards: tuple[KnownWallet, ...] = ()
    # The member has said that it is a payment.
    is_asserted: bool = False
    # The member wants entries from bank texts.
    is_captured: bool = False

    @property
    def booking(self) -> BankBooking | None:
        is_payment = self.parsed.recognized or not self.is_captured
        return None if is_payment else self.parsed.bank_booking

    @property
    def wallets(self) -> tuple[KnownWallet | None, KnownWallet | None]:
        return self.given_wallet, self.taught_wallet

    @cached_property
    def fingerprint(self) -> Fingerprint:
        if self.booking is not None:
            return read_booking(self.booking, self.received_at)
        return read_payment(self.parsed, self.received_at)

    @property
    def is_transfer(self) -> bool:
        booking = self.booking
        return booking is not None and booking.purpose is BookingPurpose.TRANSFER

    @property
    def booked_type(self) -> EntryType:
        booking = self.booking
        is_deposit = booking and booking.direction is BookingDirection.DEPOSIT
        return EntryType.INCOME if is_deposit else EntryType.EXPENSE

    def make_entry(self, type_: EntryType, wallet_id: int | None) -> EntryShape:
        """Return the reported entry, without a category."""
        fingerprint = self.fingerprint
        read = self.booking or self.parsed
        # Payments and their refunds are booked on expenses.
        category_type = None if self.booking else CategoryType.EXPENSE.value
        return EntryShape(
            type=type_.value,
            date=read.occurred_on or fingerprint.happened_at.date(),
            time=fingerprint.time_of_day,
            amount=read.amount,
            currency=read.currency,
            original_amount=read.original_amount,
            wallet=wallet_id,
            memo=fingerprint.merchant[:MAX_MEMO_LENGTH],
            category_type=category_type,
            source=Entry.Source.NOTIFICATION.value,
        )

    def make_transfer(self, account_id: int, other_id: int | None) -> EntryShape:
        source: int | None = account_id
        target = other_id
        if self.booked_type is EntryType.INCOME:
            source, target = other_id, account_id
        return replace(self.make_entry(EntryType.TRANSFER, source), to_wallet=target)


def read_payment(parsed: ParseResult, received_at: datetime) -> Fingerprint:
    value = parsed.original_amount if parsed.currency else parsed.amount
    return Fingerprint(
        kind=parsed.kind or Kind.APPROVAL,
        is_partial=parsed.is_partial,
        card_company=parsed.card_company,
        card_hint=parsed.card_hint,
        currency=parsed.currency,
        value=Decimal(value or 0),
        merchant=parsed.merchant or "",
        running_total=limit_total(parsed.running_total),
        balance=limit_total(parsed.balance),
        happened_at=parsed.occurred_at or received_at,
        is_timed=parsed.occurred_at is not None,
        channel=parsed.channel,
        is_cut=parsed.is_merchant_cut,
        is_preliminary=parsed.is_preliminary,
    )


def read_booking(booking: BankBooking, received_at: datetime) -> Fingerprint:
    kind: str = BookingKind.WITHDRAWAL
    if booking.is_cancelled:
        kind = Kind.CANCELLATION
    elif booking.direction is BookingDirection.DEPOSIT:
        kind = BookingKind.DEPOSIT
    value = booking.original_amount if booking.currency else booking.amount
    return Fingerprint(
        kind=kind,
        is_partial=False,
        card_company=booking.bank,
        card_hint=booking.account_hint,
        currency=booking.currency,
        value=Decimal(value or 0),
        merchant=booking.counterparty or "",
        running_total=None,
        balance=limit_total(booking.balance),
        happened_at=booking.occurred_at or received_at,
        is_timed=booking.occurred_at is not None,
        channel=Channel.BANK,
    )


def normalize_merchant(text: str) -> str:
    """Return letters and digits in one case and width, without legal forms."""
    text = unicodedata.normalize("NFKC", text).casefold()
    for form in LEGAL_FORMS:
        text = text.replace(form, "")
    return "".join(letter for letter in text if letter.isalnum())


def limit_total(total: Decimal | int | None) -> int | None:
    """Return whole units; fractions of a foreign balance are not compared."""
    if total is None or not -MAX_COMPARED_TOTAL <= total <= MAX_COMPARED_TOTAL:
        return None
    return int(total)
