"""The parts of a taught text that differ from text to text.

Digits, names, installments and currencies stand for any others. Beside marked parts so
do names of days, numbers of orders, links, quotations and words behind a label.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from card_alerts.currencies import CURRENCY_CODES
from card_alerts.issuers import KOREAN, compile_aliases
from card_alerts.result import Span
from card_alerts.tables import alternatives, read_words

# Private use characters stand for the variable parts.
NUMBER, NAME, TERMS, SPACE, CODE = "\ue100\ue101\ue102\ue103\ue104"
VALUE, IDENTIFIER, LINK, ADDRESSEE, DAY = "\ue105\ue106\ue107\ue108\ue109"
QUOTED, NICKNAME, REPEATED, CARD = "\ue10a\ue10b\ue10c\ue10d"
SLOTS = {
    "merchant": "\ue110",
    "amount": "\ue111",
    "cardHint": "\ue112",
    "occurredAt": "\ue113",
}
# The text has no merchant.
NO_MERCHANT = "\ue114"
SLOT_NAMES = {character: name for name, character in SLOTS.items()}
PLACEHOLDER = re.compile("[\ue100-\ue11f]")

NUMBER_PATTERN = r"\d{1,20}+(?:[,.]\d{1,20}+){0,6}"
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
_KINDS = ("", TERMS, NUMBER, NAME, SPACE, CODE)
_GENERALIZED = re.compile(
    rf"((?<!\d){_TERMS_PATTERN})|({NUMBER_PATTERN})"
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
# Numbers of orders and cards (MT0Q8Z14, XX6094), countries in brackets, cars (21나3094)
_PLATE = r"(?<!\d)\d{2,3}[가-힣][ ]?\d{4}(?!\d)"
_IDENTIFIER_PATTERN = (
    rf"(?<![A-Za-z0-9])(?!(?:{_CODES})\d)(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{{6,24}}+"
    rf"(?![a-z]|[.,]\d)|(?<=\()[A-Z]{{2}}(?=\))|{_PLATE}"
)
_WEEKDAYS = (
    "(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?|[ECMP][SD]T"
    "|January|February|March|April|May|June|July|August|September|October|November|December"
)
_DAY_NAME_PATTERN = (
    rf"(?<![A-Za-z])(?:{_WEEKDAYS})(?![A-Za-z])"
    r"|(?<=\()[월화수목금토일月火水木土金日](?=\))"
)
_PATH_PATTERN = r"[^\s]{1,200}+"
_WIDE_NAME = r"[A-Z][\w.]{0,30}(?:[ ][A-Z][\w.]{0,30}){0,2}"
_NICKNAME_PATTERN = r"의[ ][^\n]{1,20}?[ ]카드"
# An issuer stays, so that its layout fits no text of another one.
_ISSUER = (
    rf"(?:{compile_aliases(KOREAN).pattern})(?:체크)?(?:카드|체크)?(?![가-힣A-Za-z])"
)
# Names of cards: 소리카드 before (0394), Aventura before Visa card, debit before card
_CARD_PATTERN = (
    rf"(?<![가-힣A-Za-z0-9])(?!{_ISSUER})[가-힣A-Za-z]{{2,10}}(?:카드|체크)"
    r"(?=[ ]?\([\d*]{4}\)|[ ]?\||[ ]{0,3}(?:\n|\Z))"
    r"|(?<=[Yy]our[ ])[A-Z][\w.&-]{1,20}(?:[ ][A-Z][\w.&-]{1,20}){0,3}(?=[ ]card\b)"
    r"|\b(?:debit|credit)(?=[ ]card\b)"
)
# Words of a status (승인, 취소, declined) do not differ.
_STATUS_WORDS = alternatives(read_words("words.toml")["layout_status"])
_QUOTED_PATTERN = rf"'(?![^'\n]{{0,60}}?(?i:{_STATUS_WORDS}))[^'\n]{{1,60}}+'"
# Parts beside marked ones, by their kinds: the group is the part.
_WIDE_PARTS = {
    LINK: rf"(?<![\w.])(?:https?://)?[\w.-]{{1,60}}\.[a-z]{{2,6}}/({_PATH_PATTERN})",
    ADDRESSEE: (
        rf"\b(?:Dear|Hello,?|Hi,?)[ ]({_WIDE_NAME})"
        r"|^([^\n\d:]{1,20}?)[ \u3000]{0,2}(?:様|さま)(?=[ \u3000\n]|$)"
    ),
    # 홍*동님의 생활비 카드
    NICKNAME: rf"(?<=님)({_NICKNAME_PATTERN})",
    CARD: f"({_CARD_PATTERN})",
    QUOTED: rf"(?<![\w'])({_QUOTED_PATTERN})",
    IDENTIFIER: f"({_IDENTIFIER_PATTERN})",
    DAY: f"({_DAY_NAME_PATTERN})",
}
_WIDE = [
    (kind, re.compile(pattern, re.MULTILINE)) for kind, pattern in _WIDE_PARTS.items()
]
_MAX_VALUE = 100
_LABELED_LINE = re.compile(
    rf"^(?P<label>[^\n:：\d]{{1,24}}+)(?P<value>[:：](?!//)[^\n]{{1,{_MAX_VALUE}}}+)$",
    re.MULTILINE,
)
_STATUS = re.compile(_STATUS_WORDS, re.IGNORECASE)
_VALUE_PATTERN = (
    rf"[:：](?![^\n]{{0,{_MAX_VALUE}}}?(?i:{_STATUS_WORDS}))[^\n]{{1,{_MAX_VALUE}}}+"
)
# In place of a name any short word matches.
_NAME_PATTERN = rf"(?:{_MARKED_NAME}|[가-힣]{{2,5}}(?![가-힣*]))"
# The first pattern counts, unless the next part does not begin behind it.
PATTERNS: dict[str, tuple[re.Pattern[str], ...]] = {
    kind: tuple(map(re.compile, patterns))
    for kind, patterns in {
        NUMBER: (
            NUMBER_PATTERN,
            *(
                rf"\d{{1,20}}+(?:[,.]\d{{1,20}}+){{{count}}}"
                for count in range(5, -1, -1)
            ),
        ),
        NAME: (
            _NAME_PATTERN,
            r"[가-힣]{1,2}+\*{1,2}+(?!님)[가-힣]",
            r"[가-힣]{1,2}+\*{1,2}+",
            *(rf"[가-힣]{{{count}}}{_HONORIFIC}" for count in (3, 2)),
            r"[가-힣]{2,5}(?![가-힣*])",
        ),
        TERMS: (_TERMS_PATTERN, r"(?:할부[ ]?)?\d{1,2}+개월"),
        SPACE: (_SPACE_PATTERN,),
        CODE: (_CODE_PATTERN, _CODES),
        VALUE: (_VALUE_PATTERN,),
        IDENTIFIER: (rf"{_PLATE}|[A-Z0-9]{{2,24}}+",),
        LINK: (_PATH_PATTERN,),
        ADDRESSEE: (rf"[^\n\d:]{{1,20}}?(?=[ \u3000]{{0,2}}(?:様|さま))|{_WIDE_NAME}",),
        DAY: (_DAY_NAME_PATTERN,),
        NICKNAME: (_NICKNAME_PATTERN,),
        CARD: (_CARD_PATTERN,),
        QUOTED: (_QUOTED_PATTERN,),
        # As the merchant that it repeats
        REPEATED: (),
        NO_MERCHANT: ("",),
        "": (r"\s*+",),
        SLOTS["merchant"]: (),
        SLOTS["cardHint"]: (
            rf"{_CARD_MARK}(?:[ -]{_CARD_MARK}){{0,4}}|{_CARD_NAME}{{1,20}}+",
            _CARD_MARK,
            rf"{_CARD_NAME}{{1,20}}?(?=카드)",
        ),
        SLOTS["occurredAt"]: (
            rf"{_DAY_PATTERN}(?:[ \n,T]{{1,3}}{_CLOCK_PATTERN})?|{_CLOCK_PATTERN}",
            _DAY_PATTERN,
        ),
    }.items()
}
PATTERNS[SLOTS["amount"]] = PATTERNS[NUMBER]
VARIABLE_PART = re.compile(f"([{''.join(PATTERNS)}])")
# Other texts do not mark these names, so they stay in the layout.
ADDRESSED = re.compile(
    rf"(?<=\bDear{SPACE})(?!(?:Customer|Cardholder|Member)\b)[A-Z][\w.]{{0,30}}"
    rf"(?:{SPACE}[A-Z][\w.]{{0,30}})?"
    rf"|[一-龯]{{1,6}}(?:{SPACE}[一-龯]{{1,6}})?(?={SPACE}?様)"
)
MASKS = {
    **dict.fromkeys((NUMBER, CODE, IDENTIFIER, LINK, DAY), "*"),
    **dict.fromkeys((NAME, VALUE, ADDRESSEE, NICKNAME, CARD, QUOTED, REPEATED), "***"),
    TERMS: "*개월",
    SPACE: " ",
    NO_MERCHANT: "",
}


def generalize(text: str) -> str:
    """Return the text with a character for each number, name and the like."""
    return _GENERALIZED.sub(lambda match: _KINDS[match.lastindex or 0], text)


def find_wide_parts(
    text: str, taken: Iterable[Span], merchant: str
) -> Iterator[tuple[Span, str]]:
    """Return spans and kinds of parts outside `taken` that differ from text to text.

    The value of a label may be anything without a word of `layout_status`.
    """
    used = set[int]()
    for start, end in taken:
        used.update(range(start, end))
    found = (_find_repeated(text, merchant), _find_values(text), _find_others(text))
    for span, kind in chain.from_iterable(found):
        if used.isdisjoint(range(*span)):
            used.update(range(*span))
            yield span, kind


def _find_values(text: str) -> Iterator[tuple[Span, str]]:
    for match in _LABELED_LINE.finditer(text):
        has_words = any(letter.isalpha() for letter in generalize(match["value"]))
        is_label = any(letter.isalpha() for letter in match["label"])
        if has_words and is_label and not _STATUS.search(match["value"]):
            yield match.span("value"), VALUE


def _find_repeated(text: str, merchant: str) -> Iterator[tuple[Span, str]]:
    start = text.find(merchant) if merchant else -1
    while start >= 0:
        end = start + len(merchant)
        around = text[max(0, start - 1) : start] + text[end : end + 1]
        if not any(letter.isalnum() for letter in around):
            yield (start, end), REPEATED
        start = text.find(merchant, end)


def _find_others(text: str) -> Iterator[tuple[Span, str]]:
    for kind, wide in _WIDE:
        for match in wide.finditer(text):
            yield match.span(match.lastindex or 0), kind
