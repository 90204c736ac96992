"""Three years of a household in Seoul, as it would have written them down.

Pure: the same seed and day give the same entries. What comes every month at the same
amount is left to the recurring rules.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from ledger.entries import convert_to_home_currency

YEARS = 3
SEED = 20_240_101

DEMO_WALLETS: dict[str, dict[str, Any]] = {
    "현금": {"kind": "CASH"},
    "국민은행 주거래": {
        "kind": "BANK",
        "institution": "KB국민은행",
    },
    "비상금": {
        "kind": "BANK",
        "institution": "토스뱅크",
        "memo": "여섯 달 생활비",
    },
    "신한카드": {"kind": "CARD", "institution": "신한카드"},
    "카카오 체크": {"kind": "CHECK_CARD", "institution": "카카오뱅크"},
    "퇴직연금": {
        "kind": "PENSION",
        "manual_valuation": True,
        "current_value": 31_400_000,
    },
    "전세자금대출": {
        "kind": "LOAN",
        "institution": "우리은행",
        "opening_balance": -80_000_000,
    },
    "전세보증금": {
        "kind": "OTHER",
        "manual_valuation": True,
        "current_value": 150_000_000,
    },
    "옛 통장": {"kind": "BANK", "institution": "우리은행", "archived": True},
}
BALANCES_TODAY = {
    "현금": 73_000,
    "국민은행 주거래": 2_340_000,
    "비상금": 9_500_000,
    "신한카드": -812_400,
    "카카오 체크": 184_000,
}
"""Nothing moves from wallet to wallet here; the opening balances make up for it."""
MONTHLY_ENTRIES = (
    (25, "income", "급여", "급여", "국민은행 주거래", 3_850_000),
    (1, "expense", "월세/관리비", "아파트 관리비", "국민은행 주거래", 214_000),
    (22, "expense", "전기/가스/수도", "도시가스", "국민은행 주거래", 48_000),
)
PENDING_ENTRIES = (("GS25 역삼점", "식료품", 4_800), ("쿠팡", "생활용품", 23_900))
"""Card payments of today that still wait to be confirmed."""
WEEKLY_ENTRIES = (
    (0.95, "식료품", ("이마트", "홈플러스", "동네마트"), "신한카드", 64_000),
    (0.90, "외식", ("김밥천국", "교촌치킨", "본죽", "명동교자"), "신한카드", 27_000),
    (0.95, "카페/간식", ("스타벅스", "메가커피", "파리바게뜨"), "카카오 체크", 6_300),
    (0.90, "대중교통", ("티머니 충전",), "카카오 체크", 20_000),
    (0.55, "배달", ("배달의민족", "쿠팡이츠"), "신한카드", 24_500),
    (0.40, "생활용품", ("다이소", "쿠팡"), "신한카드", 18_000),
    (0.25, "주유/충전", ("GS칼텍스",), "신한카드", 55_000),
    (0.20, "의류/잡화", ("무신사", "유니클로"), "신한카드", 69_000),
    (0.15, "병원", ("연세내과", "서울치과"), "신한카드", 31_000),
    (0.15, "도서", ("교보문고",), "신한카드", 22_000),
    (0.10, "택시", ("카카오택시",), "카카오 체크", 12_800),
    (0.08, "경조사비", ("결혼식 축의금",), "현금", 100_000),
)


@dataclass(frozen=True, slots=True)
class DemoEntry:
    """An entry by names; `original` is an amount in US dollars."""

    date: date
    type: str
    category: str
    memo: str
    wallet: str
    amount: int
    installment_months: int | None = None
    original_amount: Decimal | None = None
    exchange_rate: Decimal | None = None
    pending: bool = False


def start_date(today: date) -> date:
    """When the household began to keep its books."""
    return date(today.year - YEARS, today.month, 1)


def generate_entries(today: date) -> Iterator[DemoEntry]:
    """Up to today: fixed days each month, chance each week, trips, new payments."""
    chance = Random(SEED)  # noqa: S311  # repeatable, not secret
    first = start_date(today)
    for offset in range((today - first).days + 1):
        day = first + timedelta(days=offset)
        yield from _generate_monthly(day, chance)
        if day.weekday() == chance.randrange(7):
            yield from _generate_weekly(day, chance)
        if day.month in {2, 8} and day.day == 14:
            yield from _generate_trip(day, chance)
    for memo, category, amount in PENDING_ENTRIES:
        yield DemoEntry(
            today, "expense", category, memo, "신한카드", amount, pending=True
        )


def _generate_monthly(day: date, chance: Random) -> Iterator[DemoEntry]:
    raises = (day.year * 12 + day.month) // 12 % 10
    for due, type_, category, memo, wallet, amount in MONTHLY_ENTRIES:
        if day.day == due:
            grown = amount + raises * amount // 100
            yield DemoEntry(
                day, type_, category, memo, wallet, _randomize(grown, chance, 3)
            )
    if day.day == 17:
        dollars = Decimal("20.00")
        rate = Decimal(chance.randrange(129_000, 147_000)) / 100
        yield DemoEntry(
            day, "expense", "구독", "Cloud storage", "신한카드",
            convert_to_home_currency(dollars, rate), original_amount=dollars, exchange_rate=rate,
        )  # fmt: skip


def _generate_weekly(day: date, chance: Random) -> Iterator[DemoEntry]:
    for _ in range(3):
        for odds, category, shops, wallet, amount in WEEKLY_ENTRIES:
            if chance.random() < odds:
                yield DemoEntry(
                    day - timedelta(days=chance.randrange(3)),
                    "expense",
                    category,
                    chance.choice(shops),
                    wallet,
                    _randomize(amount, chance, 40),
                )


def _generate_trip(day: date, chance: Random) -> Iterator[DemoEntry]:
    for memo, amount, months in (("항공권", 680_000, 3), ("숙소", 420_000, 2)):
        yield DemoEntry(
            day,
            "expense",
            "여행",
            memo,
            "신한카드",
            _randomize(amount, chance, 20),
            months,
        )


def _randomize(amount: int, chance: Random, percent: int) -> int:
    """The amount, up or down by at most `percent`, to whole tens."""
    varied = amount * (100 + chance.randint(-percent, percent)) // 100
    return varied // 10 * 10
