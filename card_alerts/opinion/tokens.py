"""Cut a text into tokens, and tell what the tagger of names sees of each one."""

import re
from functools import lru_cache
from typing import NamedTuple

# Words that end a name, also where no space separates them from it.
_WORDS = (
    "승인취소|취소승인|승인거절|승인|취소|거절|결제|사용|이용|일시불|할부|개월|누적|잔액|잔고"
    "|체크|신용|카드|한도|해외|금액|가맹점|일시|일자|합계|완료|입금|출금|적립|캐시백|포인트"
    "|페이|머니|할인|(?<=[0-9])(?:원|월|일)|에서(?![가-힣])|에서(?=결제|사용|이용|승인)"
    "|(?:님|으로|부터|까지|입니다|습니다|이용처|사용처|결제처)(?![가-힣])"
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
def _features(token: str) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Return the features of a token, those for its neighbors, and its kind."""
    kind = kind_of(token)
    # Half of a surrogate pair cannot be encoded.
    word = _DIGITS.sub("0", token.lower()).encode(errors="replace").decode()
    own = [f"w={word}", f"k={kind}", f"n={kind}{min(len(token), 6)}"]
    if kind in "HULJ":
        own += [f"s1={token[-1]}", f"s2={token[-2:]}", f"p1={token[0]}"]
    near = (f"w={word}", f"k={kind}")
    return tuple(own), near, kind


@lru_cache(maxsize=_CACHE)
def _near_features(token: str, distance: int) -> tuple[str, ...]:
    return tuple(f"{distance}{each}" for each in _features(token)[1])


def cut(text: str) -> list[Token]:
    """Return at most MAX_TOKENS tokens; a line break is one."""
    tokens = []
    for match in _TOKEN.finditer(text):
        tokens.append(Token(*match.span(), match[0]))
        if len(tokens) == MAX_TOKENS:
            break
    return tokens


def describe(text: str, tokens: list[Token]) -> list[list[str]]:
    """Return the features of each token: itself, its neighbors, its line."""
    words = ["^", "^", *(token.text for token in tokens), "$", "$"]
    kinds = [_features(word)[2] for word in words]
    lines = _describe_lines(tokens, kinds[2:-2])
    described = []
    for index, token in enumerate(tokens):
        before = text[token.start - 1] if token.start else "\n"
        glue = "g" if before not in " \n" else "_"
        kind = kinds[index + 2]
        beside = f"{kinds[index + 1]}{glue}{kind}"
        described.append(
            [
                *_features(token.text)[0],
                *_near_features(words[index], -2),
                *_near_features(words[index + 1], -1),
                *_near_features(words[index + 3], 1),
                *_near_features(words[index + 4], 2),
                f"b={beside}",
                f"t={beside}{kinds[index + 3]}",
                f"q={kinds[index]}{beside}",
                *lines[index],
            ]
        )
    return described


def _describe_lines(tokens: list[Token], kinds: list[str]) -> list[tuple[str, ...]]:
    """Tell of each token its line's number and shape, and its place in it."""
    told: list[tuple[str, ...]] = []
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
        line = f"l={min(number, MAX_LINES_TOLD)}", f"ls={shape}"
        length = end - start
        for place in range(length):
            side = "f" if place == 0 else "e" if place == length - 1 else "m"
            told.append((*line, f"lp={side}{shape}"))
        if end < last:
            told.append(("br",))
        start, number = end + 1, number + 1
    return told
