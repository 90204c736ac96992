"""Statistics beside a model that adds up the entries one by one."""

import calendar
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import Any

import pytest
import time_machine

from accounts.models import Member
from ledger.models import Entry, EntryTag, Tag, Wallet
from tests.support.clients import JSONClient
from tests.support.factories import (
    make_category,
    make_entry,
    make_member,
    make_tag,
    make_wallet,
)

MONTH = "/api/account/statistics/month"
YEAR = "/api/account/statistics/year"
RANGE = "/api/account/statistics/range"
NOVEMBER = {"year": 2026, "month": 11}
FIRST = date(2025, 11, 1)
SPAN_DAYS = 500


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


# The model


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


def sum_of(entries: Any, type_: Any) -> Any:
    return sum(entry.amount for entry in entries if entry.type == type_)


# Of entries without transfers, refunds and exclusions.
UNUSED: dict[str, Any] = {
    "refunded": 0,
    "transfers": {"amount": 0, "count": 0},
    "excluded": {"income": 0, "expense": 0, "count": 0},
}
NO_TRANSFERS = {"refunded": 0, "transferIn": 0, "transferOut": 0}


def flows(entries: Any) -> dict[str, Any]:
    income, expense = sum_of(entries, "income"), sum_of(entries, "expense")
    return {"income": income, "expense": expense, "refunded": 0}


def net(entries: Any) -> Any:
    found = flows(entries)
    return found | {"net": found["income"] - found["expense"]} | UNUSED


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


# Single rules


def test_month_without_entries(client: JSONClient) -> None:
    body = client.get_json(MONTH, **NOVEMBER)
    days = body.pop("byDay")
    assert len(days) == 30
    assert {(day["income"], day["expense"]) for day in days} == {(0, 0)}
    nothing = {"income": 0, "expense": 0, "net": 0} | UNUSED
    assert body == NOVEMBER | nothing | {
        "count": 0,
        "previous": nothing,
        "byCategory": [],
        "byWallet": [],
        "byTag": [],
    }


def test_month_before_january_is_december_of_the_year_before(
    client: JSONClient, premium_member: Member
) -> None:
    make_entry(premium_member, date=date(2025, 12, 31), amount=5)
    make_entry(premium_member, date=date(2026, 12, 31), amount=70)
    body = client.get_json(MONTH, year=2026, month=1)
    assert body["previous"] == {"income": 0, "expense": 5, "net": -5} | UNUSED
    assert body["count"] == 0


def test_pending_entries_count_nowhere_until_confirmed(
    client: JSONClient, premium_member: Member
) -> None:
    entry = make_entry(
        premium_member,
        pending=True,
        tags=("trip",),
        wallet=make_wallet(premium_member),
        category=make_category(premium_member),
    )
    period = {"from": "2026-11-01", "to": "2026-11-30"}
    empty = client.get_json(MONTH, **NOVEMBER)
    assert (empty["count"], empty["byCategory"], empty["byWallet"]) == (0, [], [])
    assert empty["byTag"] == []
    assert {day["expense"] for day in empty["byDay"]} == {0}
    assert client.get_json(YEAR, year=2026)["expense"] == 0
    assert client.get_json(RANGE, **period)["expense"] == 0

    client.send("POST", f"/api/account/entries/{entry.pk}/confirm")

    body = client.get_json(MONTH, **NOVEMBER)
    assert (body["count"], body["expense"]) == (1, 1_000)
    assert [row["expense"] for row in body["byTag"]] == [1_000]
    assert client.get_json(YEAR, year=2026)["expense"] == 1_000
    assert client.get_json(RANGE, **period)["expense"] == 1_000


def test_minor_category_is_named_with_its_major(
    client: JSONClient, premium_member: Member
) -> None:
    food = make_category(premium_member, name="Food")
    lunch = make_category(premium_member, name="Lunch", parent=food)
    make_entry(premium_member, category=food, amount=1)
    make_entry(premium_member, category=lunch, amount=3)
    rows = client.get_json(MONTH, **NOVEMBER)["byCategory"]
    assert [(row["category"], row["parent"], row["share"]) for row in rows] == [
        ("Lunch", "Food", Decimal("0.75")),
        ("Food", None, Decimal("0.25")),
    ]
    assert client.get_json(YEAR, year=2026)["byCategory"] == rows


def test_share_is_that_of_the_type(client: JSONClient, premium_member: Member) -> None:
    make_entry(premium_member, amount=10)
    make_entry(premium_member, amount=990, type="income")
    rows = client.get_json(MONTH, **NOVEMBER)["byCategory"]
    assert [(row["type"], row["share"]) for row in rows] == [
        ("expense", 1),
        ("income", 1),
    ]


def test_same_name_in_both_types_stands_twice(
    client: JSONClient, premium_member: Member
) -> None:
    for type_ in ("income", "expense"):
        category = make_category(premium_member, name="Gift", type=type_)
        make_entry(premium_member, type=type_, category=category)
    rows = client.get_json(MONTH, **NOVEMBER)["byCategory"]
    assert [(row["type"], row["category"]) for row in rows] == [
        ("expense", "Gift"),
        ("income", "Gift"),
    ]


def test_entry_without_category_wallet_and_tags_is_listed_as_such(
    client: JSONClient, premium_member: Member
) -> None:
    make_entry(premium_member, amount=4)
    body = client.get_json(MONTH, **NOVEMBER)
    assert body["byCategory"] == [
        {
            "type": "expense",
            "category": None,
            "parent": None,
            "amount": 4,
            "refunded": 0,
            "count": 1,
            "share": 1,
        }
    ]
    assert body["byWallet"] == [
        {"walletId": None, "name": None, "income": 0, "expense": 4} | NO_TRANSFERS
    ]
    assert body["byTag"] == []


def test_entry_counts_under_each_of_its_tags_and_once_in_the_total(
    client: JSONClient, premium_member: Member
) -> None:
    make_entry(premium_member, amount=4, tags=("a", "b"))
    make_entry(premium_member, amount=1, tags=("b",), type="income")
    body = client.get_json(MONTH, **NOVEMBER)
    assert {row["tag"]: row["expense"] for row in body["byTag"]} == {"a": 4, "b": 4}
    assert {row["tag"]: row["count"] for row in body["byTag"]} == {"a": 1, "b": 2}
    assert (body["expense"], body["count"]) == (4, 2)


def test_what_went_and_came_back_leaves_no_empty_group(
    client: JSONClient, premium_member: Member
) -> None:
    entry = make_entry(
        premium_member,
        category=make_category(premium_member),
        wallet=make_wallet(premium_member),
    )
    client.send("DELETE", f"/api/account/entries/{entry.pk}")
    body = client.get_json(MONTH, **NOVEMBER)
    assert (body["byCategory"], body["byWallet"]) == ([], [])


def test_category_that_becomes_minor_is_named_so_in_earlier_months_too(
    client: JSONClient, premium_member: Member
) -> None:
    food, lunch = make_category(premium_member), make_category(premium_member)
    make_entry(premium_member, category=lunch)
    path = f"/api/account/categories/{lunch.pk}"
    client.send("PATCH", path, {"parentId": food.pk, "name": "Noon"})
    row = client.get_json(MONTH, **NOVEMBER)["byCategory"][0]
    assert (row["category"], row["parent"]) == ("Noon", food.name)


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago", "UTC"])
def test_home_time_zone_moves_no_entry_to_another_day(
    zone: str, client: JSONClient, premium_member: Member, settings: Any
) -> None:
    make_entry(premium_member, date=date(2026, 11, 1), amount=1)
    make_entry(premium_member, date=date(2026, 11, 30), amount=20)
    make_entry(premium_member, date=date(2026, 12, 1), amount=300)
    settings.TIME_ZONE = zone
    body = client.get_json(MONTH, **NOVEMBER)
    assert body["expense"] == 21
    assert [day["expense"] for day in body["byDay"]] == [1, *[0] * 28, 20]


@time_machine.travel(datetime(2026, 12, 31, 15, 30, tzinfo=UTC), tick=False)
def test_without_parameters_it_is_the_current_month_of_the_home_time_zone(
    db: None,
) -> None:
    client = JSONClient(make_member(plan="PREMIUM"))
    body = client.get_json(MONTH)
    assert (body["year"], body["month"]) == (2027, 1)
    assert client.get_json(YEAR)["year"] == 2027


def test_weeks_begin_on_monday_and_are_cut_to_the_range(client: JSONClient) -> None:
    body = client.get_json(
        RANGE, **{"from": "2026-11-21", "to": "2026-12-01"}, groupBy="week"
    )
    assert [(point["start"], point["end"]) for point in body["points"]] == [
        ("2026-11-21", "2026-11-22"),
        ("2026-11-23", "2026-11-29"),
        ("2026-11-30", "2026-12-01"),
    ]


def test_range_is_grouped_by_day_unless_told_otherwise(client: JSONClient) -> None:
    body = client.get_json(RANGE, **{"from": "2026-11-21", "to": "2026-11-22"})
    assert body["groupBy"] == "day"
    assert len(body["points"]) == 2


@pytest.mark.parametrize("group_by", ["day", "week", "month"])
@pytest.mark.parametrize(
    ("start", "end"), [("0001-01-01", "0001-01-09"), ("9999-12-20", "9999-12-31")]
)
def test_range_at_the_ends_of_the_calendar(
    client: JSONClient, start: str, end: str, group_by: str
) -> None:
    body = client.get_json(RANGE, **{"from": start, "to": end}, groupBy=group_by)
    assert (body["points"][0]["start"], body["points"][-1]["end"]) == (start, end)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("to=2026-11-30", "from"),
        ("from=2026-11-30", "to"),
        ("from=2026-11-30&to=2026-11-29", "to"),
        ("from=2026-02-30&to=2026-11-29", "from"),
        ("from=2026-11-01&to=20261130", "to"),
        ("from=0001-01-01&to=9999-12-31", "to"),
        ("from=2026-11-01&to=2026-11-30&groupBy=year", "groupBy"),
        ("from=2026-11-01&to=2026-11-30&groupBy=WEEK", "groupBy"),
    ],
)
def test_wrong_range_is_400_with_the_field_named(
    client: JSONClient, query: str, field: str
) -> None:
    response = client.send("GET", f"{RANGE}?{query}")
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == [field]


@pytest.mark.parametrize("path", [MONTH, YEAR])
@pytest.mark.parametrize("year", ["1899", "2201", "x", "9" * 30])
def test_year_out_of_range_is_400(client: JSONClient, path: Any, year: str) -> None:
    response = client.send("GET", f"{path}?year={year}")
    assert [error["field"] for error in response.data["errors"]] == ["year"]


@pytest.mark.parametrize(("year", "month"), [(1900, 1), (2200, 12)])
def test_first_and_last_month_can_be_asked_for(
    client: JSONClient, year: int, month: int
) -> None:
    assert client.get_json(MONTH, year=year, month=month)["count"] == 0
    assert len(client.get_json(YEAR, year=year)["months"]) == 12
