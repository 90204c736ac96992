"""Refunds of lines and dismissed pairs in a backup (contract C4 and C5)."""

from itertools import zip_longest
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import DismissedTransfer, EntryLine
from tests.support.clients import JSONClient
from tests.support.households import ENTRIES, Body, Household, category_line
from tests.support.workbooks import download_backup, read_book, send_json, upload

WALLETS = [{"name": "통장", "kind": "BANK"}, {"name": "현금", "kind": "CASH"}]
BOUGHT = {"date": "2026-11-18", "type": "expense", "amount": 500, "key": "a"}
BACK = {"date": "2026-11-18", "type": "income", "amount": 301, "key": "b"}
LINES: list[Body] = [
    {"entry": "b", "amount": 300, "categoryType": "expense", "refundOf": "a"},
    {"entry": "b", "amount": 1, "categoryType": "income"},
]


def read_rows(book: bytes, sheet: str) -> list[Body]:
    header, *rows = read_book(book)[sheet]
    return [dict(zip_longest(header, row)) for row in rows]


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


def test_backup_keeps_refunds_of_lines_and_dismissed_pairs(
    client: JSONClient, premium_member: Member
) -> None:
    household = Household(client)
    coat = household.write("expense", 300, "카드", category="의류")
    shoes = household.write("expense", 400, "카드", category="신발")
    lines = [
        category_line(100, None) | {"refundOf": coat["id"]},
        category_line(400, None) | {"refundOf": shoes["id"]},
    ]
    household.write("income", 500, "통장", lines=lines)
    income = household.write("income", 300, "통장")
    body = {"outId": coat["id"], "inId": income["id"]}
    household.expect(204, "POST", f"{ENTRIES}/transfer-candidates/dismiss", body)
    book = download_backup(premium_member)
    assert [row["refundOf"] for row in read_rows(book, "lines")] == ["1", "2"]
    entries = read_rows(book, "entries")
    assert [row["notWith"] for row in entries] == ["4", None, None, None]
    assert upload(client, book).status_code == 200
    rows = client.get_json(ENTRIES)["results"]
    by_category = {row["category"]: row for row in rows if row["type"] == "expense"}
    assert by_category["의류"]["refunded"] == 100
    assert by_category["신발"]["refunded"] == 400
    assert client.get_json(f"{ENTRIES}/transfer-candidates") == []
    assert DismissedTransfer.objects.count() == 1
    assert read_book(download_backup(premium_member)) == read_book(book)


def test_dismissed_pair_that_has_changed_since_is_in_no_backup(
    client: JSONClient, premium_member: Member
) -> None:
    household = Household(client)
    pair = household.write("expense", 5, "카드"), household.write("income", 5, "통장")
    body = {"outId": pair[0]["id"], "inId": pair[1]["id"]}
    household.expect(204, "POST", f"{ENTRIES}/transfer-candidates/dismiss", body)
    household.patch(pair[1], amount=6)
    entries = read_rows(download_backup(premium_member), "entries")
    assert [(row["key"], row["notWith"]) for row in entries] == [(None, None)] * 2


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"refundOf": "c"}, ("entries", "refundOf")),
        ({"refundOf": "b"}, ("entries", "refundOf")),
        ({"categoryType": "income"}, ("entries", "refundOf")),
        ({"amount": 501}, ("entries", "refundOf")),
    ],
)
def test_refund_of_a_line_that_does_not_fit_is_an_invalid_row(
    client: JSONClient, changes: Body, place: tuple[str, str]
) -> None:
    line = LINES[0] | changes
    amount = line["amount"] + 1
    book = {
        "entries": [BOUGHT, BACK | {"amount": amount}],
        "lines": [line, LINES[1]],
    }
    response = send_json(client, book)
    assert (response.status_code, response.data["code"]) == (400, "INVALID_BACKUP")
    error = response.data["errors"][0]
    assert (error["sheet"], error["column"]) == place


def test_line_with_the_expense_of_its_entry_is_restored(client: JSONClient) -> None:
    lines = [LINES[0], LINES[1] | {"categoryType": "expense", "refundOf": "a"}]
    book = {"entries": [BOUGHT, BACK], "lines": lines}
    assert send_json(client, book).status_code == 200
    assert not EntryLine.objects.exclude(refund_of=None).exists()
    (back, bought) = client.get_json(ENTRIES)["results"]
    assert back["refundOf"] == bought["id"]


@pytest.mark.parametrize(
    "changes",
    [{"notWith": ["a"]}, {"notWith": ["x"]}, {"key": None}, {"wallet": None}],
)
def test_pair_that_does_not_fit_is_an_invalid_row(
    client: JSONClient, changes: dict[str, Any]
) -> None:
    given = {"wallet": "통장", "notWith": ["b"]}
    entries = [BOUGHT | given | changes, BACK | {"wallet": "현금"}]
    response = send_json(client, {"wallets": WALLETS, "entries": entries})
    assert (response.status_code, response.data["code"]) == (400, "INVALID_BACKUP")
    assert [each["column"] for each in response.data["errors"]] == ["notWith"]
