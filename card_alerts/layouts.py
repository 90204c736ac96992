"""Layouts that were taught: texts whose merchant and amount somebody marked.

`learn_layout` turns a text with marked parts into a layout, in which digits, masked
names and the number of installments stand for any others. `read_with_layout` finds the
marked parts in another text of that layout. Both are pure; whoever uses them stores
`Layout.template`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from card_alerts.currencies import CURRENCY_CODES
from card_alerts.money import MAX_AMOUNT, parse_number
from card_alerts.result import Confidence, ParseResult, Span

# Letters in the parts of a layout that have to be repeated; with fewer it would fit
# texts that have nothing to do with it.
MIN_LITERAL_LETTERS = 4
MAX_LAYOUT_TEXT_LENGTH = 1000
MAX_SLOT_LENGTH = 200
# Parts behind a merchant by which its end is found.
MAX_FOLLOWING = 6

# The parts of a template that stand for others, in the Unicode private use area.
_NUMBER, _NAME, _TERMS, _SPACE = "\ue100", "\ue101", "\ue102", "\ue103"
_CODE = "\ue104"
# Names of slots and their characters.
_SLOTS = {"merchant": "\ue110", "amount": "\ue111"}
_SLOT_NAMES = {character: name for name, character in _SLOTS.items()}
_PLACEHOLDER = re.compile("[\ue100-\ue11f]")

# Bounded, since they are also tried at every letter of a merchant.
# Groups are not possessive: before 3.11.5 Python ended those wrongly.
_NUMBER_PATTERN = r"\d{1,20}+(?:[,.]\d{1,20}+){0,6}"
_SPACE_PATTERN = r"\s{1,40}+"
# Masked, or before 님: 홍*동, 홍길동님, 홍길동 고객님.
_MARKED_NAME = (
    r"[가-힣]{1,2}+\*{1,2}+(?:(?!님)[가-힣]){0,2}"
    r"|[가-힣]{2,4}(?=[ ]?(?:고객|회원)?님)"
)
# Three letters that begin with a surname, or four with one of two letters, are a name
# unless they are a word of such texts.
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
# Any short word stands where a name stood.
_NAME_PATTERN = rf"(?:{_MARKED_NAME}|[가-힣]{{2,5}}(?![가-힣*]))"
_TERMS_PATTERN = r"(?:일시불|(?:할부[ ]?)?\d{1,2}+개월(?:[ ]?할부)?)"
# Months, halves of the day and currencies in Latin letters.
_CODE_PATTERN = (
    r"(?:(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|am|pm)"
    rf"|{'|'.join(sorted(CURRENCY_CODES))})"
)
_PATTERNS = {
    _NUMBER: _NUMBER_PATTERN,
    _NAME: _NAME_PATTERN,
    _TERMS: _TERMS_PATTERN,
    _SPACE: _SPACE_PATTERN,
    _CODE: _CODE_PATTERN,
    _SLOTS["amount"]: rf"(?P<amount>{_NUMBER_PATTERN})",
}
# A group has its name once in a pattern.
_LOOKAHEADS = _PATTERNS | {_SLOTS["amount"]: _NUMBER_PATTERN}
_GENERALIZED = re.compile(
    rf"(?P<terms>(?<!\d){_TERMS_PATTERN})|(?P<number>{_NUMBER_PATTERN})"
    rf"|(?P<name>(?<![가-힣])(?:{_MARKED_NAME}|{_BARE_NAME}))"
    rf"|(?P<space>{_SPACE_PATTERN})"
    rf"|(?P<code>(?<![A-Za-z]){_CODE_PATTERN}(?![A-Za-z]))"
)
_CHARACTER_BY_GROUP = {
    "terms": _TERMS,
    "number": _NUMBER,
    "name": _NAME,
    "space": _SPACE,
    "code": _CODE,
}
# Names that are part of a layout, since nothing marks them in other texts.
_ADDRESSED = re.compile(
    rf"(?<=\bDear{_SPACE})(?!(?:Customer|Cardholder|Member)\b)[A-Z][\w.]{{0,30}}"
    rf"(?:{_SPACE}[A-Z][\w.]{{0,30}})?"
    rf"|[一-龯]{{1,6}}(?:{_SPACE}[一-龯]{{1,6}})?(?={_SPACE}?様)"
)
_MASKS = {_NUMBER: "*", _NAME: "***", _TERMS: "*개월", _SPACE: " ", _CODE: "*"}


@dataclass(frozen=True, slots=True)
class Layout:
    """A taught layout; `template` is its whole content, and what is to be stored.

    Two layouts are equal if their templates are.
    """

    template: str

    @property
    def slots(self) -> tuple[str, ...]:
        """Return the names of the marked parts in order: `merchant`, `amount`."""
        return tuple(
            _SLOT_NAMES[character]
            for character in self.template
            if character in _SLOT_NAMES
        )

    @property
    def sample(self) -> str:
        """Return the text it was learned from, with digits and names masked."""
        return _PLACEHOLDER.sub(
            lambda match: (
                _MASKS.get(match[0]) or f"{{{_SLOT_NAMES.get(match[0], '')}}}"
            ),
            _ADDRESSED.sub(_NAME, self.template),
        )


def learn_layout(text: str, spans: Mapping[str, Span]) -> Layout | None:
    """Return the layout of a text, or None if too little of it would be repeated.

    `spans` maps `merchant` and `amount` to their parts of the text: those that were
    corrected, and those that the parser found where they were right. The layout is not
    learned (None) without any such part, from an empty or overlapping one, with fewer
    than 4 literal letters, or from more than 1,000 characters.
    """
    marked = sorted((span, name) for name, span in spans.items() if name in _SLOTS)
    if not marked or len(text) > MAX_LAYOUT_TEXT_LENGTH or _PLACEHOLDER.search(text):
        return None
    pieces: list[str] = []
    last_end = 0
    for (start, end), name in marked:
        if not last_end <= start < end <= len(text):
            return None
        pieces += (_generalize(text[last_end:start]), _SLOTS[name])
        last_end = end
    template = "".join((*pieces, _generalize(text[last_end:]))).strip(_SPACE)
    literal = _PLACEHOLDER.sub("", template)
    if sum(letter.isalpha() for letter in literal) < MIN_LITERAL_LETTERS:
        return None
    layout = Layout(template)
    # Two parts without anything between them cannot be told apart.
    return layout if read_with_layout(layout, text) == _known(spans) else None


def read_with_layout(layout: Layout, text: str) -> dict[str, Span] | None:
    """Return the marked parts of a text of the layout, or None for any other text.

    It costs at most 5 µs for the text of an SMS: a search for the longest literal, then
    one anchored pattern that never goes back.
    """
    literal, pattern = _compile(layout.template)
    if literal not in text:
        return None
    match = pattern.fullmatch(text)
    if match is None:
        return None
    return {name: match.span(name) for name in pattern.groupindex}


def apply_layout(
    parsed: ParseResult, text: str, spans: Mapping[str, Span]
) -> ParseResult:
    """Return a result with the merchant and amount that a taught layout found.

    `spans` are those of `read_with_layout`. A merchant becomes `SURE`. An amount
    replaces `original_amount` of a foreign payment, else `amount`; one out of range
    changes nothing.
    """
    found = dict(parsed.spans)
    if "merchant" in spans:
        start, end = spans["merchant"]
        name = " ".join(text[start:end].split())
        parsed = replace(parsed, merchant=name, merchant_confidence=Confidence.SURE)
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
    """Return where a text prints a corrected merchant and amount, for `learn_layout`.

    A value that the text does not print has no part. Spaces within a merchant may be
    line breaks in the text.
    """
    located: dict[str, Span] = {}
    words = merchant.split() if merchant else []
    if words:
        name = re.compile(r"\s+".join(map(re.escape, words)))
        match = name.search(text)
        if match:
            located["merchant"] = match.span()
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


def _value_of(number: str) -> Decimal | None:
    """Return the value of a printed number; None for a date such as 2026.10.02."""
    digits = number.replace(",", "")
    return Decimal(digits) if digits.count(".") <= 1 else None


def _known(spans: Mapping[str, Span]) -> dict[str, Span]:
    return {name: span for name, span in spans.items() if name in _SLOTS}


def _generalize(text: str) -> str:
    return _GENERALIZED.sub(
        lambda match: _CHARACTER_BY_GROUP[match.lastgroup or ""], text
    )


@lru_cache(maxsize=4096)
def _compile(template: str) -> tuple[str, re.Pattern[str]]:
    """Return the longest literal of a template and its pattern.

    A merchant ends where the next parts of the template follow, and never spans lines.
    No shorter one matches, so that the pattern is linear without going back.
    """
    tokens = re.findall(f"{_PLACEHOLDER.pattern}|[^\ue100-\ue11f]+", template)
    patterns: list[str] = []
    for index, token in enumerate(tokens):
        if token == _SLOTS["merchant"]:
            following = _following(tokens[index + 1 :])
            stop = (
                "".join(_LOOKAHEADS.get(each, re.escape(each)) for each in following)
                or r"\s*+\Z"
            )
            patterns.append(
                rf"(?P<merchant>(?:(?!{stop})[^\n]){{1,{MAX_SLOT_LENGTH}}})"
            )
        else:
            patterns.append(_PATTERNS.get(token, re.escape(token)))
    literals = [token for token in tokens if not _PLACEHOLDER.match(token)]
    pattern = re.compile(rf"\s*+{''.join(patterns)}\s*+")
    return max(literals, key=len, default=""), pattern


def _following(tokens: Sequence[str]) -> Sequence[str]:
    """Return the next two parts, and more up to the first that is literal.

    A space and a number alone also stand within names: 카페 24 서울점.
    """
    for count, token in enumerate(tokens[:MAX_FOLLOWING], start=1):
        if count > 1 and not _PLACEHOLDER.match(token):
            return tokens[:count]
    return tokens[:MAX_FOLLOWING]
