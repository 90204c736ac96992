"""Refunds and merges, beyond the examples of the specification (spec 3.20)."""

from typing import Any

import pytest

from tests.support.households import ENTRIES, Household, category_line, wallet_line
from tests.support.problems import assert_problem


def merge(household: Household, amount: int = 500) -> tuple[Any, Any]:
    expense = household.write("expense", amount, "통장")
    income = household.write("income", amount, "현금")
    path = f"{ENTRIES}/{expense['id']}/merge"
    household.expect(200, "POST", path, {"with": income["id"]})
    return expense, income


@pytest.mark.parametrize("type_", ["expense", "income"])
def test_merged_transfer_stays_one_until_it_is_taken_apart(
    household: Household, type_: str
) -> None:
    expense, income = merge(household)
    path = f"{ENTRIES}/{expense['id']}"
    body = {"type": type_, "toWalletId": None}
    assert_problem(household.client.send("PATCH", path, body), 409, "IN_USE")
    both = household.expect(200, "POST", f"{path}/unmerge")
    assert [each["id"] for each in both] == [expense["id"], income["id"]]
    assert household.patch(expense, type=type_)["type"] == type_


def test_transfer_that_a_move_made_an_expense_can_be_merged_again(
    household: Household,
) -> None:
    expense, _ = merge(household)
    lines = [wallet_line(400, "현금"), category_line(100, "수수료")]
    household.patch(expense, toWalletId=None, lines=lines)
    ids = household.ids
    path = f"/api/account/wallets/{ids['현금']}?moveTo={ids['통장']}"
    household.expect(204, "DELETE", path)
    left = household.read(expense)
    assert (left["type"], left["amount"]) == ("expense", 100)
    other = household.write("income", 100, "적금")
    path = f"{ENTRIES}/{expense['id']}/merge"
    merged = household.expect(200, "POST", path, {"with": other["id"]})
    assert (merged["type"], merged["amount"]) == ("transfer", 100)


def test_rest_of_an_expense_is_less_by_foreign_refunds(household: Household) -> None:
    dollars = {"currency": "USD", "originalAmount": 10}
    body = household.body("expense", 12_000, "카드", exchangeRate=1200, **dollars)
    bought = household.expect(201, "POST", ENTRIES, body)
    back = household.body("income", 13_000, "카드", exchangeRate=1300, **dollars)
    household.expect(201, "POST", ENTRIES, back | {"refundOf": bought["id"]})
    path = f"{ENTRIES}/{bought['id']}/refund"
    assert_problem(household.client.send("POST", path, {}), 400, "REFUND_EXCEEDS")


def test_refund_of_an_excluded_expense_is_excluded(household: Household) -> None:
    bought = household.write("expense", 1_000, "카드", category="외식", excluded=True)
    path = f"{ENTRIES}/{bought['id']}/refund"
    refund = household.expect(201, "POST", path, {})
    assert refund["excluded"]
    household.assert_flows(0, 0)


def test_refund_of_a_split_expense_can_be_made_flat(household: Household) -> None:
    lines = [category_line(60, "외식"), category_line(40, "교통")]
    bought = household.write("expense", 100, "카드", lines=lines)
    path = f"{ENTRIES}/{bought['id']}/refund"
    refund = household.expect(201, "POST", path, {"date": bought["date"]})
    assert (refund["categoryType"], len(refund["lines"])) == ("expense", 2)
    household.expect(200, "PUT", f"{ENTRIES}/{refund['id']}", refund)
    flat = household.patch(refund, lines=[], category="외식")
    assert (flat["lines"], flat["category"]) == ([], "외식")
    household.assert_flows(0, 0)


@pytest.mark.parametrize("amount", [1, 2, 3])
def test_smallest_refund_of_a_shared_bill_is_booked_on_its_category(
    household: Household, amount: int
) -> None:
    lines = [category_line(20, "외식"), wallet_line(30, "받을 돈")]
    bought = household.write("expense", 50, "카드", lines=lines)
    path = f"{ENTRIES}/{bought['id']}/refund"
    body = {"amount": amount, "date": bought["date"]}
    refund = household.expect(201, "POST", path, body)
    assert refund["amount"] == amount
    assert refund["lines"] or refund["category"] == "외식"


def test_refund_says_no_other_type_than_that_of_its_expense(
    household: Household,
) -> None:
    bought = household.write("expense", 100, "카드", category="외식")
    body = household.body("income", 40, "카드", categoryType="income")
    body["refundOf"] = bought["id"]
    response = household.client.send("POST", ENTRIES, body)
    assert_problem(response, 400, "VALIDATION_ERROR")
    assert response.data["errors"][0]["field"] == "refundOf"


def test_expense_that_a_move_makes_less_than_its_refunds_leaves_them_alone(
    household: Household,
) -> None:
    lines = [category_line(20, "외식"), wallet_line(40, "현금")]
    bought = household.write("expense", 60, "카드", lines=lines)
    refunds = [
        household.write(
            "income", amount, "카드", refundOf=bought["id"], category="외식"
        )
        for amount in (5, 30)
    ]
    ids = household.ids
    path = f"/api/account/wallets/{ids['현금']}?moveTo={ids['카드']}"
    household.expect(204, "DELETE", path)
    assert household.read(bought)["amount"] == 20
    for refund in refunds:
        assert household.read(refund)["refundOf"] is None
        assert household.patch(refund, memo="다시")["memo"] == "다시"
    household.assert_flows(0, -15)
