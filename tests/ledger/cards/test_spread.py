"""Statistics and budgets in which installments count when they are paid."""

from datetime import date
from typing import Any

import pytest

from accounts.models import Member
from tests.support.calendar_oracle import make_premium_since
from tests.support.clients import JSONClient
from tests.support.factories import (
    make_budget,
    make_category,
    make_entry,
    make_tag,
    make_wallet,
)
from tests.support.plans import (
    NEXT_MONTH,
    SAME_MONTH,
    buy,
    buy_split,
    make_card_wallet,
    print_bill,
)
from tests.support.problems import assert_invalid
from tests.support.reports import CHART, MONTH, RANGE, STATUS, YEAR

SPREAD = {"installments": "spread"}


@pytest.fixture
def member(db: None) -> Member:
    return make_premium_since()


@pytest.fixture
def client(member: Member) -> JSONClient:
    return JSONClient(member)


def list_days(client: JSONClient, start: str, end: str) -> dict[str, int]:
    """Return the spread expense of the days that have one."""
    query = {"from": start, "to": end} | SPREAD
    points = client.get_json(RANGE, **query)["points"]
    return {point["start"]: point["expense"] for point in points if point["expense"]}


def get_month(client: JSONClient, month: str, **query: Any) -> Any:
    year, number = month.split("-")
    return client.get_json(MONTH, year=year, month=int(number), **SPREAD | query)


@pytest.mark.parametrize(
    ("days", "purchase", "fields", "expected"),
    [
        (
            NEXT_MONTH,
            "2026-11-20",
            {},
            {"2026-12-14": 33_334, "2027-01-14": 33_333, "2027-02-15": 33_333},
        ),
        (
            SAME_MONTH,
            "2026-11-13",
            {},
            {"2026-11-27": 33_334, "2026-12-28": 33_333, "2027-01-27": 33_333},
        ),
        (
            SAME_MONTH,
            "2026-11-14",
            {},
            # The 27th of February 2027 is a Saturday before a holiday: it is paid on 2
            # March, and counts in the month of its bill.
            {"2026-12-28": 33_334, "2027-01-27": 33_333, "2027-02-28": 33_333},
        ),
        (
            NEXT_MONTH,
            "2026-11-20",
            {"bill_month": date(2027, 1, 1)},
            {"2027-01-14": 33_334, "2027-02-15": 33_333, "2027-03-15": 33_333},
        ),
        (
            NEXT_MONTH,
            "2026-11-20",
            {"installment_parts": [50_000, 50_000, 0]},
            {"2026-12-14": 50_000, "2027-01-14": 50_000},
        ),
        # Without settings: months after the purchase, on its day or the last.
        (
            None,
            "2026-12-31",
            {},
            {"2027-01-31": 33_334, "2027-02-28": 33_333, "2027-03-31": 33_333},
        ),
    ],
)
def test_part_counts_on_the_day_on_which_its_bill_is_paid(
    days: Any,
    purchase: str,
    fields: Any,
    expected: Any,
    client: JSONClient,
    member: Member,
) -> None:
    wallet = make_wallet(member, kind="CARD")
    if days:
        wallet = make_card_wallet(member, days)
    buy(member, wallet, purchase, 100_000, installment_months=3, **fields)
    assert list_days(client, "2026-11-01", "2027-12-31") == expected


def test_payment_that_the_issuer_printed_is_the_day(
    client: JSONClient, member: Member
) -> None:
    wallet = make_card_wallet(member, NEXT_MONTH)
    print_bill(member, wallet, "2026-12", payment_date=date(2026, 12, 10))
    print_bill(member, wallet, "2027-01", payment_date=date(2026, 12, 31))
    # Closed so late that a purchase of March is on it, too.
    print_bill(member, wallet, "2027-02", period_end=date(2027, 3, 9))
    buy(member, wallet, "2026-11-20", 30, installment_months=3)
    buy(member, wallet, "2027-03-05", 50, installment_months=2)
    assert list_days(client, "2026-11-01", "2027-12-31") == {
        "2026-12-10": 10,
        "2027-01-01": 10,
        "2027-02-15": 35,
        "2027-03-15": 25,
    }
    assert get_month(client, "2027-02")["expense"] == 35


def test_card_on_the_bill_of_another_has_its_days(
    client: JSONClient, member: Member
) -> None:
    main = make_card_wallet(member, SAME_MONTH)
    second = make_card_wallet(member, billed_with_id=main.pk)
    buy(member, second, "2026-11-20", 20, installment_months=2)
    assert list_days(client, "2026-11-01", "2027-12-31") == {
        "2026-12-28": 10,
        "2027-01-27": 10,
    }


def test_groups_of_a_month_follow_its_parts(client: JSONClient, member: Member) -> None:
    food = make_category(member, name="Food")
    lunch = make_category(member, name="Lunch", parent=food)
    wallet = make_card_wallet(member, NEXT_MONTH)
    fields = {"category": lunch, "tags": ("trip",), "installment_months": 2}
    buy(member, wallet, "2026-11-20", 101, **fields)
    november, december, january = (
        get_month(client, month) for month in ("2026-11", "2026-12", "2027-01")
    )
    for month in (november, get_month(client, "2027-02")):
        assert (month["expense"], month["count"]) == (0, 0)
        assert [*month["byCategory"], *month["byWallet"], *month["byTag"]] == []
    for month, amount, count in ((december, 51, 1), (january, 50, 0)):
        assert month["installments"] == "spread"
        assert (month["expense"], month["count"], month["net"]) == (
            amount,
            count,
            -amount,
        )
        (category,) = month["byCategory"]
        assert category == {
            "type": "expense",
            "categoryId": lunch.pk,
            "category": "Lunch",
            "parent": "Food",
            "amount": amount,
            "refunded": 0,
            "count": count,
            "share": 1,
        }
        (row,) = month["byWallet"]
        assert (row["walletId"], row["name"], row["expense"]) == (
            wallet.pk,
            wallet.name,
            amount,
        )
        (tag,) = month["byTag"]
        assert (tag["tag"], tag["expense"], tag["count"]) == ("trip", amount, count)
        assert [d["expense"] for d in month["byDay"] if d["expense"]] == [amount]
    assert january["previous"]["expense"] == 51
    year = client.get_json(YEAR, year=2026, **SPREAD)
    assert (year["expense"], year["months"][10]["count"]) == (51, 0)
    assert year["months"][11]["count"] == 1
    assert [row["amount"] for row in year["byCategory"]] == [51]


def test_lines_are_divided_each_and_lines_of_wallets_do_not_count(
    client: JSONClient, member: Member
) -> None:
    wallet, points = make_card_wallet(member, NEXT_MONTH), make_wallet(member)
    food, home = make_category(member), make_category(member)
    salary = make_category(member, type="income")
    lines: list[dict[str, Any]] = [
        {"amount": 1_000, "category": food},
        {"amount": -100, "category": food},
        {"amount": 55, "category": home},
        {"amount": -10, "category": salary, "category_type": "income"},
        {"amount": 55, "wallet": points},
    ]
    buy_split(member, wallet, "2026-11-20", lines, installment_months=3)
    months = [get_month(client, f"20{m}") for m in ("26-12", "27-01", "27-02")]
    rows = [
        {row["categoryId"]: (row["amount"], row["refunded"]) for row in m["byCategory"]}
        for m in months
    ]
    for category, amount, refunded in (
        (food, 900, 100),
        (home, 55, 0),
        (salary, 10, 0),
    ):
        shares = [row[category.pk] for row in rows]
        assert (sum(a for a, _ in shares), sum(r for _, r in shares)) == (
            amount,
            refunded,
        )
        assert all(abs(a - amount / 3) < 2 for a, _ in shares)
    assert [month["byCategory"][0]["count"] for month in months] == [1, 0, 0]
    assert sum(month["expense"] for month in months) == 955
    assert sum(month["refunded"] for month in months) == 100
    assert sum(month["income"] for month in months) == 10
    # The part for another wallet was moved on the day of the purchase.
    november = get_month(client, "2026-11")
    assert (november["transfers"]["amount"], november["expense"]) == (55, 0)
    assert [row["transferIn"] for row in november["byWallet"]] == [0, 55]


def test_refunds_pending_and_excluded_entries_are_not_moved(
    client: JSONClient, member: Member
) -> None:
    wallet = make_card_wallet(member, NEXT_MONTH)
    purchase = buy(member, wallet, "2026-11-20", 90, installment_months=3)
    refund: dict[str, Any] = {"type": "income", "refund_of": purchase}
    refund["is_reversal"] = True
    make_entry(member, wallet=wallet, date=date(2026, 11, 25), amount=40, **refund)
    buy(member, wallet, "2026-11-20", 7, installment_months=2, pending=True)
    buy(member, wallet, "2026-11-20", 5, installment_months=2, excluded=True)
    november = get_month(client, "2026-11")
    assert (november["expense"], november["refunded"]) == (-40, 40)
    assert november["excluded"] == {"income": 0, "expense": 5, "count": 1}
    assert get_month(client, "2026-12")["expense"] == 30


def test_weeks_and_cut_months_of_a_range_have_the_days_in_them(
    client: JSONClient, member: Member
) -> None:
    buy(
        member, make_card_wallet(member, NEXT_MONTH), "2026-11-20", 90,
        installment_months=3,
    )  # fmt: skip
    for unit, start in (("week", "2026-12-14"), ("month", "2026-12-01")):
        query = {"from": "2026-12-01", "to": "2027-01-13", "groupBy": unit} | SPREAD
        body = client.get_json(RANGE, **query)
        assert (body["expense"], body["installments"]) == (30, "spread")
        assert [p["start"] for p in body["points"] if p["expense"]] == [start]


def test_budgets_spend_the_parts(client: JSONClient, member: Member) -> None:
    food = make_category(member, name="Food")
    lunch = make_category(member, name="Lunch", parent=food)
    other = make_category(member, name="Other")
    for category in (food, lunch):
        make_budget(member, category=category, month=12, amount=310)
    wallet = make_card_wallet(member, NEXT_MONTH)
    for category, amount in ((food, 20), (lunch, 200), (other, 2_000)):
        buy(
            member, wallet, "2026-11-20", amount, category=category,
            installment_months=2,
        )  # fmt: skip
    december = {"year": 2026, "month": 12}
    assert client.get_json(STATUS, **december)["total"]["spent"] == 0
    status = client.get_json(STATUS, **december | SPREAD)
    assert status["installments"] == "spread"
    assert [row["spent"] for row in status["categories"]] == [110, 100]
    assert status["total"]["spent"] == 110
    chart = client.get_json(CHART, **december | SPREAD)
    assert chart["installments"] == "spread"
    spent = [day["spent"] for day in chart["days"]]
    assert spent == [0] * 13 + [110] * 18
    november = {"year": 2026, "month": 11}
    make_budget(member, category=food, month=11, amount=300)
    assert client.get_json(STATUS, **november)["total"]["spent"] == 220
    assert client.get_json(STATUS, **november | SPREAD)["total"]["spent"] == 0
    assert client.get_json(CHART, **november | SPREAD)["days"][-1]["spent"] == 0


@pytest.mark.parametrize("path", [MONTH, YEAR, STATUS, CHART, RANGE])
def test_only_spread_is_known_and_answers_without_it_do_not_name_it(
    path: str, client: JSONClient
) -> None:
    query = {"from": "2026-11-01", "to": "2026-11-30"} if path == RANGE else {}
    assert "installments" not in client.get_json(path, **query)
    for wrong in ("SPREAD", "parts", ""):
        sent = query | {"installments": wrong}
        response = client.send("GET", path, query_params=sent)
        assert_invalid(response, "installments")


@pytest.mark.parametrize(
    ("day", "start", "end"),
    [
        ("9999-11-30", "9990-01-01", "9999-12-31"),
        ("9999-12-31", "9990-01-01", "9999-12-31"),
        ("0001-01-01", "0001-01-01", "0003-12-31"),
        ("2200-12-31", "2195-01-01", "2204-12-31"),
        ("1899-12-31", "1895-01-01", "1904-12-31"),
    ],
)
def test_parts_at_the_ends_of_the_calendar_are_not_lost(
    day: str, start: str, end: str, client: JSONClient, member: Member
) -> None:
    make_tag(member)
    for wallet in (
        make_wallet(member, kind="CARD"),
        make_card_wallet(member, NEXT_MONTH),
    ):
        buy(member, wallet, day, 24, installment_months=24)
    query = {"from": start, "to": end, "groupBy": "month"} | SPREAD
    assert client.get_json(RANGE, **query)["expense"] == 48
