"""Transfers and lines after a move of a wallet or category (spec 3.2, 3.7)."""

from typing import Any

import pytest

from tests.support.households import (
    ENTRIES,
    A,
    Household,
    category_line,
    results,
    wallet_line,
)
from tests.support.problems import assert_problem

SPLIT = [category_line(700, "외식"), category_line(300, "교통")]
TOGETHER = [category_line(60, "외식"), wallet_line(40, "받을 돈")]


# One leg deleted with its wallet, the other left behind


@pytest.mark.parametrize(
    ("wallet", "purpose"),
    [
        ("통장", {"toWalletId": "적금"}),
        ("적금", {"toWalletId": "적금"}),
        ("현금", {"lines": [category_line(90, "외식"), wallet_line(10, "현금")]}),
    ],
    ids=["from", "to", "line"],
)
def test_wallet_of_either_leg_is_in_use(
    household: Household, wallet: str, purpose: dict[str, Any]
) -> None:
    type_ = "expense" if "lines" in purpose else "transfer"
    entry = household.write(type_, 100, "통장", **purpose)
    path = f"{A}/wallets/{household.ids[wallet]}"
    assert_problem(household.client.send("DELETE", path), 409, "IN_USE")
    assert household.read(entry) == entry


@pytest.mark.parametrize(
    ("gone", "legs"),
    [("통장", ("현금", "적금")), ("적금", ("통장", "현금"))],
    ids=["from", "to"],
)
def test_transfer_follows_the_wallet_that_moves(
    household: Household, gone: str, legs: tuple[str, str]
) -> None:
    entry = household.write("transfer", 100, "통장", toWalletId="적금")
    path = f"{A}/wallets/{household.ids[gone]}?moveTo={household.ids['현금']}"
    household.expect(204, "DELETE", path)
    moved = household.read(entry)
    source, target = legs
    assert moved["walletId"] == household.ids[source]
    assert moved["toWallet"] == {"id": household.ids[target], "name": target}
    assert household.changes() == {source: -100, target: 100}
    # It is left whole, and can be edited.
    household.patch(entry, amount=70)
    assert household.changes() == {source: -70, target: 70}
    household.assert_flows(0, 0)


def test_line_follows_the_wallet_that_moves(household: Household) -> None:
    entry = household.write("expense", 100, "카드", lines=TOGETHER)
    source, target = household.ids["받을 돈"], household.ids["현금"]
    household.expect(204, "DELETE", f"{A}/wallets/{source}?moveTo={target}")
    moved = household.read(entry)
    assert [line["walletId"] for line in moved["lines"]] == [None, target]
    household.assert_flows(0, 60)


def test_transfers_between_the_two_wallets_that_become_one_are_removed(
    household: Household,
) -> None:
    gone = household.write("transfer", 100, "통장", toWalletId="적금")
    back = household.write("transfer", 30, "적금", toWalletId="통장")
    kept = household.write("expense", 5, "통장", category="외식")
    source, target = household.ids["통장"], household.ids["적금"]
    household.expect(204, "DELETE", f"{A}/wallets/{source}?moveTo={target}")
    for entry in (gone, back):
        household.expect(404, "GET", f"{ENTRIES}/{entry['id']}")
    assert household.read(kept)["walletId"] == target
    assert results(household) == [household.read(kept)]
    household.assert_flows(0, 5)


MERGED: dict[str, tuple[str, int, list[dict[str, Any]], str, int, int]] = {
    "expense": ("expense", 100, TOGETHER, "받을 돈", 60, -60),
    "transfer": (
        "transfer",
        100_500,
        [wallet_line(100_000, "적금"), category_line(500, "수수료")],
        "적금",
        500,
        -500,
    ),
    "points": (
        "expense",
        8_500,
        [category_line(9_500, "식비"), wallet_line(-1_000, "포인트")],
        "포인트",
        9_500,
        -9_500,
    ),
    "three lines": (
        "expense",
        100,
        [category_line(50, "외식"), category_line(10, "교통"), wallet_line(40, "현금")],
        "현금",
        60,
        -60,
    ),
}


@pytest.mark.parametrize("case", MERGED)
def test_line_between_wallets_that_become_one_leaves_the_other_lines(
    household: Household, case: str
) -> None:
    type_, amount, lines, gone, expense, change = MERGED[case]
    entry = household.write(type_, amount, "카드", lines=lines)
    source, target = household.ids[gone], household.ids["카드"]
    household.expect(204, "DELETE", f"{A}/wallets/{source}?moveTo={target}")
    # The line had no effect on the two together.
    assert household.changes() == {"카드": change}
    household.assert_flows(0, expense)
    left = household.read(entry)
    assert (left["type"], left["amount"]) == ("expense", expense)
    assert target not in [line["walletId"] for line in left["lines"]]
    if left["lines"]:
        assert sum(line["amount"] for line in left["lines"]) == left["amount"]
        assert len(left["lines"]) > 1
    # It can be changed as any other entry.
    assert household.patch(entry, memo="다시")["memo"] == "다시"


# What a move leaves of these is no entry of two lines or more.
REMNANTS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "a wallet line": ("expense", [wallet_line(60, "현금"), wallet_line(40, "적금")]),
    "income from a wallet": (
        "income",
        [wallet_line(60, "현금"), wallet_line(40, "적금")],
    ),
    "lines that add up to 0": (
        "expense",
        [
            category_line(50, "외식"),
            category_line(-50, "교통"),
            wallet_line(100, "현금"),
        ],
    ),
    "lines below 0": (
        "expense",
        [
            category_line(-20, "외식"),
            category_line(-10, "교통"),
            wallet_line(130, "현금"),
        ],
    ),
}


@pytest.mark.parametrize("case", REMNANTS)
def test_move_of_a_wallet_keeps_all_other_effects_of_a_line(
    household: Household, case: str
) -> None:
    type_, lines = REMNANTS[case]
    household.write(type_, 100, "카드", lines=lines)
    changes, flows = household.changes(), household.categories()
    source, target = household.ids["현금"], household.ids["카드"]
    path = f"{A}/wallets/{source}?moveTo={target}"
    response = household.client.send("DELETE", path)
    # What no entry can say may be refused; it is not lost.
    assert response.status_code in {204, 409}, response.content
    if response.status_code == 204:
        merged = changes.pop("카드", 0) + changes.pop("현금", 0)
        changes |= {"카드": merged} if merged else {}
    assert household.changes() == changes
    assert household.categories() == flows
    for entry in results(household):
        assert_is_whole(household, entry)


def test_move_of_a_category_leaves_a_transfer_of_a_split(household: Household) -> None:
    lines = [
        category_line(60, "외식"),
        category_line(-60, "교통"),
        wallet_line(40, "현금"),
    ]
    household.write("expense", 40, "카드", lines=lines)
    ids = {
        row["name"]: row["id"] for row in household.client.get_json(f"{A}/categories")
    }
    path = f"{A}/categories/{ids['교통']}?moveTo={ids['외식']}"
    household.expect(204, "DELETE", path)
    assert household.changes() == {"카드": -40, "현금": 40}
    household.assert_flows(0, 0)
    (entry,) = results(household)
    assert_is_whole(household, entry)


def assert_is_whole(household: Household, entry: dict[str, Any]) -> None:
    """Assert that a client could have written the entry: it can be sent again."""
    assert len(entry["lines"]) != 1
    changes, flows = household.changes(), household.categories()
    path = f"{ENTRIES}/{entry['id']}"
    household.expect(200, "PUT", path, entry)
    body = {name: value for name, value in entry.items() if name != "id"}
    again = household.expect(201, "POST", ENTRIES, body)
    household.expect(204, "DELETE", f"{ENTRIES}/{again['id']}")
    assert (household.changes(), household.categories()) == (changes, flows)


def test_lines_of_categories_that_become_one_are_merged(household: Household) -> None:
    entry = household.write("expense", 1_000, "카드", lines=SPLIT)
    rows = household.client.get_json(f"{A}/categories")
    ids = {row["name"]: row["id"] for row in rows}
    path = f"{A}/categories/{ids['교통']}"
    assert_problem(household.client.send("DELETE", path), 409, "IN_USE")
    household.expect(204, "DELETE", f"{path}?moveTo={ids['외식']}")
    moved = household.read(entry)
    # One line is an entry that is flat.
    assert (moved["lines"], moved["category"]) == ([], "외식")
    assert household.categories() == {("expense", "외식"): 1_000}
    (row,) = household.month()["byCategory"]
    assert row["count"] == 1


def test_renamed_category_has_its_new_name_in_lines(household: Household) -> None:
    entry = household.write("expense", 1_000, "카드", lines=SPLIT)
    rows = household.client.get_json(f"{A}/categories")
    ids = {row["name"]: row["id"] for row in rows}
    path = f"{A}/categories/{ids['교통']}"
    household.expect(200, "PATCH", path, {"name": "버스"})
    assert [line["category"] for line in household.read(entry)["lines"]] == [
        "외식",
        "버스",
    ]
