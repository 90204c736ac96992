r"""Normalize a text, and map offsets back to the text as it was sent.

Normalized is NFKC, without invisible characters, with "\n" as the only line break.
Runs of spaces are kept, since they separate a merchant from the notice after it.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from card_alerts.masked_text import PLACEHOLDERS
from card_alerts.result import Span

# A character whose NFKC form is longer (ﷺ has 18) is kept as it is.
MAX_NFKC_EXPANSION = 8

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
)
_IRREGULAR = re.compile(f"[{_INVISIBLE}\r]")
_ZERO_WIDTH = re.compile(f"[{_INVISIBLE}]")
# A character with its combining marks, Korean vowels and Japanese voicing marks.
_CLUSTER = re.compile(r".[\u0300-\u036f\u1161-\u11ff\u3099\u309a]{0,8}", re.DOTALL)
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
_MAPPED = re.compile(f"[{re.escape(''.join(map(chr, _CHARACTER_MAP)))}]")


@dataclass(frozen=True, slots=True)
class NormalizedText:
    """A normalized text with the original start and end of each character.

    Without `starts` and `ends` the offsets are those of the original text.
    """

    text: str
    starts: list[int] | None = None
    ends: list[int] | None = None

    def truncated(self, end: int) -> "NormalizedText":
        """Return the first `end` characters."""
        if end >= len(self.text):
            return self
        return NormalizedText(self.text[:end], self.starts, self.ends)

    def source_span(self, span: Span) -> Span:
        """Return the span of the original text that became this one."""
        if self.starts is None or self.ends is None:
            return span
        start, end = span
        return self.starts[start], self.ends[end - 1]


def normalize(text: str) -> NormalizedText:
    """Return the normalized text."""
    # Most texts are normalized already; then the offsets need no table.
    if unicodedata.is_normalized("NFKC", text) and not _IRREGULAR.search(text):
        if _MAPPED.search(text):
            text = text.translate(_CHARACTER_MAP)
        return NormalizedText(text)
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _CLUSTER.finditer(text):
        start, end = match.span()
        composed = _normalize_cluster(match[0])
        pieces.append(composed)
        for _ in composed:
            starts.append(start)
            ends.append(end)
    return NormalizedText("".join(pieces).translate(_CHARACTER_MAP), starts, ends)


# Texts consist of few different characters, and normalizing one is slow.
@lru_cache(maxsize=8192)
def _normalize_cluster(cluster: str) -> str:
    if cluster[0] == "\r":
        return "\n"
    composed = unicodedata.normalize("NFKC", cluster)
    if len(composed) > MAX_NFKC_EXPANSION:
        composed = cluster
    return _ZERO_WIDTH.sub("", composed)


def to_printed_text(text: str) -> str:
    """Return a part of the original text on one line, without invisible characters."""
    return _ZERO_WIDTH.sub("", text).replace("\r", "").replace("\n", " ").strip()
