"""Find the names of merchant and card: tokens, each tagged as a part of the text.

The tagger is a conditional random field of python-crfsuite, which is optional.
"""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from card_alerts.opinion.tokens import Token, cut, describe
from card_alerts.result import Span

BEGIN, INSIDE, CARD, OTHER = "B", "M", "K", "O"
# Runs of tokens that are less likely a name are no candidates.
MIN_CHANCE = 0.08
MAX_CANDIDATES = 5
_EDGES = " \n,./|·:;<>()[]{}-~*'\"※→"


class NameChance(NamedTuple):
    """A part of the normalized text, and the probability that it is the name."""

    span: Span
    chance: float


class FoundNames(NamedTuple):
    """Up to 5 likely merchants, the best first, and the card: its name or its digits.

    The first merchant is the best tagging's, if that has one.
    """

    merchants: list[NameChance]
    card: NameChance | None


class NameTagger:
    """`tagger` is a `pycrfsuite.Tagger`; one text at a time is tagged."""

    def __init__(self, tagger: Any) -> None:
        self._tagger = tagger
        self._lock = threading.Lock()

    def find(self, text: str) -> FoundNames:
        tokens = cut(text)
        if not tokens:
            return FoundNames([], None)
        tagger = self._tagger
        with self._lock:
            tagger.set(describe(text, tokens))
            tags = tagger.tag()
            cards = {
                place: tagger.marginal(CARD, place)
                for place, tag in enumerate(tags)
                if tag == CARD
            }
            merchants = _choose(text, tokens, tags, tagger.marginal)
        return FoundNames(merchants, _choose_card(text, tokens, cards))


def _choose(
    text: str,
    tokens: list[Token],
    tags: list[str],
    chance_of: Callable[[str, int], float],
) -> list[NameChance]:
    """Return the tagged names, and the runs that are likely besides them.

    `chance_of` is called with a tag and the place of a token.
    """
    found: dict[Span, float] = {}
    for start, tag in enumerate(tags):
        first = chance_of(BEGIN, start)
        if first < MIN_CHANCE and tag != BEGIN:
            continue
        end, chance, inside = start + 1, first, 0.0
        while end < len(tokens):
            inside = chance_of(INSIDE, end)
            if not (tags[end] == INSIDE if tag == BEGIN else inside >= first / 2):
                break
            chance = min(chance, inside)
            end += 1
        stop = 1 - (inside if end < len(tokens) else 0.0)
        span = trim(text, tokens[start].start, tokens[end - 1].end)
        if span:
            found[span] = max(found.get(span, 0.0), min(chance, stop))
    ranked = sorted(found.items(), key=lambda each: (-each[1], each[0]))
    return [NameChance(*each) for each in ranked[:MAX_CANDIDATES]]


def _choose_card(
    text: str, tokens: list[Token], cards: dict[int, float]
) -> NameChance | None:
    """Return the likeliest run of tokens that are tagged as a card."""
    found = []
    for start in cards:
        if start - 1 in cards:
            continue
        end = start
        while end in cards:
            end += 1
        span = trim(text, tokens[start].start, tokens[end - 1].end)
        if span:
            chance = min(cards[place] for place in range(start, end))
            found.append(NameChance(span, chance))
    return max(found, key=lambda each: each.chance, default=None)


def trim(text: str, start: int, end: int) -> Span | None:
    """Return a span without marks around it; a bracket that is closed stays."""
    while start < end and text[start] in _EDGES and not _opens(text, start, end):
        start += 1
    while start < end and text[end - 1] in _EDGES and not _closes(text, start, end):
        end -= 1
    return (start, end) if start < end else None


def _opens(text: str, start: int, end: int) -> bool:
    return text[start] == "(" and ")" in text[start:end]


def _closes(text: str, start: int, end: int) -> bool:
    return text[end - 1] == ")" and "(" in text[start:end]
