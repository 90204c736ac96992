"""Random ledgers: spread and not, all months together have the same sums."""

from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import Member
from ledger.models import Wallet
from tests.support.calendar_oracle import make_premium_since
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.flush import rolled_back
from tests.support.plans import (
    NEXT_MONTH,
    SAME_MONTH,
    buy,
    buy_split,
    make_card_wallet,
    print_bill,
)
from tests.support.reports import MONTH, RANGE, STATUS, YEAR

pytestmark = pytest.mark.django_db

SPREAD = {"installments": "spread"}
FIRST, LAST = date(2026, 1, 1), date(2027, 3, 31)
# All parts are paid in these years.
YEARS = range(2025, 2031)
GROUPS = (
    ("byCategory", ("type", "categoryId")),
    ("byWallet", ("walletId",)),
    ("byTag", ("tag",)),
)
NUMBERS = ("amount", "income", "expense", "refunded", "count", "transferIn")


@dataclass
class Ledger:
    member: Member
    random: Random

    def fill(self) -> None:
        main = make_card_wallet(self.member, SAME_MONTH)
        other = make_card_wallet(self.member, NEXT_MONTH)
        print_bill(self.member, main, "2026-07", period_end=date(2026, 7, 31))
        print_bill(self.member, other, "2026-05", payment_date=date(2026, 6, 2))
        self.wallets: list[Wallet | None] = [
            *(None, main, other, make_wallet(self.member, kind="CARD")),
            make_card_wallet(self.member, billed_with_id=main.pk),
        ]
        self.categories = {
            type_: [None, *(make_category(self.member, type=type_) for _ in range(3))]
            for type_ in ("expense", "income")
        }
        for _ in range(self.random.randint(1, 12)):
            self.random.choice([self.add_flat, self.add_flat, self.add_split])()

    def fields(self) -> dict[str, Any]:
        random, months = self.random, self.random.choice([None, 2, 3, 7, 24])
        return {
            "installment_months": months,
            "bill_month": random.choice([None, None, date(2026, 3, 1)]),
            "pending": random.random() < 0.1,
            "excluded": random.random() < 0.1,
            "tags": tuple(random.sample(("a", "b"), random.choice([0, 1, 2]))),
        }

    def day(self) -> str:
        days = (LAST - FIRST).days
        return (FIRST + timedelta(self.random.randint(0, days))).isoformat()

    def add_flat(self) -> None:
        fields = self.fields()
        amount = self.random.choice([1, 2, 100_000, self.random.randint(1, 10**7)])
        if (months := fields["installment_months"]) and self.random.random() < 0.3:
            cuts = sorted(self.random.randint(0, amount) for _ in range(months - 1))
            ends = [*cuts, amount]
            fields["installment_parts"] = [
                end - start for start, end in zip([0, *cuts], ends, strict=True)
            ]
        of = self.random.choice(["expense", "expense", "income"])
        fields |= {"category": self.random.choice(self.categories[of])}
        fields |= {"is_reversal": of == "income"}
        buy(self.member, self.random.choice(self.wallets), self.day(), amount, **fields)
        if self.random.random() < 0.3:
            back: dict[str, Any] = {"type": "income", "is_reversal": True, "amount": 7}
            make_entry(self.member, date=date(2026, 12, 9), **back)

    def add_split(self) -> None:
        wallet, target = self.random.sample(self.wallets[1:], 2)
        assert wallet is not None
        lines: list[dict[str, Any]] = [{"amount": 10_001, "category": None}]
        for _ in range(self.random.randint(1, 4)):
            amount = self.random.choice([-1, 1]) * self.random.randint(1, 1_999)
            of = self.random.choice(["expense", "income", "wallet"])
            if of == "wallet":
                lines.append({"amount": amount, "wallet": target})
                continue
            category = self.random.choice(self.categories[of])
            lines.append({"amount": amount, "category": category, "category_type": of})
        buy_split(self.member, wallet, self.day(), lines, **self.fields())


def sum_years(client: JSONClient, **query: Any) -> dict[Any, int]:
    """Return all sums of all years, and of their categories."""
    sums: Counter[Any] = Counter()
    for year in YEARS:
        body = client.get_json(YEAR, year=year, **query)
        for name in ("income", "expense", "refunded"):
            sums[name] += body[name]
        sums["count"] += sum(month["count"] for month in body["months"])
        sums["excluded"] += body["excluded"]["expense"]
        sums["transfers"] += body["transfers"]["amount"]
        add_groups(sums, body)
    return drop_zeros(sums)


def drop_zeros(sums: Counter[Any]) -> dict[Any, int]:
    return {key: each for key, each in sums.items() if each}


def add_groups(sums: Counter[Any], body: Any) -> None:
    for group, key in GROUPS:
        for row in body.get(group, ()):
            for name in set(NUMBERS) & set(row):
                sums[group, *(row[each] for each in key), name] += row[name]


def sum_months(client: JSONClient, **query: Any) -> dict[Any, int]:
    """Return the sums of the months, and of their groups."""
    sums: Counter[Any] = Counter()
    for year, month in ((y, m) for y in YEARS for m in range(1, 13)):
        body = client.get_json(MONTH, year=year, month=month, **query)
        for name in ("income", "expense", "refunded", "count"):
            sums[name] += body[name]
        assert sum(day["expense"] for day in body["byDay"]) == body["expense"]
        wallets = sum(row["expense"] for row in body["byWallet"])
        assert wallets == body["expense"]
        categories = Counter[str]()
        for row in body["byCategory"]:
            categories[row["type"]] += row["amount"]
        assert categories["expense"] == body["expense"]
        assert categories["income"] == body["income"]
        add_groups(sums, body)
    return drop_zeros(sums)


@given(seed=st.integers(0, 2**32))
def test_all_years_together_have_one_sum(seed: int) -> None:
    with rolled_back():
        ledger = Ledger(make_premium_since(), Random(seed))
        ledger.fill()
        client = JSONClient(ledger.member)
        assert sum_years(client, **SPREAD) == sum_years(client)


@pytest.mark.parametrize("seed", range(4))
def test_months_ranges_and_years_agree_with_each_other(seed: int) -> None:
    ledger = Ledger(make_premium_since(), Random(seed))
    ledger.fill()
    client = JSONClient(ledger.member)
    assert sum_months(client, **SPREAD) == sum_months(client)
    for year in (2026, 2027):
        months = client.get_json(YEAR, year=year, **SPREAD)["months"]
        query = {"from": f"{year}-01-01", "to": f"{year}-12-31"} | SPREAD
        points = client.get_json(RANGE, **query, groupBy="month")["points"]
        days = client.get_json(RANGE, **query)["points"]
        for month, point in zip(months, points, strict=True):
            for name in ("income", "expense", "refunded", "count"):
                assert month[name] == point[name]
            found = client.get_json(MONTH, year=year, month=month["month"], **SPREAD)
            assert found["expense"] == month["expense"]
            inside = [day for day in days if day["start"][:7] == point["start"][:7]]
            assert sum(day["expense"] for day in inside) == month["expense"]
            status = client.get_json(STATUS, year=year, month=month["month"], **SPREAD)
            assert status["income"]["actual"] == month["income"]


@pytest.mark.parametrize("seed", range(4))
def test_months_are_those_of_a_calendar_on_paper(seed: int) -> None:
    """A flat purchase with the 14th as its day of payment, one month after it."""
    random, member = Random(seed), make_premium_since()
    wallet, expected = make_card_wallet(member, NEXT_MONTH), Counter[str]()
    for _ in range(10):
        day = date(2026, random.randint(1, 12), random.randint(1, 28))
        months, amount = random.randint(2, 24), random.randint(24, 10**6)
        buy(member, wallet, day.isoformat(), amount, installment_months=months)
        part = amount // months
        for number in range(months):
            index = day.year * 12 + day.month - 1 + 1 + number
            month = f"{index // 12}-{index % 12 + 1:02}"
            expected[month] += part if number else amount - part * (months - 1)
    query = {"from": "2025-12-01", "to": "2029-12-31", "groupBy": "month"}
    points = JSONClient(member).get_json(RANGE, **query, **SPREAD)["points"]
    found = {p["start"][:7]: p["expense"] for p in points if p["expense"]}
    assert found == expected
