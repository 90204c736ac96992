"""A random ledger that is backed up and restored by another member is equal, by name."""

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.ledger_replay import list_months, read_entries
from tests.support.random_ledgers import END, START
from tests.support.workbooks import BACKUP, RESTORE, get_file

A = "/api/account"
# What a restore makes anew; places are counted without gaps.
NEW = {
    "id",
    "sortOrder",
    "createdAt",
    "updatedAt",
    "version",
    "source",
    "categoryId",
    "createdBy",
}


def test_restored_ledger_is_equal(client: JSONClient, kind: str) -> None:
    data = get_file(client, BACKUP)
    other = JSONClient(make_member(plan="PREMIUM"))
    answer = other.post(RESTORE, {"file": SimpleUploadedFile("backup.xlsx", data)})
    assert answer.status_code == 200, answer.content

    assert list_named_entries(other) == list_named_entries(client)
    for path in ("wallets", "categories", "tags", "networth"):
        found, expected = (
            without_ids(each.get_json(f"{A}/{path}")) for each in (other, client)
        )
        assert found == expected
    trends = [
        each.get_json(f"{A}/networth/trend", months=24) for each in (other, client)
    ]
    assert trends[0] == trends[1]
    for year, month in list_months(START, END):
        query = {"year": year, "month": month}
        months = [
            without_ids(each.get_json(f"{A}/statistics/month", **query))
            for each in (other, client)
        ]
        assert months[0] == months[1]

    parts = take_apart(client)
    assert take_apart(other) == parts
    assert bool(parts) == (kind == "lines")


def take_apart(client: JSONClient) -> list[Any]:
    """Take all transfers apart that were merged; return what they were, and places."""
    parts = []
    for place, row in enumerate(read_entries(client)):
        if row["type"] != "transfer":
            continue
        response = client.send("POST", f"{A}/entries/{row['id']}/unmerge")
        assert response.status_code in {200, 404}, response.content
        if response.status_code == 200:
            parts.append((place, without_ids(response.data)))
    return parts


def list_named_entries(client: JSONClient) -> list[Any]:
    """Return all entries, with names and places in the list instead of ids."""
    rows = read_entries(client)
    places = {row["id"]: place for place, row in enumerate(rows)}
    for row in rows:
        if row.get("refundOf") is not None:
            row["refundOf"] = places[row["refundOf"]]
    return [without_ids(row) for row in rows]


def without_ids(value: Any) -> Any:
    if isinstance(value, list):
        return [without_ids(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: without_ids(each)
        for name, each in value.items()
        if name not in NEW and not name.endswith("Id")
    }
