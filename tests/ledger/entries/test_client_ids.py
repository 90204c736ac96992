"""Entries that a client names by a UUID (spec 3.25)."""

import uuid
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import DeletedClientId, Entry, Ledger
from tests.support.clients import JSONClient
from tests.support.entry_writing import ENTRIES, PLAIN
from tests.support.factories import make_wallet
from tests.support.problems import assert_invalid, assert_problem
from tests.support.workbooks import (
    download_backup,
    error_places,
    send_json,
    upload,
)

pytestmark = pytest.mark.django_db

ID, OTHER_ID = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))
BODY = PLAIN | {"clientId": ID}


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


def post(client: JSONClient, **values: Any) -> Any:
    return client.send("POST", ENTRIES, BODY | values)


def get_revision(member: Member) -> int:
    return Ledger.objects.get(member=member).revision


@pytest.mark.parametrize(
    "more",
    [
        {},
        # These cannot be written in one statement.
        {"category": "New", "tags": ["new"]},
        {"currency": "USD", "originalAmount": "1", "exchangeRate": "1300"},
    ],
)
def test_known_one_is_answered_as_it_is_and_changes_nothing(
    more: dict[str, Any], client: JSONClient, premium_member: Member
) -> None:
    created = post(client, **more)
    assert (created.status_code, created.data["clientId"]) == (201, ID)
    path = f"{ENTRIES}/{created.data['id']}"
    assert created.headers["Location"].endswith(path)
    changed = client.change_json("PATCH", path, {"memo": "later"})
    before = get_revision(premium_member)
    again = post(client, amount=7, **{"category": "Another"} | more)
    assert (again.status_code, again.data) == (200, changed)
    assert again.headers["ETag"] == f'"{changed["version"]}"'
    assert "Location" not in again.headers
    assert get_revision(premium_member) == before
    assert Entry.objects.count() == 1


def test_known_one_counts_before_the_rest_of_the_body(client: JSONClient) -> None:
    created = post(client).data
    lines = [{"amount": 1}, {"amount": 2}]
    again = post(client, lines=lines)
    assert (again.status_code, again.data["id"]) == (200, created["id"])
    assert post(client, clientId=OTHER_ID, lines=lines).status_code == 400


def test_deleted_one_is_never_used_again(client: JSONClient) -> None:
    created = post(client).data
    client.delete(f"{ENTRIES}/{created['id']}")
    for more in ({}, {"category": "New"}):
        assert_problem(post(client, **more), 409, "DELETED")
    assert not Entry.objects.exists()


def test_it_is_the_members_own(client: JSONClient, other_member: Member) -> None:
    post(client)
    assert post(JSONClient(other_member)).status_code == 201
    assert Entry.objects.count() == 2


@pytest.mark.parametrize(
    "value",
    [5, "", "1", ID.replace("-", ""), f"{{{ID}}}", f"urn:uuid:{ID}", ID[:-1], [ID]],
)
def test_bad_values_are_refused(value: Any, client: JSONClient) -> None:
    assert_invalid(post(client, clientId=value), "clientId")
    assert not Entry.objects.exists()


def test_letter_case_and_null_do_not_matter(client: JSONClient) -> None:
    letters = "ABCDEF01-0000-4000-8000-00000000000a"
    first = post(client, clientId=letters)
    assert first.data["clientId"] == letters.lower()
    assert post(client, clientId=letters.lower()).status_code == 200
    for _ in range(2):
        assert post(client, clientId=None).data["clientId"] is None
    assert Entry.objects.count() == 3


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_it_never_changes(method: str, client: JSONClient) -> None:
    path = f"{ENTRIES}/{post(client).data['id']}"
    for body in (PLAIN, BODY, PLAIN | {"clientId": None}):
        changed = client.change_json(method, path, body)
        assert changed["clientId"] == ID
    answer = client.send(method, path, PLAIN | {"clientId": OTHER_ID})
    assert_invalid(answer, "clientId")
    plain = client.send("POST", ENTRIES, PLAIN).data
    answer = client.send(method, f"{ENTRIES}/{plain['id']}", BODY)
    assert_invalid(answer, "clientId")


def test_merged_income_gets_it_back(client: JSONClient, premium_member: Member) -> None:
    wallets = [make_wallet(premium_member) for _ in range(2)]
    expense = post(client, walletId=wallets[0].pk).data
    income_values = {"type": "income", "clientId": OTHER_ID}
    income = post(client, walletId=wallets[1].pk, **income_values).data
    path = f"{ENTRIES}/{expense['id']}"
    merged = client.send("POST", f"{path}/merge", {"with": income["id"]})
    assert merged.data["clientId"] == ID
    assert_problem(post(client, clientId=OTHER_ID), 409, "DELETED")
    # A backup in between makes no difference, in an empty ledger either.
    workbook = download_backup(premium_member)
    DeletedClientId.objects.all().delete()
    assert upload(client, workbook).status_code == 200
    assert_problem(post(client, clientId=OTHER_ID), 409, "DELETED")
    (transfer,) = client.get_json(ENTRIES)["results"]
    unmerged = client.send("POST", f"{ENTRIES}/{transfer['id']}/unmerge").data
    assert [each["clientId"] for each in unmerged] == [ID, OTHER_ID]
    assert post(client, clientId=OTHER_ID).status_code == 200


def test_restore_makes_those_known_that_the_backup_has(
    client: JSONClient, premium_member: Member
) -> None:
    kept = post(client).data
    workbook = download_backup(premium_member)
    client.delete(f"{ENTRIES}/{kept['id']}")
    post(client, clientId=OTHER_ID)
    assert upload(client, workbook).status_code == 200
    again = post(client)
    assert (again.status_code, again.data["clientId"]) == (200, ID)
    assert_problem(post(client, clientId=OTHER_ID), 409, "DELETED")
    assert Entry.objects.count() == 1


def test_rows_of_a_backup_have_different_ones(client: JSONClient) -> None:
    row = PLAIN | {"clientId": ID}
    answer = send_json(client, {"entries": [row, row]})
    assert error_places(answer) == {("entries", 3, "clientId", "duplicate")}
    answer = send_json(client, {"entries": [PLAIN | {"clientId": "x"}]})
    assert error_places(answer) == {("entries", 2, "clientId", "invalid")}


def test_entry_that_splits_off_is_another_one(
    client: JSONClient, premium_member: Member
) -> None:
    source, target = (make_wallet(premium_member) for _ in range(2))
    lines = [
        {"amount": 10, "category": "A"},
        {"amount": -10, "category": "B"},
        {"amount": 7, "walletId": source.pk},
    ]
    created = post(client, amount=7, lines=lines, walletId=target.pk)
    assert created.status_code == 201, created.data
    # What is left of the lines cancels out, and becomes two entries.
    path = f"/api/account/wallets/{source.pk}?moveTo={target.pk}"
    assert client.delete(path).status_code == 204
    assert sorted(Entry.objects.values_list("client_id", flat=True), key=str) == [
        uuid.UUID(ID),
        None,
    ]
