"""Merges with a fee or another date, what they give up, dismissed pairs (contract C5)."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.factories import make_entry, make_wallet
from tests.support.households import (
    DAY,
    ENTRIES,
    Body,
    Household,
    category_line,
    wallet_line,
)
from tests.support.problems import assert_invalid, assert_problem
from tests.support.refusals import Refusals
from tests.support.rollups import assert_rollups_are_right

CANDIDATES = f"{ENTRIES}/transfer-candidates"


def write_pair(
    household: Household, out: int = 10_500, into: int = 10_000, days: int = 0
) -> tuple[Body, Body]:
    later = DAY + timedelta(days)
    return (
        household.write("expense", out, "통장", memo="출금", tags=["하나"]),
        household.write(
            "income", into, "현금", date=later.isoformat(), time="09:05", memo="입금"
        ),
    )


def merge(household: Household, pair: tuple[Body, Body], **fields: Any) -> Body:
    path = f"{ENTRIES}/{pair[0]['id']}/merge"
    body = {"with": pair[1]["id"]} | fields
    merged: Body = household.expect(200, "POST", path, body)
    return merged


def unmerge(household: Household, entry: Body, body: Any = None) -> list[Body]:
    path = f"{ENTRIES}/{entry['id']}/unmerge"
    both: list[Body] = household.expect(200, "POST", path, body)
    return both


def comparable(rows: Any) -> list[Body]:
    left_out = {"updatedAt", "givenUp"}
    return [
        {name: value for name, value in row.items() if name not in left_out}
        for row in rows
    ]


@pytest.mark.parametrize("by_id", [False, True])
def test_fee_becomes_a_line(household: Household, by_id: bool) -> None:
    pair = write_pair(household)
    fee: Body = {"category": "수수료"}
    if by_id:
        known = household.write("expense", 1, None, category="수수료")
        household.expect(204, "DELETE", f"{ENTRIES}/{known['id']}")
        fee = {"categoryId": known["categoryId"]}
    merged = merge(household, pair, fee=fee)
    assert (merged["type"], merged["amount"], merged["merged"]) == (
        "transfer",
        10_500,
        True,
    )
    lines = [
        (line["amount"], line["walletId"], line["category"]) for line in merged["lines"]
    ]
    assert lines == [(10_000, household.ids["현금"], None), (500, None, "수수료")]
    assert household.changes() == {"통장": -10_500, "현금": 10_000}
    household.assert_flows(0, 500)
    both = unmerge(household, merged)
    assert comparable(both) == comparable(pair)
    value = {"amount": 500, "category": "수수료", "memo": ""}
    assert both[0]["givenUp"] == [{"field": "fee", "value": value}]
    assert_rollups_are_right()


def test_fee_needs_no_category(household: Household) -> None:
    merged = merge(household, write_pair(household), fee={})
    assert merged["lines"][1]["category"] is None


@pytest.mark.parametrize(
    ("out", "into", "body", "field"),
    [
        (10_500, 10_000, {}, "with"),
        (11_001, 10_000, {"fee": {}}, "fee"),
        (10_000, 10_000, {"fee": {}}, "fee"),
        (10_000, 10_500, {"fee": {}}, "with"),
        (10_500, 10_000, {"fee": {"categoryId": 0}}, "fee.categoryId"),
        (10_500, 10_000, {"fee": {"category": "a" * 101}}, "fee.category"),
        (10_500, 10_000, {"fee": {}, "date": "2026-11-20"}, "date"),
    ],
)
def test_merge_that_does_not_fit_is_refused(
    household: Household,
    refusals: Refusals,
    out: int,
    into: int,
    body: Body,
    field: str,
) -> None:
    expense, income = write_pair(household, out, into)
    path = f"{ENTRIES}/{expense['id']}/merge"
    body = {"with": income["id"]} | body
    refusals.send("POST", path, body, "VALIDATION_ERROR", field)


def test_largest_fee_is_a_tenth_of_the_income(household: Household) -> None:
    merged = merge(household, write_pair(household, 11_000, 10_000), fee={})
    assert merged["lines"][1]["amount"] == 1_000


@pytest.mark.parametrize("days", [-31, -1, 0, 31])
def test_either_may_come_first(household: Household, days: int) -> None:
    merged = merge(household, write_pair(household, 500, 500, days))
    assert merged["date"] == DAY.isoformat()
    # The expense has no time.
    assert merged["time"] == "09:05"


@pytest.mark.parametrize("days", [-32, 32])
def test_pair_of_far_days_is_refused(household: Household, days: int) -> None:
    expense, income = write_pair(household, 500, 500, days)
    path = f"{ENTRIES}/{expense['id']}/merge"
    response = household.client.send("POST", path, {"with": income["id"]})
    assert_invalid(response, "with")


def test_transfer_can_have_the_date_of_the_income(household: Household) -> None:
    expense, income = write_pair(household, 500, 500, 2)
    household.patch(expense, time="23:50")
    merged = merge(household, (expense, income), date=income["date"])
    assert (merged["date"], merged["time"]) == (income["date"], "09:05")
    assert unmerge(household, merged)[0]["givenUp"] == []


def test_expense_with_a_refund_by_a_line_is_not_merged(household: Household) -> None:
    expense, income = write_pair(household, 500, 500)
    lines = [
        category_line(100, None) | {"refundOf": expense["id"]},
        category_line(1, "이자", "income"),
    ]
    household.write("income", 101, "현금", lines=lines)
    path = f"{ENTRIES}/{expense['id']}/merge"
    response = household.client.send("POST", path, {"with": income["id"]})
    assert_invalid(response, "with")
    assert household.client.get_json(CANDIDATES) == []


def test_what_the_transfer_was_given_since_is_named(household: Household) -> None:
    pair = write_pair(household, 500, 500)
    merged = merge(household, pair)
    changed = household.patch(
        merged,
        date="2026-11-25",
        time="10:00",
        memo="이사",
        tags=["하나", "둘"],
        excluded=True,
        amount=600,
        toWalletId=None,
        lines=[wallet_line(560, "현금"), category_line(40, "수수료")],
    )
    preview = unmerge(household, merged, {"dryRun": True})
    assert household.read(merged) == changed
    both = unmerge(household, merged)
    assert comparable(both) == comparable(preview)
    fee = {"amount": 40, "category": "수수료", "memo": ""}
    assert both[0]["givenUp"] == [
        {"field": "date", "value": "2026-11-25"},
        {"field": "time", "value": "10:00"},
        {"field": "memo", "value": "이사"},
        {"field": "tags", "value": ["둘"]},
        {"field": "excluded", "value": True},
        {"field": "fee", "value": fee},
    ]
    assert "givenUp" not in both[1]
    assert [each["amount"] for each in both] == [600, 560]
    own = {"date", "time", "memo", "tags", "excluded"}
    for new, old in zip(both, pair, strict=True):
        assert {name: new[name] for name in own} == {name: old[name] for name in own}
    assert_rollups_are_right()


def test_transfer_to_two_wallets_does_not_come_apart(household: Household) -> None:
    merged = merge(household, write_pair(household, 500, 500))
    lines = [wallet_line(300, "현금"), wallet_line(200, "적금")]
    household.patch(merged, toWalletId=None, lines=lines)
    response = household.client.send("POST", f"{ENTRIES}/{merged['id']}/unmerge")
    assert_problem(response, 409, "IN_USE")


def test_only_a_merged_transfer_is_merged(household: Household) -> None:
    plain = household.write("transfer", 500, "통장", toWalletId="현금")
    merged = merge(household, write_pair(household, 500, 500))
    assert [household.read(each)["merged"] for each in (plain, merged)] == [False, True]
    assert not unmerge(household, merged)[0]["merged"]


def dismiss(household: Household, pair: tuple[Body, Body], **fields: Any) -> None:
    body = {"outId": pair[0]["id"], "inId": pair[1]["id"]} | fields
    household.expect(204, "POST", f"{CANDIDATES}/dismiss", body)


def list_pairs(household: Household) -> list[tuple[int, int]]:
    rows = household.client.get_json(CANDIDATES)
    return [(row["outId"], row["inId"]) for row in rows]


def test_dismissed_pair_is_offered_no_more_until_it_is_taken_back(
    household: Household,
) -> None:
    pair = write_pair(household, 500, 500)
    ids = [(pair[0]["id"], pair[1]["id"])]
    assert list_pairs(household) == ids
    for _ in range(2):
        dismiss(household, pair)
    assert list_pairs(household) == []
    dismiss(household, pair, dismissed=False)
    assert list_pairs(household) == ids


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(
    "change", [{"amount": 501}, {"date": "2026-11-19"}, {"walletId": "적금"}]
)
def test_pair_is_offered_again_once_one_of_them_changes(
    household: Household, which: int, change: Body
) -> None:
    pair = write_pair(household, 500, 500)
    dismiss(household, pair)
    household.patch(pair[which], memo="다른 메모")
    assert list_pairs(household) == []
    household.patch(pair[which], **change)
    if "amount" in change:
        household.patch(pair[1 - which], **change)
    assert list_pairs(household) == [(pair[0]["id"], pair[1]["id"])]


def test_entries_of_a_dismissed_pair_are_paired_with_others(
    household: Household,
) -> None:
    pair = write_pair(household, 500, 500)
    other = household.write("income", 500, "적금")
    dismiss(household, pair)
    assert list_pairs(household) == [(pair[0]["id"], other["id"])]


def test_dismissed_pair_can_be_merged_all_the_same(household: Household) -> None:
    pair = write_pair(household, 500, 500)
    dismiss(household, pair)
    assert merge(household, pair)["type"] == "transfer"


def test_pair_that_is_none_cannot_be_dismissed(
    household: Household, refusals: Refusals, other_member: Any
) -> None:
    expense, income = write_pair(household, 500, 500)
    wallet = make_wallet(other_member)
    theirs = make_entry(other_member, wallet=wallet)
    for out_id, in_id, field in (
        (income["id"], income["id"], "outId"),
        (expense["id"], expense["id"], "inId"),
        (theirs.pk, income["id"], "outId"),
        (expense["id"], 0, "inId"),
        (household.write("expense", 500, None)["id"], income["id"], "outId"),
    ):
        for dismissed in (True, False):
            body = {"outId": out_id, "inId": in_id, "dismissed": dismissed}
            path = f"{CANDIDATES}/dismiss"
            refusals.send("POST", path, body, "VALIDATION_ERROR", field)


def test_fee_leaves_out_dismissed_pairs(household: Household) -> None:
    pair = write_pair(household)
    other = household.write("income", 10_100, "적금")
    assert list_pairs(household) == []
    dismiss(household, pair)
    assert list_pairs(household) == [(pair[0]["id"], other["id"])]
