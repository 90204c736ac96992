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

from card_alerts.currencies import CURRENCY_CODES
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

# Private use characters stand for the variable parts.
_NUMBER, _NAME, _TERMS, _SPACE, _CODE = "\ue100\ue101\ue102\ue103\ue104"
_SLOTS = {
    "merchant": "\ue110",
    "amount": "\ue111",
    "cardHint": "\ue112",
    "occurredAt": "\ue113",
}
_SLOT_NAMES = {character: name for name, character in _SLOTS.items()}
_PLACEHOLDER = re.compile("[\ue100-\ue11f]")

_NUMBER_PATTERN = r"\d{1,20}+(?:[,.]\d{1,20}+){0,6}"
_SPACE_PATTERN = r"\s{1,40}+"
_HONORIFIC = r"(?=[ ]?(?:고객|회원)?님)"
# 홍*동, 홍길동님, 홍길동 고객님
_MARKED_NAME = (
    rf"[가-힣]{{1,2}}+\*{{1,2}}+(?:(?!님)[가-힣]){{0,2}}|[가-힣]{{2,4}}{_HONORIFIC}"
)
# Three or four letters that begin so are a name, except for words of such texts.
_SURNAMES = (
    "김이박최정강조윤장임한오서신권황안송전홍유고문양손배백허남심노하곽성차주우구민류"
    "나진지엄채원천방공현함변염여추도소석선설마길연위표명기반왕금옥육인맹제모탁국은"
)
_LONG_SURNAMES = "남궁|황보|제갈|선우|사공|서문|독고"
_NO_NAMES = (
    "가맹점|고객명|고객님|국민은|기업은|나머지|남은금|명세서|모바일|문의처|서비스|선결제|"
    "선승인|선입금|소비자|손님명|송금액|수수료|신용카|신한은|신한카|안내문|여신금|연회비|"
    "오픈뱅|우리은|우리카|우체국|원금액|유의사|이용금|이용내|이용료|이용액|이용일|이용처|"
    "이자액|이체액|인출액|전표번|전화번|정기결|정산금|제휴사|조회번|주문금|주문번|주유소|"
    "주차장|지급액|지역화|지점명|차감액|청구액|최종금|하나은|하나카|한도액|현금화|현대카"
)
_BARE_NAME = (
    rf"(?:(?!{_NO_NAMES})[{_SURNAMES}][가-힣]{{2}}|(?:{_LONG_SURNAMES})[가-힣]{{2}})"
    r"(?![가-힣])"
)
_TERMS_PATTERN = r"(?:일시불|(?:할부[ ]?)?\d{1,2}+개월(?:[ ]?할부)?)"
_MONTHS = "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|am|pm)"
_CODES = "|".join(sorted(CURRENCY_CODES))
_CODE_PATTERN = rf"(?:{_MONTHS}|{_CODES})"
# The kinds of the groups, from 1.
_KINDS = ("", _TERMS, _NUMBER, _NAME, _SPACE, _CODE)
_GENERALIZED = re.compile(
    rf"((?<!\d){_TERMS_PATTERN})|({_NUMBER_PATTERN})"
    rf"|((?<![가-힣])(?:{_MARKED_NAME}|{_BARE_NAME}))"
    rf"|({_SPACE_PATTERN})|((?<![A-Za-z]){_CODE_PATTERN}(?![A-Za-z]))"
)
_CARD_MARK = r"[\d*xX•●]{1,8}+"
_CARD_NAME = "[가-힣A-Za-z0-9]"
_DAY_PATTERN = (
    r"\d{1,4}[./년월-][ ]?\d{1,2}(?:[./월-][ ]?\d{1,2})?일?"
    r"(?:[ ]?\([월화수목금토일]\))?"
)
_CLOCK_PATTERN = (
    r"(?:(?:오전|오후|[AaPp][Mm])[ ]?)?\d{1,2}(?::\d{2}(?::\d{2})?|시[ ]?\d{1,2}분)"
)
# In place of a name any short word matches.
_NAME_PATTERN = rf"(?:{_MARKED_NAME}|[가-힣]{{2,5}}(?![가-힣*]))"
# The first pattern counts, unless the next part does not begin behind it.
_PATTERNS: dict[str, tuple[re.Pattern[str], ...]] = {
    kind: tuple(map(re.compile, patterns))
    for kind, patterns in {
        _NUMBER: (
            _NUMBER_PATTERN,
            *(
                rf"\d{{1,20}}+(?:[,.]\d{{1,20}}+){{{count}}}"
                for count in range(5, -1, -1)
            ),
        ),
        _NAME: (
            _NAME_PATTERN,
            r"[가-힣]{1,2}+\*{1,2}+(?!님)[가-힣]",
            r"[가-힣]{1,2}+\*{1,2}+",
            *(rf"[가-힣]{{{count}}}{_HONORIFIC}" for count in (3, 2)),
            r"[가-힣]{2,5}(?![가-힣*])",
        ),
        _TERMS: (_TERMS_PATTERN, r"(?:할부[ ]?)?\d{1,2}+개월"),
        _SPACE: (_SPACE_PATTERN,),
        _CODE: (_CODE_PATTERN, _CODES),
        "": (r"\s*+",),
        _SLOTS["merchant"]: (),
        _SLOTS["cardHint"]: (
            rf"{_CARD_MARK}(?:[ -]{_CARD_MARK}){{0,4}}|{_CARD_NAME}{{1,20}}+",
            _CARD_MARK,
            rf"{_CARD_NAME}{{1,20}}?(?=카드)",
        ),
        _SLOTS["occurredAt"]: (
            rf"{_DAY_PATTERN}(?:[ \n,T]{{1,3}}{_CLOCK_PATTERN})?|{_CLOCK_PATTERN}",
            _DAY_PATTERN,
        ),
    }.items()
}
_PATTERNS[_SLOTS["amount"]] = _PATTERNS[_NUMBER]
_VARIABLE_PART = re.compile(f"([{''.join(_PATTERNS)}])")
# Other texts do not mark these names, so they stay in the layout.
_ADDRESSED = re.compile(
    rf"(?<=\bDear{_SPACE})(?!(?:Customer|Cardholder|Member)\b)[A-Z][\w.]{{0,30}}"
    rf"(?:{_SPACE}[A-Z][\w.]{{0,30}})?"
    rf"|[一-龯]{{1,6}}(?:{_SPACE}[一-龯]{{1,6}})?(?={_SPACE}?様)"
)
_MASKS = {_NUMBER: "*", _NAME: "***", _TERMS: "*개월", _SPACE: " ", _CODE: "*"}


@dataclass(frozen=True, slots=True)
class Layout:
    template: str

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(_SLOT_NAMES[each] for each in self.template if each in _SLOT_NAMES)

    @property
    def sample(self) -> str:
        """Mask digits and names of the taught text."""
        return _PLACEHOLDER.sub(
            lambda match: (
                _MASKS.get(match[0]) or f"{{{_SLOT_NAMES.get(match[0], '')}}}"
            ),
            _ADDRESSED.sub(_NAME, self.template),
        )


def learn_layout(text: str, spans: Mapping[str, Span]) -> Layout | None:
    """Return the layout of a text, None if too little of it would be repeated.

    `spans` maps `merchant`, `amount`, `cardHint` and `occurredAt` to the marked parts,
    at least one of them.
    """
    spans = {name: span for name, span in spans.items() if name in _SLOTS}
    return _learn(text, spans) if spans else None


def learn_whole_layout(text: str) -> Layout | None:
    """Return the layout of a text without marked parts, as `learn_layout` does."""
    return _learn(text, {})


def _learn(text: str, spans: Mapping[str, Span]) -> Layout | None:
    layout = Layout(make_template(text, spans))
    literal = _PLACEHOLDER.sub("", layout.template)
    if sum(letter.isalpha() for letter in literal) < MIN_LITERAL_LETTERS:
        return None
    # Two adjacent parts look like one.
    return layout if read_with_layout(layout, text) == spans else None


def make_template(text: str, spans: Mapping[str, Span]) -> str:
    if len(text) > MAX_LAYOUT_TEXT_LENGTH or _PLACEHOLDER.search(text):
        return ""
    pieces: list[str] = []
    last_end = 0
    for (start, end), name in sorted((span, name) for name, span in spans.items()):
        if not last_end <= start < end <= len(text):
            return ""
        pieces += (_generalize(text[last_end:start]), _SLOTS[name])
        last_end = end
    return "".join((*pieces, _generalize(text[last_end:]))).strip(_SPACE)


def read_with_layout(layout: Layout, text: str) -> dict[str, Span] | None:
    """Return the marked parts of a text of the layout, None for any other text."""
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
            spans[part.slot] = (position, end)
        position = end + len(part.literal)
    return None if text[position:].strip() else spans


def apply_layout(
    parsed: ParseResult, text: str, spans: Mapping[str, Span]
) -> ParseResult:
    """Return a result with the merchant and amount of `read_with_layout`.

    The name is no guess any more. The amount replaces `original_amount` of a foreign
    payment.
    """
    found = dict(parsed.spans)
    if "merchant" in spans:
        start, end = spans["merchant"]
        name = " ".join(text[start:end].split())
        doubts = tuple(each for each in parsed.doubts if each is not Doubt.MERCHANT)
        parsed = replace(
            parsed,
            merchant=name,
            merchant_confidence=Confidence.SURE,
            doubts=doubts,
            candidates=(),
        )
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
        for match in re.finditer(_NUMBER_PATTERN, text):
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
    first = re.sub(r"\s", " ", squeezed).find(name) if name else -1
    return None if first < 0 else (places[first][0], places[first + len(name) - 1][1])


def _value_of(number: str) -> Decimal | None:
    """Return None for a date (2026.10.02)."""
    digits = number.replace(",", "")
    return Decimal(digits) if digits.count(".") <= 1 else None


def _generalize(text: str) -> str:
    return _GENERALIZED.sub(lambda match: _KINDS[match.lastindex or 0], text)


class _Part(NamedTuple):
    """A variable part and the literal behind it; a merchant has no patterns."""

    patterns: tuple[re.Pattern[str], ...]
    slot: str
    literal: str


@lru_cache(maxsize=4096)
def _split(template: str) -> tuple[Sequence[_Part], str]:
    """Return no parts if there are too many, and a literal of each text."""
    first, *others = _VARIABLE_PART.split(template)
    if len(others) > 2 * MAX_VARIABLE_PARTS:
        return (), ""
    pairs = zip(("", *others[::2]), (first, *others[1::2]), strict=True)
    parts = []
    for kind, literal in pairs:
        patterns = _PATTERNS[kind]
        # A shorter number leaves a comma or a dot to the literal.
        if patterns is _PATTERNS[_NUMBER] and literal[:1] not in {",", "."}:
            patterns = patterns[:1]
        parts.append(_Part(patterns, _SLOT_NAMES.get(kind, ""), literal))
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
    following = range(index + 1, min(len(parts), index + 1 + MAX_FOLLOWING))
    line_end = text.find("\n", start)
    last = min(start + MAX_SLOT_LENGTH, len(text) if line_end < 0 else line_end)
    place = start
    for _ in range(MAX_PLACES):
        if literal:
            place = text.find(literal[:MAX_HINT_LENGTH], place)
        elif not following:
            place = max(place, len(text.rstrip()))
        else:
            found = parts[index + 1].patterns[0].search(text, place)
            place = found.start() if found else -1
        if not start <= place <= last:
            return -1
        if text.startswith(literal, place):
            end = place + len(literal)
            for next_index in following:
                end = _find_end(parts, next_index, text, end)
                if end < 0 or parts[next_index].literal:
                    break
            if end >= 0:
                return place if place > start else -1
        place += 1
    return -1
