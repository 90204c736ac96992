"""Cut a text into tokens, and tell what the tagger of names sees of each one."""

import re
from functools import lru_cache
from typing import NamedTuple

# Words that end a name, also where no space separates them from it. Each begins with
# one of the initials, which are looked for first.
_INITIALS = "가개거결금까누님머부사습승신에완원월으이일입잔적체출취카캐페포한할합해"
_WORDS = (
    rf"(?=[{_INITIALS}])(?:승인취소|취소승인|승인거절|승인|취소|거절|결제|사용|이용|일시불|할부|개월|누적|잔액|잔고"
    "|체크|신용|카드|한도|해외|금액|가맹점|일시|일자|합계|완료|입금|출금|적립|캐시백|포인트"
    "|페이|머니|할인|(?<=[0-9])(?:원|월|일)|에서(?![가-힣])|에서(?=결제|사용|이용|승인)"
    "|(?:님|으로|부터|까지|입니다|습니다|이용처|사용처|결제처)(?![가-힣]))"
)
_TOKEN = re.compile(
    rf"\n|[0-9]+(?:[,.][0-9]+)*|{_WORDS}|(?:(?!{_WORDS})[가-힣])+|[A-Za-z]+"
    r"|[ァ-ヿ]+|[ぁ-ゟ]+|[一-鿿]+|[^\s]"
)
_DIGITS = re.compile("[0-9]")
# The longest text that is tagged: receipts have fewer tokens.
MAX_TOKENS = 120
MAX_LINES_TOLD = 5
MAX_SHAPE_LENGTH = 6
_CACHE = 4096


class Token(NamedTuple):
    """A token, by offsets into the text."""

    start: int
    end: int
    text: str


@lru_cache(maxsize=_CACHE)
def kind_of(token: str) -> str:
    """Return D(igits), H(angul), U(pper), L(atin), J(apanese), * of a mask or P."""
    first = token[0]
    if first.isdigit():
        return "D"
    if "가" <= first <= "힣":
        return "H"
    if first.isascii() and first.isalpha():
        return "U" if token.isupper() else "L"
    if "ぁ" <= first <= "ヿ" or "一" <= first <= "鿿":
        return "J"
    return "*" if first in "*Xx•·" else "P"


@lru_cache(maxsize=_CACHE)
def _own_features(token: str) -> tuple[bytes, ...]:
    """Return the features of a token: its word, its length and its letters."""
    kind = kind_of(token)
    word = _word_of(token)
    own = [f"w={word}", f"n={kind}{min(len(token), 6)}"]
    if kind in "HULJ":
        own += [f"s2={word[-2:]}", f"p1={word[0]}"]
    return tuple(each.encode() for each in own)


@lru_cache(maxsize=_CACHE)
def _near_features(token: str) -> list[bytes]:
    """Return the features that a word gives to its neighbors, by their distance."""
    word = _word_of(token)
    return [f"{distance}w={word}".encode() for distance in (2, 1, -1, -2)]


def _word_of(token: str) -> str:
    """Return a token in small letters, its digits as 0."""
    # Half of a surrogate pair cannot be encoded.
    return _DIGITS.sub("0", token.lower()).encode(errors="replace").decode()


def cut(text: str) -> list[Token]:
    """Return at most MAX_TOKENS tokens; a line break is one."""
    tokens = []
    for match in _TOKEN.finditer(text):
        tokens.append(Token(*match.span(), match[0]))
        if len(tokens) == MAX_TOKENS:
            break
    return tokens


def describe(text: str, tokens: list[Token]) -> list[list[bytes]]:
    """Return the features of each token: itself, its neighbors, its line.

    They are encoded, as the tagger would encode each of them.
    """
    words = ["^", "^", *(token.text for token in tokens), "$", "$"]
    kinds = list(map(kind_of, words))
    near = list(map(_near_features, words))
    glues = ["g" if text[token.start - 1] not in " \n" else "_" for token in tokens]
    if tokens and tokens[0].start == 0:
        glues[0] = "_"
    parts = zip(
        map(_own_features, words[2:-2]),
        *(near, near[1:], near[3:], near[4:]),
        map(_kind_features, glues, kinds, kinds[1:], kinds[2:], kinds[3:]),
        _describe_lines(tokens, kinds[2:-2]),
        strict=False,
    )
    return [
        [*own, second[3], first[2], after[1], far[0], *kind, *line]
        for own, second, first, after, far, kind, line in parts
    ]


@lru_cache(maxsize=_CACHE)
def _kind_features(
    glue: str, second: str, first: str, kind: str, after: str
) -> tuple[bytes, bytes]:
    """Return the features of a token's kind beside the kinds of its neighbors."""
    beside = f"{first}{glue}{kind}"
    return f"t={beside}{after}".encode(), f"q={second}{beside}".encode()


def _describe_lines(tokens: list[Token], kinds: list[str]) -> list[tuple[bytes, ...]]:
    """Tell of each token its line's number and shape, and its place in it."""
    told: list[tuple[bytes, ...]] = []
    start, number = 0, 0
    last = len(tokens)
    while start < last:
        end = start
        while end < last and tokens[end].text != "\n":
            end += 1
        shape = ""
        for kind in kinds[start:end]:
            if not shape.endswith(kind):
                shape += kind
                if len(shape) == MAX_SHAPE_LENGTH:
                    break
        first, middle, final = _line_features(shape, min(number, MAX_LINES_TOLD))
        length = end - start
        if length:
            told.append(first)
            told += [middle] * (length - 2)
            if length > 1:
                told.append(final)
        if end < last:
            told.append((b"br",))
        start, number = end + 1, number + 1
    return told


@lru_cache(maxsize=_CACHE)
def _line_features(shape: str, number: int) -> tuple[tuple[bytes, ...], ...]:
    """Return the features of a line for its first, its middle and its last token."""
    line = f"l={number}".encode()
    return tuple((line, f"lp={side}{shape}".encode()) for side in "fme")
