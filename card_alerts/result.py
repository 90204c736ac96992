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
    """The reason why a message is not recorded; the values are those of spec 4.3."""

    ADVERT = "ADVERT"
    DECLINED = "DECLINED"
    STATEMENT = "STATEMENT"
    ONE_TIME_PASSWORD = "ONE_TIME_PASSWORD"  # noqa: S105  # a kind of message
    BANK_TRANSFER = "BANK_TRANSFER"
    ZERO_AMOUNT = "ZERO_AMOUNT"
    NO_PAYMENT = "NO_PAYMENT"
    NO_MATCHING_APPROVAL = "NO_MATCHING_APPROVAL"


@dataclass(frozen=True, slots=True)
class ParseResult:
    """The fields of a message; None for what the text does not say.

    `amount` is positive and in whole units of the home currency. A payment in
    another currency has `currency` and `original_amount`, and `amount` only if the
    text prints the home amount too. `occurred_at` needs a printed day and a printed
    time; `occurred_on` is the day alone. `original_date` is the day of the approval
    that a cancellation names. `spans` maps the field names of spec 4.2 to the parts
    of the original text that they were read from.
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
    balance: int | None = None
    spans: dict[str, Span] = field(default_factory=dict)


def rejected(reason: Reason) -> ParseResult:
    """Return the result of a text that is no payment."""
    return ParseResult(recognized=False, reason=reason)
