"""Finding the issuer that a name, a sender or an app stands for."""

import re
import unicodedata
from functools import lru_cache

from card_alerts.foreign_issuers import ENGLISH, JAPANESE
from card_alerts.issuer import Issuer
from card_alerts.korean_issuers import KOREAN

ISSUERS = (*KOREAN, *ENGLISH, *JAPANESE)

LONGEST_NAME = 200
"""Characters of a name or a sender that are looked at."""

SHORTEST_SENDER = 8
"""Digits of a public service number, such as 1544-7200."""

_CARD_WORDS = re.compile(r"체크카드|신용카드|카드|은행|체크|비씨|bc(?=$)")
_NO_LETTER = re.compile(r"[\s\-_·.,/()\[\]]+")
_SCRIPT_CHANGE = re.compile(r"(?<=[A-Za-z])(?=[가-힣])|(?<=[가-힣])(?=[A-Za-z])")
_NOT_DIGIT = re.compile(r"\D+")


def normalise_name(name: str) -> str:
    """A name for comparison: NFKC, small letters, no blanks, signs and card words.

    A name of nothing but card words (카드) keeps them.
    """
    plain = _NO_LETTER.sub("", unicodedata.normalize("NFKC", name).lower())
    return _CARD_WORDS.sub("", plain) or plain


def _squeeze(alias: str) -> str:
    return alias.replace(" ", "").lower()


def write_alias(alias: str) -> str:
    """The regular expression of an alias; 신한 SOL페이 and 신한SOL 페이 are one."""
    words = _SCRIPT_CHANGE.sub(" ", alias).split(" ")
    return r"\s?".join(re.escape(word) for word in words)


def compile_aliases(issuers: tuple[Issuer, ...], flags: int = 0) -> re.Pattern[str]:
    """One expression for all names of the table, the longest first."""
    names = {
        name
        for issuer in issuers
        for name in (*issuer.aliases, *issuer.everyday, *issuer.apps)
    }
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    initials = "".join(sorted({re.escape(name[0]) for name in names}))
    written = "|".join(map(write_alias, longest_first))
    return re.compile(f"(?=(?-i:[{initials}]))(?:{written})", flags)


BY_ALIAS = {
    _squeeze(name): issuer
    for issuer in reversed(ISSUERS)
    for name in (*issuer.aliases, *issuer.everyday, *issuer.apps)
}
EVERYDAY = frozenset(_squeeze(name) for each in ISSUERS for name in each.everyday)
APPS = frozenset(
    _squeeze(name)
    for each in ISSUERS
    for name in (
        *each.apps,
        *((*each.aliases, *each.everyday) if each.pay_service else ()),
    )
)
PAY_SERVICES = frozenset(issuer.name for issuer in ISSUERS if issuer.pay_service)
"""Their announcements tell of a payment by some card; the card's tell of the same."""
_BY_SENDER = {number: issuer for issuer in ISSUERS for number in issuer.senders}
_PACKAGES = tuple(
    (f".{name}", issuer) for issuer in ISSUERS for name in issuer.packages
)
_NAMES = compile_aliases(ISSUERS, re.IGNORECASE)
_NAME_GOES_ON = re.compile(
    r"\s?(?:카드|체크|은행|신용|비씨|BC|법인|가족|card|bank|pay|\d|\(|[*])"
    r"|\s[A-Z]|(?<=[가-힣])[A-Z]",
    re.IGNORECASE,
)
"""신한카드, 현대 M, KB1234, Citibank; but School is not SC and Schedule not either."""
_LETTER = re.compile(r"[^\W\d_]")


def issuer_of_alias(alias: str) -> Issuer:
    """The issuer of a name that `compile_aliases` matched."""
    return BY_ALIAS["".join(alias.split()).lower()]


def is_everyday(alias: str) -> bool:
    return "".join(alias.split()).lower() in EVERYDAY


def is_app(alias: str) -> bool:
    """Whether the name is that of an app or a pay service, not of a card."""
    return "".join(alias.split()).lower() in APPS


@lru_cache(maxsize=4096)
def find_issuer(text: str) -> Issuer | None:
    """The issuer that a short name (of a wallet, an app, a sender) means, or None.

    현대카드 M and 현대 are the issuer, 현대백화점 상품권 and 우리집 생활비 are not.
    Of several the longest name wins: 토스뱅크 is not 토스.
    """
    plain = unicodedata.normalize("NFKC", text[:LONGEST_NAME]).strip()
    best: tuple[int, Issuer] | None = None
    for match in _NAMES.finditer(plain):
        if not _stands_alone(plain, match.start(), match.end(), match[0]):
            continue
        if best is None or len(match[0]) > best[0]:
            best = len(match[0]), issuer_of_alias(match[0])
    return best[1] if best else None


def _stands_alone(text: str, start: int, end: int, alias: str) -> bool:
    """Whether an alias in a name is a word of its own, not the head of another."""
    if start and _same_script(text[start - 1], text[start]):
        return False
    if _NAME_GOES_ON.match(text, end):
        return True
    rest = text[end:]
    if is_everyday(alias):
        return not start and not rest.strip()
    return not rest or not _same_script(rest[0], text[end - 1])


def _same_script(one: str, other: str) -> bool:
    return (
        bool(_LETTER.match(one) and _LETTER.match(other))
        and one.isascii() == other.isascii()
    )


def issuer_of_sender(sender: str) -> Issuer | None:
    """The issuer of a sender: a service number, the name of an app or its package."""
    sender = sender[:LONGEST_NAME].strip()
    if not sender:
        return None
    digits = _NOT_DIGIT.sub("", sender).removeprefix("82")
    if len(digits) >= SHORTEST_SENDER and digits in _BY_SENDER:
        return _BY_SENDER[digits]
    if "." in sender and sender.isascii():
        parts = f".{sender.lower()}."
        found = [(len(name), issuer) for name, issuer in _PACKAGES if name in parts]
        if found:
            return max(found, key=lambda pair: pair[0])[1]
    return find_issuer(sender)
