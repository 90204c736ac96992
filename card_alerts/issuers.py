"""Finding the issuer that a name, a sender or an app stands for."""

import re
import unicodedata
from functools import lru_cache

from card_alerts.foreign_issuers import ENGLISH, JAPANESE
from card_alerts.issuer import Issuer
from card_alerts.korean_issuers import KOREAN

ISSUERS = (*KOREAN, *ENGLISH, *JAPANESE)

MAX_ISSUER_TEXT_LENGTH = 200
"""Characters of a name or a sender that are looked at."""

MIN_SENDER_DIGITS = 8
"""Digits of a public service number, such as 1544-7200."""

_CARD_WORDS = re.compile(r"체크카드|신용카드|카드|은행|체크|비씨|bc(?=$)")
_SEPARATORS = re.compile(r"[\s\-_·.,/()\[\]]+")
_SCRIPT_BOUNDARY = re.compile(r"(?<=[A-Za-z])(?=[가-힣])|(?<=[가-힣])(?=[A-Za-z])")
_NOT_DIGIT = re.compile(r"\D+")


def normalize_card_name(name: str) -> str:
    """A name for comparison: NFKC, small letters, no blanks, signs and card words.

    A name of nothing but card words (카드) keeps them.
    """
    plain = _SEPARATORS.sub("", unicodedata.normalize("NFKC", name).lower())
    return _CARD_WORDS.sub("", plain) or plain


def _alias_key(alias: str) -> str:
    return alias.replace(" ", "").lower()


def alias_pattern(alias: str) -> str:
    """The regular expression of an alias; 신한 SOL페이 and 신한SOL 페이 are one."""
    words = _SCRIPT_BOUNDARY.sub(" ", alias).split(" ")
    return r"\s?".join(re.escape(word) for word in words)


def compile_aliases(issuers: tuple[Issuer, ...], flags: int = 0) -> re.Pattern[str]:
    """One expression for all names of the table, the longest first."""
    names = {
        name
        for issuer in issuers
        for name in (*issuer.aliases, *issuer.ambiguous_aliases, *issuer.app_aliases)
    }
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    initials = "".join(sorted({re.escape(name[0]) for name in names}))
    written = "|".join(map(alias_pattern, longest_first))
    return re.compile(f"(?=(?-i:[{initials}]))(?:{written})", flags)


ISSUER_BY_ALIAS = {
    _alias_key(name): issuer
    for issuer in reversed(ISSUERS)
    for name in (*issuer.aliases, *issuer.ambiguous_aliases, *issuer.app_aliases)
}
AMBIGUOUS_ALIASES = frozenset(
    _alias_key(name) for each in ISSUERS for name in each.ambiguous_aliases
)
APP_ALIASES = frozenset(
    _alias_key(name)
    for each in ISSUERS
    for name in (
        *each.app_aliases,
        *((*each.aliases, *each.ambiguous_aliases) if each.is_pay_service else ()),
    )
)
PAY_SERVICES = frozenset(issuer.name for issuer in ISSUERS if issuer.is_pay_service)
"""Their announcements tell of a payment by some card; the card's tell of the same."""
_ISSUER_BY_SENDER = {number: issuer for issuer in ISSUERS for number in issuer.senders}
_PACKAGE_ISSUERS = tuple(
    (f".{name}", issuer) for issuer in ISSUERS for name in issuer.packages
)
_ALIAS = compile_aliases(ISSUERS, re.IGNORECASE)
_CARD_SUFFIX = re.compile(
    r"\s?(?:카드|체크|은행|신용|비씨|BC|법인|가족|card|bank|pay|\d|\(|[*])"
    r"|\s[A-Z]|(?<=[가-힣])[A-Z]",
    re.IGNORECASE,
)
"""신한카드, 현대 M, KB1234, Citibank; but School is not SC and Schedule not either."""
_LETTER = re.compile(r"[^\W\d_]")


def get_issuer_by_alias(alias: str) -> Issuer:
    """The issuer of a name that `compile_aliases` matched."""
    return ISSUER_BY_ALIAS["".join(alias.split()).lower()]


def is_ambiguous_alias(alias: str) -> bool:
    return "".join(alias.split()).lower() in AMBIGUOUS_ALIASES


def is_app_alias(alias: str) -> bool:
    """Whether the name is that of an app or a pay service, not of a card."""
    return "".join(alias.split()).lower() in APP_ALIASES


@lru_cache(maxsize=4096)
def find_issuer(text: str) -> Issuer | None:
    """The issuer that a short name (of a wallet, an app, a sender) means, or None.

    현대카드 M and 현대 are the issuer, 현대백화점 상품권 and 우리집 생활비 are not.
    Of several the longest name wins: 토스뱅크 is not 토스.
    """
    plain = unicodedata.normalize("NFKC", text[:MAX_ISSUER_TEXT_LENGTH]).strip()
    best: tuple[int, Issuer] | None = None
    for match in _ALIAS.finditer(plain):
        if not _is_whole_word(plain, match.start(), match.end(), match[0]):
            continue
        if best is None or len(match[0]) > best[0]:
            best = len(match[0]), get_issuer_by_alias(match[0])
    return best[1] if best else None


def _is_whole_word(text: str, start: int, end: int, alias: str) -> bool:
    """Whether an alias in a name is a word of its own, not the head of another."""
    if start and _same_script(text[start - 1], text[start]):
        return False
    if _CARD_SUFFIX.match(text, end):
        return True
    rest = text[end:]
    if is_ambiguous_alias(alias):
        return not start and not rest.strip()
    return not rest or not _same_script(rest[0], text[end - 1])


def _same_script(one: str, other: str) -> bool:
    return (
        bool(_LETTER.match(one) and _LETTER.match(other))
        and one.isascii() == other.isascii()
    )


def find_issuer_by_sender(sender: str) -> Issuer | None:
    """The issuer of a sender: a service number, the name of an app or its package."""
    sender = sender[:MAX_ISSUER_TEXT_LENGTH].strip()
    if not sender:
        return None
    digits = _NOT_DIGIT.sub("", sender).removeprefix("82")
    if len(digits) >= MIN_SENDER_DIGITS and digits in _ISSUER_BY_SENDER:
        return _ISSUER_BY_SENDER[digits]
    if "." in sender and sender.isascii():
        parts = f".{sender.lower()}."
        found = [
            (len(name), issuer) for name, issuer in _PACKAGE_ISSUERS if name in parts
        ]
        if found:
            return max(found, key=lambda pair: pair[0])[1]
    return find_issuer(sender)
