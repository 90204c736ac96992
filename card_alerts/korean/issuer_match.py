"""The head of a Korean message: whose card, which card, and a signal glued to it."""

import re
from dataclasses import dataclass
from itertools import islice

from card_alerts.issuer import Issuer
from card_alerts.issuers import (
    compile_aliases,
    get_issuer_by_alias,
    is_ambiguous_alias,
    is_app_alias,
)
from card_alerts.korean.status_keywords import ATTACHED_KEYWORD
from card_alerts.korean_issuers import KOREAN
from card_alerts.masked_text import (
    AMOUNT,
    ANY_PLACEHOLDER,
    HOLDER_NAME,
    INSTALLMENT,
    ISSUER,
    TIMESTAMP,
    MaskedText,
)

# Names of issuers that are looked at; a message has one to three.
MAX_ALIAS_MATCHES = 60
MAX_PRODUCT_LENGTH = 30

_ALIAS = compile_aliases(KOREAN)
_LOCAL_CURRENCY = re.compile(r"(?<![가-힣])[가-힣]{2,6}사랑(?:화폐|상품권|카드|페이)")
_LOCAL_CURRENCY_ISSUER = get_issuer_by_alias("지역화폐")

_CARD_WORDS = re.compile(
    r"(?:(?![ ]?체크카드[ ]?출금)[ ]?"
    r"(?:카드|체크|신용|은행|BC|비씨|법인|가족|해외|국내|개인|SK|바로)){0,5}"
)
_CARD_DIGITS = r"\d\*\d\*|\*\d\*\d|\d{4}|\*{2,4}-?\d{4}|\d{3}\*|\d{2}\*\*|\d\*\*\d"
_CARD_NUMBER = re.compile(
    rf"[*]?[\])]?[ ]{{0,2}}\(?(?:본인|가족|뒷자리|끝자리)?[ ]?"
    rf"(?P<digits>{_CARD_DIGITS}|\d{{1,2}}(?=[ ]?(?:승인|취소|해외|거절"
    rf"|체크)))(?![\d*,년원])\)?"
)
_STANDALONE_CARD_NUMBER = re.compile(
    rf"(?:신용|체크|카드|뒷자리|끝자리|카드번호|본인"
    rf"|가족)[ :]{{0,2}}\(?[ ]?(?P<a>{_CARD_DIGITS})(?![\d*,년원])\)?"
    rf"|\((?:[^()\n\d*]{{0,8}}[, ])?(?P<b>{_CARD_DIGITS})\)"
    rf"|(?<={INSTALLMENT}),[ ]?(?P<d>{_CARD_DIGITS})\)"
    rf"|(?<![\d*\w-])(?P<c>\d\*\d\*)(?![\d*-])"
)
_PRODUCT = re.compile(
    rf"[ ]{{0,2}}(?P<product>(?!해외|체크|정상|국내|부분|일부|자동|승인|취소|카드"
    rf"|온라인|일반|매출|매입"
    rf"|출금)[A-Za-z0-9가-힣][A-Za-z0-9가-힣"
    rf"+.&' ]{{0,{MAX_PRODUCT_LENGTH - 1}}}?)[ ]{{0,2}}"
    rf"(?=\((?:본인|가족)?[ ]?[\d*]{{4}}\)|(?:해외|체크|체크카드|정상|국내"
    rf"|부분)?[ ]?(?:승인|취소)(?:취소|거절)?(?![가-힣])|뒷자리)"
)
_LEADING_PRODUCT = re.compile(
    rf"(?:^|[\n{ANY_PLACEHOLDER}\[,·|])[ ]{{0,2}}(?P<lead>[A-Za-z0-9가-힣]{{1,10}}[ ])$"
)
_SEPARATORS = re.compile(r"[ \])\-:·>*]{0,4}")
_HANGUL = re.compile(r"[가-힣]")
_LATIN = re.compile(r"[A-Za-z]")
_HOLDER_NAME = re.compile(r"[가-힣]{1,2}\*|[가-힣]{2,4}[ ]?님")
_PARTICLE = re.compile(r"(?:으?로|에서)[ ]")
_CONFIRMS_AMBIGUOUS_ALIAS = re.compile(
    r"\]|\)|\([\d*]|[ ]?\d\*|\d{4}|[ ][A-Z]|[ ]\(?[\d*]{4}"
    r"|[ ][가-힣*]{2,4}(?:[ ]?님)?[ ]?\([\d*]{4}\)|[ ]?$"
)
_GENERIC = re.compile(
    r"카드|체크|신용|은행|BC|비씨|법인|가족|해외|국내|개인|온라인|바로|SK|결제|이용"
    r"|사용|승인|알림|안내"
    r"|자동납부|자동이체|자동결제|카드번호입력|정상|고객님|회원님|[^\w]+"
)
_WORD_FOLLOWS = re.compile(
    r"[ ]{1,2}(?!승인|취소|사용|이용|결제|누적|잔액|일시불|체크|신용"
    r"|해외|국내|알림|안내|카드|자동|정상"
    r"|[가-힣]{1,2}\*|[가-힣]{2,4}[ ]?님)[가-힣A-Za-z]"
)
_REPEATED_PRODUCT = re.compile(rf"[ ][A-Za-z0-9 ]{{1,20}}(?=[{INSTALLMENT}])")
_REGION_SUFFIX = re.compile("[ ]?(?:해외|국내)$")
_UNMASKED_HOLDER_NAME = re.compile(
    rf"(?:^|(?<=[\n{AMOUNT}]))[ ]?"
    r"(?P<part>(?!결제|승인|취소|사용|이용|완료)[가-힣]{2,4}(?:[ ]?님)?)[ ]{1,2}"
    rf"(?={ISSUER})"
)


@dataclass(frozen=True, slots=True)
class IssuerMatch:
    """A name of an issuer that heads a message, and the card told beside it."""

    issuer: Issuer
    span: tuple[int, int]
    end: int
    is_app: bool
    is_check_card: bool | None
    has_card_word: bool
    digits: tuple[int, int] | None
    product: tuple[int, int] | None
    has_keyword: bool
    # A word follows behind a blank, so that it may be the name of a shop.
    has_following_word: bool = False

    @property
    def is_unambiguous(self) -> bool:
        """Whether it can only be a card, not a word of everyday speech."""
        return bool(self.has_card_word or self.digits or self.has_keyword)


def find_issuer_matches(text: str) -> list[IssuerMatch]:
    """The issuers named in head position, in the order of the text."""
    heads: list[IssuerMatch] = []
    last = 0
    for match in islice(_ALIAS.finditer(text), MAX_ALIAS_MATCHES):
        if match.start() < last:
            continue
        head = _parse_issuer_match(text, match)
        if head is not None:
            heads.append(head)
            last = head.end
    if all(head.has_following_word for head in heads):
        heads += _find_local_currency(text)
    return heads


def _find_local_currency(text: str) -> list[IssuerMatch]:
    match = _LOCAL_CURRENCY.search(text)
    if not match:
        return []
    span = match.span()
    return [
        IssuerMatch(
            _LOCAL_CURRENCY_ISSUER, span, span[1], True, None, False, None, None, False
        )
    ]


def _parse_issuer_match(text: str, match: re.Match[str]) -> IssuerMatch | None:
    """A head, unless the name goes on (현대백화점) or is part of a longer word."""
    start, end = match.span()
    alias = match[0]
    if start and _is_same_word(text[start - 1], alias[0]):
        return None
    words = _CARD_WORDS.match(text, end)
    after = words.end() if words else end
    token = _CARD_NUMBER.match(text, after)
    stop = token.end() if token else after
    product = None if token else _match_product(text, match, stop)
    has_signal = _has_keyword_at(text, product.end() if product else stop)
    if product and not has_signal:
        token = _CARD_NUMBER.match(text, product.end())
        stop = token.end() if token else stop
        product = product if token else None
    if not _is_word_end(text, alias, end, stop, bool(product) or has_signal):
        return None
    label = text[start:after]
    has_card_word = after > end or any(
        word in alias for word in ("카드", "체크", "은행", "BC", "비씨")
    )
    return IssuerMatch(
        get_issuer_by_alias(alias),
        (start, after),
        product.end() if product and not token else stop,
        is_app_alias(alias),
        _is_check_card(label),
        has_card_word,
        token.span("digits") if token else None,
        product.span("product") if product else None,
        has_signal,
        not (token or product or has_signal) and bool(_WORD_FOLLOWS.match(text, stop)),
    )


def _match_product(text: str, alias: re.Match[str], stop: int) -> re.Match[str] | None:
    """현대 MX Black: behind a blank, or Latin behind Hangul; Hangul only after 카드."""
    product = _PRODUCT.match(text, stop)
    if product is None:
        return None
    first = text[product.start("product")]
    glued = product.start("product") == stop
    if glued and bool(_LATIN.match(first)) is bool(_LATIN.match(text[stop - 1])):
        return None
    named_card = stop > alias.end() or "카드" in alias[0]
    return product if named_card or not _HANGUL.match(first) else None


def _is_check_card(label: str) -> bool | None:
    if "체크" in label:
        return True
    return False if "신용" in label else None


def _is_same_word(before: str, first: str) -> bool:
    """Whether a letter and the next are of one word; 메가MGC is one too."""
    if _HANGUL.match(first):
        return bool(_HANGUL.match(before))
    return bool(_HANGUL.match(before) or _LATIN.match(before))


def _has_keyword_at(text: str, place: int) -> bool:
    skipped = _SEPARATORS.match(text, place)
    return bool(ATTACHED_KEYWORD.match(text, skipped.end() if skipped else place))


def _is_word_end(text: str, alias: str, end: int, stop: int, goes_on: bool) -> bool:
    if goes_on or stop == len(text):
        return True
    if is_app_alias(alias) and not text[: end - len(alias)].strip(" \n[(-"):
        return not _HANGUL.match(text[end])
    if stop == end and is_ambiguous_alias(alias):
        line = text[text.rfind("\n", 0, end) + 1 : end]
        alone = line.strip() == alias
        return bool(
            _CONFIRMS_AMBIGUOUS_ALIAS.match(text, end) or (alone and text[end] == "\n")
        )
    if _HANGUL.match(text[stop]):
        named_card = stop > end or "카드" in alias
        return bool(
            _HOLDER_NAME.match(text, stop)
            or (named_card and _PARTICLE.match(text, stop))
        )
    return not (_LATIN.match(text[stop]) and _LATIN.match(text[stop - 1]))


def choose_issuer_match(heads: list[IssuerMatch], text: str) -> IssuerMatch | None:
    """The card's own name, before that of an app; of its spellings the fullest.

    A name that stands after the amount counts only where it is firm, since it may
    be a shop's.
    """
    amount = text.find(AMOUNT)
    limit = amount if amount >= 0 else len(text)
    heads = [head for head in heads if not _is_merchant_after_amount(text, head)]
    steady = [head for head in heads if not head.has_following_word]
    loose = [
        head
        for head in heads
        if head.has_following_word and not _is_merchant_name(text, head)
    ]
    return _choose_among(steady, heads, text, limit) or _choose_among(
        loose, heads, text, limit
    )


def _is_merchant_name(text: str, head: IssuerMatch) -> bool:
    """Whether a line below the day or the amount begins with the name (토스 카페)."""
    before = text[: head.span[0]]
    return before.endswith("\n") and (AMOUNT in before or TIMESTAMP in before)


def _is_merchant_after_amount(text: str, head: IssuerMatch) -> bool:
    """Whether an amount and a blank stand before a name that goes on in Hangul."""
    if head.digits or not (head.has_following_word or head.product):
        return False
    product = head.product and _HANGUL.match(text[head.product[0]])
    before = text[: head.span[0]]
    return before.rstrip(" ")[-1:] == AMOUNT and bool(
        head.has_following_word or product
    )


def _choose_among(
    candidates: list[IssuerMatch], heads: list[IssuerMatch], text: str, limit: int
) -> IssuerMatch | None:
    cards = [head for head in candidates if not head.is_app]
    apps = [head for head in candidates if head.is_app]
    early = [head for head in cards if head.span[0] < limit]
    first = _first_of(
        [head for head in early if head.digits or head.has_keyword],
        [head for head in cards if head.digits],
        [head for head in early if head.is_unambiguous],
        [head for head in cards if head.is_unambiguous],
        early,
        [head for head in apps if head.span[0] < limit or _is_voucher(head, text)],
    )
    if first is None:
        return None
    same = [head for head in heads if head.issuer is first.issuer]
    with_digits = [head for head in same if head.digits]
    return _first_of(with_digits, [head for head in same if head.has_keyword], [first])


def _first_of(*groups: list[IssuerMatch]) -> IssuerMatch | None:
    return next((group[0] for group in groups if group), None)


def _is_voucher(head: IssuerMatch, text: str) -> bool:
    """[디지털온누리상품권] or 광명사랑화폐: a means of paying, named last."""
    return (
        head.issuer is _LOCAL_CURRENCY_ISSUER
        or text[head.span[0] - 1 : head.span[0]] == "["
    )


def mask_issuer_matches(
    skeleton: MaskedText, heads: list[IssuerMatch], chosen: IssuerMatch
) -> None:
    """Masks the chosen head, the titles before it and other names with a card."""
    spans = []
    for head in heads:
        if (
            head is chosen
            or _is_repeated(head, chosen, skeleton.text)
            or head.digits
            or (head.end <= chosen.span[0] and _is_heading(skeleton.text, head))
            or (head.issuer is chosen.issuer and head.has_keyword)
        ):
            start = (
                leading_product_start(skeleton.text, head)
                if head is chosen
                else head.span[0]
            )
            product = _REPEATED_PRODUCT.match(skeleton.text, head.end)
            spans.append((start, product.end() if product else head.end))
    skeleton.mask_spans(spans, ISSUER)
    if f" {ISSUER}" in skeleton.text:
        skeleton.mask_all(_UNMASKED_HOLDER_NAME, HOLDER_NAME)


def _is_repeated(head: IssuerMatch, chosen: IssuerMatch, text: str) -> bool:
    """The card named once more: 홍*동 님, 현대카드 M 일시불; 삼성카드 | 들꽃다방."""
    if head.issuer is not chosen.issuer or not head.has_card_word:
        return False
    before = text[: head.span[0]].rstrip(" ")[-1:]
    return before == "," or text[head.end : head.end + 2].lstrip(" ").startswith("|")


def _is_heading(text: str, head: IssuerMatch) -> bool:
    """Whether a name opens a line or stands in brackets."""
    return text[head.span[0] - 1 : head.span[0]] in {"", "\n", "[", " "}


def find_heading_above(
    reading: list[IssuerMatch], chosen: IssuerMatch, text: str
) -> IssuerMatch | None:
    """A name above the card that is the shop itself: 네이버페이."""
    for head in reading:
        rest = text[head.end :].lstrip(" ")
        if head is not chosen and not head.digits and rest.startswith("\n"):
            return head if head.end <= chosen.span[0] else None
    return None


def leading_product_start(text: str, head: IssuerMatch) -> int:
    """Where a product word before the name begins: 네이버 현대카드, 쇼핑엔 로카."""
    start = head.span[0]
    if not (head.digits or head.product or head.has_keyword):
        return start
    match = _LEADING_PRODUCT.search(text[max(0, start - MAX_PRODUCT_LENGTH) : start])
    if not match or ATTACHED_KEYWORD.match(match["lead"]):
        return start
    return start - len(match["lead"])


def find_product_span(text: str, head: IssuerMatch) -> tuple[int, int] | None:
    """The card's product where no digits are printed: 현대 MX Black."""
    if head.digits or not head.has_keyword:
        return None
    start = leading_product_start(text, head)
    end = head.product[1] if head.product else head.span[1]
    abroad = _REGION_SUFFIX.search(text, start, end)
    end = abroad.start() if abroad else end
    name = text[start : head.span[0]] + text[head.span[1] : end]
    return (start, end) if _GENERIC.sub("", name) else None


def find_standalone_digits(text: str) -> re.Match[str] | None:
    """A card's digits that stand apart from the issuer's name: 길*라(5*4*)."""
    return _STANDALONE_CARD_NUMBER.search(text)
