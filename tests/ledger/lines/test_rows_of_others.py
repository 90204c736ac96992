"""Rows of others in transfers, lines and refunds are like missing ones."""

from typing import Any

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_wallet
from tests.support.households import ENTRIES, A, Household, category_line
from tests.support.problems import assert_problem
from tests.support.refusals import LINE_WALLET, TWO, Refusals, expense
from tests.support.routes import MISSING_ID


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
