"""Lines and refunds of a backup: a restore takes what the API takes, and no more."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, EntryLine
from tests.support.clients import JSONClient
from tests.support.rollups import assert_rollups_are_right
from tests.support.workbooks import download_backup, error_places, upload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_reader")]

A = "/api/account"
DAY = "2026-11-02"
BASE: dict[str, Any] = {
    "wallets": [
        {"name": "통장", "kind": "BANK", "openingBalance": 5_000},
        {"name": "카드", "kind": "CARD"},
        {"name": "포인트", "kind": "CASH"},
    ],
    "categories": [
        {"type": "expense", "name": "식비"},
        {"type": "income", "name": "급여"},
    ],
}
ENTRY = {"date": DAY, "type": "expense", "amount": 100, "key": "k", "wallet": "통장"}
LINE = {"entry": "k", "amount": 100}
TEMPLATE = {"name": "틀", "type": "expense", "amount": 100, "key": "k"}
RULE = TEMPLATE | {"frequency": "MONTHLY", "anchorDate": "2999-01-01"}

SHAPE = ("type", "category", "categoryType", "walletId", "toWalletId", "memo")
CASES = {
    "a category": (
        {},
        {"category": "식비", "memo": "점심"},
        ("expense", "식비", "expense", "통장", None, "점심"),
    ),
    "nothing": ({}, {}, ("expense", None, "expense", "통장", None, "")),
    "a category of the other type": (
        {"memo": "a"},
        {"category": "급여", "categoryType": "income", "memo": "b"},
        ("expense", "급여", "income", "통장", None, "a, b"),
    ),
    "a wallet": (
        {"memo": "a"},
        {"wallet": "포인트", "memo": "a"},
        ("transfer", None, "expense", "통장", "포인트", "a"),
    ),
    "a wallet of an income": (
        {"type": "income"},
        {"wallet": "포인트"},
        ("transfer", None, "expense", "포인트", "통장", ""),
    ),
    "a wallet of a transfer": (
        {"type": "transfer"},
        {"wallet": "포인트"},
        ("transfer", None, "expense", "통장", "포인트", ""),
    ),
}


@pytest.mark.parametrize("kind", ["entries", "recurring", "quickEntries"])
@pytest.mark.parametrize("name", CASES)
def test_row_with_one_line_is_flat(
    restore: Any, client: JSONClient, name: str, kind: str
) -> None:
    row, line, wanted = CASES[name]
    bases = {"entries": ENTRY, "recurring": RULE, "quickEntries": TEMPLATE}
    whole = bases[kind] | {"wallet": "통장"} | row
    response = restore(BASE | {kind: [whole], "lines": [LINE | line]})
    assert response.status_code == 200, response.data
    assert (response.data[kind], response.data["lines"]) == (1, 0)
    assert_rollups_are_right()
    path = f"{A}/{'quick-entries' if kind == 'quickEntries' else kind}"
    listed: Any = client.get_json(path)
    (shown,) = listed["results"] if kind == "entries" else listed
    names = {each["id"]: each["name"] for each in client.get_json(f"{A}/wallets")}
    found = [names.get(shown[n]) if n.endswith("Id") else shown[n] for n in SHAPE]
    assert (tuple(found), shown["lines"], shown["amount"]) == (wanted, [], 100)
    # The row can be sent back as it was read.
    again = client.send("PUT", f"{path}/{shown['id']}", shown)
    assert again.status_code == 200, again.content


def test_transfer_of_one_line_has_no_installments_and_no_currency(
    restore: Any, client: JSONClient
) -> None:
    by_card = ENTRY | {"wallet": "카드", "installmentMonths": 3}
    foreign = {"currency": "USD", "originalAmount": 1, "exchangeRate": 100}
    lines = [LINE | {"wallet": "포인트"}, LINE | {"wallet": "포인트", "entry": "f"}]
    rows = [by_card, ENTRY | foreign | {"key": "f"}]
    response = restore(BASE | {"entries": rows, "lines": lines})
    assert response.status_code == 200, response.data
    for shown in client.get_json(f"{A}/entries")["results"]:
        assert (shown["type"], shown["amount"]) == ("transfer", 100)
        assert (shown["installmentMonths"], shown["currency"]) == (None, None)
        response = client.send("PUT", f"{A}/entries/{shown['id']}", shown)
        assert response.status_code == 200, response.data


@pytest.mark.parametrize(
    ("row", "line", "column"),
    [
        ({}, {"amount": 99}, "amount"),
        ({}, {"wallet": "통장"}, "amount"),
        ({"wallet": None}, {"wallet": "포인트"}, "wallet"),
        ({"category": "식비"}, {}, "category"),
        ({"type": "transfer"}, {"category": "식비"}, "amount"),
    ],
    ids=str,
)
def test_single_line_that_does_not_fit_is_refused(
    restore: Any, row: Any, line: Any, column: str
) -> None:
    response = restore(BASE | {"entries": [ENTRY | row], "lines": [LINE | line]})
    assert response.status_code == 400
    assert response.data["code"] == "INVALID_BACKUP"
    places = error_places(response)
    assert {place[:3] for place in places} == {("entries", 2, column)}


REFUND = {"date": DAY, "type": "income", "amount": 60, "refundOf": "k"}
REFUND |= {"categoryType": "expense", "wallet": "통장"}


def test_refunds_above_the_expense_are_refused(restore: Any) -> None:
    for amount, numbers in ((300, [4]), (60, [4]), (41, [4]), (40, [])):
        rows = [REFUND, ENTRY, REFUND | {"amount": amount, "pending": True}]
        response = restore(BASE | {"entries": rows})
        assert response.status_code == (400 if numbers else 200), response.data
        if numbers:
            assert response.data["code"] == "INVALID_BACKUP"
            assert error_places(response) == {("entries", 4, "refundOf", "exceeds")}
            assert not Entry.objects.exists()
    for entry in Entry.objects.filter(type="income"):
        assert entry.refund_of_id is not None


def test_foreign_refunds_may_differ_by_their_rate(
    restore: Any, client: JSONClient
) -> None:
    foreign = {"currency": "USD", "originalAmount": 1, "exchangeRate": 300}
    rows = [ENTRY, REFUND | foreign | {"amount": 300}, REFUND | {"amount": 100}]
    assert restore(BASE | {"entries": rows}).status_code == 200
    for entry in Entry.objects.filter(type="income"):
        path = f"{A}/entries/{entry.pk}"
        response = client.send("PATCH", path, {"memo": "a"})
        assert response.status_code == 200, response.data


def test_refund_with_lines_of_wallets_only_is_refused(restore: Any) -> None:
    back = REFUND | {"key": "r"}
    line = {"entry": "r", "wallet": "포인트"}
    for amounts in ([60], [20, 40]):
        lines = [line | {"amount": amount} for amount in amounts]
        response = restore(BASE | {"entries": [ENTRY, back], "lines": lines})
        assert response.status_code == 400
        places = error_places(response)
        assert places == {("entries", 3, "refundOf", "does_not_exist")}
    # An expense whose only line is of a wallet is a transfer, of which none comes back.
    book = {"entries": [ENTRY, REFUND], "lines": [LINE | {"wallet": "포인트"}]}
    places = error_places(restore(BASE | book))
    assert places == {("entries", 3, "refundOf", "does_not_exist")}


def test_backup_of_flattened_rows_and_refunds_restores_to_the_same(
    restore: Any, client: JSONClient, premium_member: Member
) -> None:
    split = [
        LINE | {"amount": 70, "category": "식비"},
        LINE | {"amount": 30, "wallet": "포인트"},
    ]
    flat = [
        {"entry": key, "amount": 100} | line
        for key, line in (
            ("e", {"wallet": "포인트", "memo": "b"}),
            ("r", {"category": "급여", "categoryType": "income"}),
            ("q", {"wallet": "카드"}),
        )
    ]
    book = BASE | {
        "entries": [ENTRY, ENTRY | {"key": "e"}, REFUND, REFUND | {"amount": 40}],
        "recurring": [RULE | {"key": "r"}],
        "quickEntries": [TEMPLATE | {"key": "q", "wallet": "통장"}],
        "lines": [*split, *flat],
    }
    response = restore(book)
    assert response.status_code == 200, response.data
    assert EntryLine.objects.count() == response.data["lines"] == 2
    first = download_backup(premium_member)
    assert upload(client, first).status_code == 200
    assert download_backup(premium_member) == first
    assert_rollups_are_right()
