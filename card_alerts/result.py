"""What the parser answers: one typed result for every text."""

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum


class Kind(StrEnum):
    """What a message tells of a card; the values are those of spec 4.2."""

    APPROVAL = "approval"
    CANCELLATION = "cancellation"
    DECLINED = "declined"


class Reason(StrEnum):
    """Why a message is not recorded; the values are those of spec 4.3."""

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
    """A message as understood; what the text does not tell is None.

    `amount` is in whole units of the home currency and positive. A payment in
    another currency has `currency` and `original_amount`, and `amount` only where
    the text prints the home amount too. `occurred_at` needs a printed day and a
    printed time; `occurred_on` is the day alone. `original_date` is the day of the
    approval that a cancellation names. `spans` gives, per field of the parse answer (spec 4.2), start and end in the text as it was sent, in code points.
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
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)


def rejected(reason: Reason) -> ParseResult:
    """A text that tells of no payment: nothing but the reason."""
    return ParseResult(recognized=False, reason=reason)
