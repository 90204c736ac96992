"""PUT and PATCH of an entry: what is kept, and what is cleared (spec 3.19)."""

from typing import Any

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.households import ENTRIES, A, Household, category_line, wallet_line
from tests.support.refusals import TWO

SPLIT = [category_line(60, "외식"), wallet_line(40, "받을 돈")]
# The fields that a PUT always sets; it keeps the others unless they are sent.
SET_FIELDS = (
    "date",
    "type",
    "amount",
    "category",
    "walletId",
    "memo",
    "tags",
    "currency",
    "originalAmount",
    "exchangeRate",
    "installmentMonths",
)
KEPT = (
    "toWalletId",
    "categoryType",
    "refundOf",
    "time",
    "excluded",
    "source",
)


def put(household: Household, entry: Any, **changes: Any) -> Any:
    """Send the fields that a PUT always sets, with some changes."""
    body = {name: entry[name] for name in SET_FIELDS} | changes
    return household.expect(200, "PUT", f"{ENTRIES}/{entry['id']}", body)


def line_values(entry: Any) -> list[Any]:
    names = ("amount", "category", "categoryType", "walletId", "memo")
    return [tuple(line[name] for name in names) for line in entry["lines"]]


def assert_kept(household: Household, entry: Any) -> None:
    changed = put(household, entry, memo="다시")
    assert changed["memo"] == "다시"
    assert {n: changed[n] for n in KEPT} == {n: entry[n] for n in KEPT}
    assert line_values(changed) == line_values(entry)


def test_put_keeps_the_fields_that_it_leaves_out(household: Household) -> None:
    bought = household.write(
        "expense", 100, "카드", category="의류", time="08:31", excluded=True
    )
    assert_kept(household, bought)
    refund = household.write(
        "income", 40, "카드", category="의류", refundOf=bought["id"]
    )
    assert_kept(household, refund)
    assert household.read(bought)["refunded"] == 40
    assert_kept(household, household.write("transfer", 7, "통장", toWalletId="적금"))


def test_put_keeps_the_lines_that_it_leaves_out(household: Household) -> None:
    lines = [SPLIT[0] | {"memo": "내 몫"}, SPLIT[1] | {"memo": "친구"}]
    assert_kept(household, household.write("expense", 100, "카드", lines=lines))
    assert household.changes() == {"카드": -100, "받을 돈": 40}
    household.assert_flows(0, 60)


def test_null_and_empty_lists_clear_what_a_put_sends(household: Household) -> None:
    bought = household.write("expense", 100, "카드", category="의류", time="08:31")
    refund = household.write(
        "income", 40, "카드", category="의류", refundOf=bought["id"]
    )
    changed = put(household, bought, time=None)
    assert changed["time"] is None
    changed = put(household, refund, refundOf=None)
    assert (changed["refundOf"], changed["categoryType"]) == (None, "expense")
    assert household.read(bought)["refunded"] == 0
    split = household.write("expense", 100, "카드", lines=SPLIT)
    changed = put(household, split, lines=[], category="외식")
    assert (changed["lines"], changed["category"]) == ([], "외식")


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_entry_that_changes_its_type_becomes_no_refund(
    household: Household, method: str
) -> None:
    entry = household.write("expense", 100, "카드", category="선물")
    body = {"type": "income", "category": "선물"}
    if method == "PUT":
        body = household.body("income", 100, "카드", category="선물")
    changed = household.expect(200, method, f"{ENTRIES}/{entry['id']}", body)
    assert (changed["type"], changed["categoryType"]) == ("income", "income")
    household.assert_flows(100, 0)


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
