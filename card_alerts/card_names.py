"""Find the name of a card in a message without card digits: Deep Dream.

The names of `data/card_names.toml` count anywhere but in the merchant. Other ones end
in a word for a card; what is left without issuers and kinds of cards is a product.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from card_alerts.issuers import ISSUERS, compile_aliases
from card_alerts.patterns import pattern
from card_alerts.result import Span
from card_alerts.tables import alternatives, read_words

MAX_NAME_LENGTH = 60
MAX_WORDS = 6
MAX_WORD_LENGTH = 20
# Of a long mail; a crafted text has more.
_MAX_PLACES, _MAX_READ_WORDS = 40, 120
# One of them is in every text with a label, or with an English word for a card.
_LABEL_PARTS = (":", "】", "카드 ", "수단 ", "상품", "방법 ", "カード ", "方法 ")
_ENGLISH_CARD_PARTS = ("card", "visa", "account")

_TABLE = read_words("card_names.toml")
# A name of letters of two scripts begins with the word of the first one.
_WORD = pattern(
    r"[A-Za-z]+|[0-9]+[a-z]*|[가-힣]+|[ぁ-ヿ一-龯]+|[#&「]", example="Deep Dream"
)
_ISSUER = pattern(
    rf"""
    (?:(?<![A-Za-z0-9])|(?=[가-힣ぁ-龯])|(?-i:(?<=[a-z])(?=[A-Z])))
    {compile_aliases(ISSUERS, re.IGNORECASE).pattern}(?![a-z])
    """,
    example="신한카드",
    flags=re.IGNORECASE,
)
_ISSUER_BEFORE = pattern(
    rf"(?:{_ISSUER.pattern})(?:카드|체크|법인|カード|은행|[ ]?Bank|[ ]Card)?[ (]?\Z",
    example="신한카드 ",
    flags=re.IGNORECASE,
)
# The rest of a card name behind its known part: 카드의정석 EVERY DISCOUNT.
_REST = pattern(
    r"""
    (?:
        [ ]?[A-Z][A-Za-z0-9+&]{0,14}(?![A-Za-z0-9가-힣]) | [-+]F?
        | [ ]?v?\d{1,3}(?![\d,/:.월원개])
    ){0,3}
    """,
    example=" EVERY DISCOUNT",
)
_WORDS_TO_CARD = pattern(
    r"""
    (?:[ ]?[가-힣A-Za-z0-9&+.]{1,10}){0,2}?[ ]?(?:체크카드|카드|체크)
    (?![가-힣A-Za-z0-9])
    """,
    example=" 올쇼핑 티타늄카드",
)
_KIND = pattern(
    r"""
    [ ]?(?:체크카드|체크(?![가-힣])|카드)
    | [ ]?(?:カード)?[ ]?\((?:Visa|JCB|Mastercard|NL|クレジット|デビット)\)
    | [ ]?カード | [ ](?:ゴールド|プラチナ)
    | [ ](?:credit[ ]|debit[ ])?card\b
    | [ ](?:visa|mastercard)(?:[ ](?:signature|infinite))?\b
    """,
    example=" 체크카드",
    flags=re.IGNORECASE,
)
_EDITION = pattern(r"[ ]?Ed(?:ition|\.)?[ ]?\d", example=" Edition3")
_CARD_WORD = pattern(
    r"""
    (?:체크카드|신용카드|카드|체크)
    (?=로[ ]|으로[ ]|가[ ]|를[ ]|\(으\)로|체크|[^가-힣A-Za-z0-9]|$)
    """,
    example="노리2 체크카드로 ",
)
_ENGLISH_CARD_WORD = pattern(
    r"""
    \b(?:card|visa|mastercard|account)\b(?![ ]?(?:ending|no|number|x?\d|[*•·#]))
    """,
    example="Cobalt Card",
    flags=re.IGNORECASE,
)
# Words of a sentence, amounts and holders end a name to their left.
_NO_NAME = pattern(
    rf"""
    .*(?:에서|으로|로|님|님의|은|는|을|를|에|의|한|된|할|신|시|및|중|[^가-힣]이)
    | .*(?:개월|일시불|원|円|엔)
    | .*[*:₩$€£¥].* | [\d,./-]+ | .*\d{{3}}.* | (?![A-Z0-9&])[a-z].*
    | {alternatives(_TABLE["sentence_words"])}
    """,
    example="매장에서",
)
_WORD_BREAKS = frozenset(" \n\t/|·,[]():;~→")
_LOWER_KIND = frozenset({"credit", "debit", "prepaid", "charge"})
_GENERIC = pattern(
    rf"""
    {alternatives(_TABLE["kinds"])} | [ ][내이][ ] | [가-힣]{{2,4}}사랑
    | (?<![A-Za-z])(?:{alternatives(_TABLE["latin_kinds"])})(?![A-Za-z]) | [^\w+#&] | _
    """,
    example="개인 신용카드",
    flags=re.IGNORECASE,
)
_LETTER = pattern(r"\w", example="Deep")
_LABELED = pattern(
    r"""
    (?:^|(?<=[\n/|■▶·・◇]))[ ■▶·・◇【]{0,3}
    (?:
        (?:이용|사용|결제|승인|환불)?[ ]?카드(?:종류|명|상품|[ ]?이름)?
        | 카드상품 | 상품명?
        | (?:결제|환불)?[ ]?수단 | Card(?:[ ](?:name|used|product))?
        | (?:ご?利用)?カード(?:名称?)? | お?支払い?方法
    )
    (?P<sign>[ ]{0,8}[:】][ ]{0,8} | [ ]{1,8})
    (?P<value>[^\s:][^\n|;]{0,60})
    """,
    example="\n결제카드: 삼성 iD ALL",
    initials=" ■▶·・◇【이사결승환카상수Cご利カお支",
)
_CARD_END = pattern(
    r"(?:카드|체크|カード|Card)(?:[ ]?Edition\d)?$", example="별다줄체크카드"
)
_VALUE_END = pattern(r"[ ]/|[ ]\(?(?:일시불|\d{1,2}개월)", example="Deep Dream / 11/16")
_OTHER_MEANS = pattern(
    r"""
    머니|포인트|계좌|통장|잔액|残高|ポイント|払い|分割|一括|^\d{1,2}回
    |money|account|\bcash\b|\d{3}|[*•]
    """,
    example="네이버페이 머니",
)


def _index_names() -> dict[str, list[tuple[str, bool]]]:
    """Return the names by their first word, the longest first; all in lower case.

    Each with True if it counts behind an issuer alone.
    """
    names = [
        (name.lower(), key == "beside_issuer")
        for key in ("korean", "english", "japanese", "beside_issuer")
        for name in _TABLE[key]
    ]
    index: dict[str, list[tuple[str, bool]]] = {}
    for name, needs_issuer in sorted(names, key=lambda each: (-len(each[0]), each)):
        word = _WORD.match(name)
        index.setdefault(word[0] if word else name, []).append((name, needs_issuer))
    return index


_NAMES = _index_names()


def find_card_name(
    text: str, taken: Sequence[Span], *, has_issuer: bool
) -> Span | None:
    """Return the span of a name that lies outside of `taken`: the merchant, amounts.

    Without an issuer only names of the table count.
    """
    candidates = (_labeled(text), _known(text), _shaped(text) if has_issuer else ())
    for found in candidates:
        for start, end in found:
            if end - start <= MAX_NAME_LENGTH and all(
                end <= other[0] or other[1] <= start for other in taken
            ):
                return start, end
    return None


def _known(text: str) -> Iterator[Span]:
    lower = text.lower()
    if _NAMES.keys().isdisjoint(_WORD.findall(lower)):
        return
    for word in islice(_WORD.finditer(lower), _MAX_READ_WORDS):
        start = word.start()
        for name, needs_issuer in _NAMES.get(word[0], ()):
            end = start + len(name)
            if not lower.startswith(name, start) or not _is_whole(lower, start, end):
                continue
            first = _with_issuer(text, start)
            if first < start or not needs_issuer:
                yield first, _with_ending(text, end)
                break


def _is_whole(text: str, start: int, end: int) -> bool:
    return not (_is_inside_word(text, start) or _is_inside_word(text, end))


def _is_inside_word(text: str, place: int) -> bool:
    """Return True between two letters of one alphabet, or two digits."""
    pair = text[place - 1 : place + 1]
    if not place or len(pair) < 2 or not pair.isalnum():
        return False
    if pair[1:] in "카체로해승ご利を":
        return False
    return pair[0].isascii() == pair[1].isascii() and (
        pair[0].isdigit() == pair[1].isdigit() or pair[1].isalpha()
    )


def _with_issuer(text: str, start: int) -> int:
    """Return where the name of the issuer in front of a product begins."""
    before = _ISSUER_BEFORE.search(text, max(0, start - 24), start)
    if before is None or before[0].endswith("("):
        return start
    place = before.start()
    return start if place and _is_inside_word(text, place) else place


def _with_ending(text: str, end: int) -> int:
    """Return the end of a card name whose known part ends at `end`."""
    if not text[:end].endswith(("카드", "체크")) and (
        card := _WORDS_TO_CARD.match(text, end)
    ):
        end = card.end()
    for ending in (_REST, _KIND, _EDITION):
        if found := ending.match(text, end):
            end = found.end()
    return end


def _labeled(text: str) -> Iterator[Span]:
    if not any(map(text.__contains__, _LABEL_PARTS)):
        return
    for match in islice(_LABELED.finditer(text), _MAX_PLACES):
        start, end = match.span("value")
        cut = _VALUE_END.search(text, start, end)
        end = cut.start() if cut else end
        value = text[start:end].rstrip()
        is_card = ":" in match["sign"] and "상품" not in match[0]
        if not (is_card or _CARD_END.search(value)):
            continue
        if names_card(value) and not _OTHER_MEANS.search(value.lower()):
            yield start, start + len(value)


def _shaped(text: str) -> Iterator[Span]:
    for match in islice(_find_card_words(text), _MAX_PLACES):
        start = match.start()
        for _ in range(MAX_WORDS):
            first, word = _word_before(text, start)
            if not word or (word not in _LOWER_KIND and _NO_NAME.fullmatch(word)):
                break
            start = first
        name = text[start : match.end()]
        if text[:start].rstrip().endswith(("→", "+", "~")):
            continue
        if match[0] == "account":
            name = name.removesuffix("account").rstrip()
        if names_card(name):
            yield start, start + len(name)


def _word_before(text: str, start: int) -> tuple[int, str]:
    """Return the word that ends at `start`, with where it begins."""
    end = start - 1 if text[start - 1 : start] == " " else start
    first = max(0, end - MAX_WORD_LENGTH)
    while end > first and text[end - 1] not in _WORD_BREAKS:
        end -= 1
    return end, text[end:start].rstrip(" ")


def _find_card_words(text: str) -> Iterator[re.Match[str]]:
    yield from _CARD_WORD.finditer(text)
    if any(map(text.lower().__contains__, _ENGLISH_CARD_PARTS)):
        yield from _ENGLISH_CARD_WORD.finditer(text)


@lru_cache(maxsize=1024)
def names_card(name: str) -> bool:
    """Return False for the name of an issuer with the kind of a card: 신한 체크카드."""
    rest = _GENERIC.sub("", f" {_ISSUER.sub(' ', name)} ")
    return _LETTER.search(rest) is not None
