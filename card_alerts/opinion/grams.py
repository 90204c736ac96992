"""The parts of a text that the judge of its kind sees."""

import re
from operator import add

_NUMBER = re.compile(r"[0-9]+(?:[,.:/][0-9]+)*")
_BLANK = re.compile(r"[ ]+")
# Words of letters of three scripts say more as a whole.
_WORD = re.compile("[가-힣]+|[a-z]+|[ぁ-ヿ一-鿿]+|[0-9*]+|⏎")
# A longer text is a list or a page of terms.
MAX_LENGTH = 400


def list_grams(text: str) -> set[str]:
    """Return runs of 2 and 3 characters and of 1 to 3 words; numbers are all `0`.

    Pairs also over the word between them.
    """
    text = _NUMBER.sub("0", text[:MAX_LENGTH].lower())
    text = f"^{_BLANK.sub('_', text)}$".replace("\n", "⏎")
    pairs = list(map(add, text, text[1:]))
    grams = {*pairs, *map(add, pairs, text[2:])}
    words = _WORD.findall(text)
    closed = [f"{word}|" for word in words]
    opened = [f"|{word}" for word in words]
    word_pairs = list(map(add, words, opened[1:]))
    grams.update(closed, word_pairs)
    grams.update(map(add, closed, opened[2:]), map(add, word_pairs, opened[2:]))
    return grams
