"""Refused lines, transfers and refunds: 400 with the field, nothing written (spec 3.19)."""

from typing import Any

import pytest

from tests.support.households import ENTRIES, A, Household, category_line, wallet_line
from tests.support.problems import assert_problem
from tests.support.refusals import LINE_WALLET, MOST, TWO, Refusals
from tests.support.routes import MISSING_ID

INVALID: tuple[Any, ...] = (None, "x", 1.5, True, [], {})
NO_IDS: tuple[Any, ...] = ("x", 1.5, True, [], 10**30)
LINE_AMOUNT = r"lines\.\d+\.amount"
MISMATCH, EXCEEDS = "LINES_MISMATCH", "REFUND_EXCEEDS"
SIXTY, FORTY = TWO
BY_CASH = [SIXTY, wallet_line(40, "현금")]


def lines_of(*amounts: Any) -> dict[str, Any]:
    return {
        "lines": [category_line(each, f"분류 {n}") for n, each in enumerate(amounts)]
    }


def first_line(**fields: Any) -> dict[str, Any]:
    return {"lines": [SIXTY | fields, FORTY]}


# What is added to an expense of 100 by card, the field of the error, and its code.
EXPENSES: list[tuple[Any, ...]] = [
    *(
        (lines_of(*each), "lines", MISMATCH)
        for each in ((60, 41), (60, 39), (100, 100))
    ),
    (lines_of(-60, -40), "lines", MISMATCH),
    ({"amount": 51} | lines_of(*[1] * 51), "lines"),
    # Too many are not judged one by one, which would take long.
    ({"amount": 51} | lines_of(*["wrong"] * 51), "lines"),
    *(
        ({"lines": each}, r"lines(\.\d+)?(\.\w+)?")
        for each in (TWO[:1], "외식", {"0": SIXTY}, [SIXTY, 40], [SIXTY, None], 7)
    ),
    # Where the sum could be right, it is.
    *(
        (lines_of(each, 100 - each), LINE_AMOUNT)
        for each in (0, MOST + 1, -MOST - 1, 2**63, -(2**63), 10**30)
    ),
    *((lines_of(each, 100), LINE_AMOUNT) for each in INVALID),
    ({"lines": [SIXTY | {"amount": 100}, {"category": "교통"}]}, LINE_AMOUNT),
    ({"amount": MOST + 1} | lines_of(MOST, 1), "amount"),
    ({"amount": MOST} | lines_of(*[MOST] * 50), "lines", MISMATCH),
    ({"lines": [SIXTY, FORTY | {"walletId": "현금"}]}, r"lines\.1(\.\w+)?"),
    ({"lines": [SIXTY, wallet_line(40, "카드")]}, LINE_WALLET),
    ({"walletId": None, "lines": BY_CASH}, "walletId"),
    ({"lines": TWO, "category": "외식"}, r"category|lines"),
    *(
        (first_line(**{name: value}), rf"lines\.0\.{name}")
        for name, value in (
            *(("categoryType", "transfer"), ("categoryType", "INCOME")),
            *(("category", 5), ("category", "가" * 101)),
            *(("memo", "가" * 501), ("memo", "\x00")),
        )
    ),
    *(
        (first_line(walletId=each, category=None), r"lines\.0\.walletId")
        for each in ("x", 10**30)
    ),
    *(({"time": each}, "time") for each in ("24:00", "9:5", 930, "오전 9시")),
    *(({"excluded": each}, "excluded") for each in ("yes", 1)),
    ({"categoryType": "transfer"}, "categoryType"),
    # Only a transfer has a target, and only income is a refund.
    ({"toWalletId": "적금"}, "toWalletId"),
    ({"type": "income", "toWalletId": "적금"}, "toWalletId"),
    ({"refundOf": "bought"}, "refundOf"),
]
# The same of a transfer of 100 between two accounts.
TRANSFERS: list[tuple[Any, ...]] = [
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
    ({"lines": [wallet_line(60, "현금"), wallet_line(40, "적금")]}, "toWalletId|lines"),
    ({"amount": 0}, "amount"),
    ({"amount": MOST + 1}, "amount"),
    ({"refundOf": MISSING_ID}, "refundOf"),
]
# The same of a refund of 60 of `bought`, which costs 100.
OF_INCOME = {"category": "급여", "categoryType": "income"}
REFUNDS: list[tuple[Any, ...]] = [
    ({"amount": 101}, "amount|refundOf", EXCEEDS),
    ({"amount": 1, "refundOf": "refunded"}, "amount|refundOf", EXCEEDS),
    ({"refundOf": "earned"}, "refundOf"),
    ({"refundOf": "moved"}, "refundOf"),
    (OF_INCOME, "refundOf|categoryType|lines.*"),
    (
        {"lines": [category_line(40, "의류"), category_line(20, "급여", "income")]},
        "refundOf|categoryType|lines.*",
    ),
    *(({"refundOf": each}, "refundOf") for each in NO_IDS),
]
# The entry that is changed, by what, and the same of the error.
CHANGES: list[tuple[Any, ...]] = [
    ("split", {"amount": 101}, "lines", MISMATCH),
    ("split", {"type": "income"}, "lines", MISMATCH),
    ("split", {"lines": [*TWO, category_line(1, "선물")]}, "lines", MISMATCH),
    ("by cash", {"walletId": "현금"}, rf"walletId|{LINE_WALLET}"),
    ("by cash", {"walletId": None}, "walletId"),
    ("refund", {"amount": 61}, "amount|refundOf", EXCEEDS),
    ("rest", {"amount": 41}, "amount|refundOf", EXCEEDS),
    ("refunded", {"amount": 99}, "amount|refundOf", EXCEEDS),
    ("refund", {"refundOf": "small"}, "amount|refundOf", EXCEEDS),
    ("alone", {"refundOf": "alone"}, "refundOf"),
    ("bought", {"type": "transfer", "category": None}, "toWalletId"),
]


@pytest.fixture
def scene(household: Household) -> dict[str, Any]:
    """Return the entries that the tables name."""
    write = household.write
    refunded = write("expense", 100, "카드", category="의류")
    return {
        "split": write("expense", 100, "카드", lines=TWO),
        "by cash": write("expense", 100, "카드", lines=BY_CASH),
        "bought": write("expense", 100, "카드", category="의류"),
        "small": write("expense", 50, "카드", category="의류"),
        "refunded": refunded,
        "refund": write("income", 60, "카드", refundOf=refunded["id"]),
        "rest": write("income", 40, "통장", refundOf=refunded["id"]),
        "alone": write("income", 60, "카드", categoryType="expense"),
        "earned": write("income", 100, "통장"),
        "moved": write("transfer", 100, "통장", toWalletId="적금"),
    }


def name_entry(scene: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    named = body.get("refundOf")
    if isinstance(named, str) and named in scene:
        return body | {"refundOf": scene[named]["id"]}
    return body


@pytest.mark.parametrize(
    ("base", "cases"),
    [
        (("expense", 100, "카드", {}), EXPENSES),
        (("transfer", 100, "통장", {"toWalletId": "적금"}), TRANSFERS),
        (("income", 60, "카드", {"refundOf": "bought"}), REFUNDS),
    ],
    ids=["expenses", "transfers", "refunds"],
)
def test_entry_is_refused_and_its_field_named(
    household: Household, refusals: Refusals, scene: Any, base: Any, cases: Any
) -> None:
    *needed, fields = base
    for changes, *error in cases:
        body = household.body(*needed, **fields) | changes
        refusals.post(name_entry(scene, body), *error)


def test_change_is_refused_and_its_field_named(
    refusals: Refusals, scene: dict[str, Any]
) -> None:
    for name, change, *error in CHANGES:
        refusals.patch(scene[name], name_entry(scene, change), *error)


@pytest.mark.parametrize("change", [{"amount": 101}, {"type": "income"}], ids=str)
def test_put_of_a_split_names_its_lines_too(
    household: Household, refusals: Refusals, scene: Any, change: dict[str, Any]
) -> None:
    body = household.body("expense", 100, "카드") | change
    path = f"{ENTRIES}/{scene['split']['id']}"
    refusals.send("PUT", path, body, MISMATCH, "lines")


def test_most_that_is_allowed_is_accepted(household: Household, scene: Any) -> None:
    household.write("expense", 50, "카드", **lines_of(*[1] * 50))
    household.patch(scene["refund"], amount=60, memo="all")
    assert household.patch(scene["refunded"], amount=100, memo="all")["refunded"] == 100


@pytest.mark.parametrize("type_", ["income", "transfer"])
def test_type_of_an_entry_with_refunds_stays(
    household: Household, scene: Any, type_: str
) -> None:
    refunded = household.read(scene["refunded"])
    change: dict[str, Any] = {"type": type_, "category": None}
    if type_ == "transfer":
        change["toWalletId"] = household.ids["적금"]
    response = household.client.send("PATCH", f"{ENTRIES}/{refunded['id']}", change)
    assert_problem(response, 409, "IN_USE")
    assert household.read(refunded) == refunded


def test_category_has_no_type_transfer(refusals: Refusals) -> None:
    body = {"type": "transfer", "name": "이체"}
    refusals.send("POST", f"{A}/categories", body, "VALIDATION_ERROR", "type")


@pytest.mark.parametrize("kind", ["quick-entries", "recurring"])
def test_templates_refuse_what_entries_refuse(refusals: Refusals, kind: str) -> None:
    body = {"name": "틀", "type": "expense", "amount": 100, "walletId": "카드"}
    if kind == "recurring":
        body |= {"frequency": "MONTHLY", "anchorDate": "2026-12-01"}
    for purpose, field, *code in (
        ({"lines": [*TWO, category_line(1, "선물")]}, "lines", MISMATCH),
        ({"lines": TWO[:1]}, "lines"),
        ({"lines": [SIXTY, wallet_line(40, "카드")]}, LINE_WALLET),
        ({"type": "transfer"}, "toWalletId"),
        ({"type": "transfer", "toWalletId": "카드"}, "toWalletId"),
    ):
        (code_,) = code or ["VALIDATION_ERROR"]
        refusals.send("POST", f"{A}/{kind}", body | purpose, code_, field)
