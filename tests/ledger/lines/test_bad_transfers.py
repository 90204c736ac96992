"""Bad transfers: 400 with the field, and nothing is written."""

from typing import Any

import pytest

from tests.support.households import A, Household, wallet_line
from tests.support.refusals import MOST, TWO, Refusals, expense
from tests.support.routes import MISSING_ID


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ({"toWalletId": None}, "toWalletId"),
        ({"walletId": None}, "walletId"),
        ({"toWalletId": "통장"}, "toWalletId"),
        ({"category": "외식"}, "category"),
        ({"installmentMonths": 3, "walletId": "카드"}, "installmentMonths"),
        (
            {"currency": "USD", "originalAmount": "1.5", "exchangeRate": "1000"},
            "currency|originalAmount|exchangeRate",
        ),
        ({"toWalletId": None, "lines": TWO}, "lines"),
        ({"amount": 0}, "amount"),
        ({"amount": MOST + 1}, "amount"),
        ({"refundOf": MISSING_ID}, "refundOf"),
    ],
    ids=str,
)
def test_transfer_needs_two_wallets_and_nothing_else(
    household: Household, refusals: Refusals, part: dict[str, Any], field: str
) -> None:
    body = household.body("transfer", 100, "통장", toWalletId="적금") | part
    refusals.post(body, field)


def test_transfer_without_a_target_is_refused(
    household: Household, refusals: Refusals
) -> None:
    refusals.post(household.body("transfer", 100, "통장"), "toWalletId")


@pytest.mark.parametrize("type_", ["income", "expense"])
def test_only_a_transfer_has_a_target(
    household: Household, refusals: Refusals, type_: str
) -> None:
    body = household.body(type_, 100, "통장", toWalletId="적금")
    refusals.post(body, "toWalletId")


def test_target_and_lines_exclude_each_other(
    household: Household, refusals: Refusals
) -> None:
    lines = [wallet_line(60, "현금"), wallet_line(40, "적금")]
    body = household.body("transfer", 100, "통장", toWalletId="적금", lines=lines)
    refusals.post(body, "toWalletId|lines")


def test_entry_does_not_become_a_transfer_without_a_target(
    household: Household, refusals: Refusals
) -> None:
    entry = household.write("expense", 100, "통장")
    refusals.patch(entry, {"type": "transfer"}, "toWalletId")


def test_category_has_no_type_transfer(
    household: Household, refusals: Refusals
) -> None:
    refusals.post(expense(household, categoryType="transfer"), "categoryType")
    body = {"type": "transfer", "name": "이체"}
    refusals.send("POST", f"{A}/categories", body, "VALIDATION_ERROR", "type")
