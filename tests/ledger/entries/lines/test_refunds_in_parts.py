"""Refunds of a split expense in parts give each category back (spec 3.19)."""

from typing import Any

import pytest

from tests.support.households import (
    DAY,
    ENTRIES,
    Household,
    category_line,
    wallet_line,
)
from tests.support.problems import assert_problem

CATEGORIES = ("외식", "교통", "의류")


def buy(household: Household, *amounts: int) -> Any:
    lines = [
        category_line(amount, name)
        for amount, name in zip(amounts, CATEGORIES, strict=False)
    ]
    return household.write("expense", sum(amounts), "카드", lines=lines)


def refund(household: Household, bought: Any, amount: int | None = None) -> Any:
    body = {"date": DAY.isoformat()} | ({"amount": amount} if amount else {})
    return household.expect(201, "POST", f"{ENTRIES}/{bought['id']}/refund", body)


def delete(household: Household, entry: Any) -> None:
    household.expect(204, "DELETE", f"{ENTRIES}/{entry['id']}")


def assert_all_is_back(household: Household) -> None:
    household.assert_flows(0, 0)
    assert set(household.categories().values()) == {0}
    assert household.changes() == {}


@pytest.mark.parametrize("parts", [[100, 100], [1, 1, 1], [299], [7, 150, 31]])
def test_refunds_of_three_thirds_give_each_category_back(
    household: Household, parts: list[int]
) -> None:
    bought = buy(household, 100, 100, 100)
    for amount in parts:
        refund(household, bought, amount)
    refund(household, bought)
    assert_all_is_back(household)
    path = f"{ENTRIES}/{bought['id']}/refund"
    assert_problem(household.client.send("POST", path, {}), 400, "REFUND_EXCEEDS")


def test_refund_that_names_its_category_takes_from_its_line(
    household: Household,
) -> None:
    bought = buy(household, 60, 40)
    household.write("income", 60, "카드", category="외식", refundOf=bought["id"])
    rest = refund(household, bought)
    assert (rest["amount"], rest["category"], rest["lines"]) == (40, "교통", [])
    assert_all_is_back(household)


def test_refund_booked_elsewhere_takes_from_no_line(household: Household) -> None:
    bought = buy(household, 60, 40)
    household.write("income", 50, "카드", category="선물", refundOf=bought["id"])
    rest = refund(household, bought)
    assert [line["amount"] for line in rest["lines"]] == [30, 20]


def test_refund_at_a_higher_rate_is_divided_like_the_expense(
    household: Household,
) -> None:
    dollars = {"currency": "USD", "originalAmount": 10}
    lines = [category_line(9_000, "외식"), category_line(3_000, "교통")]
    bought = household.write(
        "expense", 12_000, "카드", lines=lines, exchangeRate=1200, **dollars
    )
    back = {"exchangeRate": 1300, "refundOf": bought["id"]} | dollars
    refund = household.write("income", 13_000, "카드", **back)
    assert [line["amount"] for line in refund["lines"]] == [9_750, 3_250]


def test_refunds_are_divided_anew_after_one_of_them_was_deleted(
    household: Household,
) -> None:
    bought = buy(household, 100, 100, 100)
    first, second, _ = [refund(household, bought, 50) for _ in range(3)]
    delete(household, second)
    refund(household, bought, 110)
    delete(household, first)
    refund(household, bought)
    assert_all_is_back(household)


def test_refunds_are_divided_anew_after_one_of_them_was_changed(
    household: Household,
) -> None:
    bought = buy(household, 100, 100, 100)
    first, second = refund(household, bought, 100), refund(household, bought, 50)
    # Of another amount and without lines, it is divided as if it were new.
    changed = household.patch(second, amount=125, lines=[])
    assert [line["amount"] for line in changed["lines"]] == [41, 42, 42]
    household.patch(first, amount=1, lines=[], category="의류")
    refund(household, bought)
    assert_all_is_back(household)


def test_refund_is_not_a_part_of_itself(household: Household) -> None:
    bought = buy(household, 100, 100, 100)
    whole = refund(household, bought)
    again = household.patch(whole, lines=[])
    assert [line["amount"] for line in again["lines"]] == [100, 100, 100]
    assert_all_is_back(household)


def test_refunds_of_discounts_and_points_give_each_line_back(
    household: Household,
) -> None:
    lines = [
        category_line(10_000, "외식"),
        category_line(-500, "외식"),
        wallet_line(-1_001, "포인트"),
    ]
    bought = household.write("expense", 8_499, "카드", lines=lines)
    for amount in (1, 3_333, 2_000):
        refund(household, bought, amount)
    refund(household, bought)
    assert_all_is_back(household)


def test_refund_of_what_a_friend_owes_has_one_unit_on_a_category(
    household: Household,
) -> None:
    lines = [category_line(1, "외식"), wallet_line(1_000, "받을 돈")]
    bought = household.write("expense", 1_001, "카드", lines=lines)
    part = refund(household, bought, 300)
    assert [line["amount"] for line in part["lines"]] == [1, 299]


def test_lines_of_one_category_are_told_apart_by_their_memos(
    household: Household,
) -> None:
    lines = [
        category_line(100, "외식") | {"memo": memo} for memo in ("사과", "배", "감")
    ]
    bought = household.write("expense", 300, "카드", lines=lines)
    refunds = [refund(household, bought, 100) for _ in range(3)]
    of_memos = dict.fromkeys(("사과", "배", "감"), 0)
    for each in refunds:
        for line in each["lines"]:
            of_memos[line["memo"]] += line["amount"]
    assert set(of_memos.values()) == {100}
