"""Judge what a text is: a payment, a cancellation, a decline or none of them.

A linear classifier over the parts of the text. Its weights are whole numbers, four in
one integer, so that a text is judged by one sum.
"""

import json
import math
import zlib
from collections.abc import Mapping
from typing import NamedTuple

from card_alerts.opinion.grams import list_grams

PAYMENT, CANCELLATION, DECLINED, NOTICE = (
    "payment",
    "cancellation",
    "declined",
    "notice",
)
KINDS = (PAYMENT, CANCELLATION, DECLINED, NOTICE)

# A field of a packed weight holds the sum of a text: 2,400 parts of at most 255 each.
_BITS = 20
_MASK = (1 << _BITS) - 1
_BIAS = 128
MAX_WEIGHT = 127


class KindScores(NamedTuple):
    """The probability of each kind; they sum up to 1."""

    payment: float
    cancellation: float
    declined: float
    notice: float


def pack(weights: tuple[int, ...]) -> int:
    """Return weights of -127 to 127 in one number, with one in the topmost field."""
    packed = 1
    for weight in weights:
        packed = packed << _BITS | (weight + _BIAS)
    return packed


class KindJudge:
    """`weights` are packed by part; `scale` makes the sum of a text a logit."""

    def __init__(self, weights: Mapping[str, int], scale: float) -> None:
        self.weights = dict(weights)
        self.scale = scale

    @classmethod
    def from_bytes(cls, data: bytes) -> "KindJudge":
        """Read what `script/train-alerts` writes: compressed JSON."""
        stored = json.loads(zlib.decompress(data))
        rows = {gram: tuple(row) for gram, *row in stored["weights"]}
        # Few numbers for many parts stay near the processor.
        packed = {row: pack(row) for row in set(rows.values())}
        return cls({gram: packed[row] for gram, row in rows.items()}, stored["scale"])

    def judge(self, text: str) -> KindScores:
        """Return the probabilities for a normalized text."""
        grams = list_grams(text)
        total = sum(filter(None, map(self.weights.get, grams)))
        factor = self.scale / math.sqrt(len(grams) or 1)
        sums = []
        for _ in KINDS:
            sums.append(total & _MASK)
            total >>= _BITS
        bias = total * _BIAS
        logits = [(each - bias) * factor for each in reversed(sums)]
        top = max(logits)
        powers = [math.exp(logit - top) for logit in logits]
        whole = sum(powers)
        return KindScores(*(power / whole for power in powers))
