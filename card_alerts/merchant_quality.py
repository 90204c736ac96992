"""Compare the merchant's names in two announcements of one payment.

One may name a payment gateway (KG이니시스, 통신판매), or cut the name off.
"""

import re
import unicodedata
from functools import lru_cache

_GATEWAY = re.compile(
    r"kg이니시스|케이지이니시스|이니시스|inicis|nice페이먼츠|나이스페이먼츠|나이스페이"
    r"|나이스정보통신|nicepay|nice페이|nice|nic(?![a-z])|nhnkcp|엔에이치엔케이씨피|케이씨피"
    r"|한국사이버결제|kcp|kicc|한국정보통신|이지페이|토스페이먼츠|tosspayments"
    r"|lg유플러스전자결제|엘지유플러스전자결제|통신판매|네이버파이낸셜|네이버페이"
    r"|naverpay|npay|카카오페이|kakaopay|kg모빌리언스|모빌리언스|다날페이|다날"
    r"|페이레터|갤럭시아머니트리|갤럭시아|스마트로|smartro|ksnet|케이에스넷"
    r"|헥토파이낸셜|세틀뱅크|페이플|nhn페이코|페이코|payco|ssg페이|쿠팡페이|쿠페이"
    r"|스마일페이|올더게이트|allthegate|이지피쥐|다우데이타|키움페이|키움페이먼츠"
    r"|케이에스페이|페이업|웰컴페이먼츠|토스페이|11페이|제로페이|paypal|stripe"
)
_NO_SHOP = re.compile(
    r"전자지급결제대행|결제대행|전자결제|간편결제|신용카드|온라인|인터넷|자동결제|결제"
    r"|주식회사|\(주\)|\(유\)|유한회사|pg사?|코리아"
)
_NOT_LETTER = re.compile(r"[\W\d_]+")
_CUT_END = re.compile(r"\([^()]*$|(?:…|\.{2,}|‥)\s*$")


@lru_cache(maxsize=4096)
def is_gateway_name(name: str) -> bool:
    """Return True for 이니시스 and 통신판매_NIC, False for 이니시스-바람책방."""
    folded = "".join(unicodedata.normalize("NFKC", name).casefold().split())
    rest, count = _GATEWAY.subn("", folded)
    return count > 0 and not _NOT_LETTER.sub("", _NO_SHOP.sub("", rest))


def is_cut_name(name: str) -> bool:
    """Return True for 바람커피(강… and 바람커피(강."""
    return _CUT_END.search(name) is not None


def is_beginning_of(short: str, whole: str) -> bool:
    """Return True for 바람커피( and (주)바람커피 강남점."""
    one, other = _letters(short), _letters(whole)
    return 0 < len(one) < len(other) and other.startswith(one)


def choose_better_name(one: str | None, other: str | None) -> str | None:
    """Prefer a shop to a gateway, and a whole name to a cut one."""
    if not one or not other:
        return one or other
    if is_gateway_name(one) != is_gateway_name(other):
        return other if is_gateway_name(one) else one
    if is_beginning_of(one, other) or (is_cut_name(one) and not is_cut_name(other)):
        return other
    return one


_LEGAL_FORMS = ("(주)", "주식회사", "(유)", "유한회사")


def _letters(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold()
    for form in _LEGAL_FORMS:
        folded = folded.replace(form, "")
    return "".join(letter for letter in folded if letter.isalnum())
