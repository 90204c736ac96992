"""Transfers, splits, refunds and excluded entries in every report (spec 3.19)."""

from datetime import date, timedelta
from typing import Any

import pytest

from tests.support.households import (
    DAY,
    ENTRIES,
    OPENING,
    STATISTICS,
    A,
    Household,
    category_line,
    results,
    row_of,
    wallet_line,
)
from tests.support.problems import assert_problem

SPLIT = [category_line(700, "외식"), category_line(300, "교통")]
TOGETHER = [category_line(60, "외식"), wallet_line(40, "받을 돈")]
TRANSFERS: dict[str, tuple[int, dict[str, Any]]] = {
    "flat": (40, {"toWalletId": "적금"}),
    "in lines": (40, {"lines": [wallet_line(30, "적금"), wallet_line(10, "현금")]}),
}


# Transfers counted as income and expense in one report and not in another


@pytest.mark.parametrize("shape", TRANSFERS)
def test_transfer_is_neither_income_nor_expense_in_any_report(
    household: Household, shape: str
) -> None:
    amount, purpose = TRANSFERS[shape]
    household.write("transfer", amount, "통장", **purpose)
    household.assert_flows(0, 0)
    month = household.month()
    assert (month["count"], month["byCategory"]) == (0, [])
    assert month["transfers"] == {"amount": 40, "count": 1}
    query = {"year": DAY.year, "month": DAY.month}
    chart = household.client.get_json(f"{A}/budgets/chart", **query)["days"]
    assert {row["spent"] for row in chart} == {0}


def test_filter_of_types_finds_transfers(household: Household) -> None:
    entry = household.write("transfer", 40, "통장", toWalletId="적금")
    household.write("expense", 5, "현금")
    assert [row["id"] for row in results(household, type="transfer")] == [entry["id"]]


@pytest.mark.parametrize("frequency", ["MONTHLY", "DAILY"])
@pytest.mark.parametrize("shape", TRANSFERS)
def test_recurring_transfer_books_transfers(
    household: Household, shape: str, frequency: str
) -> None:
    amount, purpose = TRANSFERS[shape]
    body = household.body("transfer", amount, "통장", **purpose)
    del body["date"]
    body |= {"name": "적금", "frequency": frequency, "anchorDate": "2026-11-21"}
    rule = household.expect(201, "POST", f"{A}/recurring", body)
    assert rule["toWalletId"] == body.get("toWalletId")
    household.client.send("POST", f"{A}/recurring/{rule['id']}/run")
    (entry,) = results(household)
    assert (entry["type"], entry["source"]) == ("transfer", "RECURRING")
    assert entry["toWalletId"] == body.get("toWalletId")
    sent = [(line["amount"], line["walletId"]) for line in body.get("lines", [])]
    assert [(each["amount"], each["walletId"]) for each in entry["lines"]] == sent
    assert household.changes()["통장"] == -amount
    household.assert_flows(0, 0, date(2026, 11, 21))


def test_quick_entry_keeps_its_lines(household: Household) -> None:
    lines = [category_line(60, "외식"), wallet_line(40, "받을 돈")]
    body = household.body("expense", 100, "카드", lines=lines) | {"name": "회식"}
    del body["date"]
    made = household.expect(201, "POST", f"{A}/quick-entries", body)
    path = f"{A}/quick-entries/{made['id']}"
    assert household.client.get_json(path) == made
    assert [line["amount"] for line in made["lines"]] == [60, 40]
    assert [line["category"] for line in made["lines"]] == ["외식", None]
    again = household.expect(200, "PUT", path, made)
    assert [line["amount"] for line in again["lines"]] == [60, 40]
    # What it names is in use.
    source = household.ids["받을 돈"]
    response = household.client.send("DELETE", f"{A}/wallets/{source}")
    assert_problem(response, 409, "IN_USE")


def test_transfers_are_summed_in_each_period(household: Household) -> None:
    household.write("transfer", 40, "통장", toWalletId="적금")
    household.write("transfer", 7, "적금", toWalletId="현금")
    household.write("expense", 5, "현금", category="외식")
    expected = {"amount": 47, "count": 2}
    assert household.month()["transfers"] == expected
    year = household.client.get_json(f"{STATISTICS}/year", year=DAY.year)
    assert year["months"][DAY.month - 1]["transfers"] == expected
    assert year["months"][0]["transfers"] == {"amount": 0, "count": 0}
    span = {"from": DAY.isoformat(), "to": DAY.isoformat()}
    body = household.client.get_json(f"{STATISTICS}/range", **span)
    assert [point["transfers"] for point in body["points"]] == [expected]


def test_wallets_show_what_went_in_and_out_by_transfers(household: Household) -> None:
    lines = [category_line(60, "외식"), wallet_line(40, "받을 돈")]
    household.write("expense", 100, "카드", lines=lines)
    household.write("transfer", 7, "통장", toWalletId="카드")
    household.write("income", 5, "카드", category="캐시백")
    rows = household.month()["byWallet"]
    names = ("income", "expense", "transferIn", "transferOut")
    found = {row["name"]: tuple(row[each] for each in names) for row in rows}
    assert found == {
        "통장": (0, 0, 0, 7),
        "카드": (5, 60, 7, 40),
        "받을 돈": (0, 0, 40, 0),
    }
    # Each balance moves by just these.
    for name, (income, expense, moved_in, moved_out) in found.items():
        change = income - expense + moved_in - moved_out
        assert household.changes()[name] == change


# Splits counted by parent and by child, or by neither


def test_split_is_counted_once_in_every_report(household: Household) -> None:
    household.budget("외식")
    household.budget("교통")
    household.write("expense", 1_000, "카드", lines=SPLIT, tags=["여행"])
    household.assert_flows(0, 1_000)
    month = household.month()
    assert month["count"] == 1
    assert household.categories() == {
        ("expense", "외식"): 700,
        ("expense", "교통"): 300,
    }
    tag = row_of(month["byTag"], tag="여행")
    assert (tag["expense"], tag["count"]) == (1_000, 1)
    assert household.budget_status()["total"]["spent"] == 1_000


def test_split_with_two_lines_of_a_category_counts_once_in_it(
    household: Household,
) -> None:
    lines = [category_line(700, "외식"), category_line(300, "외식")]
    household.write("expense", 1_000, "카드", lines=lines)
    (row,) = household.month()["byCategory"]
    assert (row["amount"], row["count"]) == (1_000, 1)


def test_budget_of_a_major_category_covers_lines_of_its_minor_ones(
    household: Household,
) -> None:
    major = household.expect(
        201, "POST", f"{A}/categories", {"type": "expense", "name": "식비"}
    )
    minor = {"type": "expense", "name": "외식", "parentId": major["id"]}
    household.expect(201, "POST", f"{A}/categories", minor)
    household.budget("식비")
    lines = [
        category_line(700, "외식"),
        category_line(200, "식비"),
        category_line(9, "교통"),
    ]
    household.write("expense", 909, "카드", lines=lines)
    assert household.budget_status()["total"]["spent"] == 900


def test_category_filter_shows_a_split_once_with_its_share(
    household: Household,
) -> None:
    lines = [*SPLIT, category_line(50, "외식")]
    entry = household.write("expense", 1_050, "카드", lines=lines)
    (found,) = results(household, category="외식")
    assert (found["id"], found["amount"]) == (entry["id"], 1_050)
    assert found["matchedAmount"] == 750
    (found,) = results(household, category="교통")
    assert found["matchedAmount"] == 300
    assert results(household, category="없음") == []
    assert len(results(household)) == 1


def test_split_can_be_edited_line_by_line(household: Household) -> None:
    entry = household.write("expense", 1_000, "카드", lines=SPLIT)
    lines = [category_line(1, "외식"), category_line(1_999, "선물")]
    household.patch(entry, amount=2_000, lines=lines)
    assert household.categories() == {
        ("expense", "선물"): 1_999,
        ("expense", "외식"): 1,
    }
    household.assert_flows(0, 2_000)


# Transfers within splits forgotten


def test_transfer_within_a_split_moves_both_wallets_when_it_changes(
    household: Household,
) -> None:
    entry = household.write("expense", 100, "카드", lines=TOGETHER)
    assert household.changes() == {"카드": -100, "받을 돈": 40}
    lines = [category_line(90, "외식"), wallet_line(10, "현금")]
    household.patch(entry, lines=lines)
    assert household.changes() == {"카드": -100, "현금": 10}
    household.patch(entry, walletId="통장")
    assert household.changes() == {"통장": -100, "현금": 10}
    household.expect(204, "DELETE", f"{ENTRIES}/{entry['id']}")
    assert household.changes() == {}


@pytest.mark.parametrize("wallet", ["카드", "받을 돈"])
def test_history_of_a_wallet_has_moves_from_either_side(
    household: Household, wallet: str
) -> None:
    day = DAY.isoformat()
    household.write("expense", 100, "카드", lines=TOGETHER)
    household.write("transfer", 7, "받을 돈", toWalletId="카드")
    household.write("expense", 5, "통장", category="외식")
    path = f"{A}/wallets/{household.ids[wallet]}/history"
    body = household.client.get_json(path, **{"from": day, "to": day})
    rows = body["results"]
    changes = [row["change"] for row in rows]
    assert changes == ([-100, 7] if wallet == "카드" else [40, -7])
    after = [OPENING + changes[0], OPENING + sum(changes)]
    assert [row["balanceAfter"] for row in rows] == after
    balance = household.changes()[wallet]
    assert rows[-1]["balanceAfter"] == OPENING + balance


# A refund dropped, clamped to 0, or taken for income


def test_refund_above_the_expense_of_the_month_is_negative_in_every_report(
    household: Household,
) -> None:
    household.budget("의류")
    earlier = (DAY - timedelta(40)).isoformat()
    bought = household.write("expense", 900, "카드", date=earlier, category="의류")
    household.write("expense", 100, "카드", category="의류", tags=["여행"])
    household.write("expense", 50, "카드", category="외식")
    household.write(
        "income", 700, "카드", refundOf=bought["id"], category="의류", tags=["여행"]
    )
    household.assert_flows(0, -550)
    month = household.month()
    shares = {row["category"]: row["share"] for row in month["byCategory"]}
    amounts = {row["category"]: row["amount"] for row in month["byCategory"]}
    assert amounts == {"외식": 50, "의류": -600}
    assert shares == {"외식": 1, "의류": None}
    (tag,) = month["byTag"]
    assert (tag["income"], tag["expense"], tag["count"]) == (0, -600, 2)
    status = household.budget_status()
    row = row_of(status["categories"], category="의류")
    assert (row["spent"], row["remaining"]) == (-600, 1_000_600)
    query = {"year": DAY.year, "month": DAY.month}
    chart = household.client.get_json(f"{A}/budgets/chart", **query)["days"]
    assert chart[-1]["spent"] == -600
    assert household.changes() == {"카드": -350}


def test_refund_without_an_original_is_still_no_income(household: Household) -> None:
    household.write("income", 700, "카드", category="의류", categoryType="expense")
    household.assert_flows(0, -700)
    assert household.categories() == {("expense", "의류"): -700}


def test_category_type_also_types_a_category_that_is_made(household: Household) -> None:
    household.write("income", 700, "카드", category="의류", categoryType="expense")
    (category,) = household.client.get_json(f"{A}/categories")
    assert (category["name"], category["type"]) == ("의류", "expense")


def test_income_that_is_paid_back_reduces_income(household: Household) -> None:
    household.write("expense", 300, "통장", category="급여", categoryType="income")
    household.assert_flows(-300, 0)
    assert household.categories() == {("income", "급여"): -300}
    assert household.changes() == {"통장": -300}


def test_shares_are_of_the_positive_categories(household: Household) -> None:
    for amount, name in ((300, "외식"), (100, "교통")):
        household.write("expense", amount, "카드", category=name)
    household.write("income", 900, "카드", category="의류", categoryType="expense")
    rows = household.month()["byCategory"]
    found = [(row["category"], row["amount"], row["share"]) for row in rows]
    assert found[2] == ("의류", -900, None)
    assert [(name, amount) for name, amount, _ in found[:2]] == [
        ("외식", 300),
        ("교통", 100),
    ]
    assert [float(share) for _, _, share in found[:2]] == [0.75, 0.25]


def test_refund_that_is_deleted_or_changed_gives_back_what_it_took(
    household: Household,
) -> None:
    bought = household.write("expense", 900, "카드", category="의류")
    refund = household.write("income", 700, "카드", refundOf=bought["id"])
    assert household.read(bought)["refunded"] == 700
    household.patch(refund, amount=900)
    assert household.read(bought)["refunded"] == 900
    household.assert_flows(0, 0)
    household.expect(204, "DELETE", f"{ENTRIES}/{refund['id']}")
    assert household.read(bought)["refunded"] == 0
    household.assert_flows(0, 900)


def test_refund_outlives_its_original(household: Household) -> None:
    bought = household.write("expense", 900, "카드", category="의류")
    refund = household.write("income", 700, "카드", refundOf=bought["id"])
    household.expect(204, "DELETE", f"{ENTRIES}/{bought['id']}")
    left = household.read(refund)
    assert left["refundOf"] is None
    assert (left["category"], left["categoryType"]) == ("의류", "expense")
    household.assert_flows(0, -700)


# A pay slip in lines ignored by the report of income


def test_pay_slip_is_income_before_tax_in_every_report(household: Household) -> None:
    lines = [
        category_line(3_500_000, "급여", "income"),
        category_line(-400_000, "소득세"),
        category_line(-100_000, "건강보험"),
    ]
    household.write("income", 3_000_000, "통장", lines=lines)
    household.assert_flows(3_500_000, 500_000)
    assert household.categories() == {
        ("expense", "소득세"): 400_000,
        ("expense", "건강보험"): 100_000,
        ("income", "급여"): 3_500_000,
    }
    assert household.month()["count"] == 1


# The flag of left-out entries honored in three places and forgotten in two


@pytest.mark.parametrize(
    "purpose",
    [
        {"category": "외식"},
        {"lines": [category_line(60, "외식"), category_line(40, "교통")]},
    ],
    ids=["flat", "split"],
)
def test_excluded_entry_is_in_balances_and_in_no_report(
    household: Household, purpose: dict[str, Any]
) -> None:
    household.budget("외식")
    household.budget("교통")
    entry = household.write(
        "expense", 100, "카드", excluded=True, tags=["여행"], **purpose
    )
    assert entry["excluded"] is True
    assert household.changes() == {"카드": -100}
    total = household.client.get_json(f"{A}/networth")["total"]
    assert total == 7 * OPENING - 100
    points = household.client.get_json(f"{A}/networth/trend")["points"]
    assert points[-1]["netWorth"] == total
    household.assert_flows(0, 0)
    month = household.month()
    assert (month["count"], month["byCategory"], month["byTag"]) == (0, [], [])
    assert month["excluded"] == {"income": 0, "expense": 100, "count": 1}
    status = household.budget_status()
    assert [row["spent"] for row in status["categories"]] == [0, 0]
    query = {"year": DAY.year, "month": DAY.month}
    chart = household.client.get_json(f"{A}/budgets/chart", **query)["days"]
    assert chart[-1]["spent"] == 0
    # Flipping the flag is the whole difference.
    household.patch(entry, excluded=False)
    household.assert_flows(0, 100)
    household.patch(entry, excluded=True)
    household.assert_flows(0, 0)


def test_excluded_entries_are_told_in_each_period(household: Household) -> None:
    household.write("expense", 100, "카드", excluded=True, category="외식")
    household.write("income", 30, "통장", excluded=True)
    expected = {"income": 30, "expense": 100, "count": 2}
    year = household.client.get_json(f"{STATISTICS}/year", year=DAY.year)
    assert year["months"][DAY.month - 1]["excluded"] == expected
    span = {"from": DAY.isoformat(), "to": DAY.isoformat()}
    body = household.client.get_json(f"{STATISTICS}/range", **span)
    assert [point["excluded"] for point in body["points"]] == [expected]


def test_excluded_transfer_moves_wallets_and_is_no_transfer_of_the_month(
    household: Household,
) -> None:
    household.write("transfer", 40, "통장", toWalletId="적금", excluded=True)
    assert household.changes() == {"통장": -40, "적금": 40}
    assert household.month()["transfers"] == {"amount": 0, "count": 0}


LEARNED: dict[str, dict[str, object]] = {
    "excluded": {"excluded": True, "category": "외식"},
    "refund": {"type": "income", "categoryType": "expense", "category": "외식"},
    "split": {"lines": SPLIT},
}


@pytest.mark.parametrize("kind", LEARNED)
def test_nothing_is_learned_from_left_out_split_and_refunded_entries(
    household: Household, kind: str
) -> None:
    body: dict[str, object] = {"date": DAY.isoformat(), "type": "expense"}
    body |= {"amount": 1_000, "memo": "소담분식", "walletId": "카드"} | LEARNED[kind]
    household.expect(201, "POST", ENTRIES, household.resolve(body))
    text = "[현대카드]-승인\n홍*동님\n4,500원(일시불)\n소담분식\n누적:282,000원"
    answer = household.expect(201, "POST", f"{ENTRIES}/notification", {"text": text})
    assert answer["entry"]["memo"] == "소담분식"
    assert answer["entry"]["category"] is None
