"""Texts of templates, with generated names, amounts and dates."""

import random
from collections.abc import Iterator
from decimal import Decimal
from itertools import cycle, islice
from typing import Any

VARIANTS = 60
SEED = 2026
# fmt: off
OWNERS = (
    "바람", "초록들", "별빛", "온담", "두레", "모퉁이", "GS25 ", "(주)누리", "서쪽나라 ", "A+",
)
TRADES = (
    "커피", "분식", "약국", "서점", "한복", "문구", "철물", "치킨", "헤어", "상회", "세탁소",
)
BRANCHES = ("", "", "", " 역삼점", " 강남역점", "(CU)길동점", " 2호점")
FOREIGN_OWNERS = ("BIG C", "LUMEN", "NORTHGATE", "SPICE", "BLUE FOX", "A.B.", "CAFE24")
FOREIGN_TRADES = ("MARKET", "CAFE", "STORE", "BOOKS", "TEA HOUSE", "SUPERCENTER")
COUNTRIES = ("태국", "아일랜드", "미국", "일본", "싱가포르", "네덜란드", "뉴질랜드", "US", "IRL")
CARDS = ("신한카드", "KB국민카드", "삼성카드", "하나카드", "롯데카드", "NH농협카드", "우리카드")
CURRENCIES = ("USD", "EUR", "JPY", "THB", "GBP", "SGD")
METHODS = ("카카오페이머니", "토스페이머니", "네이버페이 포인트", "신한카드", "페이머니", "연결계좌")
# fmt: on


def variants(*templates: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield texts of the templates in turn, and the parts that they were made of."""
    source = random.Random(f"{SEED}{templates[0]}")
    for template in islice(cycle(templates), VARIANTS):
        paid = 100 * source.randint(30, 25_000)
        day = f"{source.randint(1, 12):02}/{source.randint(1, 28):02}"
        parts = {
            "paid": paid,
            "benefit": max(10, paid // source.choice((10, 20, 50))),
            "price": Decimal(source.randint(100, 99_999)) / 100,
            "money_left": Decimal(source.randint(100, 999_999)) / 100,
            "won_left": 10 * source.randint(10, 99_999),
            "shop": source.choice(OWNERS)
            + source.choice(TRADES)
            + source.choice(BRANCHES),
            "store": f"{source.choice(FOREIGN_OWNERS)} {source.choice(FOREIGN_TRADES)}",
            "country": source.choice(COUNTRIES),
            "card": source.choice(CARDS),
            "digits": f"{source.randint(0, 9999):04}",
            "currency": source.choice(CURRENCIES),
            "method": source.choice(METHODS),
            "day": day,
            "minute": f"{day} {source.randint(0, 23):02}:{source.randint(0, 59):02}",
        }
        yield template.format_map(parts), parts
