"""Find the names of issuers and their cards.

신한카드(1234)승인: the parts beside a name decide how certainly it is an issuer.
"""

import re
from itertools import islice
from typing import NamedTuple

from card_alerts.issuer import Issuer
from card_alerts.issuers import (
    KOREAN,
    Alias,
    compile_aliases,
    find_issuer,
    get_alias,
)
from card_alerts.korean.card_numbers import CARD_NUMBER
from card_alerts.korean.card_products import (
    CHECK_CARD_LINE,
    CLOSED_PRODUCT,
    LEADING_PRODUCT,
    LINE_PRODUCT,
    MAX_PRODUCT_LENGTH,
    PRODUCT_BEFORE_AMOUNT,
    PRODUCT_BRANDS,
    PRODUCT_IN_BRACKETS,
    PRODUCT_IN_SENTENCE,
    PRODUCT_SUFFIX,
    match_product,
)
from card_alerts.korean.status_keywords import ATTACHED_KEYWORD
from card_alerts.masked_text import (
    AMOUNT,
    ANY_PLACEHOLDER,
    INSTALLMENT,
    MERCHANT,
    NOISE,
    TIMESTAMP,
)
from card_alerts.patterns import pattern
from card_alerts.result import Span

MAX_ALIAS_MATCHES = 60

_ALIAS = compile_aliases(KOREAN)
_LOCAL_CURRENCY_ISSUER = get_alias("지역화폐").issuer

_CARD_WORDS = pattern(
    r"""
    (?:
        (?![ ]?체크카드[ ]?출금)[ ]?
        (?:
            카드 | 체크 | 신용 | 은행 | BC | 비씨 | 법인 | 가족 | 기업 | 해외 | 국내
            | 개인 | SK | 바로 | 외화통장 | 기프트 | 후불(?:하이패스|교통)
            | [A-Z]\d?(?=카드) | ,체크카드(?=,)
        )
    ){0,5}
    """,
    example="해외승인 류*아",
)
_CARD_WORDS_IN_NAMES = ("카드", "체크", "은행", "BC", "비씨")
_SEPARATORS = pattern(r"[ \])\-:·>*]{0,4}", example=" - ")
_PLAIN_KEYWORD = pattern(
    r"(?:승인|취소)(?=\n|[ ][가-힣]{1,2}\*|[ ]\d|$)", example="신한카드(1309)승인"
)
_HOLDER_NAME = pattern(
    r"[가-힣]{1,2}\*|[가-힣]{2,4}[ ]?님", example="우리(9*2*)류*현님"
)
_COMPANY_HOLDER = pattern(
    r"(?:법인|개인|가족|본인)[- ]?[가-힣]{1,2}\*", example="(9291)법인-노*"
)
_PARTICLE = pattern(
    r"(?:으?로|에서)[ ]|가[ ](?=[^\n]{2,24}에서[ ](?:사용|결제|승인))",
    example="신한카드로 결제될",
)
_PAID_WITH = pattern(
    rf"(?:[ ]?(?:머니|포인트))?로[ ](?={AMOUNT})", example=f"로 {AMOUNT}을 결제"
)
# An everyday word is an issuer before these: 우리(1234), 하나 홍*동(1234).
_CONFIRMS_AMBIGUOUS_ALIAS = pattern(
    r"""
    \] | \) | \([\d*] | [ ]?\d\* | \d{4} | [ ][A-Z] | [ ]\(?[\d*]{4}
    | [ ][가-힣*]{2,4}(?:[ ]?님)?[ ]?\([\d*]{4}\)
    | [ ]?$
    """,
    example="하나 홍*동(1234)",
)
_LETTER_CARD = pattern(r"(?<=[가-힣])[A-Z]\d?카드$", example="현대M카드")
_GENERIC = pattern(
    r"""
    카드 | 체크 | 신용 | 은행 | BC | 비씨 | 법인 | 가족 | 해외 | 국내 | 개인 | 온라인
    | 바로 | SK | 결제 | 이용 | 사용 | 승인 | 알림 | 안내 | 자동납부 | 자동이체
    | 자동결제 | 카드번호입력 | 정상 | 고객님 | 회원님 | [^\w]+
    """,
    example=" M",
)
# The name begins another one: 토스 카페.
_WORD_FOLLOWS = pattern(
    r"""
    [ ]{1,2}(?!
        승인 | 취소 | 사용 | 이용 | 결제 | 누적 | 잔액 | 일시불 | 체크 | 신용 | 해외
        | 국내 | 알림 | 안내 | 카드 | 자동 | 정상 | 통장 | 계좌 | [가-힣]{1,2}\*
        | [가-힣]{2,4}[ ]?님
    )[가-힣A-Za-z]
    """,
    example="토스 카페",
)
# 토스뱅크 · 바람커피
_BEFORE_MERCHANT = pattern(
    rf"""
    (?:[ ]?\)|[ ]?(?:통장|계좌)(?:[ ]?\([\d*]{{2,8}}\))?)?[ ]?(?:[·|→➔▶]|->)
    [ ]{{0,2}}{MERCHANT}
    """,
    example=f"(토스뱅크) | {MERCHANT}",
)
_PARTNER = pattern(r"[가-힣]{2,6}", example="배민현대카드")
_LAST_WORD = pattern(r"(?<![가-힣])[가-힣]{2,6}\Z", example="노*들 트립투")
_PARTNER_BEFORE = pattern(
    rf"""
    (?:^|[\n\[{ANY_PLACEHOLDER}])[ ]?(?P<lead>{_PARTNER.pattern})\Z
    """,
    example="삼성카드",
)
_LINE_STARTS = frozenset({"", "\n", "[", " "})
_TEXT_START = pattern(r"[\s\[(]{0,6}", example="\n[신한카드]")
_PAID_SENTENCE = pattern(r"에서[ ,]{0,2}\n?[\d,₩]", example="바람커피에서 12,000원")
# 토스90,000원 결제신한카드
_GLUED_KEYWORD = pattern(
    rf"{AMOUNT}[ ]?(?:결제|승인|사용|이용|취소)(?:[ ]?완료)?\Z",
    example=f"토스{AMOUNT} 결제",
)
# [롯데 일시불]
_TERMS_IN_BRACKETS = pattern(
    rf"[ ,/·]{{0,3}}{INSTALLMENT}", example=f"완료 [롯데{INSTALLMENT} {TIMESTAMP}"
)


def _is_hangul(letter: str) -> bool:
    return "가" <= letter[:1] <= "힣"


def _is_latin(letter: str) -> bool:
    return letter[:1].isascii() and letter[:1].isalpha()


class IssuerMatch(NamedTuple):
    text: str
    issuer: Issuer
    # The name with its card words (신한 체크카드).
    span: Span
    end: int
    is_app: bool
    is_check_card: bool | None = None
    has_card_word: bool = False
    digits: Span | None = None
    product: Span | None = None
    has_keyword: bool = False
    # The name may begin a merchant's (토스 카페).
    has_following_word: bool = False

    @property
    def is_unambiguous(self) -> bool:
        """Return False if it may be an everyday word."""
        return bool(self.has_card_word or self.digits or self.has_keyword)

    @property
    def is_heading(self) -> bool:
        start = self.span[0]
        return self.text[start - 1 : start] in {"", "\n", "[", " "}

    @property
    def is_voucher(self) -> bool:
        """Return True for a voucher, which is named last: [디지털온누리상품권]."""
        start = self.span[0]
        is_local_currency = self.issuer is _LOCAL_CURRENCY_ISSUER
        return is_local_currency or self.text[start - 1 : start] == "["

    @property
    def opens_merchant_line(self) -> bool:
        before = self.text[: self.span[0]]
        return before.endswith("\n") and (AMOUNT in before or TIMESTAMP in before)

    @property
    def is_merchant_after_amount(self) -> bool:
        if self.digits or not (self.has_following_word or self.product):
            return False
        has_name = self.has_following_word or bool(
            self.product and _is_hangul(self.text[self.product[0]])
        )
        before = self.text[: self.span[0]].rstrip(" ")
        return before.endswith(AMOUNT) and has_name

    @property
    def start_with_product(self) -> int:
        """Return the start of a product before the name (네이버 현대카드)."""
        start = self.span[0]
        if not (self.digits or self.product or self.has_keyword):
            return start
        before = self.text[max(0, start - MAX_PRODUCT_LENGTH) : start]
        match = _PARTNER_BEFORE.search(before) or LEADING_PRODUCT.search(before)
        if not match or ATTACHED_KEYWORD.match(match["lead"]):
            return start
        # A title of the same issuer is no product.
        is_title = find_issuer(match["lead"]) is self.issuer
        return start if is_title else start - len(match["lead"])

    def find_product(self) -> Span | None:
        """Return the card's name if no digits are printed (현대 MX Black)."""
        if not self.digits and _LETTER_CARD.search(self.text, *self.span):
            return self.span
        if self.digits or not self.has_keyword:
            return None
        start = self.start_with_product
        end = self.product[1] if self.product else self.span[1]
        wallet = find_issuer(self.text[self.span[1] : end].strip())
        if wallet and wallet.is_pay_service:
            return None
        suffix = PRODUCT_SUFFIX.search(self.text, start, end)
        end = suffix.start() if suffix else end
        name = self.text[start : self.span[0]] + self.text[self.span[1] : end]
        return (start, end) if _GENERIC.sub("", name) else None

    def repeats(self, chosen: "IssuerMatch") -> bool:
        """Return True for the chosen card's second mention (홍*동 님, 현대카드 M)."""
        if self.issuer is not chosen.issuer or not self.has_card_word:
            return False
        before = self.text[: self.span[0]].rstrip(" ")
        after = self.text[self.end : self.end + 2].lstrip(" ")
        return before.endswith(",") or after.startswith("|")


def find_issuer_matches(text: str) -> list[IssuerMatch]:
    matches: list[IssuerMatch] = []
    last_end, glued_end = 0, -1
    for found in islice(_ALIAS.finditer(text), MAX_ALIAS_MATCHES):
        name, (start, alias_end) = found[0], found.span()
        if start < last_end:
            continue
        if start != glued_end and _is_word_before(text, found):
            continue
        alias = get_alias(name)
        words = _CARD_WORDS.match(text, alias_end)
        name_end = words.end() if words else alias_end
        if _is_glued_title(text, start, name_end, alias.issuer):
            glued_end = name_end
            matches.append(_title_match(text, alias, start, name_end))
            continue
        number = _match_number(text, start, name_end)
        end = number.end() if number else name_end
        product = None if number else match_product(text, found, end)
        line_product = None if number or product else _line_product(text, start, end)
        has_keyword = _has_keyword_at(text, product.end() if product else end)
        if product and not has_keyword:
            # Without a keyword, only digits behind the words prove a product.
            number = CARD_NUMBER.match(text, product.end())
            end = number.end() if number else end
            product = product if number else None
        if line_product:
            product, has_keyword = line_product, True
        has_terms = _has_terms_at(text, start, end)
        is_known = product or has_keyword or has_terms or _is_company_card(text, number)
        if not (is_known or _is_word_end(text, found, alias, end)):
            continue
        last_end = product.end() if product and not number else end
        is_alone = not (number or product or has_keyword)
        is_method = _BEFORE_MERCHANT.match(text, end) is not None
        matches.append(
            IssuerMatch(
                text,
                alias.issuer,
                span=(start, name_end),
                end=last_end,
                is_app=alias.is_app,
                is_check_card=_is_check_card(text[start:name_end]),
                has_card_word=is_method
                or has_terms
                or name_end > alias_end
                or any(word in name for word in _CARD_WORDS_IN_NAMES),
                digits=number.span("digits") if number else None,
                product=product.span("product") if product else None,
                has_keyword=has_keyword,
                has_following_word=is_alone and bool(_WORD_FOLLOWS.match(text, end)),
            )
        )
    title = _find_title(text, matches)
    return [title, *matches] if title else matches


def _match_number(text: str, start: int, end: int) -> re.Match[str] | None:
    """Return the number behind a name, or a product: 롯데카드(LIKIT)."""
    number = CARD_NUMBER.match(text, end)
    if number is None and "카드" in text[start:end]:
        return PRODUCT_IN_BRACKETS.match(text, end)
    if number is None and text[start - 1 : start] in {"", "\n"}:
        return PRODUCT_BEFORE_AMOUNT.match(text, end)
    return number


def _line_product(text: str, start: int, end: int) -> re.Match[str] | None:
    """Match the product behind a name that begins its line or its brackets."""
    if text[start - 1 : start] == "[" and (closed := CLOSED_PRODUCT.match(text, end)):
        return closed
    if text[end : end + 1] != " " or text[start - 1 : start] not in _LINE_STARTS:
        return None
    product = LINE_PRODUCT.match(text, end) if "카드" in text[start:end] else None
    return (
        product
        or CHECK_CARD_LINE.match(text, end)
        or PRODUCT_IN_SENTENCE.match(text, end)
    )


def _has_keyword_at(text: str, end: int) -> bool:
    separators = _SEPARATORS.match(text, end)
    if separators is None:
        return False
    position = separators.end()
    is_plain = _PLAIN_KEYWORD.match(text, position) is not None
    return is_plain or ATTACHED_KEYWORD.match(text, position) is not None


def _has_terms_at(text: str, start: int, end: int) -> bool:
    """Return True for [롯데 일시불]."""
    is_in_brackets = text[start - 1 : start] in {"[", "("}
    return is_in_brackets and _TERMS_IN_BRACKETS.match(text, end) is not None


def _is_company_card(text: str, number: re.Match[str] | None) -> bool:
    """Return True before the holder of a company's card: (9291)법인-노*새."""
    return number is not None and _COMPANY_HOLDER.match(text, number.end()) is not None


def _is_check_card(label: str) -> bool | None:
    return True if "체크" in label else False if "신용" in label else None


def _is_word_before(text: str, found: re.Match[str]) -> bool:
    """Return True if a letter before the name makes it part of a word: 메가MGC."""
    before = text[found.start() - 1 : found.start()]
    if _is_hangul(before):
        if _GLUED_KEYWORD.search(text, max(0, found.start() - 8), found.start()):
            return False
        return not _is_co_branded(text, found)
    return bool(_is_latin(before)) and not _is_hangul(found[0])


def local_currency_match(text: str, span: Span) -> IssuerMatch:
    return IssuerMatch(text, _LOCAL_CURRENCY_ISSUER, span, span[1], is_app=True)


def _is_glued_title(text: str, start: int, end: int, issuer: Issuer) -> bool:
    """Return True for a title before the same issuer (삼성카드삼성1234승인)."""
    if text[:start].strip(" \n[("):
        return False
    if text.startswith(" ", end):
        end += 1
    following = _ALIAS.match(text, end)
    return following is not None and get_alias(following[0]).issuer is issuer


def _title_match(text: str, alias: Alias, start: int, end: int) -> IssuerMatch:
    return IssuerMatch(
        text, alias.issuer, (start, end), end, alias.is_app, has_card_word=True
    )


def _is_co_branded(text: str, found: re.Match[str]) -> bool:
    """Return True for a partner before the issuer (배민현대카드)."""
    if found[0] in PRODUCT_BRANDS:
        # 트립투로카(7*3*), after the holder too
        word = _LAST_WORD.search(text, max(0, found.start() - 8), found.start())
        return word is not None and bool(CARD_NUMBER.match(text, found.end()))
    if "카드" not in found[0]:
        return False
    line_start = text.rfind("\n", 0, found.start()) + 1
    partner = text[line_start : found.start()].lstrip(" [")
    if not _PARTNER.fullmatch(partner):
        return False
    separators = _SEPARATORS.match(text, found.end())
    position = separators.end() if separators else found.end()
    return bool(
        ATTACHED_KEYWORD.match(text, position) or CARD_NUMBER.match(text, found.end())
    )


def _find_title(text: str, matches: list[IssuerMatch]) -> IssuerMatch | None:
    """Return a name at the beginning that is only a title.

    현대카드바람커피 above 홍*동 님, 현대카드M 승인: the card is named below.
    """
    match = _TEXT_START.match(text)
    start = match.end() if match else 0
    if matches and matches[0].span[0] <= start < matches[0].end:
        return None
    found = _ALIAS.match(text, start)
    if found is None:
        return None
    alias = get_alias(found[0])
    if any(match.span[0] <= found.start() < match.end for match in matches):
        return None
    name_end, has_space = found.end(), text.startswith(" ", found.end())
    if not (has_space or _is_hangul(text[name_end : name_end + 1])):
        return None
    is_named_below = any(
        match.issuer is alias.issuer
        and (match.has_keyword or match.digits or match.product)
        for match in matches
    )
    is_pay_app = alias.issuer.is_pay_service and not alias.is_ambiguous
    is_title = is_named_below and "카드" in found[0]
    if is_title or (alias.is_app and not is_pay_app and is_named_below):
        return _title_match(text, alias, found.start(), name_end)
    if is_pay_app and not has_space and _PAID_SENTENCE.search(text, name_end):
        return _title_match(text, alias, found.start(), name_end)
    return None


def _is_word_end(text: str, found: re.Match[str], alias: Alias, end: int) -> bool:
    if end == len(text):
        return True
    name, following = found[0], text[end]
    if alias.issuer.is_pay_service and _PAID_WITH.match(text, end):
        return True
    if alias.is_app and not text[: found.start()].strip(" \n[(-"):
        return not _is_hangul(text[found.end()])
    if end == found.end() and alias.is_ambiguous:
        line_start = text.rfind("\n", 0, end) + 1
        is_whole_line = text[line_start:end].strip() == name and following == "\n"
        if not text[line_start : found.start()].strip(f" [{NOISE}") and (
            text[end : end + 2].lstrip(" ,")[:1] == TIMESTAMP
        ):
            # 우리 10/03 16:00: a bank's message
            return True
        return is_whole_line or bool(_CONFIRMS_AMBIGUOUS_ALIAS.match(text, end))
    if _is_hangul(following):
        has_card_word = end > found.end() or "카드" in name
        if has_card_word and text.startswith("후불교통", end):
            return True
        return bool(
            _HOLDER_NAME.match(text, end)
            or (has_card_word and _PARTICLE.match(text, end))
        )
    return not (_is_latin(following) and _is_latin(text[end - 1]))
