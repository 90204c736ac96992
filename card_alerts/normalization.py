r"""Normalize a text, and map offsets back to the original text.

The normalized text is NFKC, without invisible characters, with "\n" as the only line
break. Runs of spaces separate a merchant from the notice after it.
"""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from card_alerts.masked_text import PLACEHOLDERS
from card_alerts.result import Span

# A character with a longer NFKC form (ﷺ has 18) is kept.
MAX_NFKC_EXPANSION = 8

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
)
_IRREGULAR = re.compile(f"[{_INVISIBLE}\r]")
_ZERO_WIDTH = re.compile(f"[{_INVISIBLE}]")
# A character with its combining marks, Korean vowels and Japanese voicing marks.
_MARKS = r"\u0300-\u036f\u1161-\u11ff\u3099\u309a"
# Or a run of characters that stay as they are
_CLUSTER = re.compile(
    rf"(?P<plain>[\n -~가-힣]+(?![{_MARKS}]))|.[{_MARKS}]{{0,8}}", re.DOTALL
)
_CHARACTER_MAP = str.maketrans(
    {
        **dict.fromkeys("\t\v\f\x1c\x1d\x1e\x1f\x00", " "),
        **dict.fromkeys("\x85\u2028\u2029", "\n"),
        **dict.fromkeys(PLACEHOLDERS, " "),
        "−": "-",
        "–": "-",
        "∗": "*",
        "✱": "*",
        "○": "*",
        "●": "*",
    }
)
# １２：３０ as NFKC has it, each in its place
_NARROW = {0x3000: 0x20, **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}}
_WIDE = re.compile("[\u3000\uff01-\uff5e]")
_MAPPED = re.compile(f"[{re.escape(''.join(map(chr, _CHARACTER_MAP)))}]")


class NormalizedText(NamedTuple):
    """The starts and ends are original offsets; None: all are unchanged."""

    text: str
    starts: list[int] | None = None
    ends: list[int] | None = None

    def truncated(self, end: int) -> "NormalizedText":
        if end >= len(self.text):
            return self
        return NormalizedText(self.text[:end], self.starts, self.ends)

    def source_span(self, span: Span) -> Span:
        if self.starts is None or self.ends is None:
            return span
        start, end = span
        return self.starts[start], self.ends[end - 1]


def normalize(text: str) -> NormalizedText:
    narrow = text.translate(_NARROW) if _WIDE.search(text) else text
    if unicodedata.is_normalized("NFKC", narrow) and not _IRREGULAR.search(narrow):
        if _MAPPED.search(narrow):
            narrow = narrow.translate(_CHARACTER_MAP)
        return NormalizedText(narrow)
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _CLUSTER.finditer(narrow):
        start, end = match.span()
        if match["plain"]:
            pieces.append(match[0])
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
            continue
        composed = _normalize_cluster(match[0])
        pieces.append(composed)
        for _ in composed:
            starts.append(start)
            ends.append(end)
    return NormalizedText("".join(pieces).translate(_CHARACTER_MAP), starts, ends)


# Texts have few different characters, and normalizing one is slow.
@lru_cache(maxsize=8192)
def _normalize_cluster(cluster: str) -> str:
    if cluster[0] == "\r":
        return "\n"
    composed = unicodedata.normalize("NFKC", cluster)
    if len(composed) > MAX_NFKC_EXPANSION:
        composed = cluster
    return _ZERO_WIDTH.sub("", composed)


def to_printed_text(text: str) -> str:
    """Return a part of the original text on one line."""
    return _ZERO_WIDTH.sub("", text).replace("\r", "").replace("\n", " ").strip()
