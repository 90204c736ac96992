"""Bills of one card: their items, the carried amount, and payments."""

from typing import Any

import pytest

from tests.support.cards import (
    ACCOUNT,
    MONTHLY,
    buy,
    find_imbalance,
    get_bill,
    get_card,
    list_bills,
    make_bank,
    make_card,
    move,
    pick,
    set_card,
    write_entry,
)
from tests.support.clients import JSONClient
from tests.support.problems import assert_invalid, assert_problem


@pytest.fixture
def card(client: JSONClient) -> int:
    return make_card(client, from_="2026-10", **MONTHLY)


@pytest.mark.parametrize(
    ("days", "start", "end", "payment"),
    [
        ((31, 14), "2026-11-01", "2026-11-30", "2026-12-14"),
        ((13, 27), "2026-11-14", "2026-12-13", "2026-12-28"),
        ((17, 1), "2026-10-18", "2026-11-17", "2026-12-01"),
    ],
)
def test_bill_has_the_period_and_the_day_of_its_settings(
    client: JSONClient, days: Any, start: str, end: str, payment: str
) -> None:
    closing_day, payment_day = days
    card = make_card(
        client, closingDay=closing_day, paymentDay=payment_day, from_="2026-01"
    )
    bill = get_bill(client, card, "2026-12")
    assert pick(bill, "periodStart", "periodEnd", "paymentDate") == {
        "periodStart": start,
        "periodEnd": end,
        "paymentDate": payment,
    }


def test_purchase_in_parts_stands_on_as_many_bills(
    client: JSONClient, card: int
) -> None:
    buy(client, card, "2026-11-20", 100_000, installmentMonths=3, memo="냉장고")
    bills = {bill["month"]: bill for bill in list_bills(client, card)}
    parts = {month: bill["installments"] for month, bill in bills.items()}
    assert {month: amount for month, amount in parts.items() if amount} == {
        "2026-12": 33_334,
        "2027-01": 33_333,
        "2027-02": 33_333,
    }
    (item,) = bills["2027-01"]["items"]
    assert pick(item, "part", "parts", "memo", "amount", "pending") == {
        "part": 2,
        "parts": 3,
        "memo": "냉장고",
        "amount": 33_333,
        "pending": False,
    }
    assert get_card(client, card)["unbilled"] == 33_333
    assert find_imbalance(client, [card]) == 0


def test_bill_adds_charges_refunds_and_payments(client: JSONClient, card: int) -> None:
    bank = make_bank(client)
    bought = buy(client, card, "2026-11-03", 50_000)
    buy(client, card, "2026-11-30", 20_000)
    buy(client, card, "2026-12-01", 7_000)
    move(client, card, bank, "2026-11-10", 30_000, memo="현금서비스")
    write_entry(
        client,
        "income",
        "2026-11-15",
        10_000,
        walletId=card,
        refundOf=bought["id"],
    )
    write_entry(client, "income", "2026-11-16", 1_000, walletId=card, memo="캐시백")
    move(client, bank, card, "2026-12-02", 40_000)
    bill = get_bill(client, card, "2026-12")
    names = ("charges", "refunds", "total", "paid", "remaining", "status")
    assert pick(bill, *names) == {
        "charges": 100_000,
        "refunds": 11_000,
        "total": 89_000,
        "paid": 40_000,
        "remaining": 49_000,
        "status": "PARTIAL",
    }
    assert get_bill(client, card, "2027-01")["total"] == 7_000
    assert find_imbalance(client, [card]) == 0


def test_debt_before_the_first_bill_is_carried_of_it(client: JSONClient) -> None:
    card = make_card(client)
    buy(client, card, "2026-03-03", 80_000)
    set_card(client, card, from_="2026-12", **MONTHLY)
    buy(client, card, "2026-11-05", 5_000)
    bill = get_bill(client, card, "2026-12")
    assert pick(bill, "carried", "charges", "total") == {
        "carried": 80_000,
        "charges": 5_000,
        "total": 85_000,
    }
    assert [each["month"] for each in list_bills(client, card)] == [
        "2026-12",
        "2027-01",
    ]
    assert find_imbalance(client, [card]) == 0


def test_negative_total_is_carried_to_the_next_bill(
    client: JSONClient, card: int
) -> None:
    write_entry(client, "income", "2026-11-16", 3_000, walletId=card)
    buy(client, card, "2026-12-02", 10_000)
    closed, opened = list_bills(client, card)[-2:]
    assert pick(closed, "total", "remaining", "status") == {
        "total": -3_000,
        "remaining": 0,
        "status": "PAID",
    }
    assert pick(opened, "carried", "total", "status") == {
        "carried": -3_000,
        "total": 7_000,
        "status": "OPEN",
    }
    assert find_imbalance(client, [card]) == 0


def test_payment_pays_the_oldest_bill_then_the_open_one_then_is_credit(
    client: JSONClient, card: int
) -> None:
    bank = make_bank(client)
    for day in ("2026-09-05", "2026-10-05", "2026-11-05", "2026-12-05"):
        buy(client, card, day, 10_000)
    move(client, bank, card, "2026-12-01", 47_000)
    bills = list_bills(client, card)
    assert [bill["paid"] for bill in bills] == [10_000] * 4
    assert get_card(client, card)["credit"] == 7_000
    assert find_imbalance(client, [card]) == 0


def test_payment_with_a_month_pays_that_bill(client: JSONClient, card: int) -> None:
    bank = make_bank(client)
    for day in ("2026-09-05", "2026-10-05", "2026-11-05"):
        buy(client, card, day, 10_000)
    move(client, bank, card, "2026-12-01", 10_000, billMonth="2026-12")
    bills = {bill["month"]: bill["status"] for bill in list_bills(client, card)}
    assert bills == {
        "2026-10": "OVERDUE",
        "2026-11": "OVERDUE",
        "2026-12": "PAID",
        "2027-01": "OPEN",
    }


def test_month_of_a_purchase_moves_it_to_another_bill(
    client: JSONClient, card: int
) -> None:
    buy(client, card, "2026-11-30", 9_000, billMonth="2027-01")
    assert get_bill(client, card, "2026-12")["total"] == 0
    assert get_bill(client, card, "2027-01")["total"] == 9_000


def test_refund_of_a_purchase_in_parts_takes_the_last_parts_first(
    client: JSONClient, card: int
) -> None:
    bought = buy(client, card, "2026-10-20", 100_000, installmentMonths=4)
    write_entry(
        client, "income", "2026-12-02", 60_000, walletId=card, refundOf=bought["id"]
    )
    # 25,000 each in 2026-11 to 2027-02; the refund is on the bill of 2027-01.
    bills = {bill["month"]: bill for bill in list_bills(client, card)}
    assert bills["2027-01"]["installments"] == 25_000
    assert bills["2027-01"]["refunds"] == 35_000
    assert "2027-02" not in bills
    assert find_imbalance(client, [card]) == 0


def test_pending_entries_are_in_no_total(client: JSONClient, card: int) -> None:
    entry = buy(client, card, "2026-11-05", 9_000)
    from ledger.models import Entry

    Entry.objects.filter(pk=entry["id"]).update(pending=True)
    bill = get_bill(client, card, "2026-12")
    assert pick(bill, "total", "pending") == {"total": 0, "pending": 9_000}
    assert bill["items"][0]["pending"] is True


def test_card_of_another_bill_stands_on_it(client: JSONClient, card: int) -> None:
    family = make_card(client, "가족카드", billedWithId=card)
    buy(client, card, "2026-11-05", 9_000)
    buy(client, family, "2026-11-06", 4_000)
    bill = get_bill(client, family, "2026-12")
    assert bill["walletId"] == card
    assert bill["total"] == 13_000
    assert [item["walletId"] for item in bill["items"]] == [card, family]
    assert find_imbalance(client, [card, family]) == 0


def test_list_has_the_months_that_are_asked_for(client: JSONClient, card: int) -> None:
    path = f"{ACCOUNT}/wallets/{card}/bills"
    found = client.get_json(path, **{"from": "2026-11", "to": "2026-12"})
    assert [bill["month"] for bill in found] == ["2026-11", "2026-12"]
    assert [bill["month"] for bill in client.get_json(path, to="2026-10")] == [
        "2026-10"
    ]
    for query, field in (
        ("from=2026-12&to=2026-11", "to"),
        ("from=2026-13", "from"),
        ("to=0000-01", "to"),
        ("form=2026-11", "form"),
    ):
        assert_invalid(client.send("GET", f"{path}?{query}"), field)


@pytest.mark.parametrize("month", ["2026-13", "0000-12", "26-12", "2026-00", "x"])
def test_month_that_is_none_is_refused(
    client: JSONClient, card: int, month: str
) -> None:
    for method, tail, body in (
        ("GET", "", None),
        ("PUT", "", {"amount": 1}),
        ("DELETE", "", None),
        ("POST", "/pay", {}),
    ):
        path = f"{ACCOUNT}/wallets/{card}/bills/{month}{tail}"
        assert_invalid(client.send(method, path, body), "month")


@pytest.mark.parametrize("day", ["9999-12-31", "9999-11-30", "2150-03-03"])
def test_entry_of_a_far_day_is_unbilled(
    client: JSONClient, card: int, day: str
) -> None:
    buy(client, card, day, 2_400, installmentMonths=24)
    buy(client, card, "2026-11-05", 100, billMonth="2200-12")
    assert get_bill(client, card, "2026-12")["total"] == 0
    assert get_card(client, card)["unbilled"] == 2_500
    bills = list_bills(client, card)
    assert bills[-1]["month"] == "2037-01"
    assert bills[-1]["total"] == 2_500
    assert find_imbalance(client, [card]) == 0
    far = f"{ACCOUNT}/wallets/{card}/bills?from=2190-01"
    assert_invalid(client.send("GET", far), "from")
    far = f"{ACCOUNT}/wallets/{card}/bills?to=2190-01"
    assert_invalid(client.send("GET", far), "to")


def test_bill_before_the_first_one_is_not_found(client: JSONClient, card: int) -> None:
    path = f"{ACCOUNT}/wallets/{card}/bills/2026-09"
    assert_problem(client.get(path), 404, "NOT_FOUND")


def test_bills_of_a_month_are_those_of_all_cards(client: JSONClient) -> None:
    first = make_card(client, "하나", from_="2026-10", **MONTHLY)
    second = make_card(client, "둘", closingDay=13, paymentDay=27, from_="2026-10")
    buy(client, first, "2026-11-05", 9_000)
    buy(client, second, "2026-12-01", 4_000)
    found = client.get_json(f"{ACCOUNT}/bills", month="2026-12")
    assert pick(found, "month", "total", "paid", "remaining") == {
        "month": "2026-12",
        "total": 13_000,
        "paid": 0,
        "remaining": 13_000,
    }
    assert [bill["walletId"] for bill in found["bills"]] == [first, second]
