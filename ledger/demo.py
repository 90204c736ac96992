"""A believable ledger for demonstrations: three years of a household in Seoul.

Pure up to `DemoEntry`: the same seed and day give the same entries.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from django.db import transaction

from accounts.models import Member
from ledger.categories import import_defaults
from ledger.entries import convert
from ledger.models import Category, Entry, EntryTag, QuickEntry, Tag, Wallet

YEARS = 3
SEED = 20_240_101
PENDING_DAYS = 2
"""Card payments this young still wait to be confirmed."""

WALLETS: dict[str, dict[str, Any]] = {
    "현금": {"kind": "CASH", "opening_balance": 150_000},
    "국민은행 주거래": {
        "kind": "BANK",
        "institution": "KB국민은행",
        "opening_balance": 4_200_000,
    },
    "비상금": {
        "kind": "BANK",
        "institution": "토스뱅크",
        "opening_balance": 9_000_000,
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
}
MONTHLY = (
    (25, "income", "급여", "급여", "국민은행 주거래", 3_850_000),
    (1, "expense", "월세/관리비", "아파트 관리비", "국민은행 주거래", 214_000),
    (5, "expense", "보험", "실손보험", "국민은행 주거래", 87_400),
    (10, "expense", "통신비", "휴대폰 요금", "신한카드", 62_000),
    (12, "expense", "구독", "음악 구독", "신한카드", 10_900),
    (20, "expense", "대출이자", "전세대출 이자", "국민은행 주거래", 286_000),
    (22, "expense", "전기/가스/수도", "도시가스", "국민은행 주거래", 48_000),
)
WEEKLY = (
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
TAGS = {"배달": ("야식",), "여행": ("여행", "가족"), "식료품": ("장보기",)}
QUICK_ENTRIES = (
    ("출근 커피", "카페/간식", "카카오 체크", 4_500),
    ("점심", "외식", "신한카드", 10_000),
    ("지하철", "대중교통", "카카오 체크", 1_550),
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
    months: int | None = None
    original: Decimal | None = None
    rate: Decimal | None = None


def write_demo_ledger(member: Member, now: datetime, today: date) -> int:
    """Fill an empty ledger; the number of entries written."""
    entries = sorted(imagine_entries(today), key=lambda entry: entry.date)
    with transaction.atomic():
        import_defaults(member, english=False)
        wallets = _write_wallets(member)
        rows = _write_entries(member, entries, wallets, now, today)
        _tag_entries(member, rows)
        _write_quick_entries(member, wallets)
    return len(rows)


def imagine_entries(today: date) -> Iterator[DemoEntry]:
    """Three years up to today: fixed days each month, chance each week, trips."""
    chance = Random(SEED)  # noqa: S311  # repeatable, not secret
    first = date(today.year - YEARS, today.month, 1)
    for offset in range((today - first).days + 1):
        day = first + timedelta(days=offset)
        yield from _imagine_monthly(day, chance)
        if day.weekday() == chance.randrange(7):
            yield from _imagine_weekly(day, chance)
        if day.month in {2, 8} and day.day == 14:
            yield from _imagine_trip(day, chance)


def _imagine_monthly(day: date, chance: Random) -> Iterator[DemoEntry]:
    raises = (day.year * 12 + day.month) // 12 % 10
    for due, type_, category, memo, wallet, amount in MONTHLY:
        if day.day == due:
            grown = amount + raises * amount // 100
            yield DemoEntry(day, type_, category, memo, wallet, _vary(grown, chance, 3))
    if day.day == 17:
        dollars = Decimal("20.00")
        rate = Decimal(chance.randrange(129_000, 147_000)) / 100
        yield DemoEntry(
            day, "expense", "구독", "Cloud storage", "신한카드",
            convert(dollars, rate), original=dollars, rate=rate,
        )  # fmt: skip


def _imagine_weekly(day: date, chance: Random) -> Iterator[DemoEntry]:
    for _ in range(3):
        for odds, category, shops, wallet, amount in WEEKLY:
            if chance.random() < odds:
                yield DemoEntry(
                    day - timedelta(days=chance.randrange(3)),
                    "expense",
                    category,
                    chance.choice(shops),
                    wallet,
                    _vary(amount, chance, 40),
                )


def _imagine_trip(day: date, chance: Random) -> Iterator[DemoEntry]:
    for memo, amount, months in (("항공권", 680_000, 3), ("숙소", 420_000, 2)):
        yield DemoEntry(
            day, "expense", "여행", memo, "신한카드", _vary(amount, chance, 20), months
        )


def _vary(amount: int, chance: Random, percent: int) -> int:
    """The amount, up or down by at most `percent`, to whole tens."""
    varied = amount * (100 + chance.randint(-percent, percent)) // 100
    return varied // 10 * 10


def _write_wallets(member: Member) -> dict[str, Wallet]:
    rows = Wallet.objects.bulk_create(
        Wallet(member=member, name=name, sort_order=place, **fields)
        for place, (name, fields) in enumerate(WALLETS.items(), start=1)
    )
    return {wallet.name: wallet for wallet in rows}


def _write_entries(
    member: Member,
    entries: list[DemoEntry],
    wallets: dict[str, Wallet],
    now: datetime,
    today: date,
) -> list[Entry]:
    categories = {(c.type, c.name): c for c in Category.objects.owned_by(member)}
    recent = today - timedelta(days=PENDING_DAYS)
    return Entry.objects.bulk_create(
        [
            Entry(
                member=member,
                date=entry.date,
                type=entry.type,
                amount=entry.amount,
                category=categories[entry.type, entry.category],
                wallet=wallets[entry.wallet],
                memo=entry.memo,
                currency="USD" if entry.original else None,
                original_amount=entry.original,
                exchange_rate=entry.rate,
                installment_months=entry.months,
                pending=entry.date > recent and entry.wallet == "신한카드",
                created_at=now,
                updated_at=now,
            )
            for entry in entries
        ],
        batch_size=1000,
    )


def _tag_entries(member: Member, rows: list[Entry]) -> None:
    names = dict.fromkeys(name for group in TAGS.values() for name in group)
    tags = {
        tag.name: tag
        for tag in Tag.objects.bulk_create(
            Tag(member=member, name=name, sort_order=place)
            for place, name in enumerate(names, start=1)
        )
    }
    EntryTag.objects.bulk_create(
        EntryTag(entry=row, tag=tags[name], member_id=member.pk, position=position)
        for row in rows
        if row.category and row.category.name in TAGS
        for position, name in enumerate(TAGS[row.category.name])
    )


def _write_quick_entries(member: Member, wallets: dict[str, Wallet]) -> None:
    categories = {c.name: c for c in Category.objects.owned_by(member)}
    QuickEntry.objects.bulk_create(
        QuickEntry(
            member=member,
            name=name,
            type="expense",
            amount=amount,
            category=categories[category],
            wallet=wallets[wallet],
            memo=name,
            sort_order=place,
        )
        for place, (name, category, wallet, amount) in enumerate(QUICK_ENTRIES, 1)
    )
