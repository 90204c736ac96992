"""The entry list: each filter in words."""

from datetime import date
from typing import Any

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.entry_writing import ENTRIES, ids_of
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.problems import assert_invalid


def test_list_is_newest_first_by_date_then_by_id(
    client: JSONClient, free_member: Member
) -> None:
    old = make_entry(free_member, date="2026-01-01")
    first = make_entry(free_member, date="2026-02-02")
    second = make_entry(free_member, date="2026-02-02")
    early = make_entry(free_member, date="2025-02-02")
    assert ids_of(client) == [second.pk, first.pk, old.pk, early.pk]


def test_from_and_to_include_their_days(
    client: JSONClient, free_member: Member
) -> None:
    days = ["2026-02-28", "2026-03-01", "2026-03-31", "2026-04-01"]
    rows = {day: make_entry(free_member, date=day).pk for day in days}
    march = [rows["2026-03-31"], rows["2026-03-01"]]
    assert ids_of(client, **{"from": "2026-03-01", "to": "2026-03-31"}) == march
    assert ids_of(client, year=2026, month=3) == march
    assert ids_of(client, **{"from": "2026-03-31"}) == [
        rows["2026-04-01"],
        rows["2026-03-31"],
    ]
    assert ids_of(client, to="2026-02-28") == [rows["2026-02-28"]]


def test_month_and_days_together_leave_what_both_leave(
    client: JSONClient, free_member: Member
) -> None:
    days = ["2026-03-01", "2026-03-15", "2026-04-01"]
    rows = [make_entry(free_member, date=day).pk for day in days]
    query = {"year": 2026, "month": 3, "from": "2026-03-02", "to": "2026-04-30"}
    assert ids_of(client, **query) == [rows[1]]
    assert ids_of(client, **{"from": "2026-05-01", "to": "2026-04-01"}) == []


def test_february_of_a_leap_year_has_its_29th(
    client: JSONClient, free_member: Member
) -> None:
    leap = make_entry(free_member, date="2028-02-29")
    assert ids_of(client, year=2028, month=2) == [leap.pk]


@pytest.mark.parametrize("year", [1, 9999])
def test_first_and_last_year_can_be_asked_for(
    client: JSONClient, free_member: Member, year: int
) -> None:
    entry = make_entry(free_member, date=date(year, 12, 31))
    assert ids_of(client, year=year, month=12) == [entry.pk]
    assert ids_of(client, year=year) == [entry.pk]
    assert ids_of(client, **{"from": f"{year:04}-12-31", "to": f"{year:04}-12-31"}) == [
        entry.pk
    ]


def test_major_category_includes_its_minor_ones(
    client: JSONClient, free_member: Member
) -> None:
    food = make_category(free_member, name="식비")
    cafe = make_category(free_member, name="카페", parent=food)
    other = make_category(free_member, name="주거")
    by_food = make_entry(free_member, category=food)
    by_cafe = make_entry(free_member, category=cafe)
    make_entry(free_member, category=other)
    make_entry(free_member)
    assert ids_of(client, category="식비") == [by_cafe.pk, by_food.pk]
    assert ids_of(client, category="카페") == [by_cafe.pk]


def test_category_name_of_both_types_finds_both(
    client: JSONClient, free_member: Member
) -> None:
    expense = make_entry(
        free_member, category=make_category(free_member, name="Allowance")
    )
    income = make_entry(
        free_member,
        type="income",
        category=make_category(free_member, name="Allowance", type="income"),
    )
    assert ids_of(client, category="Allowance") == [income.pk, expense.pk]
    assert ids_of(client, category="Allowance", type="income") == [income.pk]


def test_unknown_category_or_tag_finds_nothing(
    client: JSONClient, free_member: Member
) -> None:
    make_entry(free_member, tags=("a",))
    assert ids_of(client, category="unknown") == []
    assert ids_of(client, tag="unknown") == []


def test_tag_is_found_by_its_whole_name(
    client: JSONClient, free_member: Member
) -> None:
    entry = make_entry(free_member, tags=("trip", "work"))
    make_entry(free_member, tags=("trip 2",))
    assert ids_of(client, tag="trip") == [entry.pk]
    assert client.get_json(ENTRIES, tag="trip")["results"][0]["tags"] == [
        "trip",
        "work",
    ]


@pytest.mark.parametrize(
    ("keyword", "found"),
    [
        ("%", ["100% off"]),
        ("_", ["snake_case"]),
        ("\\", ["back\\slash"]),
        ("snakeXcase", []),
        ("1%f", []),
        ("점심", ["회사 점심 식사"]),
        ("사 점", ["회사 점심 식사"]),
        ("식", ["회사 점심 식사"]),
        ("SNAKE", ["snake_case"]),
        ("'; DROP TABLE account_entry; --", []),
        ("%s", []),
    ],
)
def test_keyword_is_found_in_the_memo_as_it_is_written(
    client: JSONClient, free_member: Member, keyword: str, found: list[Any]
) -> None:
    for memo in ("100% off", "snake_case", "back\\slash", "회사 점심 식사", ""):
        make_entry(free_member, memo=memo)
    rows = client.get_json(ENTRIES, keyword=keyword)["results"]
    assert [row["memo"] for row in rows] == found


def test_amounts_at_both_limits_are_included(
    client: JSONClient, free_member: Member
) -> None:
    ids = [make_entry(free_member, amount=amount).pk for amount in (10, 20, 30)]
    assert ids_of(client, minAmount=20) == [ids[2], ids[1]]
    assert ids_of(client, maxAmount=20) == [ids[1], ids[0]]
    assert ids_of(client, minAmount=20, maxAmount=20) == [ids[1]]
    assert ids_of(client, minAmount=21, maxAmount=20) == []


@pytest.mark.parametrize(("value", "index"), [("true", 0), ("false", 1)])
def test_pending_splits_the_list(
    client: JSONClient, free_member: Member, value: str, index: int
) -> None:
    rows = [make_entry(free_member, pending=True), make_entry(free_member)]
    assert ids_of(client, pending=value) == [rows[index].pk]
    assert len(ids_of(client)) == 2


@pytest.mark.parametrize(
    "name",
    [
        *("from", "to", "year", "month", "type", "category", "walletId", "tag"),
        *("keyword", "pending", "minAmount", "maxAmount", "page", "size"),
    ],
)
def test_empty_parameter_is_refused(client: JSONClient, name: str) -> None:
    assert_invalid(client.send("GET", f"{ENTRIES}?{name}="), name)


@pytest.mark.parametrize("wallet_id", ["foreign", "missing", "0", "-1", "9" * 30])
def test_wallet_of_another_member_or_none_is_404(
    client: JSONClient, free_member: Member, other_member: Member, wallet_id: str
) -> None:
    foreign = make_wallet(other_member).pk
    value = {"foreign": foreign, "missing": foreign + 1_000}.get(wallet_id, wallet_id)
    response = client.send("GET", f"{ENTRIES}?walletId={value}")
    assert response.status_code == 404, response.content
    assert response.data["code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("from", "2026-02-30"),
        ("from", "yesterday"),
        ("to", "20261121"),
        ("to", "2026-11-21T00:00:00"),
        ("year", "abc"),
        ("year", "0"),
        ("year", "10000"),
        ("year", "2026.5"),
        ("type", "loan"),
        ("walletId", "cash"),
        ("walletId", "1.5"),
        ("pending", "maybe"),
        ("minAmount", "ten"),
        ("minAmount", "1.5"),
        ("maxAmount", "NaN"),
        ("maxAmount", "Infinity"),
        ("category", "x" * 101),
        ("tag", "x" * 101),
        ("keyword", "x" * 101),
        ("keyword", "%00"),
        ("category", "%00"),
        ("tag", "%00"),
        ("page", "0"),
        ("page", "-1"),
        ("page", "abc"),
        ("page", "1.5"),
        ("size", "0"),
        ("size", "-5"),
        ("size", "abc"),
    ],
)
def test_parameter_that_does_not_fit_is_refused(
    client: JSONClient, free_member: Member, name: str, value: str
) -> None:
    make_entry(free_member)
    assert_invalid(client.send("GET", f"{ENTRIES}?{name}={value}"), name)


@pytest.mark.parametrize("month", ["0", "13", "abc", "-1"])
def test_month_that_is_none_is_refused(
    client: JSONClient, free_member: Member, month: str
) -> None:
    assert_invalid(client.send("GET", f"{ENTRIES}?year=2026&month={month}"), "month")


def test_month_without_its_year_is_refused(
    client: JSONClient, free_member: Member
) -> None:
    assert_invalid(client.send("GET", f"{ENTRIES}?month=3"), "year")


@pytest.mark.parametrize("name", ["minAmount", "maxAmount"])
@pytest.mark.parametrize("value", ["-5", "1000000000000", "9" * 25, "-" + "9" * 25])
def test_amount_outside_all_limits_is_refused(
    client: JSONClient, free_member: Member, name: str, value: str
) -> None:
    make_entry(free_member)
    assert_invalid(client.send("GET", f"{ENTRIES}?{name}={value}"), name)


@pytest.mark.parametrize("keyword", ["%ED%A0%80", "%FF%FE", "%F0%9F%8D%9C", "%1b"])
def test_keyword_of_strange_bytes_is_never_a_500(
    client: JSONClient, free_member: Member, keyword: str
) -> None:
    make_entry(free_member, memo="ramen 🍜")
    response = client.send("GET", f"{ENTRIES}?keyword={keyword}")
    assert response.status_code in {200, 400}, response.content
