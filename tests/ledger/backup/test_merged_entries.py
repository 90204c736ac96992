"""What transfers were merged from is in a backup (spec 3.17, 3.19, 3.20)."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, MergedEntry
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.rollups import assert_rollups_are_right
from tests.support.workbooks import (
    download_backup,
    error_places,
    read_book,
    send_json,
    upload,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_reader")]

A = "/api/account"
DAY = "2026-11-02"
BOOK: dict[str, Any] = {
    "wallets": [
        {"name": "카드", "kind": "CARD"},
        {"name": "현금", "kind": "CASH"},
    ],
    "tags": [{"name": "여행"}],
    "categories": [
        {"type": "expense", "name": "식비"},
        {"type": "income", "name": "용돈"},
    ],
    "entries": [
        {
            "date": DAY,
            "type": "transfer",
            "amount": 500,
            "key": "k",
            "wallet": "카드",
            "toWallet": "현금",
        },
        {"date": DAY, "type": "expense", "amount": 7},
    ],
}
EXPENSE = {"entry": "k", "type": "expense", "date": DAY}
INCOME = {"entry": "k", "type": "income", "date": "2026-11-03"}


def expect(client: Any, status: int, method: str, path: str, body: Any = None) -> Any:
    response = client.send(method, f"{A}/{path}", body)
    assert response.status_code == status, response.content
    return response.json()


def merge_two(client: JSONClient) -> list[Any]:
    """Merge two entries that differ in all that one may have; return both."""
    card = expect(client, 201, "POST", "wallets", {"name": "카드", "kind": "CARD"})
    cash = expect(client, 201, "POST", "wallets", {"name": "현금", "kind": "CASH"})
    expense = {
        "date": DAY,
        "type": "expense",
        "amount": 500,
        "walletId": card["id"],
        "category": "식비",
        "memo": "=출금",
        "tags": ["여행", "회사"],
        "installmentMonths": 3,
        "excluded": True,
        "time": "09:05",
    }
    income = {
        "date": "2026-11-04",
        "type": "income",
        "amount": 500,
        "walletId": cash["id"],
        "category": "식비",
        "categoryType": "expense",
        "memo": "입금",
        "tags": ["회사"],
    }
    both = [expect(client, 201, "POST", "entries", each) for each in (expense, income)]
    path = f"entries/{both[0]['id']}/merge"
    expect(client, 200, "POST", path, {"with": both[1]["id"]})
    # Of its day, which comes after it.
    later = {"date": "2026-11-05", "type": "expense", "amount": 3}
    expect(client, 201, "POST", "entries", later)
    return both


def unmerge_only(client: JSONClient) -> list[Any]:
    transfer = Entry.objects.get(type="transfer")
    both: list[Any] = expect(client, 200, "POST", f"entries/{transfer.pk}/unmerge")
    assert both[0].pop("givenUp") == []
    return both


def without_ids(rows: list[Any]) -> list[Any]:
    """Return entries without what a restore makes anew."""
    made = {"id", "walletId", "categoryId", "tagIds", "updatedAt", "version"}
    return [
        {name: value for name, value in row.items() if name not in made}
        | {"wallet": row["wallet"]["name"]}
        for row in rows
    ]


@pytest.mark.parametrize("times", [1, 2])
def test_transfer_comes_apart_after_a_restore(
    premium_member: Member, times: int
) -> None:
    client = JSONClient(premium_member)
    before = merge_two(client)
    for _ in range(times):
        data = download_backup(premium_member)
        assert upload(client, data).data["mergedEntries"] == 2
    assert without_ids(unmerge_only(client)) == without_ids(before)
    assert not MergedEntry.objects.exists()
    assert Entry.objects.count() == 3
    assert_rollups_are_right()


def test_backup_of_the_restored_ledger_is_equal(premium_member: Member) -> None:
    merge_two(JSONClient(premium_member))
    data = download_backup(premium_member)
    other = make_member(plan="PREMIUM")
    assert upload(JSONClient(other), data).status_code == 200
    assert download_backup(other) == data
    headers, *rows = read_book(data)["mergedEntries"]
    assert [row[headers.index("type")] for row in rows] == ["expense", "income"]


def test_tag_that_was_deleted_is_not_in_the_sheet(premium_member: Member) -> None:
    client = JSONClient(premium_member)
    merge_two(client)
    tags = {tag["name"]: tag["id"] for tag in client.get_json(f"{A}/tags")}
    client.delete(f"{A}/tags/{tags['회사']}")
    data = download_backup(premium_member)
    assert upload(client, data).status_code == 200
    assert [each["tags"] for each in unmerge_only(client)] == [["여행"], []]


def test_merged_entries_have_the_defaults_of_entries(
    restore: Any, client: JSONClient
) -> None:
    assert restore(BOOK | {"mergedEntries": [INCOME, EXPENSE]}).status_code == 200
    expense, income = unmerge_only(client)
    assert (expense["date"], expense["wallet"]["name"]) == (DAY, "카드")
    assert (income["date"], income["wallet"]["name"]) == ("2026-11-03", "현금")
    for each in (expense, income):
        assert (each["category"], each["memo"], each["tags"]) == (None, "", [])
        assert (each["pending"], each["excluded"], each["source"]) == (
            *(False, False),
            "MANUAL",
        )


def test_backup_without_the_sheet_restores_to_a_transfer(
    restore: Any, client: JSONClient
) -> None:
    response = restore(BOOK)
    assert (response.status_code, response.data["mergedEntries"]) == (200, 0)
    transfer = Entry.objects.get(type="transfer")
    expect(client, 404, "POST", f"entries/{transfer.pk}/unmerge")


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ([EXPENSE], (2, "type", "required")),
        ([EXPENSE, EXPENSE], (3, "entry", "duplicate")),
        ([EXPENSE, INCOME | {"type": "transfer"}], (3, "type", "invalid_choice")),
        ([EXPENSE, INCOME | {"entry": None}], (3, "entry", "required")),
        ([EXPENSE, INCOME | {"category": "식비"}], (3, "category", "does_not_exist")),
        ([EXPENSE, INCOME | {"tags": ["없음"]}], (3, "tags", "does_not_exist")),
        ([EXPENSE, INCOME | {"date": None}], (3, "date", "required")),
        (
            [EXPENSE, INCOME | {"installmentMonths": 3}],
            (3, "installmentMonths", "invalid"),
        ),
        (
            [EXPENSE | {"installmentMonths": 1}, INCOME],
            (2, "installmentMonths", "range"),
        ),
        ([INCOME, EXPENSE | {"createdAt": "2026-11-02"}], (3, "createdAt", "invalid")),
    ],
)
def test_merged_entry_that_does_not_fit_is_an_invalid_row(
    restore: Any, rows: list[Any], place: Any
) -> None:
    response = restore(BOOK | {"mergedEntries": rows})
    assert response.status_code == 400
    assert error_places(response) == {("mergedEntries", *place)}
    assert not Entry.objects.exists()


def test_merged_entries_of_no_entry_are_invalid_rows(restore: Any) -> None:
    rows = [each | {"entry": "x"} for each in (EXPENSE, INCOME)]
    response = restore(BOOK | {"mergedEntries": rows})
    assert error_places(response) == {
        ("mergedEntries", row, "entry", "does_not_exist") for row in (2, 3)
    }


def test_sheet_alone_is_no_ledger(client: JSONClient) -> None:
    response = send_json(client, {"mergedEntries": [EXPENSE, INCOME]})
    assert response.status_code == 400
