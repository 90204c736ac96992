"""Parser of the texts that banks and card companies send about payments.

A pure library: no clock, no file, no import of this service (README.md).
"""

from card_alerts.issuer import Issuer
from card_alerts.issuers import (
    PAY_SERVICES,
    find_issuer,
    find_issuer_by_sender,
    normalize_card_name,
)
from card_alerts.layouts import (
    MAX_LAYOUT_TEXT_LENGTH,
    NO_PART,
    Layout,
    apply_layout,
    learn_layout,
    learn_whole_layout,
    locate_corrections,
    make_template,
    read_with_layout,
)
from card_alerts.merchant_quality import (
    choose_better_name,
    is_beginning_of,
    is_cut_name,
    is_gateway_name,
)
from card_alerts.messages import MAX_MESSAGES
from card_alerts.parser import MAX_TEXT_LENGTH, parse, parse_all
from card_alerts.result import (
    BankBooking,
    BookingDirection,
    BookingPurpose,
    Certainty,
    Channel,
    Confidence,
    Doubt,
    Kind,
    NameCandidate,
    ParseResult,
    Reason,
    Span,
    rejected,
)
from card_alerts.taught import read_taught_payment

__all__ = [
    "MAX_LAYOUT_TEXT_LENGTH",
    "MAX_MESSAGES",
    "MAX_TEXT_LENGTH",
    "NO_PART",
    "PAY_SERVICES",
    "BankBooking",
    "BookingDirection",
    "BookingPurpose",
    "Certainty",
    "Channel",
    "Confidence",
    "Doubt",
    "Issuer",
    "Kind",
    "Layout",
    "NameCandidate",
    "ParseResult",
    "Reason",
    "Span",
    "apply_layout",
    "choose_better_name",
    "find_issuer",
    "find_issuer_by_sender",
    "is_beginning_of",
    "is_cut_name",
    "is_gateway_name",
    "learn_layout",
    "learn_whole_layout",
    "locate_corrections",
    "make_template",
    "normalize_card_name",
    "parse",
    "parse_all",
    "read_taught_payment",
    "read_with_layout",
    "rejected",
]
