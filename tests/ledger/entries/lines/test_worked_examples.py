"""Worked examples of entries with lines, in balances and reports (spec 3.19)."""

from datetime import date
from typing import Any, NamedTuple

import pytest

from tests.support.households import (
    DAY,
    ENTRIES,
    OPENING,
    WALLETS,
    A,
    Household,
    category_line,
    wallet_line,
)

OCTOBER = date(2026, 10, 14)
MADE_BY_THE_SERVICE = {"updatedAt", "version"}
Flows = dict[tuple[str, str | None], int]


class Example(NamedTuple):
    type: str
    amount: int
    wallet: str
    # `toWalletId` or `lines`.
    purpose: dict[str, Any]
    changes: dict[str, int]
    flows: Flows


def spent(**amounts: int) -> Flows:
    return {("expense", name): amount for name, amount in amounts.items()}


EXAMPLES = {
    "transfer with a fee": Example(
        "transfer",
        100_500,
        "통장",
        {"lines": [wallet_line(100_000, "적금"), category_line(500, "수수료")]},
        {"통장": -100_500, "적금": 100_000},
        spent(수수료=500),
    ),
    "loan payment": Example(
        "transfer",
        500_000,
        "통장",
        {"lines": [wallet_line(400_000, "대출"), category_line(100_000, "이자")]},
        {"통장": -500_000, "대출": 400_000},
        spent(이자=100_000),
    ),
    "pay slip": Example(
        "income",
        3_000_000,
        "통장",
        {
            "lines": [
                category_line(3_500_000, "급여", "income"),
                category_line(-500_000, "소득세"),
            ]
        },
        {"통장": 3_000_000},
        {("income", "급여"): 3_500_000, ("expense", "소득세"): 500_000},
    ),
    "points and coupon": Example(
        "expense",
        8_500,
        "카드",
        {
            "lines": [
                category_line(10_000, "식비"),
                category_line(-500, "식비"),
                wallet_line(-1_000, "포인트"),
            ]
        },
        {"카드": -8_500, "포인트": -1_000},
        spent(식비=9_500),
    ),
    "paid for friends": Example(
        "expense",
        60_000,
        "카드",
        {"lines": [category_line(20_000, "외식"), wallet_line(40_000, "받을 돈")]},
        {"카드": -60_000, "받을 돈": 40_000},
        spent(외식=20_000),
    ),
    "statement with a refund inside": Example(
        "expense",
        85_000,
        "통장",
        {
            "lines": [
                category_line(60_000, "식료품"),
                category_line(40_000, "가전"),
                category_line(-15_000, "가전"),
            ]
        },
        {"통장": -85_000},
        spent(식료품=60_000, 가전=25_000),
    ),
    "cash withdrawal": Example(
        "transfer",
        70_000,
        "통장",
        {"toWalletId": "현금"},
        {"통장": -70_000, "현금": 70_000},
        {},
    ),
    "top-up": Example(
        "transfer",
        30_000,
        "통장",
        {"toWalletId": "포인트"},
        {"통장": -30_000, "포인트": 30_000},
        {},
    ),
    "card bill": Example(
        "transfer",
        640_000,
        "통장",
        {"toWalletId": "카드"},
        {"통장": -640_000, "카드": 640_000},
        {},
    ),
}


@pytest.fixture(params=list(EXAMPLES))
def example(request: pytest.FixtureRequest) -> Example:
    return EXAMPLES[request.param]


def write(household: Household, example: Example, **fields: Any) -> Any:
    purpose = example.purpose | fields
    return household.write(example.type, example.amount, example.wallet, **purpose)


def income_and_expense(flows: Flows) -> tuple[int, int]:
    income, expense = (
        sum(amount for (type_, _), amount in flows.items() if type_ == wanted)
        for wanted in ("income", "expense")
    )
    return income, expense


def test_example_moves_its_wallets(household: Household, example: Example) -> None:
    write(household, example)
    assert household.changes() == example.changes


def test_example_is_in_every_report_by_its_lines(
    household: Household, example: Example
) -> None:
    write(household, example)
    assert household.categories() == example.flows
    household.assert_flows(*income_and_expense(example.flows))
    month = household.month()
    # A pure transfer is not counted, a split entry once.
    assert month["count"] == (1 if example.flows else 0)
    assert [row["count"] for row in month["byCategory"]] == [1] * len(example.flows)


def test_example_moves_net_worth_by_its_income_less_its_expense(
    household: Household, example: Example
) -> None:
    write(household, example)
    income, expense = income_and_expense(example.flows)
    assert sum(example.changes.values()) == income - expense
    total = household.client.get_json(f"{A}/networth")["total"]
    assert total == len(WALLETS) * OPENING + income - expense
    points = household.client.get_json(f"{A}/networth/trend")["points"]
    assert points[-1]["netWorth"] == total
    assert points[-2]["netWorth"] == len(WALLETS) * OPENING


def test_budgets_spend_the_lines_of_the_example(
    household: Household, example: Example
) -> None:
    expected = {
        name: amount
        for (type_, name), amount in example.flows.items()
        if type_ == "expense"
    }
    for name in {"식비", "수수료", *expected}:
        household.budget(name or "")
    write(household, example)
    status = household.budget_status()
    found = {row["category"]: row["spent"] for row in status["categories"]}
    assert {name: amount for name, amount in found.items() if amount} == expected
    assert status["total"]["spent"] == sum(expected.values())
    query = {"year": DAY.year, "month": DAY.month}
    days = household.client.get_json(f"{A}/budgets/chart", **query)["days"]
    assert days[DAY.day - 2]["spent"] == 0
    assert {row["spent"] for row in days[DAY.day - 1 :]} == {sum(expected.values())}


def test_example_is_shown_as_it_was_written(
    household: Household, example: Example
) -> None:
    entry = write(household, example)
    assert (entry["type"], entry["amount"]) == (example.type, example.amount)
    assert entry["walletId"] == household.ids[example.wallet]
    assert entry["category"] is None
    if "lines" not in example.purpose:
        target = example.purpose["toWalletId"]
        assert entry["toWallet"] == {"id": household.ids[target], "name": target}
        assert (entry["toWalletId"], entry["lines"]) == (household.ids[target], [])
    else:
        assert (entry["toWalletId"], entry["toWallet"]) == (None, None)
        assert_lines(household, entry["lines"], example.purpose["lines"])
    assert household.read(entry) == entry
    assert household.client.get_json(ENTRIES)["results"] == [entry]


def assert_lines(household: Household, lines: Any, sent: list[dict[str, Any]]) -> None:
    assert len(lines) == len(sent)
    for line, each in zip(lines, sent, strict=True):
        assert line["amount"] == each["amount"]
        assert line["category"] == each.get("category")
        if name := each.get("walletId"):
            assert line["walletId"] == household.ids[name]
            assert line["wallet"] == {"id": household.ids[name], "name": name}
            assert line["categoryId"] is None
        else:
            assert (line["walletId"], line["wallet"]) == (None, None)
            assert line["categoryType"] == each["categoryType"]


def test_example_that_was_read_can_be_sent_back_as_it_is(
    household: Household, example: Example
) -> None:
    entry = write(household, example)
    path = f"{ENTRIES}/{entry['id']}"
    for method in ("PUT", "PATCH"):
        again = household.expect(200, method, path, entry)
        assert without_stamps(again) == without_stamps(entry)
    assert household.changes() == example.changes
    assert household.categories() == example.flows


def without_stamps(entry: dict[str, Any]) -> dict[str, Any]:
    """Leave out what a change sets, and the ids of lines, which may be new."""
    kept = {k: v for k, v in entry.items() if k not in MADE_BY_THE_SERVICE}
    lines = [{k: v for k, v in line.items() if k != "id"} for line in entry["lines"]]
    return kept | {"lines": lines}


def test_deleted_example_leaves_nothing(household: Household, example: Example) -> None:
    entry = write(household, example)
    household.expect(204, "DELETE", f"{ENTRIES}/{entry['id']}")
    assert household.changes() == {}
    assert household.month()["byCategory"] == []
    household.assert_flows(0, 0)


def test_example_without_a_category_on_a_line_counts_as_its_type(
    household: Household,
) -> None:
    lines = [category_line(70, None), category_line(-30, None, "income")]
    household.write("expense", 40, "통장", lines=lines)
    assert household.categories() == {("expense", None): 70, ("income", None): 30}
    household.assert_flows(30, 70)


def test_refund_a_month_later_reduces_the_expense_of_its_own_month(
    household: Household,
) -> None:
    bought = household.write(
        "expense", 80_000, "카드", date=OCTOBER.isoformat(), category="의류"
    )
    refund = household.write(
        "income",
        30_000,
        "카드",
        category="의류",
        categoryType="expense",
        refundOf=bought["id"],
    )
    assert (refund["refundOf"], refund["type"]) == (bought["id"], "income")
    assert (refund["category"], refund["categoryType"]) == ("의류", "expense")
    assert household.read(bought)["refunded"] == 30_000
    assert household.changes() == {"카드": -50_000}
    assert household.categories(OCTOBER) == spent(의류=80_000)
    assert household.categories() == spent(의류=-30_000)
    household.assert_flows(0, 80_000, OCTOBER)
    household.assert_flows(0, -30_000)
    (row,) = household.month()["byCategory"]
    assert row["share"] is None
    year = household.client.get_json(f"{A}/statistics/year", year=2026)
    assert (year["income"], year["expense"]) == (0, 50_000)
    assert [row["amount"] for row in year["byCategory"]] == [50_000]


def test_gross_expense_is_the_net_one_and_what_came_back(household: Household) -> None:
    bought = household.write("expense", 80_000, "카드", category="의류")
    household.write(
        "income", 30_000, "카드", categoryType="expense", refundOf=bought["id"]
    )
    month = household.month()
    year = household.client.get_json(f"{A}/statistics/year", year=2026)
    rows = [month, year, year["months"][10], month["byDay"][DAY.day - 1]]
    for row in (*rows, *month["byWallet"]):
        assert (row["expense"], row["refunded"]) == (50_000, 30_000)


def test_refund_without_a_category_takes_that_of_its_original(
    household: Household,
) -> None:
    bought = household.write("expense", 80_000, "카드", category="의류")
    refund = household.write("income", 80_000, "카드", refundOf=bought["id"])
    assert (refund["category"], refund["categoryType"]) == ("의류", "expense")
    household.assert_flows(0, 0)


@pytest.mark.parametrize(
    ("amount", "parts"),
    [
        (100, {"가": 50, "나": 33, "다": 17}),
        # 49.5, 32.67 and 16.83: the largest remainders get the two units left.
        (99, {"가": 49, "나": 33, "다": 17}),
        (2, {"가": 1, "나": 1}),
        (1, {"가": 1}),
    ],
    ids=str,
)
def test_refund_of_a_split_expense_is_split_in_proportion(
    household: Household, amount: int, parts: dict[str, int]
) -> None:
    lines = [
        category_line(each, name)
        for name, each in (("가", 300), ("나", 198), ("다", 102))
    ]
    bought = household.write("expense", 600, "카드", lines=lines)
    refund = household.write("income", amount, "카드", refundOf=bought["id"])
    found = {line["category"]: line["amount"] for line in refund["lines"]}
    if len(parts) == 1:
        # An entry with one line is flat.
        assert found == {}
        found = {refund["category"]: refund["amount"]}
    assert found == parts
    assert {line["categoryType"] for line in refund["lines"]} <= {"expense"}


def test_put_of_no_lines_and_a_category_makes_the_entry_flat_again(
    household: Household,
) -> None:
    lines = [category_line(60, "외식"), wallet_line(40, "받을 돈")]
    entry = household.write("expense", 100, "카드", lines=lines)
    body = household.body("expense", 100, "카드", lines=[], category="외식")
    flat = household.expect(200, "PUT", f"{ENTRIES}/{entry['id']}", body)
    assert (flat["lines"], flat["category"]) == ([], "외식")
    assert household.changes() == {"카드": -100}
    household.assert_flows(0, 100)
