"""One plain form of a message, and the way back to the text as it was sent.

NFKC, no invisible characters, one kind of line break; runs of blanks are kept,
since they separate a merchant from the notice behind it.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from card_alerts.masked_text import PLACEHOLDERS

MAX_NFKC_EXPANSION = 8
"""A character that NFKC makes longer than this stays as it is."""

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
)
_IRREGULAR = re.compile(f"[{_INVISIBLE}\r]")
_ZERO_WIDTH = re.compile(f"[{_INVISIBLE}]")
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


@dataclass(frozen=True, slots=True)
class NormalizedText:
    """The plain text; `starts` and `ends` hold, per character, its place before."""

    text: str
    starts: list[int] | None = None
    ends: list[int] | None = None

    def truncated(self, end: int) -> "NormalizedText":
        """The plain text up to `end`."""
        if end >= len(self.text):
            return self
        return NormalizedText(self.text[:end], self.starts, self.ends)

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the sent text from which `text[start:end]` came."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]


def normalize(text: str) -> NormalizedText:
    """The plain form; costs one look where the text is plain already."""
    if unicodedata.is_normalized("NFKC", text) and not _IRREGULAR.search(text):
        return NormalizedText(text.translate(_CHARACTER_MAP))
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _CLUSTER.finditer(text):
        start, end = match.span()
        cluster = match[0]
        if match.lastgroup:
            pieces.append(cluster)
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
            continue
        composed = normalize_cluster(cluster)
        pieces.append(composed)
        for _ in composed:
            starts.append(start)
            ends.append(end)
    return NormalizedText("".join(pieces).translate(_CHARACTER_MAP), starts, ends)


@lru_cache(maxsize=8192)
def normalize_cluster(cluster: str) -> str:
    """A letter with its marks in NFKC, without what nobody sees; a break is \\n."""
    if cluster[0] == "\r":
        return "\n"
    composed = unicodedata.normalize("NFKC", cluster)
    if len(composed) > MAX_NFKC_EXPANSION:
        composed = cluster
    return _ZERO_WIDTH.sub("", composed)


def drop_invisible(text: str) -> str:
    """A stretch of the sent text as a person reads it: on one line, unmarked."""
    return _ZERO_WIDTH.sub("", text).replace("\r", "").replace("\n", " ").strip()
