"""Find a card that no Korean name of an issuer introduces.

LGU+ M Ed3(통할2.0) 승인, 대한항공카드 승인, Hyundai Mobility카드 승인.
"""

import re
from typing import NamedTuple

from card_alerts.issuers import find_issuer, get_alias
from card_alerts.korean.issuer_match import IssuerMatch
from card_alerts.masked_text import NOISE
from card_alerts.patterns import pattern
from card_alerts.result import Span
from card_alerts.tables import read_products

# LGU+ M Ed3(통할2.0) 승인, without an issuer
_PARTNER_PRODUCT = pattern(
    r"""
    (?:^|(?<=\n)|(?<=님,[ ]))[ ]?
    (?P<part>
        (?:LG[ ]?U\+|SKT|KT)[ -][A-Za-z0-9][A-Za-z0-9가-힣.+ -]{0,24}?
        (?:\([^()\n]{1,12}\))?
    )(?=[ ]?(?:해외)?(?:승인|취소)(?![가-힣]))
    """,
    example="LGU+ M Ed3(통할2.0) 승인",
)
# Products of one issuer whose messages do not name it.
_PRODUCTS_OF = {each.name: each.pattern for each in read_products("products.toml")}
# 대한항공카드 승인, at the beginning
_PARTNER_CARD = pattern(
    r"""
    (?:^|(?<=\n))[ ]?(?P<part>(?!체크|신용|법인|국민|해외)[가-힣]{2,8}카드)
    (?=[ ](?:해외)?(?:승인|취소)(?:취소|거절)?[ ]?\n)
    """,
    example="별나라카드 승인\n장*",
)
# A line of 나라사랑카드, or the value of a label
_CARD_LINE = pattern(
    r"""
    (?:^|(?<=\n))[ ]?
    (?P<part>
        (?![^\n]{0,6}(?:체크|신용|법인|가족|교통|선불|상품))[가-힣A-Z]{2,8}카드
    )[ ]?
    (?=\n|$)
    | (?:^|(?<=\n))[ \-·•■▶]{0,4}카드(?:명|종류)?[ ]?:[ ]?
      (?P<value>[^\n\d(:*]{2,24}?)[ ]?(?=\n|$)
    """,
    example="잔액 301,440원\n나라사랑카드",
)
_KNOWN_PRODUCT = pattern(
    rf"""
    (?:^|(?<=[\n\[{NOISE}]))[ ]?(?P<part>{"|".join(_PRODUCTS_OF.values())})
    (?=\]?[ ]{{0,2}}(?:\([\d*]{{4}}\)|\d\*\d\*|(?:해외)?(?:승인|취소)))
    """,
    example="대한항공카드 승인",
)
# Hyundai Mobility카드 승인
_LATIN_PRODUCT = pattern(
    r"""
    (?:^|(?<=[\n\[])|(?<=님,[ ]))[ ]?
    (?P<part>
        (?P<issuer>
            Hyundai | HYUNDAI | Samsung | SAMSUNG | Shinhan | SHINHAN | Lotte | LOTTE
            | Hana | HANA | Woori | WOORI | Kookmin | KOOKMIN
        )[ ][A-Za-z0-9][A-Za-z0-9+.&' ]{0,24}?[ ]?(?:체크)?카드
    )(?=
        [ \]]{0,2}(?:해외|정상|부분)?(?:승인|취소)(?:취소|거절)?(?![가-힣])
        | [ ]?\([\d*]{4}\) | [ ]?\d\*
    )
    """,
    example="Hyundai Mobility카드 승인",
)
_HAS_PARTNER = pattern(r"U\+|S?KT[ -]", example="KT 통신요금 자", initials="KSU")
_HAS_LATIN_ISSUER = pattern(
    r"(?i:hyundai|samsung|shinhan|lotte|hana|woori|kookmin)[ ]",
    example="Hyundai Mobili",
    initials="HKLSWhklsw",
)


class PartnerCard(NamedTuple):
    span: Span
    issuer_match: IssuerMatch | None
    # The product pays, though no issuer is known.
    is_payer: bool


def find_partner_card(text: str, match: IssuerMatch | None) -> PartnerCard | None:
    if _HAS_PARTNER.search(text):
        product = _PARTNER_PRODUCT.search(text)
        return PartnerCard(product.span("part"), match, False) if product else None
    if "카드" not in text and "he " not in text:
        return None
    named = _find_product_of(text, match)
    if named or not (match is None or match.is_app):
        return named
    latin = _LATIN_PRODUCT.search(text) if _HAS_LATIN_ISSUER.search(text) else None
    if latin:
        issuer_match = _latin_match(text, latin)
        return PartnerCard(latin.span("part"), issuer_match, True)
    product = None
    if match is None:
        product = _KNOWN_PRODUCT.search(text) or _PARTNER_CARD.search(text)
    if product is None:
        return None
    return PartnerCard(product.span("part"), _find_issuer_of(text, product), True)


def _find_product_of(text: str, match: IssuerMatch | None) -> PartnerCard | None:
    """Return the product of an issuer that only the title names."""
    if match is None:
        return None
    product = _KNOWN_PRODUCT.search(text)
    found = _find_issuer_of(text, product) if product else None
    if product and found and found.issuer is match.issuer:
        return PartnerCard(product.span("part"), match, is_payer=False)
    line = _CARD_LINE.search(text)
    name = line.lastgroup if line else None
    if line is None or name is None or find_issuer(line[name]):
        return None
    return PartnerCard(line.span(name), match, is_payer=False)


def _find_issuer_of(text: str, product: re.Match[str]) -> IssuerMatch | None:
    name = next(
        (
            issuer
            for issuer, names in _PRODUCTS_OF.items()
            if re.fullmatch(names, product["part"])
        ),
        None,
    )
    if name is None:
        return None
    span = product.span("part")
    issuer = get_alias(name).issuer
    return IssuerMatch(
        text, issuer, span, span[1], is_app=False, has_card_word=True, product=span
    )


def _latin_match(text: str, product: re.Match[str]) -> IssuerMatch:
    span = product.span("part")
    return IssuerMatch(
        text,
        get_alias(f"{product['issuer']} Card").issuer,
        span,
        span[1],
        is_app=False,
        is_check_card=True if "체크" in product[0] else None,
        has_card_word=True,
        product=span,
        has_keyword=True,
    )
