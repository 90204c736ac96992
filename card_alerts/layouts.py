"""Layouts that members teach by marking parts of a text.

Digits, masked names and installments stand for any others. A template is matched by
hand, in one pass: a pattern made from a member's text could take any time (decision
0174).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from card_alerts.layout_parts import (
    ADDRESSED,
    MASKS,
    NAME,
    NO_MERCHANT,
    NUMBER,
    NUMBER_PATTERN,
    PATTERNS,
    PLACEHOLDER,
    SLOT_NAMES,
    SLOTS,
    SPACE,
    VARIABLE_PART,
    find_wide_parts,
    generalize,
)
from card_alerts.money import MAX_AMOUNT, parse_number
from card_alerts.result import Confidence, Doubt, ParseResult, Span

# Fewer literal letters would fit unrelated texts.
MIN_LITERAL_LETTERS = 4
MAX_LAYOUT_TEXT_LENGTH = 1000
MAX_VARIABLE_PARTS = 80
MAX_SLOT_LENGTH = 200
# The parts behind a merchant show its end; they are tried at a few places.
MAX_FOLLOWING = 6
MAX_PLACES = 12
# Longer literals are compared where their beginning is found.
MAX_HINT_LENGTH = 32
NO_PART: Span = (0, 0)
_IN_BRACKETS = re.compile(r"\[[^\[\]]{0,40}$")


@dataclass(frozen=True, slots=True)
class Layout:
    template: str

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(SLOT_NAMES[each] for each in self.template if each in SLOT_NAMES)

    @property
    def has_no_merchant(self) -> bool:
        """Return True if the texts are taught to have none."""
        return NO_MERCHANT in self.template

    @property
    def sample(self) -> str:
        """Mask digits and names of the taught text."""

        def mask(match: re.Match[str]) -> str:
            slot = f"{{{SLOT_NAMES.get(match[0], '')}}}"
            return MASKS.get(match[0], slot)

        return PLACEHOLDER.sub(mask, ADDRESSED.sub(NAME, self.template))


def learn_layout(text: str, spans: Mapping[str, Span]) -> Layout | None:
    """Return the layout of a text, None if too little of it would be repeated.

    `spans` maps `merchant`, `amount`, `cardHint` and `occurredAt` to the marked parts,
    at least one of them. A merchant at `NO_PART` tells that such texts have none.
    """
    spans = {name: span for name, span in spans.items() if name in SLOTS}
    if not spans:
        return None
    return _learn(text, spans, is_wide=True) or _learn(text, spans)


def learn_whole_layout(text: str) -> Layout | None:
    """Return the layout of a text without marked parts, as `learn_layout` does.

    Words behind labels are parts of it, too.
    """
    return _learn(text, {})


def _learn(
    text: str, spans: Mapping[str, Span], *, is_wide: bool = False
) -> Layout | None:
    layout = Layout(make_template(text, spans, is_wide=is_wide))
    literal = PLACEHOLDER.sub("", layout.template)
    if sum(letter.isalpha() for letter in literal) < MIN_LITERAL_LETTERS:
        return None
    # Two adjacent parts look like one.
    return layout if read_with_layout(layout, text) == spans else None


def make_template(
    text: str, spans: Mapping[str, Span], *, is_wide: bool = False
) -> str:
    """Return the text with a character for each part that differs from text to text.

    With `is_wide`, so are orders, links and the values of labels.
    """
    if len(text) > MAX_LAYOUT_TEXT_LENGTH or PLACEHOLDER.search(text):
        return ""
    has_no_merchant = spans.get("merchant") == NO_PART
    parts = [(span, SLOTS[name]) for name, span in spans.items() if span != NO_PART]
    if is_wide:
        merchant = text[slice(*spans.get("merchant", NO_PART))]
        parts += find_wide_parts(text, [span for span, _ in parts], merchant)
    pieces: list[str] = []
    last_end = 0
    for (start, end), character in sorted(parts):
        if not last_end <= start < end <= len(text):
            return ""
        pieces += (generalize(text[last_end:start]), character)
        last_end = end
    template = "".join((*pieces, generalize(text[last_end:]))).strip(SPACE)
    return f"{NO_MERCHANT}{template}" if has_no_merchant else template


def read_with_layout(layout: Layout, text: str) -> dict[str, Span] | None:
    """Return the marked parts of a text of the layout, None for any other text.

    A merchant at `NO_PART`: the text has none.
    """
    parts, hint = _split(layout.template)
    if not parts or hint not in text:
        return None
    spans: dict[str, Span] = {}
    position = 0
    for index, part in enumerate(parts):
        if part.patterns:
            end = _find_end(parts, index, text, position)
        else:
            end = _find_end_of_merchant(parts, index, text, position)
        if end < 0:
            return None
        if part.slot:
            spans[part.slot] = (position, end) if end > position else NO_PART
        position = end + len(part.literal)
    return None if text[position:].strip() else spans


def apply_layout(
    parsed: ParseResult, text: str, spans: Mapping[str, Span]
) -> ParseResult:
    """Return a result with the merchant and amount of `read_with_layout`.

    The name is no guess any more. The amount replaces `original_amount` of a foreign
    payment. A refused text that may be a payment becomes one, which is asked about: a
    payment has taught its layout.
    """
    if parsed.would_be is not None:
        doubts = tuple(dict.fromkeys((Doubt.KIND, *parsed.would_be.doubts)))
        parsed = replace(parsed.would_be, text_span=parsed.text_span, doubts=doubts)
    found = dict(parsed.spans)
    if "merchant" in spans:
        start, end = spans["merchant"]
        name = " ".join(text[start:end].split()) or None
        doubts = tuple(each for each in parsed.doubts if each is not Doubt.MERCHANT)
        parsed = replace(
            parsed,
            merchant=name,
            merchant_confidence=Confidence.SURE if name else None,
            doubts=doubts,
            candidates=(),
        )
        found.pop("merchant", None)
        if name:
            found["merchant"] = (start, end)
    if "amount" in spans:
        start, end = spans["amount"]
        value = parse_number(text[start:end], parsed.currency or "")
        if 0 < value <= MAX_AMOUNT:
            if parsed.currency:
                parsed = replace(parsed, original_amount=value)
                found["originalAmount"] = (start, end)
            else:
                parsed = replace(parsed, amount=int(value.to_integral_value()))
                found["amount"] = (start, end)
    return replace(parsed, spans=found)


def locate_corrections(
    text: str, merchant: str | None, amount: Decimal | int | None
) -> dict[str, Span]:
    """Return the printed parts of a corrected merchant and amount.

    Spaces in a merchant match line breaks.
    """
    located: dict[str, Span] = {}
    if merchant and (span := _find_words(text, merchant)):
        located["merchant"] = span
    if amount is not None:
        for match in re.finditer(NUMBER_PATTERN, text):
            is_inside = "merchant" in located and (
                match.start() < located["merchant"][1]
                and located["merchant"][0] < match.end()
            )
            if not is_inside and _value_of(match[0]) == amount:
                located["amount"] = match.span()
                break
    return located


def _find_words(text: str, words: str) -> Span | None:
    places = [match.span() for match in re.finditer(r"\s+|\S", text)]
    squeezed = "".join(text[start : start + 1] for start, _ in places)
    name = " ".join(words.split())
    line = re.sub(r"\s", " ", squeezed)
    first = line.find(name) if name else -1
    if first < 0:
        return None
    # [쿠팡페이] 쿠팡에서: the name of the sender stands in brackets.
    if _IN_BRACKETS.search(line, 0, first):
        other = line.find(name, first + len(name))
        first = other if other >= 0 else first
    return places[first][0], places[first + len(name) - 1][1]


def _value_of(number: str) -> Decimal | None:
    """Return None for a date (2026.10.02)."""
    digits = number.replace(",", "")
    return Decimal(digits) if digits.count(".") <= 1 else None


class _Part(NamedTuple):
    """A variable part and the literal behind it; a merchant has no patterns."""

    patterns: tuple[re.Pattern[str], ...]
    slot: str
    literal: str


@lru_cache(maxsize=4096)
def _split(template: str) -> tuple[Sequence[_Part], str]:
    """Return no parts if there are too many, and a literal of each text."""
    first, *others = VARIABLE_PART.split(template)
    if len(others) > 2 * MAX_VARIABLE_PARTS:
        return (), ""
    pairs = zip(("", *others[::2]), (first, *others[1::2]), strict=True)
    parts = []
    for kind, literal in pairs:
        patterns = PATTERNS[kind]
        # A shorter number leaves a comma or a dot to the literal.
        if patterns is PATTERNS[NUMBER] and literal[:1] not in {",", "."}:
            patterns = patterns[:1]
        slot = "merchant" if kind == NO_MERCHANT else SLOT_NAMES.get(kind, "")
        parts.append(_Part(patterns, slot, literal))
    return parts, max((first, *others[1::2]), key=len)[:MAX_HINT_LENGTH]


def _find_end(parts: Sequence[_Part], index: int, text: str, position: int) -> int:
    """Return the end of a part before its literal or the next part, else -1."""
    patterns, _, literal = parts[index]
    for pattern in patterns:
        match = pattern.match(text, position)
        if match is None:
            if pattern is patterns[0]:
                return -1
            continue
        end = match.end()
        if literal:
            if text.startswith(literal, end):
                return end
        elif len(patterns) == 1 or _may_begin(parts, index + 1, text, end):
            return end
    return -1


def _may_begin(parts: Sequence[_Part], index: int, text: str, position: int) -> bool:
    if index == len(parts):
        return not text[position:].strip()
    patterns = parts[index].patterns
    return not patterns or patterns[0].match(text, position) is not None


def _find_end_of_merchant(
    parts: Sequence[_Part], index: int, text: str, start: int
) -> int:
    """Return the first place on the line where the parts behind the merchant stand.

    One part may be in a name: 카페 24 서울점.
    """
    literal = parts[index].literal
    behind = parts[index + 1].patterns if index + 1 < len(parts) else None
    line_end = text.find("\n", start)
    last = min(start + MAX_SLOT_LENGTH, len(text) if line_end < 0 else line_end)
    place = start
    for _ in range(MAX_PLACES):
        if literal:
            place = text.find(literal[:MAX_HINT_LENGTH], place)
        elif behind is None:
            place = max(place, len(text.rstrip()))
        else:
            end = last + MAX_SLOT_LENGTH
            found = behind[0].search(text, place, end) if behind else None
            place = found.start() if found else -1
        if not start <= place <= last:
            return -1
        behind_literal = place + len(literal)
        if text.startswith(literal, place) and _stands_behind(
            parts, index, text, behind_literal
        ):
            return place if place > start else -1
        place += 1
    return -1


def _stands_behind(
    parts: Sequence[_Part], index: int, text: str, position: int
) -> bool:
    """Return True if the next parts begin at a place, up to one with a literal."""
    for following in range(index + 1, min(len(parts), index + 1 + MAX_FOLLOWING)):
        if not parts[following].patterns:
            break
        position = _find_end(parts, following, text, position)
        if position < 0:
            return False
        if parts[following].literal:
            break
    return True
