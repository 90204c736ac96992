"""Find the product of a card beside the name of its issuer.

현대 MX Black 승인, 로카 나누기(1234), 롯데카드(LIKIT), 네이버 현대카드.
"""

import re

from card_alerts.issuers import get_alias
from card_alerts.korean.card_numbers import CARD_NUMBER
from card_alerts.masked_text import AMOUNT, ANY_PLACEHOLDER, NOISE, TIMESTAMP
from card_alerts.patterns import pattern

MAX_PRODUCT_LENGTH = 30

_PRODUCT = pattern(
    rf"""
    [ ]{{0,2}}(?P<product>
        (?!해외|체크|정상|국내|부분|일부|자동|승인|취소|카드|온라인|일반|매출|매입|출금|할부)
        [A-Za-z0-9가-힣][A-Za-z0-9가-힣+.&' ]{{0,{MAX_PRODUCT_LENGTH - 1}}}?
    )(?<!에서)[ ]{{0,2}}(?=
        \((?:본인|가족)?[ ]?[\d*]{{4}}\)
        | (?:\d\*){{2}}(?![\d*])
        | [•●∙]{{2,4}}[ ]?\d{{4}}(?!\d)
        | \d{{4}}[ ]?(?:[·|\n]|$)
        | (?:해외|체크|체크카드|정상|국내|부분|전체|일반|카드|매출|가|선|사전)?[ ]?
          (?:
              (?:승인|취소)(?:취소|거절|승인)?
              | (?:승인|결제|사용|이용|취소)(?:이|가)?[ ]?(?:완료|처리)?[ ]?
                (?:됨|되었습니다|됐어요|됐습니다|했어요|하셨습니다|완료)
          )(?![가-힣])
        | 뒷자리
    )
    """,
    example=" 무인카페 취소",
)
# 네이버 현대카드, 쇼핑엔 로카
LEADING_PRODUCT = pattern(
    rf"""
    (?:^|[\n{ANY_PLACEHOLDER}\[,·|])[ ]{{0,2}}(?P<lead>[A-Za-z0-9가-힣]{{1,10}}[ ])$
    """,
    example=f"{AMOUNT} 승인\n쇼핑엔 ",
)
# The product of 롯데카드(LIKIT).
PRODUCT_IN_BRACKETS = pattern(
    r"\((?P<digits>[A-Z][A-Za-z0-9+&]{1,14}|\d{3})\)(?=[ ]?\n)",
    example=f"{NOISE}롯데카드(365)\n{TIMESTAMP}",
)
# 현대(M3)32,500원승인
PRODUCT_BEFORE_AMOUNT = pattern(
    rf"\((?P<digits>[A-Z][A-Za-z0-9+&]{{0,14}})\)(?=[ ]?[{AMOUNT}])",
    example=f"현대(M3){AMOUNT}승인",
)
# 현대 네이버 승인⏎강*연: a product behind a short name at the beginning
_STATUS_BEFORE_HOLDER = pattern(
    r"[ ]?(?:승인|취소)(?:취소|거절)?[ ]?\n?[가-힣]{1,2}\*",
    example="현대 네이버 승인\n강*연",
)
_MESSAGE_START = pattern(rf"[\s{NOISE}]*", example=f"{NOISE}\n")
# A line of 현대카드 M.
LINE_PRODUCT = pattern(
    r"""
    [ ](?P<product>
        (?:the[ ])?[A-Z][A-Za-z0-9+.:]{0,9}(?:[ ][A-Za-z0-9+]{1,9})?
    )(?=[ ]?\n|\]|[ ]\||$)
    """,
    example="현대카드 M",
)
# [현대카드M] 11/10 08:31
CLOSED_PRODUCT = pattern(
    r"(?<=[가-힣])(?P<product>[A-Z][A-Za-z0-9]{0,9})(?=\][ ])",
    example="[현대카드M] 11/10",
)
# 현대카드 X 카드로 결제되었습니다
PRODUCT_IN_SENTENCE = pattern(
    r"[ ](?P<product>[A-Z][A-Za-z0-9+]{0,14})[ ]?(?=카드로[ ])",
    example=" X 카드로 결제",
)
# A line of KB국민 노리2 체크카드.
CHECK_CARD_LINE = pattern(
    r"[ ](?P<product>(?!신용)[가-힣A-Za-z0-9]{2,10}[ ]?체크카드)(?=[ ]?[\n·])",
    example="KB국민 노리2 체크카드\n바람커피",
)
PRODUCT_SUFFIX = pattern(
    r"[ ]?(?:해외|국내|전체|일반|자동(?:결제|납부|이체)|정기결제|카드로|바우처)$",
    example="현대카드 해외",
)
PRODUCT_BRANDS = frozenset({"LOCA", "로카", "디지로카"})
_MASKED_OR_DOTTED = pattern(
    r"[ ]{0,2}(?:\(\d\*\d\*\)|[•●∙]{2,4}[ ]?\d{4})", example="나누카드(7*9*)"
)
_HANGUL = pattern(r"[가-힣]", example="현대 M")
_LATIN = pattern(r"[A-Za-z]", example="현대 M")


def match_product(text: str, found: re.Match[str], end: int) -> re.Match[str] | None:
    """Match the product at `end`: 현대 MX Black.

    Without a space the script changes. A product in Hangul follows only a card word.
    """
    product = _PRODUCT.match(text, end)
    if product is None:
        return None
    first = text[product.start("product")]
    is_attached = product.start("product") == end
    if is_attached and bool(_LATIN.match(first)) is bool(_LATIN.match(text[end - 1])):
        return None
    name = found[0]
    has_card_word = end > found.end() or "카드" in name or "법인" in name
    if has_card_word or not _HANGUL.match(first):
        return product
    if (
        get_alias(name).is_ambiguous
        and not is_attached
        and _MESSAGE_START.fullmatch(text, 0, found.start())
        and _STATUS_BEFORE_HOLDER.match(text, product.end())
    ):
        return product
    if _MASKED_OR_DOTTED.match(text, product.end()):
        # 롯데 아임원더풀(7*3*), 국민 노리체크 ••3399
        return product
    # 로카 나누카드(1*2*) and 로카 나누기(1234)
    is_card = found[0] in PRODUCT_BRANDS or (
        product["product"].endswith("카드") and not get_alias(found[0]).is_ambiguous
    )
    return product if is_card and CARD_NUMBER.match(text, product.end()) else None
