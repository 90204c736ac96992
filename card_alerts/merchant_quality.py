"""Compare the merchant's names in two announcements of one payment.

One may name a payment gateway (KG이니시스, 통신판매), or cut the name off.
"""

import unicodedata
from functools import lru_cache

from card_alerts.patterns import pattern
from card_alerts.tables import alternatives, read_words

_WORDS = read_words("words.toml")
_GATEWAY = pattern(
    rf"{alternatives(_WORDS['gateways'])}|nic(?![a-z])", example="나이스페이먼츠"
)
_NO_SHOP = pattern(alternatives(_WORDS["gateway_words"]), example="(티켓결제)")
_NOT_LETTER = pattern(r"[\W\d_]+", example="쿠팡()-쿠팡")
_CUT_END = pattern(r"\([^()]*$|(?:…|\.{2,}|‥)\s*$", example="솔길쌀국수 (SOL")


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
