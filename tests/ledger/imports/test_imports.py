"""Imports of files, from the upload to the commit (spec 3.29)."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import Member
from ledger.models import Category, Entry, Import, ImportKey, ImportRow, Wallet
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.problems import assert_invalid, assert_problem
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db

IMPORTS = "/api/account/imports"
HEADER = "date,wallet,category,memo,amount\n"


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


def upload(client: JSONClient, text: str | bytes, **fields: Any) -> Any:
    data = text.encode() if isinstance(text, str) else text
    file = SimpleUploadedFile("any.csv", data)
    answer = client.post(IMPORTS, {"file": file, **fields})
    return answer


def read(client: JSONClient, text: str | bytes, **fields: Any) -> Any:
    answer = upload(client, text, **fields)
    assert answer.status_code == 201, answer.content
    return answer.json()


def commit(client: JSONClient, import_id: int) -> Any:
    answer = client.send("POST", f"{IMPORTS}/{import_id}/commit")
    assert answer.status_code == 200, answer.content
    assert_rollups_are_right()
    return answer.json()


def test_a_file_is_read_and_committed(client: JSONClient, free_member: Member) -> None:
    bank = make_wallet(free_member, name="Bank")
    text = HEADER + "2026-09-05,Bank,Food,Lunch,-9000\n2026-09-06,Cash,,Salary,100\n"
    found = read(client, text)
    assert found["counts"]["NEW"] == 2
    assert Entry.objects.count() == 0
    result = commit(client, found["id"])
    assert (result["created"], result["skipped"]) == (2, 0)
    entries = Entry.objects.order_by("date")
    assert [(e.type, e.amount, e.memo, e.source) for e in entries] == [
        ("expense", 9000, "Lunch", "IMPORT"),
        ("income", 100, "Salary", "IMPORT"),
    ]
    assert entries[0].wallet_id == bank.pk
    assert entries[1].wallet.name == "Cash"
    again = read(client, text)
    assert again["counts"]["DUPLICATE"] == 2
    assert commit(client, again["id"])["created"] == 0
