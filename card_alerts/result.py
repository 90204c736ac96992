"""The result of the parser: one typed object for every text."""

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

# Start and end (exclusive) of a part of a text, in code points.
Span = tuple[int, int]


class Kind(StrEnum):
    """The event that a message reports; the values are those of spec 4.2."""

    APPROVAL = "approval"
    CANCELLATION = "cancellation"
    DECLINED = "declined"


class Reason(StrEnum):
    """The reason why a message is not recorded; the values are those of spec 4.3.

    The parser itself gives neither `OWN_TRANSFER` nor `CARD_BILL` nor
    `NO_MATCHING_APPROVAL`: whoever knows the member's wallets and entries decides on
    them. A card's bill in an account text is told by `BankBooking.purpose`.
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


class Confidence(StrEnum):
    """The certainty of a merchant's name.

    `SURE` means that a label, a separator, a particle or a taught layout told it,
    `GUESS` that it is what the other parts of the text left over.
    """

    SURE = "SURE"
    GUESS = "GUESS"


class Channel(StrEnum):
    """The way by which a text came, by its layout and its sender.

    One payment is often announced once in each of several channels.
    """

    CARD_SMS = "CARD_SMS"
    CARD_APP = "CARD_APP"
    BANK = "BANK"
    PAY_APP = "PAY_APP"
    KAKAOTALK = "KAKAOTALK"


class BookingDirection(StrEnum):
    """The direction of a booking on a bank account."""

    DEPOSIT = "DEPOSIT"
    WITHDRAWAL = "WITHDRAWAL"


class BookingPurpose(StrEnum):
    """The purpose of a booking that its text tells.

    `CARD_BILL` is the monthly bill of a card, `CASH` is a cash machine.
    """

    TRANSFER = "TRANSFER"
    CARD_BILL = "CARD_BILL"
    CASH = "CASH"


@dataclass(frozen=True, slots=True)
class BankBooking:
    """A deposit to, or a withdrawal from, a bank account that is no card payment.

    `amount` is positive and in whole units of the home currency; a booking in another
    currency has `currency` and `original_amount` instead. `bank` is the short name of
    the bank (as `ParseResult.card_company`). `account_hint` is the account as printed,
    digits, stars and hyphens (`481902**317`). `card_company` is the issuer of the card
    whose bill was paid, for the purpose `CARD_BILL`. `is_cancelled` is true for a
    booking that is taken back (출금취소). `balance` and `balance_currency` are as in
    `ParseResult`. `spans` has the keys `amount`, `counterparty`, `accountHint`,
    `occurredAt` and `balance`, as far as they were found.
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


@dataclass(frozen=True, slots=True)
class ParseResult:
    """The fields of a message; None for what the text does not say.

    `amount` is positive and in whole units of the home currency. A payment in
    another currency has `currency` and `original_amount`, and `amount` only if the
    text prints the home amount too. `occurred_at` needs a printed day and a printed
    time; `occurred_on` is the day alone. `original_date` is the day of the approval
    that a cancellation names. `spans` maps the field names of spec 4.2 to the parts
    of the original text that they were read from; what only the title says has none.

    `balance` is the printed balance of the account or card (not a limit), in
    `balance_currency`, which is None for the home currency. `is_preliminary` marks an
    approval that a cancellation or a final amount will replace (가승인, 선승인).
    `is_gateway` is true if `merchant` is a payment gateway, not a shop, and
    `is_merchant_cut` if the text broke it off. `bank_booking` is given with the reason
    `BANK_TRANSFER` where the text has an amount, and with `STATEMENT` where a bank says
    that it paid a card's bill. `text_span` is the part of the text
    that is this message, if the text has several.
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


def rejected(reason: Reason) -> ParseResult:
    """Return the result of a text that is no payment."""
    return ParseResult(recognized=False, reason=reason)
