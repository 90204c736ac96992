"""Find the product of a card beside the name of its issuer.

현대 MX Black 승인, 로카 나누기(1234), 롯데카드(LIKIT), 네이버 현대카드.
"""

import re

from card_alerts.issuers import get_alias
from card_alerts.korean.card_numbers import CARD_NUMBER
from card_alerts.masked_text import AMOUNT, ANY_PLACEHOLDER, NOISE

MAX_PRODUCT_LENGTH = 30

_PRODUCT = re.compile(
    rf"[ ]{{0,2}}(?P<product>(?!해외|체크|정상|국내|부분|일부|자동|승인|취소|카드"
    rf"|온라인|일반|매출|매입"
    rf"|출금)[A-Za-z0-9가-힣][A-Za-z0-9가-힣"
    rf"+.&' ]{{0,{MAX_PRODUCT_LENGTH - 1}}}?)[ ]{{0,2}}"
    rf"(?=\((?:본인|가족)?[ ]?[\d*]{{4}}\)|(?:\d\*){{2}}(?![\d*])"
    r"|[•●∙]{2,4}[ ]?\d{4}(?!\d)"
    rf"|(?:해외|체크|체크카드|정상|국내|부분|전체|일반|카드|매출|가|선|사전)?[ ]?"
    r"(?:(?:승인|취소)(?:취소|거절|승인)?|(?:승인|결제|사용|이용|취소)(?:이"
    r"|가)?[ ]?(?:완료|처리)?[ ]?(?:됨|되었습니다|됐어요|됐습니다|했어요|하셨습니다"
    r"|완료))(?![가-힣])|뒷자리)"
)
# 네이버 현대카드, 쇼핑엔 로카
LEADING_PRODUCT = re.compile(
    rf"(?:^|[\n{ANY_PLACEHOLDER}\[,·|])[ ]{{0,2}}(?P<lead>[A-Za-z0-9가-힣]{{1,10}}[ ])$"
)
# The product of 롯데카드(LIKIT).
PRODUCT_IN_BRACKETS = re.compile(
    r"\((?P<digits>[A-Z][A-Za-z0-9+&]{1,14}|\d{3})\)(?=[ ]?\n)"
)
# 현대(M3)32,500원승인
PRODUCT_BEFORE_AMOUNT = re.compile(
    rf"\((?P<digits>[A-Z][A-Za-z0-9+&]{{0,14}})\)(?=[ ]?[{AMOUNT}])"
)
# 현대 네이버 승인⏎강*연: a product behind a short name at the beginning
_STATUS_BEFORE_HOLDER = re.compile(
    r"[ ]?(?:승인|취소)(?:취소|거절)?[ ]?\n?[가-힣]{1,2}\*"
)
_MESSAGE_START = re.compile(rf"[\s{NOISE}]*")
# A line of 현대카드 M.
LINE_PRODUCT = re.compile(
    r"[ ](?P<product>[A-Z][A-Za-z0-9+]{0,9}(?:[ ][A-Za-z0-9+]{1,9})?)(?=\n|$)"
)
PRODUCT_SUFFIX = re.compile(
    "[ ]?(?:해외|국내|전체|일반|자동(?:결제|납부|이체)|정기결제)$"
)
PRODUCT_BRANDS = frozenset({"LOCA", "로카", "디지로카"})
_MASKED_OR_DOTTED = re.compile(r"[ ]{0,2}(?:\(\d\*\d\*\)|[•●∙]{2,4}[ ]?\d{4})")
_HANGUL = re.compile(r"[가-힣]")
_LATIN = re.compile(r"[A-Za-z]")


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
