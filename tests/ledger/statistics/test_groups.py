"""Statistics of a month: the groups by category, wallet and tag."""

from datetime import date
from decimal import Decimal

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.reports import MONTH, NO_TRANSFERS, NOVEMBER, RANGE, UNUSED, YEAR


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


def test_month_before_counts_from_its_first_day_to_its_last(
    client: JSONClient, premium_member: Member
) -> None:
    for day, amount in ((9, 1), (10, 20), (11, 300)):
        make_entry(premium_member, date=date(2026, day, 1), amount=amount)
        make_entry(premium_member, date=date(2026, day, 30), amount=5 * amount)
    body = client.get_json(MONTH, year=2026, month=11)
    assert (body["previous"]["expense"], body["expense"]) == (120, 1_800)


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
            "categoryId": None,
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
