"""Find a card that no Korean name of an issuer introduces.

LGU+ M Ed3(통할2.0) 승인, 대한항공카드 승인, Hyundai Mobility카드 승인.
"""

import re
from typing import NamedTuple

from card_alerts.issuers import get_alias
from card_alerts.korean.issuer_match import IssuerMatch
from card_alerts.result import Span

# LGU+ M Ed3(통할2.0) 승인, without an issuer
_PARTNER_PRODUCT = re.compile(
    r"(?:^|(?<=\n)|(?<=님,[ ]))[ ]?(?P<part>(?:LG[ ]?U\+|SKT|KT)[ -]"
    r"[A-Za-z0-9][A-Za-z0-9+ -]{0,20}?"
    r"(?:\([^()\n]{1,12}\))?)(?=[ ]?(?:해외)?(?:승인|취소)(?![가-힣]))"
)
# 대한항공카드 승인, at the beginning
_PARTNER_CARD = re.compile(
    r"(?:^|(?<=\n))[ ]?(?P<part>(?!체크|신용|법인|국민|해외)[가-힣]{2,8}카드)"
    r"(?=[ ](?:해외)?(?:승인|취소)(?:취소|거절)?[ ]?\n)"
)
# Hyundai Mobility카드 승인
_LATIN_PRODUCT = re.compile(
    r"(?:^|(?<=[\n\[])|(?<=님,[ ]))[ ]?(?P<part>(?P<issuer>Hyundai|HYUNDAI"
    r"|Samsung|SAMSUNG|Shinhan|SHINHAN|Lotte|LOTTE|Hana|HANA|Woori|WOORI"
    r"|Kookmin|KOOKMIN)[ ]"
    r"[A-Za-z0-9][A-Za-z0-9+.&' ]{0,24}?[ ]?(?:체크)?카드)"
    r"(?=[ \]]{0,2}(?:해외|정상|부분)?(?:승인|취소)(?:취소|거절)?(?![가-힣])"
    r"|[ ]?\([\d*]{4}\)|[ ]?\d\*)"
)
_HAS_PARTNER = re.compile(r"U\+|S?KT[ -]")
_HAS_LATIN_ISSUER = re.compile("(?i:hyundai|samsung|shinhan|lotte|hana|woori|kookmin) ")


class PartnerCard(NamedTuple):
    span: Span
    issuer_match: IssuerMatch | None
    # The product pays, though no issuer is known.
    is_payer: bool


def find_partner_card(text: str, match: IssuerMatch | None) -> PartnerCard | None:
    if _HAS_PARTNER.search(text):
        product = _PARTNER_PRODUCT.search(text)
        return PartnerCard(product.span("part"), match, False) if product else None
    if "카드" not in text or not (match is None or match.is_app):
        return None
    latin = _LATIN_PRODUCT.search(text) if _HAS_LATIN_ISSUER.search(text) else None
    if latin:
        issuer_match = _latin_match(text, latin)
        return PartnerCard(latin.span("part"), issuer_match, True)
    product = _PARTNER_CARD.search(text) if match is None else None
    return PartnerCard(product.span("part"), None, True) if product else None


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
