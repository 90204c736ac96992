"""Three years of wallets and entries of a household in Seoul.

Pure: the same seed and day give the same rows.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from ledger.backup.columns import EntryRow, QuickEntryRow, WalletRow
from ledger.entries.amounts import convert_to_home_currency

YEARS = 3
SEED = 20_240_101

WALLET_ROWS = (
    WalletRow(name="현금", kind="CASH"),
    WalletRow(name="국민은행 주거래", kind="BANK", institution="KB국민은행"),
    WalletRow(
        name="비상금", kind="BANK", institution="토스뱅크", memo="여섯 달 생활비"
    ),
    WalletRow(name="신한카드", kind="CARD", institution="신한카드"),
    WalletRow(name="신한 가족카드", kind="CARD", institution="신한카드"),
    WalletRow(name="카카오 체크", kind="CHECK_CARD", institution="카카오뱅크"),
    WalletRow(
        name="퇴직연금", kind="PENSION", manual_valuation=True, current_value=31_400_000
    ),
    WalletRow(
        name="전세자금대출",
        kind="LOAN",
        institution="우리은행",
        opening_balance=-80_000_000,
    ),
    WalletRow(
        name="전세보증금",
        kind="OTHER",
        manual_valuation=True,
        current_value=150_000_000,
    ),
    WalletRow(name="옛 통장", kind="BANK", institution="우리은행", archived=True),
)
# Opening balances are chosen to reach these. A card's bills give its balance.
BALANCES_TODAY = {
    "현금": 73_000,
    "국민은행 주거래": 2_340_000,
    "비상금": 9_500_000,
    "카카오 체크": 184_000,
}
# Day of the month, type, category, memo, wallet and amount.
MONTHLY_ENTRIES = (
    # On the first, so that each month has an income from its first day on.
    (1, "income", "급여", "급여", "국민은행 주거래", 3_850_000),
    (1, "expense", "월세/관리비", "아파트 관리비", "국민은행 주거래", 214_000),
    (22, "expense", "전기/가스/수도", "도시가스", "국민은행 주거래", 48_000),
)
# Memo, category and amount of today's card payments.
PENDING_ENTRIES = (("GS25 역삼점", "식료품", 4_800), ("쿠팡", "생활용품", 23_900))
# Probability, category, merchants, wallet and mean amount.
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
# Months with a trip; memo, mean amount and installments of its payments.
TRIP_MONTHS = (2, 8)
TRIP_ENTRIES = (("항공권", 680_000, 3), ("숙소", 420_000, 2))
TAGS_BY_CATEGORY = {"배달": ("야식",), "여행": ("여행", "가족"), "식료품": ("장보기",)}
# Name, category, wallet, amount (None to ask for it) and tags.
QUICK_ENTRIES = (
    ("출근 커피", "카페/간식", "카카오 체크", 4_500, ()),
    ("점심", "외식", "신한카드", 10_000, ("회사",)),
    ("지하철", "대중교통", "카카오 체크", 1_550, ()),
    ("장보기", "식료품", "신한카드", None, ("장보기",)),
)


def start_date(today: date) -> date:
    return date(today.year - YEARS, today.month, 1)


def make_quick_entries() -> list[QuickEntryRow]:
    return [
        QuickEntryRow(
            name=name,
            type="expense",
            amount=amount,
            category=category,
            wallet=wallet,
            memo=name,
            tags=tags,
        )
        for name, category, wallet, amount, tags in QUICK_ENTRIES
    ]


def generate_entries(today: date) -> Iterator[EntryRow]:
    """Yield entries up to today, not quite in the order of dates."""
    for entry in _generate_untagged(today):
        entry.tags = TAGS_BY_CATEGORY.get(entry.category or "", ())
        yield entry


def _generate_untagged(today: date) -> Iterator[EntryRow]:
    rng = Random(SEED)  # noqa: S311  # repeatable, not secret
    first = start_date(today)
    for offset in range((today - first).days + 1):
        day = first + timedelta(days=offset)
        yield from _generate_monthly(day, rng)
        # Seven draws a week: about one of them is this weekday.
        if day.weekday() == rng.randrange(7):
            yield from _generate_weekly(day, rng)
        if day.month in TRIP_MONTHS and day.day == 14:
            yield from _generate_trip(day, rng)
    for memo, category, amount in PENDING_ENTRIES:
        yield EntryRow(
            date=today,
            type="expense",
            category=category,
            memo=memo,
            wallet="신한카드",
            amount=amount,
            pending=True,
        )


def _generate_monthly(day: date, rng: Random) -> Iterator[EntryRow]:
    growth_percent = (day.year * 12 + day.month) // 12 % 10
    for due_day, type_, category, memo, wallet, amount in MONTHLY_ENTRIES:
        if day.day == due_day:
            grown = amount + growth_percent * amount // 100
            yield EntryRow(
                date=day,
                type=type_,
                category=category,
                memo=memo,
                wallet=wallet,
                amount=_randomize(grown, rng, 3),
            )
    if day.day == 17:
        dollars = Decimal("20.00")
        rate = Decimal(rng.randrange(129_000, 147_000)) / 100
        yield EntryRow(
            date=day,
            type="expense",
            category="구독",
            memo="Cloud storage",
            wallet="신한카드",
            amount=convert_to_home_currency(dollars, rate),
            currency="USD",
            original_amount=dollars,
            exchange_rate=rate,
        )


def _generate_weekly(day: date, rng: Random) -> Iterator[EntryRow]:
    for _ in range(3):
        for probability, category, merchants, wallet, amount in WEEKLY_ENTRIES:
            if rng.random() < probability:
                yield EntryRow(
                    date=day - timedelta(days=rng.randrange(3)),
                    type="expense",
                    category=category,
                    memo=rng.choice(merchants),
                    wallet=wallet,
                    amount=_randomize(amount, rng, 40),
                )


def _generate_trip(day: date, rng: Random) -> Iterator[EntryRow]:
    for memo, amount, months in TRIP_ENTRIES:
        yield EntryRow(
            date=day,
            type="expense",
            category="여행",
            memo=memo,
            wallet="신한카드",
            amount=_randomize(amount, rng, 20),
            installment_months=months,
        )


def _randomize(amount: int, rng: Random, percent: int) -> int:
    """Return the amount, changed by at most `percent`, in whole tens."""
    varied = amount * (100 + rng.randint(-percent, percent)) // 100
    return varied // 10 * 10
