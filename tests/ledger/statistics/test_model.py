"""Statistics beside a model that adds up the entries one by one."""

import calendar
from collections import defaultdict
from collections.abc import Callable
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, EntryTag, Tag, Wallet
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_tag, make_wallet
from tests.support.statistics import (
    MONTH,
    NO_TRANSFERS,
    RANGE,
    YEAR,
    flows,
    net,
    sum_of,
)

FIRST = date(2025, 11, 1)
SPAN_DAYS = 500


class Model:
    """All confirmed entries of a member, added up in Python."""

    def __init__(self, member: Member) -> None:
        rows = Entry.objects.owned_by(member).select_related("category__parent")
        self.entries = [entry for entry in rows if not entry.pending]
        self.wallets = dict(
            Wallet.objects.owned_by(member).values_list("pk", "sort_order")
        )
        self.tags = list(Tag.objects.owned_by(member).order_by("sort_order", "pk"))
        self.tagged = set(EntryTag.objects.values_list("entry_id", "tag_id"))

    def within(self, start: Any, end: Any) -> list[Any]:
        return [entry for entry in self.entries if start <= entry.date <= end]


def flow(entries: Any) -> Any:
    return net(entries) | {"count": len(entries)}


def by_category(entries: Any) -> list[Any]:
    groups = defaultdict(list)
    for entry in entries:
        groups[entry.type, entry.category].append(entry)
    rows = []
    for (type_, category), group in groups.items():
        amount, whole = sum_of(group, type_), sum_of(entries, type_)
        share = (Decimal(amount) / whole).quantize(Decimal("0.0001"), ROUND_HALF_UP)
        parent = category.parent if category else None
        rows.append(
            {
                "type": type_,
                "category": category.name if category else None,
                "parent": parent.name if parent else None,
                "amount": amount,
                "refunded": 0,
                "count": len(group),
                "share": share,
            }
        )
    return rows


def sorted_rows(rows: Any) -> Any:
    return sorted(rows, key=lambda row: [str(value) for value in row.values()])


def month_bounds(year: Any, month: Any) -> Any:
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def make_random_ledger(member: Member, random: Any, count: int = 150) -> None:
    majors, minors = {}, {}
    for type_ in ("income", "expense"):
        majors[type_] = [make_category(member, type=type_) for _ in range(2)]
        minors[type_] = [
            make_category(member, type=type_, parent=parent)
            for parent in majors[type_]
            for _ in range(2)
        ]
    wallets = [make_wallet(member, archived=number == 0) for number in range(3)]
    tags = [make_tag(member) for _ in range(4)]
    entries = []
    for _ in range(count):
        type_ = random.choice(["income", "expense", "expense"])
        entries.append(
            Entry(
                member=member,
                type=type_,
                date=FIRST + timedelta(random.randrange(SPAN_DAYS)),
                amount=random.choice([1, 7, 10_000, 999_999_999_999]),
                pending=random.random() < 0.2,
                category=random.choice([None, *majors[type_], *minors[type_]]),
                wallet=random.choice([None, *wallets]),
            )
        )
    Entry.objects.bulk_create(entries)
    EntryTag.objects.bulk_create(
        EntryTag(entry=entry, tag=tag, member_id=member.pk, position=position)
        for entry in entries
        for position, tag in enumerate(random.sample(tags, random.randrange(3)))
    )


@pytest.fixture
def random(
    request: pytest.FixtureRequest, premium_member: Member, other_member: Member
) -> Any:
    """Create random ledgers of two members; return the source of randomness."""
    random = Random(request.param)
    make_random_ledger(premium_member, random)
    make_random_ledger(other_member, random, 20)
    return random


seeds = pytest.mark.parametrize("random", range(6), indirect=True)


@seeds
def test_month_equals_a_count_by_hand(
    random: Any, client: JSONClient, premium_member: Member
) -> None:
    model = Model(premium_member)
    for year, month in ((2025, 11), (2026, 1), (2026, 2), (2026, 12), (2030, 6)):
        start, end = month_bounds(year, month)
        entries = model.within(start, end)
        before = start - timedelta(1)
        body = client.get_json(MONTH, year=year, month=month)
        previous = model.within(*month_bounds(before.year, before.month))

        assert body.pop("previous") == net(previous)
        rows = body.pop("byCategory")
        assert sorted_rows(rows) == sorted_rows(by_category(entries))
        order = [(row["type"], -row["amount"]) for row in rows]
        assert order == sorted(order)
        assert body.pop("byDay") == [
            {"date": day.isoformat()}
            | flows([entry for entry in entries if entry.date == day])
            for day in (start + timedelta(number) for number in range(end.day))
        ]
        assert body.pop("byWallet") == expected_wallets(model, entries)
        assert body.pop("byTag") == expected_tags(model, entries)
        assert body == {"year": year, "month": month} | flow(entries)


def expected_wallets(model: Any, entries: Any) -> list[Any]:
    used = {entry.wallet_id for entry in entries}
    names = dict(Wallet.objects.values_list("pk", "name"))
    order = sorted(used, key=lambda pk: model.wallets.get(pk, 10**9))
    return [
        {"walletId": pk, "name": names.get(pk)}
        | flows([entry for entry in entries if entry.wallet_id == pk])
        | NO_TRANSFERS
        for pk in order
    ]


def expected_tags(model: Any, entries: Any) -> list[Any]:
    rows = []
    for tag in model.tags:
        own = [entry for entry in entries if (entry.pk, tag.pk) in model.tagged]
        if own:
            rows.append({"tag": tag.name} | flows(own) | {"count": len(own)})
    return rows


@seeds
def test_year_equals_a_count_by_hand(
    random: Any, client: JSONClient, premium_member: Member
) -> None:
    model = Model(premium_member)
    for year in (2025, 2026, 2027, 2031):
        entries = model.within(date(year, 1, 1), date(year, 12, 31))
        body = client.get_json(YEAR, year=year)
        rows = body.pop("byCategory")
        assert sorted_rows(rows) == sorted_rows(by_category(entries))
        assert body == {
            "year": year,
            **net(entries),
            "months": [
                {"month": number} | flow(model.within(*month_bounds(year, number)))
                for number in range(1, 13)
            ],
        }


@seeds
@pytest.mark.parametrize("group_by", ["day", "week", "month"])
def test_range_equals_a_count_by_hand(
    random: Any, client: JSONClient, premium_member: Member, group_by: str
) -> None:
    model = Model(premium_member)
    for _ in range(4):
        start = FIRST + timedelta(random.randrange(SPAN_DAYS))
        end = start + timedelta(random.choice([0, 1, 6, 40, 200]))
        body = client.get_json(
            RANGE,
            **{"from": start.isoformat(), "to": end.isoformat()},
            groupBy=group_by,
        )
        days = [start + timedelta(number) for number in range((end - start).days + 1)]
        keys: dict[str, Callable[[date], Any]] = {
            "day": lambda day: day,
            "week": lambda day: day.isocalendar()[:2],
            "month": lambda day: (day.year, day.month),
        }
        groups = defaultdict(list)
        for day in days:
            groups[keys[group_by](day)].append(day)
        assert body == {
            "from": start.isoformat(),
            "to": end.isoformat(),
            "groupBy": group_by,
            **net(model.within(start, end)),
            "points": [
                {"start": group[0].isoformat(), "end": group[-1].isoformat()}
                | flow(model.within(group[0], group[-1]))
                for group in groups.values()
            ],
        }
