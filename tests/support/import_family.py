"""Five years of one family, as neutral entries, for files of every format.

The entries are made once, always the same ones. `balances_of` and `sums_of` are what
every import of them must lead to, as far as the format holds it.
"""

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cache

ENTRY_COUNT = 9_000
FIRST_DAY, LAST_DAY = date(2021, 9, 1), date(2026, 8, 31)
BANK, SAVINGS, CARD, CASH = "생활비통장", "비상금통장", "가족카드", "현금"
OPENINGS = {BANK: 1_200_000, SAVINGS: 5_000_000, CASH: 80_000}

# Minor categories by their majors.
EXPENSES = {
    "식비": ("점심", "커피", "장보기"),
    "교통": ("버스", "주유"),
    "생활": ("세제", "잡화"),
    "문화": ("책", "영화"),
    "의료": (),
    "주거": ("관리비",),
}
INCOMES = {"급여": (), "부수입": ("중고판매",)}
PAYEES = (
    "커피 가게",
    'The "Corner" Cafe',
    "책방, 봄날",
    "마트; 수원점",
    "동네의원",
    "역전 주유소",
)
MEMOS = (
    "",
    "",
    "",
    "민이랑",
    "둘이서, 나눠서",
    '"특가"라고 함',
    "첫 줄\n둘째 줄",
    "50% 할인; 쿠폰",
)
TAGS = ("가족", "출장", "선물")


@dataclass(frozen=True, slots=True)
class FamilyLine:
    """A part of an entry; `wallet` is where a part of a transfer goes."""

    amount: int
    category: str | None
    minor: str | None
    memo: str
    wallet: str | None = None


@dataclass(frozen=True, slots=True)
class FamilyEntry:
    """`kind` is expense, income, refund, transfer or opening; amounts are positive."""

    kind: str
    date: date
    time: time | None
    amount: int
    wallet: str
    other: str | None = None
    category: str | None = None
    minor: str | None = None
    payee: str = ""
    memo: str = ""
    tags: tuple[str, ...] = ()
    months: int | None = None
    lines: tuple[FamilyLine, ...] = ()

    @property
    def signed(self) -> int:
        """What the entry adds to its wallet."""
        is_out = self.kind in {"expense", "transfer"}
        return -self.amount if is_out else self.amount


@cache
def make_family() -> tuple[FamilyEntry, ...]:
    """Return 9,000 entries and the first balances, in the order of time."""
    chance = random.Random(34)  # the same entries on each run
    openings = [
        FamilyEntry("opening", FIRST_DAY, None, amount, wallet)
        for wallet, amount in OPENINGS.items()
    ]
    regular = list(_list_regular())
    minutes = int((LAST_DAY - FIRST_DAY).days) * 24 * 60
    others = [
        _make_random(chance, _add_minutes(chance.randrange(minutes)))
        for _ in range(ENTRY_COUNT - len(regular))
    ]
    entries = sorted([*regular, *others], key=lambda each: (each.date, each.time))
    return (*openings, *entries)


def _add_minutes(minutes: int) -> datetime:
    """Return a moment after the first balances, never midnight: apps write it for none."""
    moment = datetime.combine(FIRST_DAY, time(1)) + timedelta(minutes=minutes)
    return moment if moment.time() != time(0) else moment + timedelta(minutes=1)


def _list_regular() -> Iterator[FamilyEntry]:
    """Yield wages, savings and the payments of the card's bills of each month."""
    day = FIRST_DAY
    while day <= LAST_DAY:
        month = f"{day.month}월"
        yield FamilyEntry(
            "income", day.replace(day=25), time(9), 3_200_000, BANK,
            category="급여", payee="㈜한빛상사", memo=month,
        )  # fmt: skip
        yield FamilyEntry(
            "transfer", day.replace(day=26), time(8), 300_000, BANK, SAVINGS,
            memo=f"비상금 {month}",
        )  # fmt: skip
        yield FamilyEntry(
            "transfer", day.replace(day=14), time(7), 900_000, BANK, CARD,
            memo=f"카드값 {month}",
        )  # fmt: skip
        day = (day.replace(day=28) + timedelta(days=4)).replace(day=1)


def _make_random(chance: random.Random, moment: datetime) -> FamilyEntry:
    kind = chance.choices(
        ("expense", "refund", "income", "transfer", "split"), (82, 4, 2, 6, 6)
    )[0]
    day, at = moment.date(), moment.time()
    amount = chance.randrange(10, 900) * 100 + chance.choice((0, 0, 0, 50, 1))
    if kind == "transfer":
        wallet, other = chance.sample((BANK, SAVINGS, CASH), 2)
        memo = chance.choice(("", "옮김", "필요해서, 조금"))
        return FamilyEntry("transfer", day, at, amount, wallet, other, memo=memo)
    wallet = chance.choices((CARD, BANK, CASH), (6, 3, 1))[0]
    if kind == "income":
        wallet = BANK
    if kind == "split":
        return _make_split(chance, moment, wallet)
    names = INCOMES if kind == "income" else EXPENSES
    category = "부수입" if kind == "income" else chance.choice(list(names))
    minor = chance.choice((None, *names[category]))
    is_paid_in_parts = kind == "expense" and wallet == CARD and chance.random() < 0.04
    return FamilyEntry(
        kind, day, at, amount, wallet, category=category, minor=minor,
        payee=chance.choice(PAYEES), memo=chance.choice(MEMOS),
        tags=tuple(sorted(chance.sample(TAGS, chance.choice((0,) * 9 + (1, 2))))),
        months=chance.choice((2, 3, 6, 12)) if is_paid_in_parts else None,
    )  # fmt: skip


def _make_split(chance: random.Random, moment: datetime, wallet: str) -> FamilyEntry:
    """Return an expense of parts; some have a discount or a part that is put aside."""
    lines = []
    for number, category in enumerate(chance.sample(list(EXPENSES), 3), 1):
        minor = chance.choice((None, *EXPENSES[category]))
        amount = chance.randrange(10, 200) * 100
        lines.append(FamilyLine(amount, category, minor, f"{number}번째"))
    if chance.random() < 0.3:
        lines.append(FamilyLine(-500, "생활", None, "할인"))
    elif wallet == BANK and chance.random() < 0.5:
        lines.append(FamilyLine(1_000, None, None, "따로 둠", SAVINGS))
    amount = sum(line.amount for line in lines)
    return FamilyEntry(
        "expense", moment.date(), moment.time(), amount, wallet,
        payee=chance.choice(PAYEES), lines=tuple(lines),
    )  # fmt: skip


def balances_of(entries: Iterable[FamilyEntry]) -> dict[str, int]:
    """Return what each wallet has at the end."""
    balances: Counter[str] = Counter()
    for each in entries:
        balances[each.wallet] += each.signed
        if each.other is not None:
            balances[each.other] += each.amount
        for line in each.lines:
            if line.wallet is not None:
                balances[line.wallet] += line.amount
    return dict(balances)


def sums_of(entries: Iterable[FamilyEntry]) -> dict[tuple[str, str, str], int]:
    """Return the sum of each month, type and category, the minor one if there is one.

    Refunds take from the expenses of their own month.
    """
    sums: Counter[tuple[str, str, str]] = Counter()
    for each in entries:
        if each.kind in {"transfer", "opening"}:
            continue
        month = each.date.isoformat()[:7]
        type_ = "income" if each.kind == "income" else "expense"
        sign = -1 if each.kind == "refund" else 1
        own = FamilyLine(each.amount, each.category, each.minor, "")
        for line in each.lines or (own,):
            name = line.minor or line.category
            if name is not None:
                sums[month, type_, name] += sign * line.amount
    return {key: amount for key, amount in sums.items() if amount}


def reduce_to(
    entries: Iterable[FamilyEntry], lost: Collection[str]
) -> list[FamilyEntry]:
    """Return the entries as a format holds them that loses some things by name.

    openings: first balances. splits: the parts are entries of their own. mixedLines: so
    are those of a split with a discount or a part for another wallet. months, times,
    tags, incomeCategories: these fields. majors: of two categories the major one.
    """
    reduced: list[FamilyEntry] = []
    for each in entries:
        if each.kind == "opening" and "openings" in lost:
            continue
        is_mixed = any(line.wallet or line.amount < 0 for line in each.lines)
        if each.lines and ("splits" in lost or (is_mixed and "mixedLines" in lost)):
            reduced += [_drop_fields(part, lost) for part in split_up(each)]
        else:
            reduced.append(_drop_fields(each, lost))
    return reduced


def split_up(entry: FamilyEntry) -> Iterator[FamilyEntry]:
    """Yield the parts of an entry as entries of their own."""
    for line in entry.lines:
        kind = "refund" if line.amount < 0 else "expense"
        yield replace(
            entry,
            kind="transfer" if line.wallet else kind,
            amount=abs(line.amount),
            other=line.wallet,
            category=line.category,
            minor=line.minor,
            payee="" if line.wallet else entry.payee,
            memo=line.memo,
            lines=(),
        )


def _drop_fields(entry: FamilyEntry, lost: Collection[str]) -> FamilyEntry:
    if "months" in lost:
        entry = replace(entry, months=None)
    if "times" in lost:
        entry = replace(entry, time=None)
    if "tags" in lost:
        entry = replace(entry, tags=())
    if "incomeCategories" in lost and entry.kind == "income":
        entry = replace(entry, category=None, minor=None)
    if "majors" in lost and entry.minor is not None:
        entry = replace(entry, category=entry.minor, minor=None)
    if "majors" in lost and entry.lines:
        lines = [
            replace(line, category=line.minor or line.category, minor=None)
            for line in entry.lines
        ]
        entry = replace(entry, lines=tuple(lines))
    return entry
