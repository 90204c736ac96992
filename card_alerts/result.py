"""The result of the parser for every text."""

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

# Start and end (exclusive) in code points.
Span = tuple[int, int]


class Kind(StrEnum):
    """The event of a message (spec 4.2)."""

    APPROVAL = "approval"
    CANCELLATION = "cancellation"
    DECLINED = "declined"


class Reason(StrEnum):
    """The reason to record nothing (spec 4.3).

    The caller decides on `OWN_TRANSFER`, `CARD_BILL`, `NO_MATCHING_APPROVAL`, `TAUGHT`
    (a member has said so) and `UNSURE` (no other reason, with `would_be`).
    """

    ADVERT = "ADVERT"
    DECLINED = "DECLINED"
    STATEMENT = "STATEMENT"
    ONE_TIME_PASSWORD = "ONE_TIME_PASSWORD"  # noqa: S105  # a kind of message
    BANK_TRANSFER = "BANK_TRANSFER"
    OWN_TRANSFER = "OWN_TRANSFER"
    CARD_BILL = "CARD_BILL"
    ZERO_AMOUNT = "ZERO_AMOUNT"
    NO_PAYMENT = "NO_PAYMENT"
    NO_MATCHING_APPROVAL = "NO_MATCHING_APPROVAL"
    TAUGHT = "TAUGHT"
    UNSURE = "UNSURE"


class Confidence(StrEnum):
    """`SURE`: grammar and second opinion agree on the name, or a layout was taught.

    By the grammar alone: a label, a separator, a particle or the place marks it.
    """

    SURE = "SURE"
    GUESS = "GUESS"


class Doubt(StrEnum):
    """A question for a person: is it a payment, is this the name of the merchant."""

    KIND = "KIND"
    MERCHANT = "MERCHANT"


class Certainty(StrEnum):
    SURE = "SURE"
    UNSURE = "UNSURE"


@dataclass(frozen=True, slots=True)
class NameCandidate:
    """A part of the original text that may be the merchant's name."""

    text: str
    span: Span


class Channel(StrEnum):
    CARD_SMS = "CARD_SMS"
    CARD_APP = "CARD_APP"
    BANK = "BANK"
    PAY_APP = "PAY_APP"
    KAKAOTALK = "KAKAOTALK"


class BookingDirection(StrEnum):
    DEPOSIT = "DEPOSIT"
    WITHDRAWAL = "WITHDRAWAL"


class BookingPurpose(StrEnum):
    """`CARD_BILL` is the monthly bill of a card."""

    TRANSFER = "TRANSFER"
    CARD_BILL = "CARD_BILL"
    CASH = "CASH"


@dataclass(frozen=True, slots=True)
class BankBooking:
    """A deposit to, or a withdrawal from, a bank account that is no card payment.

    Amounts and balances are described at `ParseResult`. `account_hint` is printed
    (`481902**317`), `card_company` the issuer of a `CARD_BILL`. `is_cancelled`:
    출금취소.
    """

    direction: BookingDirection
    purpose: BookingPurpose = BookingPurpose.TRANSFER
    amount: int | None = None
    currency: str | None = None
    original_amount: Decimal | None = None
    bank: str | None = None
    account_hint: str | None = None
    counterparty: str | None = None
    card_company: str | None = None
    is_cancelled: bool = False
    balance: Decimal | None = None
    balance_currency: str | None = None
    occurred_at: datetime | None = None
    occurred_on: date | None = None
    spans: dict[str, Span] = field(default_factory=dict)


# Not frozen, as that takes 4 µs more a text; nothing changes one that was returned.
@dataclass(slots=True)
class ParseResult:
    """The fields of a message; None if the text does not print them.

    `amount` is positive and in whole home-currency units. A payment in another currency
    has `currency` and `original_amount`, and `amount` only if printed too.
    `occurred_at` needs a printed day and time. `original_date` is the day of the
    approval that a cancellation names. `spans` maps fields of spec 4.2 to their parts
    of the original text, not of the title.

    `balance` is not a limit; `balance_currency` is None for the home currency. A
    cancellation or a final amount will replace a preliminary approval (가승인, 선승인).
    `bank_booking` comes with `BANK_TRANSFER`, and with `STATEMENT` if a bank paid a
    card's bill. `text_span` is the message within a text of several.

    `candidates` are at most 5 names, the best first. `would_be` is the payment that an
    ignored text would have been; None if it is surely none.
    """

    recognized: bool
    kind: Kind | None = None
    reason: Reason | None = None
    card_company: str | None = None
    card_hint: str | None = None
    is_check_card: bool | None = None
    amount: int | None = None
    currency: str | None = None
    original_amount: Decimal | None = None
    merchant: str | None = None
    installment_months: int | None = None
    occurred_at: datetime | None = None
    occurred_on: date | None = None
    original_date: date | None = None
    is_partial: bool = False
    running_total: int | None = None
    balance: Decimal | None = None
    balance_currency: str | None = None
    merchant_confidence: Confidence | None = None
    is_gateway: bool = False
    is_merchant_cut: bool = False
    is_preliminary: bool = False
    channel: Channel | None = None
    bank_booking: BankBooking | None = None
    text_span: Span | None = None
    spans: dict[str, Span] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()
    candidates: tuple[NameCandidate, ...] = ()
    would_be: "ParseResult | None" = None

    @property
    def certainty(self) -> Certainty:
        is_unsure = self.doubts or self.would_be is not None
        return Certainty.UNSURE if is_unsure else Certainty.SURE


def rejected(reason: Reason) -> ParseResult:
    return ParseResult(recognized=False, reason=reason)
