"""The labeled messages as they are learned from: texts, kinds and marked parts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from card_alerts import Span, parse
from card_alerts.normalization import normalize
from card_alerts.opinion.kinds import CANCELLATION, DECLINED, NOTICE, PAYMENT
from tests.support.alert_rules import combinations, fill, list_refused
from tests.support.alert_samples import (
    EXAMS,
    GIVEN,
    LAST_EXAMS,
    LAYOUTS_2026,
    OWN,
    PRACTICE,
    RECEIVED_AT,
    REFUSED,
    RULES,
    load,
    load_twins,
    squeeze,
)
from tests.support.alert_texts import variants

# Of each combination of a rule's words.
TEXTS_OF_RULE = 3
# Of the 24 texts of a refused message, so that each one's surroundings are among them.
STEP_OF_REFUSED = 5
# Without the newest exam, which measures what the model makes of unseen texts.
FILES = (GIVEN, OWN, LAYOUTS_2026, *EXAMS, *LAST_EXAMS, PRACTICE)
KINDS = {
    "approval": PAYMENT,
    "cancellation": CANCELLATION,
    "declined": DECLINED,
    None: NOTICE,
}
PARTS = {
    "merchant": "M",
    "cardHint": "K",
    "occurredAt": "T",
    "amount": "A",
    "originalAmount": "A",
}
# 홍*동, 홍*동님, 홍길동님
_HOLDER = re.compile(
    r"(?<![가-힣])[가-힣]{1,2}\*[가-힣]?|(?<![가-힣])[가-힣]{2,4}(?=님)"
)
_DIGITS_OF_CARD = re.compile(r"\d{3}|\*")


@dataclass(frozen=True)
class Labeled:
    """A normalized text with its title above it, its kind and its marked parts."""

    text: str
    kind: str
    parts: tuple[tuple[Span, str], ...]
    company: str
    file: str
    # False for a decline or a payment without a name.
    has_name: bool


def load_labeled() -> list[Labeled]:
    """Return every labeled message and every twin, in the order of the files."""
    labeled = []
    for path in FILES:
        twins = [twin for _, twin in load_twins(path)]
        labeled += [label(each, path.stem) for each in [*load(path), *twins]]
    return [*labeled, *load_rules()]


def load_rules() -> Iterator[Labeled]:
    """Yield texts of each rule, read by the grammar, and of each refused message."""
    for row in load(RULES):
        if "received" in row:
            continue
        for values in combinations(row.get("with", {})):
            templates = [fill(each, values) for each in row["texts"]]
            for text, parts in islice(variants(*templates), TEXTS_OF_RULE):
                parsed = parse(
                    text, RECEIVED_AT, title=row.get("title", ""), with_opinion=False
                )
                yield label(
                    {
                        "text": text,
                        "title": row.get("title", ""),
                        "company": parts["company"],
                        "expect": {
                            "kind": parsed.kind,
                            "merchant": parsed.merchant,
                            "company": parsed.card_company,
                        },
                    },
                    RULES.stem,
                )
    nothing = {"kind": None, "merchant": None, "company": None}
    for number, row in enumerate(load(REFUSED)):
        for text in islice(list_refused(row["text"]), 0, None, STEP_OF_REFUSED):
            message = {"text": text, "company": f"refused {number}", "expect": nothing}
            yield label(message, REFUSED.stem)


def label(message: Any, file: str) -> Labeled:
    """Mark the parts where the grammar finds them, if its fields are the labels."""
    title, text, expected = message.get("title", ""), message["text"], message["expect"]
    whole = text if not title or text.lstrip().startswith(title) else f"{title}\n{text}"
    normalized = normalize(whole)
    # A refused text has no parts: its names are no merchants.
    kind = KINDS[expected["kind"]]
    parts: list[tuple[Span, str]] = []
    if kind != NOTICE:
        parsed = parse(whole, RECEIVED_AT, with_opinion=False)
        # Without a change, spans of the original fit the normalized text.
        if normalized.starts is None:
            parts = [
                (span, PARTS[name])
                for name, span in parsed.spans.items()
                if name in PARTS and name != "merchant"
            ]
        parts += [(span, "K") for span in find_card_name(normalized.text, expected)]
        name = find_name(normalized.text, expected["merchant"])
        if name:
            parts.append((name, "M"))
        parts += [(m.span(), "H") for m in _HOLDER.finditer(normalized.text)]
    company = expected["company"] or message.get("company") or ""
    has_name = any(part == "M" for _, part in parts)
    return Labeled(normalized.text, kind, drop_overlaps(parts), company, file, has_name)


def find_card_name(text: str, expected: Any) -> list[Span]:
    """Return the first place of a card's name; its digits are the grammar's."""
    hint = squeeze(expected.get("card_hint"))
    if not hint or _DIGITS_OF_CARD.search(hint):
        return []
    return _find_all(text, hint)[:1]


def drop_overlaps(parts: list[tuple[Span, str]]) -> tuple[tuple[Span, str], ...]:
    """Return the parts in their order; a merchant outweighs what lies across it."""
    chosen: list[tuple[Span, str]] = []
    for span, part in sorted(parts, key=lambda each: (each[1] != "M", each)):
        if all(span[1] <= other[0] or other[1] <= span[0] for other, _ in chosen):
            chosen.append((span, part))
    return tuple(sorted(chosen))


def find_name(text: str, name: str | None) -> Span | None:
    """Return the last place of a name, also over blanks and line breaks."""
    places = _find_all(text, squeeze(name))
    return places[-1] if places else None


def _find_all(text: str, squeezed: str | None) -> list[Span]:
    if not squeezed:
        return []
    pattern = r"\s*".join(map(re.escape, squeezed))
    return [match.span() for match in re.finditer(pattern, text)]
