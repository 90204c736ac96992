"""The parts of a text that the judge of its kind sees."""

import re

_NUMBER = re.compile(r"[0-9]+(?:[,.:/][0-9]+)*")
_BLANK = re.compile(r"[ ]+")
# Words of letters of three scripts say more as a whole.
_WORD = re.compile("[가-힣]+|[a-z]+|[ぁ-ヿ一-鿿]+|[0-9*]+|⏎")
GRAM_LENGTHS = (2, 3, 4)
# A longer text is a list or a page of terms.
MAX_LENGTH = 400


def list_grams(text: str) -> set[str]:
    """Return runs of 2 to 4 characters and of 1 to 3 words; numbers are all `0`.

    Pairs also over the word between them.
    """
    text = _NUMBER.sub("0", text[:MAX_LENGTH].lower())
    text = f"^{_BLANK.sub('_', text)}$".replace("\n", "⏎")
    grams = {
        text[start : start + length]
        for length in GRAM_LENGTHS
        for start in range(len(text) - length + 1)
    }
    words = _WORD.findall(text)
    grams.update(map("{}|".format, words))
    grams.update(map("{}|{}".format, words, words[1:]))
    grams.update(map("{}||{}".format, words, words[2:]))
    grams.update(map("{}|{}|{}".format, words, words[1:], words[2:]))
    return grams
