"""Split entries that move: how large they get, their memos, how many at once."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.api.fields import MAX_AMOUNT
from ledger.models import MemoRollup, QuickEntry, RecurringRule
from tests.support.clients import JSONClient
from tests.support.households import ENTRIES, A, Household, category_line, wallet_line
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db

SPLIT = [
    category_line(700, "외식") | {"memo": "김밥"},
    category_line(300, "교통") | {"memo": "버스"},
]
LENT = [*SPLIT, wallet_line(40, "현금") | {"memo": "빌려줌"}]


@pytest.fixture
def household(client: JSONClient) -> Household:
    return Household(client)


def move_category(household: Household, source: str, target: str) -> None:
    rows = household.client.get_json(f"{A}/categories")
    ids = {row["name"]: row["id"] for row in rows}
    path = f"{A}/categories/{ids[source]}?moveTo={ids[target]}"
    household.expect(204, "DELETE", path)


def move_wallet(
    household: Household, source: str, target: str, status: int = 204
) -> None:
    ids = household.ids
    path = f"{A}/wallets/{ids[source]}?moveTo={ids[target]}"
    household.expect(status, "DELETE", path)


def results(household: Household) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = household.client.get_json(ENTRIES)["results"]
    return rows


def assert_can_be_sent_again(household: Household, entry: dict[str, Any]) -> None:
    household.expect(200, "PUT", f"{ENTRIES}/{entry['id']}", entry)


def test_lines_that_are_too_large_together_stay_apart(household: Household) -> None:
    lines = [
        category_line(MAX_AMOUNT, "외식"),
        category_line(MAX_AMOUNT, "교통"),
        category_line(-MAX_AMOUNT, "선물"),
    ]
    entry = household.write("expense", MAX_AMOUNT, "카드", lines=lines)
    move_category(household, "교통", "외식")
    moved = household.read(entry)
    assert [(line["category"], line["amount"]) for line in moved["lines"]] == [
        ("외식", MAX_AMOUNT),
        ("외식", MAX_AMOUNT),
        ("선물", -MAX_AMOUNT),
    ]
    assert_rollups_are_right()
    assert_can_be_sent_again(household, moved)


def test_entry_that_would_be_too_large_becomes_two(household: Household) -> None:
    lines = [
        category_line(MAX_AMOUNT, "외식"),
        category_line(MAX_AMOUNT, "교통"),
        wallet_line(-MAX_AMOUNT, "포인트"),
    ]
    household.write("expense", MAX_AMOUNT, "카드", lines=lines, tags=["여행"])
    move_wallet(household, "포인트", "카드")
    moved = results(household)
    assert sorted(row["category"] for row in moved) == ["교통", "외식"]
    assert household.changes() == {"카드": -2 * MAX_AMOUNT}
    assert_rollups_are_right()
    for entry in moved:
        assert (entry["amount"], entry["tags"]) == (MAX_AMOUNT, ["여행"])
        assert_can_be_sent_again(household, entry)


def test_entry_that_becomes_flat_takes_the_memos_of_its_lines(
    household: Household,
) -> None:
    entry = household.write("expense", 1_000, "카드", lines=SPLIT, memo="점심")
    move_category(household, "교통", "외식")
    moved = household.read(entry)
    assert (moved["lines"], moved["memo"]) == ([], "점심, 김밥, 버스")
    # The category is learned from the memo that it has now.
    assert MemoRollup.objects.get().memo == "점심,김밥,버스"
    assert_rollups_are_right()


def test_memo_of_a_line_that_goes_is_kept_by_the_entry(household: Household) -> None:
    entry = household.write("expense", 1_040, "카드", lines=LENT, memo="점심")
    move_wallet(household, "현금", "카드")
    moved = household.read(entry)
    assert moved["memo"] == "점심, 빌려줌"
    assert [line["memo"] for line in moved["lines"]] == ["김밥", "버스"]
    assert_rollups_are_right()


def test_templates_keep_the_memos_of_their_lines(household: Household) -> None:
    fields = {"lines": SPLIT, "memo": "점심"}
    template = household.body("expense", 1_000, "카드", **fields)
    quick = template | {"name": "점심"}
    day = quick.pop("date")
    rule = quick | {"frequency": "MONTHLY", "anchorDate": day}
    household.expect(201, "POST", f"{A}/quick-entries", quick)
    household.expect(201, "POST", f"{A}/recurring", rule)
    move_category(household, "교통", "외식")
    for model in (QuickEntry, RecurringRule):
        row = model.objects.get()
        assert (row.amount, row.memo) == (1_000, "점심, 김밥, 버스")


def test_many_entries_move_in_as_many_statements_as_two(household: Household) -> None:
    counts = []
    for source, target, number in (("현금", "적금", 2), ("포인트", "대출", 20)):
        lines = [category_line(700, "외식"), wallet_line(40, source)]
        for _ in range(number):
            household.write("expense", 740, "카드", lines=lines)
        with CaptureQueriesContext(connection) as queries:
            move_wallet(household, source, target)
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert_rollups_are_right()
