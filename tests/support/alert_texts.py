"""Texts of card notifications, and texts made of templates."""

import random
from collections.abc import Iterator
from decimal import Decimal
from itertools import cycle, islice
from typing import Any

NOTIFICATION = "/api/account/entries/notification"
PARSE = "/api/account/entries/parse"
ENTRIES = "/api/account/entries"
APPROVAL = (
    "[Web발신]\n신한카드(1309)승인 홍*동 4,800원(일시불)11/10 08:31 바람커피성수"
    " 누적512,300원"
)
PUSH = (
    "신한 SOL페이[신한카드승인] 홍*동(1309)\n- 승인일시: 11/10 08:31\n"
    "- 승인금액: 4,800원\n- 가맹점명: 바람커피성수"
)
SECOND = (
    "[Web발신]\n신한카드(1309)승인 홍*동 4,800원(일시불)11/10 08:33 바람커피성수"
    " 누적517,100원"
)
CANCELLATION = (
    "[Web발신]\n신한카드(1309)취소 홍*동 4,800원(일시불)11/10 08:31 바람커피성수"
    " 누적507,500원"
)
PARTIAL = "[Web발신]\n신한카드(1309)부분취소 홍*동 1,000원 11/10 09:10 바람커피성수"
INSTALLMENT = (
    "[Web발신]\n신한카드(1309)승인 홍*동 264,000원(3개월)11/11 18:40 한결가구"
    " 누적776,300원"
)
UNTIMED = "[현대카드]-승인\n홍*동님\n4,500원(일시불)\n소담분식\n누적:282,000원"
FOREIGN = (
    "[Web발신]\n네이버 현대카드 해외승인\n도*윤님\n11/03 19:48\nUSD 38.00\nLUMENAI*SUB"
)
DECLINED = (
    "[Web발신]\n하나9*3*승인거절 추*온 86,000원 11/09 22:10 별빛마트 비밀번호오류"
)
ADVERT = "(광고)NH농협카드\n체크카드 5만원 이상 사용시 3천원 돌려드려요\n수신거부 080-300-3000"


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
    """Yield texts of the templates in turn, and the parts that they are made of."""
    source = random.Random(f"{SEED}{templates[0]}")
    is_fixed = not any("{" in template for template in templates)
    for template in islice(cycle(templates), len(templates) if is_fixed else VARIANTS):
        paid = 100 * source.randint(30, 25_000)
        month, number = source.randint(1, 12), source.randint(1, 28)
        day = f"{month:02}/{number:02}"
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
            "card": (card := source.choice(CARDS)),
            "company": card.removesuffix("카드"),
            "digits": f"{source.randint(0, 9999):04}",
            "currency": source.choice(CURRENCIES),
            "method": source.choice(METHODS),
            "day": day,
            "month": month,
            "number": number,
            "clock": (
                clock := f"{source.randint(0, 23):02}:{source.randint(0, 59):02}"
            ),
            "minute": f"{day} {clock}",
        }
        yield template.format_map(parts), parts
