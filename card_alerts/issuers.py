"""Find the issuer of a name, a sender or an app."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from card_alerts.issuer import Issuer
from card_alerts.patterns import pattern
from card_alerts.tables import read_issuers

KOREAN = read_issuers("korean_issuers.toml")
ENGLISH = read_issuers("english_issuers.toml")
JAPANESE = read_issuers("japanese_issuers.toml")
ISSUERS = (*KOREAN, *ENGLISH, *JAPANESE)

MAX_ISSUER_TEXT_LENGTH = 200

# A public service number, such as 1544-7200.
MIN_SENDER_DIGITS = 8

_CARD_WORDS = pattern(
    r"체크카드|신용카드|카드|은행|체크|비씨|bc(?=$)", example="kb국민카드"
)
_SEPARATORS = pattern(r"[\s\-_·.,/()\[\]]+", example="kb 국민 카드")
_SCRIPT_BOUNDARY = pattern(
    r"(?<=[A-Za-z])(?=[가-힣])|(?<=[가-힣])(?=[A-Za-z])", example="신한SOL"
)
_NOT_DIGIT = pattern(r"\D+", example="com.kakao.talk")


class Alias(NamedTuple):
    issuer: Issuer
    # An everyday word too (우리, 하나).
    is_ambiguous: bool
    # The name of an app or a pay service, not of a card.
    is_app: bool


def _group_by_letter(words: list[str], *, depth: int, ignores_case: bool) -> str:
    """Return the pattern of the words; groups leave few alternatives to try."""
    groups: dict[str, list[str]] = {}
    for word in words:
        letter = word[:1].lower() if ignores_case else word[:1]
        groups.setdefault(letter, []).append(word[1:])
    parts = []
    for letter, rests in groups.items():
        if depth > 1:
            rest = _group_by_letter(rests, depth=depth - 1, ignores_case=ignores_case)
        else:
            rest = "|".join(
                r"\s?".join(map(re.escape, word.split(" "))) for word in rests
            )
        parts.append(f"{_as_pattern(letter)}(?:{rest})")
    return "|".join(parts)


def _as_pattern(letter: str) -> str:
    return r"\s?" if letter == " " else re.escape(letter)


def compile_aliases(issuers: tuple[Issuer, ...], flags: int = 0) -> re.Pattern[str]:
    """Return the pattern of all names, the longest first.

    It matches 신한SOL페이, 신한 SOL페이 and 신한SOL 페이.
    """
    names = {
        name
        for issuer in issuers
        for name in (
            *issuer.aliases,
            *issuer.ambiguous_aliases,
            *issuer.app_aliases,
            *(issuer.latin_aliases if flags & re.IGNORECASE else ()),
        )
    }
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    words = [_SCRIPT_BOUNDARY.sub(" ", name) for name in longest_first]
    alternatives = _group_by_letter(words, depth=2, ignores_case=bool(flags))
    # The lookahead quickly skips characters that begin no name.
    initials = "".join(sorted({re.escape(name[0]) for name in names}))
    return re.compile(f"(?=(?-i:[{initials}]))(?:{alternatives})", flags)


_ALIASES = {
    "".join(name.split()).lower(): Alias(
        issuer,
        is_ambiguous=name in issuer.ambiguous_aliases,
        is_app=issuer.is_pay_service or name in issuer.app_aliases,
    )
    for issuer in ISSUERS
    for name in (
        *issuer.aliases,
        *issuer.ambiguous_aliases,
        *issuer.app_aliases,
        *issuer.latin_aliases,
    )
}
_NAMESAKES = {
    (name.lower(), issuer.currency): issuer
    for issuer in ISSUERS
    for name in issuer.shared_aliases
}
# A pay service and the card that it charges report the same payment.
PAY_SERVICES = frozenset(issuer.name for issuer in ISSUERS if issuer.is_pay_service)
_ISSUER_BY_SENDER = {number: issuer for issuer in ISSUERS for number in issuer.senders}
_PACKAGE_ISSUERS = tuple(
    (f".{name}", issuer) for issuer in ISSUERS for name in issuer.packages
)
# notification.capitalone.com, hdfcbank.net
MIN_LABEL_LENGTH = 4
_ISSUER_BY_LABEL = {
    label: issuer
    for issuer in (*ENGLISH, *JAPANESE)
    for name in issuer.aliases
    for ending in ("", "bank", "card", "group")
    if len(label := "".join(name.lower().split()) + ending) >= MIN_LABEL_LENGTH
}
# VM-HDFCBK, ADCBAlert
_SMS_HEADER = pattern(
    r"""
    (?:[A-Z]{2}-)?(?P<name>[A-Z]{3,9}?)(?:[Aa]lerts?|ALERTS?|BK|BNK|Bank|BANK|B|CRD|CC|SMS)?
    (?:-[A-Z])?
    """,
    example="VM-HDFCBK",
)
_PAGE = pattern(
    r"(?<![\w.@/-])(?:www\.)?(?P<label>[A-Za-z]{4,16})\.(?:com|co)(?![\w/-]|\.\w)",
    example="alerts at chase.com",
)
_ALIAS = compile_aliases(ISSUERS, re.IGNORECASE)
# In 신한카드, 현대 M, KB1234 and Citibank, but not in School.
_CARD_SUFFIX = pattern(
    r"""
    \s?(?:카드|체크|은행|신용|비씨|BC|법인|가족|card|bank|pay|\d|\(|[*])
    | \s[A-Z]
    | (?<=[가-힣])[A-Z]
    """,
    example="현대 M",
    flags=re.IGNORECASE,
)
_LETTER = pattern(r"[^\W\d_]", example="현대 M")


def get_alias(name: str) -> Alias:
    return _ALIASES["".join(name.split()).lower()]


def find_namesake(name: str, currency: str) -> Issuer | None:
    """Return the issuer that has a name and a currency (KBank with THB)."""
    return _NAMESAKES.get((name.lower(), currency))


@lru_cache(maxsize=4096)
def find_issuer(text: str) -> Issuer | None:
    """Return the issuer of a short name: 현대 and 현대카드 M, but not 우리집 생활비.

    The longest name wins: 토스뱅크 before 토스.
    """
    normalized = unicodedata.normalize("NFKC", text[:MAX_ISSUER_TEXT_LENGTH]).strip()
    names = []
    for match in _ALIAS.finditer(normalized):
        name, (start, end) = match[0], match.span()
        rest = normalized[end:]
        if start and _is_same_script(normalized[start - 1], name[0]):
            continue
        if _CARD_SUFFIX.match(normalized, end):
            is_whole_word = True
        elif get_alias(name).is_ambiguous:
            is_whole_word = not start and not rest.strip()
        else:
            is_whole_word = not rest or not _is_same_script(rest[0], name[-1])
        if is_whole_word:
            names.append(name)
    return get_alias(max(names, key=len)).issuer if names else None


def _is_same_script(one: str, other: str) -> bool:
    are_letters = _LETTER.match(one) and _LETTER.match(other)
    return bool(are_letters) and one.isascii() == other.isascii()


@lru_cache(maxsize=4096)
def find_issuer_by_sender(sender: str) -> Issuer | None:
    sender = sender[:MAX_ISSUER_TEXT_LENGTH].strip()
    if not sender:
        return None
    # The country code of South Korea.
    digits = _NOT_DIGIT.sub("", sender).removeprefix("82")
    if len(digits) >= MIN_SENDER_DIGITS and digits in _ISSUER_BY_SENDER:
        return _ISSUER_BY_SENDER[digits]
    if "." in sender and sender.isascii():
        # The address of a mail counts like a package: alerts@chase.com.
        package = f".{sender.lower().replace('@', '.')}."
        found = [pair for pair in _PACKAGE_ISSUERS if pair[0] in package]
        if found:
            return max(found, key=lambda pair: len(pair[0]))[1]
        labels = (_ISSUER_BY_LABEL.get(label) for label in package.split("."))
        return next(filter(None, labels), None) or find_issuer(sender)
    header = _SMS_HEADER.fullmatch(sender)
    return find_issuer(sender) or (find_issuer(header["name"]) if header else None)


def find_issuer_by_page(text: str) -> Issuer | None:
    """Return the issuer whose page a text names: Manage alerts at chase.com.

    A link, or a longer name such as chase.com.example.top, may be a stranger's.
    """
    labels = (match["label"].lower() for match in _PAGE.finditer(text))
    return next(filter(None, map(_ISSUER_BY_LABEL.get, labels)), None)


def normalize_card_name(name: str) -> str:
    """Return a name to compare, without case, spaces, signs and card words.

    A name of card words alone (카드) keeps them.
    """
    squeezed = _SEPARATORS.sub("", unicodedata.normalize("NFKC", name).lower())
    return _CARD_WORDS.sub("", squeezed) or squeezed
