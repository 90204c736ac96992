"""A text whose understood parts are replaced by placeholders of the same length.

Offsets stay valid. Placeholders are private use characters, which normalization removes
from the original text.
"""

import re

from card_alerts.result import Span

RUNNING_TOTAL = "\ue000"
BALANCE = "\ue001"
TIMESTAMP = "\ue002"
INSTALLMENT = "\ue003"
ISSUER = "\ue004"
HOLDER_NAME = "\ue005"
AMOUNT = "\ue006"
KEYWORD = "\ue007"
NOISE = "\ue008"
LABEL = "\ue009"
ORIGINAL_DATE = "\ue00a"
# A discount, points or a second amount.
BENEFIT = "\ue00b"
# A name at a place of merchants only.
MERCHANT = "\ue00c"

FIRST_PLACEHOLDER, LAST_PLACEHOLDER = "\ue000", "\ue00f"
# For character classes.
ANY_PLACEHOLDER = f"{FIRST_PLACEHOLDER}-{LAST_PLACEHOLDER}"
PLACEHOLDERS = frozenset(
    map(chr, range(ord(FIRST_PLACEHOLDER), ord(LAST_PLACEHOLDER) + 1))
)


class MaskedText:
    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def mask(self, start: int, end: int, placeholder: str) -> None:
        masked = placeholder * (end - start)
        self.text = f"{self.text[:start]}{masked}{self.text[end:]}"

    def mask_all(self, pattern: re.Pattern[str], placeholder: str) -> None:
        """Mask every match, or its group `part`."""
        first = pattern.search(self.text)
        if first:
            group = "part" if "part" in pattern.groupindex else 0
            matches = pattern.finditer(self.text, first.start())
            self.mask_spans([match.span(group) for match in matches], placeholder)

    def mask_spans(self, spans: list[Span], placeholder: str) -> None:
        """Mask spans in the order of their starts; they may overlap."""
        if not spans:
            return
        text, last_end = self.text, 0
        if len(spans) == 1:
            ((start, end),) = spans
            self.text = f"{text[:start]}{placeholder * (end - start)}{text[end:]}"
            return
        pieces: list[str] = []
        for span_start, end in spans:
            start = span_start if span_start > last_end else last_end
            if end <= start:
                continue
            pieces += (text[last_end:start], placeholder * (end - start))
            last_end = end
        self.text = "".join((*pieces, text[last_end:]))
