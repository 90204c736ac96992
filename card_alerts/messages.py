"""Split a text into the messages that it consists of."""

import re

from card_alerts.result import Span

# Messages of a text that are read; the rest is ignored.
MAX_MESSAGES = 20

# The mark with which a Korean SMS from a company begins.
_SENT_FROM_WEB = re.compile(r"\[?(?:Web|WEB|web)[ ]?발신\]?")
_AMOUNT = re.compile(r"\d원|\d,\d{3}|[A-Z]{3} ?\d|[$€₩] ?\d|\d\.\d{2}")


def split_messages(text: str) -> list[Span]:
    """Return the parts of a normalized text that are messages, in their order.

    A message ends where a mark of a new one follows its amount. There are at most 20,
    and one if nothing separates them.
    """
    starts = [0]
    if text.count("발신") > 1:
        for mark in _SENT_FROM_WEB.finditer(text):
            if _AMOUNT.search(text, starts[-1], mark.start()):
                starts.append(mark.start())
    ends = [*starts[1:], len(text)]
    return list(zip(starts, ends, strict=True))[:MAX_MESSAGES]
