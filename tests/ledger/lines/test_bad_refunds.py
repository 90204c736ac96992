"""Bad refunds: 400 with the field, and nothing is written."""

from typing import Any

import pytest

from tests.support.households import ENTRIES, Household, category_line
from tests.support.problems import assert_problem
from tests.support.refusals import Refusals


def test_refund_above_its_original_is_refused(
    household: Household, refusals: Refusals
) -> None:
    bought = household.write("expense", 100, "카드", category="의류")
    body = household.body("income", 101, "카드", refundOf=bought["id"])
    refusals.post(body, "amount|refundOf", "REFUND_EXCEEDS")


def test_refunds_that_together_exceed_their_original_are_refused(
    household: Household, refusals: Refusals
) -> None:
    bought = household.write("expense", 100, "카드", category="의류")
    first = household.write("income", 60, "카드", refundOf=bought["id"])
    body = household.body("income", 41, "통장", refundOf=bought["id"])
    refusals.post(body, "amount|refundOf", "REFUND_EXCEEDS")
    second = household.write("income", 40, "통장", refundOf=bought["id"])
    for refund, amount in ((first, 61), (second, 41)):
        change = {"amount": amount}
        refusals.patch(refund, change, "amount|refundOf", "REFUND_EXCEEDS")


def test_original_does_not_shrink_below_its_refunds(
    household: Household, refusals: Refusals
) -> None:
    bought = household.write("expense", 100, "카드", category="의류")
    household.write("income", 60, "카드", refundOf=bought["id"])
    refusals.patch(bought, {"amount": 59}, "amount|refundOf", "REFUND_EXCEEDS")
    household.patch(bought, amount=60)


def test_refund_does_not_move_to_an_original_that_is_too_small(
    household: Household, refusals: Refusals
) -> None:
    large = household.write("expense", 100, "카드", category="의류")
    small = household.write("expense", 50, "카드", category="의류")
    refund = household.write("income", 60, "카드", refundOf=large["id"])
    change = {"refundOf": small["id"]}
    refusals.patch(refund, change, "amount|refundOf", "REFUND_EXCEEDS")


@pytest.mark.parametrize("type_", ["income", "transfer"])
def test_type_of_an_entry_with_refunds_stays(household: Household, type_: str) -> None:
    bought = household.write("expense", 100, "통장", category="의류")
    household.write("income", 60, "카드", refundOf=bought["id"])
    before = household.read(bought)
    change: dict[str, Any] = {"type": type_, "category": None}
    if type_ == "transfer":
        change["toWalletId"] = household.ids["적금"]
    response = household.client.send("PATCH", f"{ENTRIES}/{bought['id']}", change)
    assert_problem(response, 409, "IN_USE")
    assert household.read(bought) == before


@pytest.mark.parametrize("type_", ["income", "transfer"])
def test_only_an_expense_is_refunded(
    household: Household, refusals: Refusals, type_: str
) -> None:
    extra = {"toWalletId": "적금"} if type_ == "transfer" else {}
    other = household.write(type_, 100, "통장", **extra)
    body = household.body("income", 60, "카드", refundOf=other["id"])
    refusals.post(body, "refundOf")


def test_only_income_is_a_refund(household: Household, refusals: Refusals) -> None:
    bought = household.write("expense", 100, "카드", category="의류")
    body = household.body("expense", 60, "카드", refundOf=bought["id"])
    refusals.post(body, "refundOf")


def test_refund_has_no_line_of_income(household: Household, refusals: Refusals) -> None:
    bought = household.write("expense", 100, "카드", category="의류")
    of_income = {"category": "급여", "categoryType": "income"}
    fields = "refundOf|categoryType|lines.*"
    body = household.body("income", 60, "카드", refundOf=bought["id"], **of_income)
    refusals.post(body, fields)
    lines = [category_line(40, "의류"), category_line(20, "급여", "income")]
    body = household.body("income", 60, "카드", refundOf=bought["id"], lines=lines)
    refusals.post(body, fields)


def test_entry_is_no_refund_of_itself(household: Household, refusals: Refusals) -> None:
    refund = household.write("income", 60, "카드", categoryType="expense")
    refusals.patch(refund, {"refundOf": refund["id"]}, "refundOf")


@pytest.mark.parametrize("value", ["x", 1.5, True, [], 10**30], ids=str)
def test_refund_of_what_is_no_id_is_refused(
    household: Household, refusals: Refusals, value: Any
) -> None:
    refusals.post(household.body("income", 60, "카드", refundOf=value), "refundOf")
