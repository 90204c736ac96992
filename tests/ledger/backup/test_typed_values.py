"""Typed-in values in a backup, and the transfers of their day."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from ledger.models import Entry, Valuation
from tests.support.clients import JSONClient
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
WALLETS = [
    {"name": "통장", "kind": "BANK"},
    {"name": "연금", "kind": "PENSION", "manualValuation": True},
]
TRANSFER = {"date": DAY, "type": "transfer", "amount": 100, "wallet": "통장"}
TRANSFER |= {"toWallet": "연금"}
VALUE = {"wallet": "연금", "date": DAY, "value": 10_000}


def expect(client: Any, status: int, method: str, path: str, body: Any = None) -> Any:
    response = client.send(method, f"{A}/{path}", body)
    assert response.status_code == status, response.content
    return response.json()


def current_value(client: Any) -> Any:
    wallets = client.get_json(f"{A}/wallets")
    return next(each["currentValue"] for each in wallets if each["name"] == "연금")


def test_value_stays_as_typed_and_moves_with_later_transfers_of_its_day(
    client: Any, premium_member: Member
) -> None:
    bank = expect(client, 201, "POST", "wallets", WALLETS[0])["id"]
    pension = expect(client, 201, "POST", "wallets", WALLETS[1])["id"]
    body = {"date": DAY, "type": "transfer", "walletId": bank, "toWalletId": pension}
    lines = [{"amount": 30, "walletId": pension}, {"amount": 5}]
    split = {"date": DAY, "type": "transfer", "amount": 35, "walletId": bank}
    expect(client, 201, "POST", "entries", body | {"amount": 7})
    value = {"date": DAY, "value": 10_000}
    expect(client, 201, "POST", f"wallets/{pension}/valuations", value)
    expect(client, 201, "POST", "entries", body | {"amount": 100})
    expect(client, 201, "POST", "entries", split | {"lines": lines})
    assert current_value(client) == 10_130

    first = download_backup(premium_member)
    headers, row = read_book(first)["valuations"]
    assert row[headers.index("value")] == 10_000
    assert upload(client, first).status_code == 200
    assert download_backup(premium_member) == first
    assert Valuation.objects.get().value == 10_000
    assert current_value(client) == 10_130
    for amount, wanted in ((100, 10_180), (7, 10_180)):
        entry = Entry.objects.get(amount=amount)
        expect(client, 200, "PATCH", f"entries/{entry.pk}", {"amount": amount + 50})
        assert current_value(client) == wanted


def test_transfers_of_the_day_are_part_of_a_value_without_moments(
    restore: Any, client: Any
) -> None:
    book = {"wallets": WALLETS, "entries": [TRANSFER], "valuations": [VALUE]}
    assert restore(book).status_code == 200
    assert current_value(client) == 10_000


@pytest.mark.parametrize(
    ("created", "written", "wanted"),
    [
        (f"{DAY}T09:30:00Z", f"{DAY}T09:29:59.999999Z", 10_100),
        (f"{DAY}T09:30:00.5Z", f"{DAY}T09:30:00.50Z", 10_000),
        (f"{DAY}T09:30:00Z", None, 10_000),
    ],
)
def test_moments_decide_whether_a_transfer_moves_the_value(
    restore: Any, client: Any, created: str, written: str | None, wanted: int
) -> None:
    entries = [TRANSFER | {"createdAt": created}]
    values = [VALUE | {"writtenAt": written}]
    book = {"wallets": WALLETS, "entries": entries, "valuations": values}
    assert restore(book).status_code == 200
    assert current_value(client) == wanted


def test_moments_to_come_are_now(client: JSONClient) -> None:
    entries = [TRANSFER | {"createdAt": "2099-12-31T23:59:59Z"}]
    values = [VALUE | {"writtenAt": "2099-12-31T23:59:59Z"}]
    book = {"wallets": WALLETS, "entries": entries, "valuations": values}
    assert send_json(client, book).status_code == 200
    soon = timezone.now() + timedelta(seconds=1)
    assert Entry.objects.get().created_at < soon
    assert Valuation.objects.get().written_at < soon


@pytest.mark.parametrize(
    "moment",
    [
        *("2026-02-30T00:00:00Z", "2026-11-02", "2026-11-02T09:30:00"),
        *("2026-11-02T24:00:01Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", 5),
    ],
)
def test_moment_that_is_none_is_an_invalid_cell(restore: Any, moment: Any) -> None:
    book = {"wallets": WALLETS, "entries": [TRANSFER | {"createdAt": moment}]}
    places = error_places(restore(book))
    assert places == {("entries", 2, "createdAt", "invalid")}
    book = {"wallets": WALLETS, "valuations": [VALUE | {"writtenAt": moment}]}
    places = error_places(restore(book))
    assert places == {("valuations", 2, "writtenAt", "invalid")}
