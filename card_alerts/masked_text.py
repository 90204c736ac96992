"""A message in which the parts already understood are masked.

Each understood part is replaced by as many signs of its kind, so that places stay
the same and the layout (amount, then day, then something not understood) can be
read off the signs.
"""

import re

RUNNING_TOTAL = "\ue000"
BENEFIT = "\ue00b"
"""A discount, points or a second amount beside the payment."""
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
"""The day of the approval that a cancellation names."""

MERCHANT = "\ue00c"
"""A name in a place that can only be the shop's."""

FIRST_PLACEHOLDER, LAST_PLACEHOLDER = "\ue000", "\ue00f"
ANY_PLACEHOLDER = f"{FIRST_PLACEHOLDER}-{LAST_PLACEHOLDER}"
"""All signs, for use inside the brackets of a regular expression."""
PLACEHOLDERS = frozenset(
    map(chr, range(ord(FIRST_PLACEHOLDER), ord(LAST_PLACEHOLDER) + 1))
)


class MaskedText:
    """The text, masked part by part."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def mask(self, start: int, end: int, sign: str) -> None:
        self.text = f"{self.text[:start]}{sign * (end - start)}{self.text[end:]}"

    def mask_all(self, pattern: re.Pattern[str], sign: str) -> None:
        """Masks every match; a group named `part` narrows it to that group."""
        group = "part" if "part" in pattern.groupindex else 0
        matches = list(pattern.finditer(self.text))
        if matches:
            self.mask_spans([match.span(group) for match in matches], sign)

    def mask_spans(self, spans: list[tuple[int, int]], sign: str) -> None:
        """Masks stretches in the order of their beginnings; they may overlap."""
        pieces: list[str] = []
        last = 0
        for begin, end in spans:
            start = max(begin, last)
            if end <= start:
                continue
            pieces += (self.text[last:start], sign * (end - start))
            last = end
        self.text = "".join((*pieces, self.text[last:]))
