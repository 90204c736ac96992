"""Parser of the texts that banks and card companies send about payments.

A pure library: it reads no clock and no file, and imports nothing of this service.
See README.md for an example.
"""

from card_alerts.issuer import Issuer
from card_alerts.issuers import (
    PAY_SERVICES,
    find_issuer,
    find_issuer_by_sender,
    normalize_card_name,
)
from card_alerts.parser import MAX_TEXT_LENGTH, parse
from card_alerts.result import Kind, ParseResult, Reason, Span

__all__ = [
    "MAX_TEXT_LENGTH",
    "PAY_SERVICES",
    "Issuer",
    "Kind",
    "ParseResult",
    "Reason",
    "Span",
    "find_issuer",
    "find_issuer_by_sender",
    "normalize_card_name",
    "parse",
]
