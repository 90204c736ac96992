"""Bad transfers, lines and refunds: 400 with the field, and nothing is written."""

import re
from typing import Any

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import count_rows_of, make_entry, make_wallet
from tests.support.households import (
    ENTRIES,
    A,
    Household,
    category_line,
    wallet_line,
)
from tests.support.problems import assert_problem
from tests.support.routes import MISSING_ID

MOST = 999_999_999_999
TWO = [category_line(60, "외식"), category_line(40, "교통")]
LINE_AMOUNT = r"lines\.\d+\.amount"
LINE_WALLET = r"lines\.\d+\.walletId"


def state_of(household: Household, member: Member) -> Any:
    """Return all that a refused request must leave as it was."""
    client = household.client
    return (
        count_rows_of(member),
        client.get_json(ENTRIES),
        client.get_json(f"{A}/wallets"),
        client.get_json(f"{A}/categories"),
        household.month(),
    )


class Refusals:
    """Sends what must be refused, and checks that nothing was written."""

    def __init__(self, household: Household, member: Member) -> None:
        self.household, self.member = household, member

    def send(self, method: str, path: str, body: Any, code: str, field: str) -> Any:
        before = state_of(self.household, self.member)
        response = self.household.client.send(
            method, path, self.household.resolve(body)
        )
        assert_problem(response, 400, code)
        fields = [error["field"] for error in response.data["errors"]]
        assert fields, response.data
        assert all(re.fullmatch(field, each) for each in fields), fields
        assert state_of(self.household, self.member) == before
        return response.data

    def post(self, body: Any, field: str, code: str = "VALIDATION_ERROR") -> Any:
        return self.send("POST", ENTRIES, body, code, field)

    def patch(
        self, entry: Any, body: Any, field: str, code: str = "VALIDATION_ERROR"
    ) -> Any:
        return self.send("PATCH", f"{ENTRIES}/{entry['id']}", body, code, field)


@pytest.fixture
def refusals(household: Household, premium_member: Member) -> Refusals:
    return Refusals(household, premium_member)


def expense(household: Household, **fields: Any) -> dict[str, Any]:
    return household.body("expense", 100, "카드", **fields)


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


# Transfers


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


# Rows of others


def assert_equal_refusals(found: list[dict[str, Any]]) -> None:
    """Assert that a row of another member is refused as one that does not exist."""
    assert found[0] == found[1]


def test_wallet_of_another_member_is_refused_like_a_missing_one(
    household: Household, refusals: Refusals, other_member: Member
) -> None:
    theirs = make_wallet(other_member).pk
    targets, lined = [], []
    for wallet in (theirs, MISSING_ID):
        body = household.body("transfer", 100, "통장", toWalletId=wallet)
        targets.append(refusals.post(body, "toWalletId"))
        lines = [category_line(60, "외식"), {"amount": 40, "walletId": wallet}]
        lined.append(refusals.post(expense(household, lines=lines), LINE_WALLET))
    assert_equal_refusals(targets)
    assert_equal_refusals(lined)
    client = JSONClient(other_member)
    assert client.get_json(f"{A}/wallets/{theirs}")["balance"] == 0


def test_expense_of_another_member_is_refused_like_a_missing_one(
    household: Household, refusals: Refusals, other_member: Member
) -> None:
    theirs = make_entry(other_member, amount=100)
    found = [
        refusals.post(household.body("income", 1, "카드", refundOf=each), "refundOf")
        for each in (theirs.pk, MISSING_ID)
    ]
    assert_equal_refusals(found)
    read = JSONClient(other_member).get_json(f"{ENTRIES}/{theirs.pk}")
    assert read["refunded"] == 0


def test_category_of_another_member_is_never_taken(
    household: Household, other_member: Member
) -> None:
    theirs = Household(JSONClient(other_member))
    theirs.write("expense", 100, "카드", lines=TWO)
    before = theirs.client.get_json(f"{A}/categories")
    household.write("expense", 100, "카드", lines=TWO)
    ids = {row["id"] for row in household.client.get_json(f"{A}/categories")}
    assert not ids & {row["id"] for row in before}
    assert theirs.client.get_json(f"{A}/categories") == before


def test_paths_of_another_member_are_not_found(
    household: Household, other_member: Member
) -> None:
    theirs = Household(JSONClient(other_member))
    bought = theirs.write("expense", 100, "카드", lines=TWO)
    wallet = theirs.ids["통장"]
    cases = [
        ("GET", f"{ENTRIES}/{bought['id']}", None),
        ("POST", f"{ENTRIES}/{bought['id']}/refund", {}),
        ("POST", f"{ENTRIES}/{bought['id']}/merge", {"with": bought["id"]}),
        ("POST", f"{ENTRIES}/{bought['id']}/unmerge", None),
        ("GET", f"{A}/wallets/{wallet}/history", None),
        ("GET", f"{A}/wallets/{wallet}/valuations", None),
        (
            "POST",
            f"{A}/wallets/{wallet}/reconcile",
            {"date": "2026-11-18", "balance": 1},
        ),
    ]
    for method, path, body in cases:
        response = household.client.send(method, path, body)
        assert_problem(response, 404, "NOT_FOUND")
    assert theirs.read(bought) == bought


# Refunds


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
