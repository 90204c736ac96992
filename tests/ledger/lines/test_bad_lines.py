"""Bad lines: 400 with the field, and nothing is written."""

from typing import Any

import pytest

from tests.support.households import ENTRIES, A, Household, category_line, wallet_line
from tests.support.refusals import LINE_WALLET, MOST, TWO, Refusals, expense

LINE_AMOUNT = r"lines\.\d+\.amount"


# Lines


@pytest.mark.parametrize("amounts", [(60, 41), (60, 39), (100, 100), (-60, -40)])
def test_lines_that_do_not_add_up_are_a_mismatch(
    household: Household, refusals: Refusals, amounts: tuple[int, int]
) -> None:
    lines = [category_line(each, "새 분류") for each in amounts]
    refusals.post(expense(household, lines=lines), "lines", "LINES_MISMATCH")


@pytest.mark.parametrize("change", [{"amount": 101}, {"type": "income"}], ids=str)
def test_amount_and_type_of_a_split_change_with_its_lines_only(
    household: Household, refusals: Refusals, change: dict[str, Any]
) -> None:
    entry = household.write("expense", 100, "카드", lines=TWO)
    refusals.patch(entry, change, "lines", "LINES_MISMATCH")
    body = household.body("expense", 100, "카드") | change
    path = f"{ENTRIES}/{entry['id']}"
    refusals.send("PUT", path, body, "LINES_MISMATCH", "lines")
    assert household.read(entry) == entry


def test_lines_alone_that_no_longer_add_up_are_a_mismatch(
    household: Household, refusals: Refusals
) -> None:
    entry = household.write("expense", 100, "카드", lines=TWO)
    lines = [*TWO, category_line(1, "선물")]
    refusals.patch(entry, {"lines": lines}, "lines", "LINES_MISMATCH")


def test_fifty_lines_are_accepted_and_51_are_not(
    household: Household, refusals: Refusals
) -> None:
    lines = [category_line(1, f"분류 {number}") for number in range(51)]
    refusals.post(household.body("expense", 51, "카드", lines=lines), "lines")
    household.write("expense", 50, "카드", lines=lines[:50])


@pytest.mark.parametrize(
    "lines",
    [
        [category_line(100, "외식")],
        "외식",
        {"0": category_line(100, "외식")},
        [category_line(60, "외식"), 40],
        [category_line(60, "외식"), None],
        7,
    ],
    ids=str,
)
def test_what_is_no_list_of_2_to_50_lines_is_refused(
    household: Household, refusals: Refusals, lines: Any
) -> None:
    refusals.post(expense(household, lines=lines), r"lines(\.\d+)?(\.\w+)?")


@pytest.mark.parametrize(
    "amount",
    [0, None, "x", 1.5, True, MOST + 1, -MOST - 1, 2**63, -(2**63), 10**30, [], {}],
    ids=str,
)
def test_amount_of_a_line_is_whole_in_range_and_not_zero(
    household: Household, refusals: Refusals, amount: Any
) -> None:
    # Where the sum could be right, it is.
    rest = 100 - amount if type(amount) is int else 100
    lines = [category_line(amount, "외식"), category_line(rest, "교통")]
    refusals.post(expense(household, lines=lines), LINE_AMOUNT)


def test_line_needs_an_amount(household: Household, refusals: Refusals) -> None:
    lines = [category_line(100, "외식"), {"category": "교통"}]
    refusals.post(expense(household, lines=lines), LINE_AMOUNT)


def test_sum_of_lines_beyond_the_range_is_refused(
    household: Household, refusals: Refusals
) -> None:
    lines = [category_line(MOST, "외식"), category_line(1, "교통")]
    body = household.body("expense", MOST + 1, "카드", lines=lines)
    refusals.post(body, "amount")


def test_fifty_lines_of_the_largest_amount_overflow_nothing(
    household: Household, refusals: Refusals
) -> None:
    lines = [category_line(MOST, f"분류 {number}") for number in range(50)]
    body = household.body("expense", MOST, "카드", lines=lines)
    refusals.post(body, "lines", "LINES_MISMATCH")


def test_line_has_a_category_or_a_wallet_and_not_both(
    household: Household, refusals: Refusals
) -> None:
    both = category_line(40, "교통") | {"walletId": household.ids["현금"]}
    lines = [category_line(60, "외식"), both]
    refusals.post(expense(household, lines=lines), r"lines\.1(\.\w+)?")


def test_line_does_not_name_the_wallet_of_its_entry(
    household: Household, refusals: Refusals
) -> None:
    lines = [category_line(60, "외식"), wallet_line(40, "카드")]
    refusals.post(expense(household, lines=lines), LINE_WALLET)
    entry = household.write(
        "expense",
        100,
        "카드",
        lines=[category_line(60, "외식"), wallet_line(40, "현금")],
    )
    refusals.patch(entry, {"walletId": "현금"}, rf"walletId|{LINE_WALLET}")


def test_wallet_line_needs_the_wallet_of_the_entry(
    household: Household, refusals: Refusals
) -> None:
    lines = [category_line(60, "외식"), wallet_line(40, "현금")]
    refusals.post(household.body("expense", 100, None, lines=lines), "walletId")
    entry = household.write("expense", 100, "카드", lines=lines)
    refusals.patch(entry, {"walletId": None}, "walletId")


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ({"categoryType": "transfer"}, r"lines\.0\.categoryType"),
        ({"categoryType": "INCOME"}, r"lines\.0\.categoryType"),
        ({"category": 5}, r"lines\.0\.category"),
        ({"category": "가" * 101}, r"lines\.0\.category"),
        ({"memo": "가" * 501}, r"lines\.0\.memo"),
        ({"memo": "\x00"}, r"lines\.0\.memo"),
        ({"walletId": "x", "category": None}, r"lines\.0\.walletId"),
        ({"walletId": 10**30, "category": None}, r"lines\.0\.walletId"),
    ],
    ids=str,
)
def test_fields_of_a_line_are_those_of_an_entry(
    household: Household, refusals: Refusals, part: dict[str, Any], field: str
) -> None:
    lines = [category_line(60, "외식") | part, category_line(40, "교통")]
    refusals.post(expense(household, lines=lines), field)


def test_split_has_no_category_of_its_own(
    household: Household, refusals: Refusals
) -> None:
    body = expense(household, lines=TWO, category="외식")
    refusals.post(body, r"category|lines")


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ({"time": "24:00"}, "time"),
        ({"time": "9:5"}, "time"),
        ({"time": 930}, "time"),
        ({"time": "오전 9시"}, "time"),
        ({"excluded": "yes"}, "excluded"),
        ({"excluded": 1}, "excluded"),
    ],
    ids=str,
)
def test_time_and_excluded_have_their_types(
    household: Household, refusals: Refusals, part: dict[str, Any], field: str
) -> None:
    refusals.post(expense(household, **part), field)


# Templates


@pytest.mark.parametrize("kind", ["quick-entries", "recurring"])
@pytest.mark.parametrize(
    ("purpose", "field", "code"),
    [
        ({"lines": [*TWO, category_line(1, "선물")]}, "lines", "LINES_MISMATCH"),
        ({"lines": TWO[:1]}, "lines", "VALIDATION_ERROR"),
        (
            {"lines": [category_line(60, "외식"), wallet_line(40, "카드")]},
            LINE_WALLET,
            "VALIDATION_ERROR",
        ),
        ({"type": "transfer"}, "toWalletId", "VALIDATION_ERROR"),
        (
            {"type": "transfer", "toWalletId": "카드"},
            "toWalletId",
            "VALIDATION_ERROR",
        ),
    ],
    ids=["mismatch", "one line", "own wallet", "no target", "own target"],
)
def test_templates_refuse_what_entries_refuse(
    household: Household,
    refusals: Refusals,
    kind: str,
    purpose: dict[str, Any],
    field: str,
    code: str,
) -> None:
    body = {
        "name": "틀",
        "type": "expense",
        "amount": 100,
        "walletId": "카드",
    } | purpose
    if kind == "recurring":
        body |= {"frequency": "MONTHLY", "anchorDate": "2026-12-01"}
    refusals.send("POST", f"{A}/{kind}", body, code, field)
    assert household.client.get_json(f"{A}/{kind}") == []
