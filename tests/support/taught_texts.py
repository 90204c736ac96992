"""Texts that are slow to teach, if any are: repeated parts, marked anywhere."""

import random

from card_alerts import Span
from card_alerts.layouts import MAX_LAYOUT_TEXT_LENGTH

# Parts that a kind of variable part begins with, ends with or may give back.
REPEATED_PARTS = (
    *("1,", "1.", "1 ", "12", "1개월", "1개월 할부 ", "일시불", "할부 ", "USD ", "amD"),
    *(
        "홍",
        "홍*동",
        "홍길동님 ",
        "고객님",
        "가나 ",
        "가",
        "a",
        "ab ",
        " ",
        "\n",
        "결제 ",
        "님의 ",
        "\n이름: 가나\n",
        "MT0Q8Z14 ",
        "(NL)",
        "'가나' ",
        "x.kr/a ",
        "Dear Ab ",
        "森様\n",
        "Mon ",
    ),
)


def make_text(source: random.Random) -> str:
    parts = source.choices(REPEATED_PARTS, k=4)
    repeated = (part * source.choice([1, 7, 60, 400]) for part in parts)
    return "".join(("새봄카드", *repeated))[:MAX_LAYOUT_TEXT_LENGTH]


def mark(source: random.Random, text: str) -> dict[str, Span]:
    """Return the marked merchant, and perhaps the amount, at any places."""
    ends = sorted(source.sample(range(len(text) + 1), 4))
    names = source.sample(["merchant", "amount"], 2)
    spans = {names[0]: (ends[0], ends[1]), names[1]: (ends[2], ends[3])}
    return spans if source.random() < 0.5 else {"merchant": spans["merchant"]}


def change_text(source: random.Random, other: str, text: str) -> str:
    """Put a part of another text in the place of a part, or repeat a part."""
    start = source.randrange(len(other))
    piece = other[start : start + source.randint(1, 400)] * source.choice([1, 1, 3, 20])
    position = source.randrange(len(text))
    rest = text[position + source.choice([0, len(piece)]) :]
    return text[:position] + piece + rest
