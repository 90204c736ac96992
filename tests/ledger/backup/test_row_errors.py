"""An invalid row is reported with its sheet, row and column, for every rule."""

import json
from decimal import Decimal
from typing import Any

import pytest

from core.api.fields import MAX_AMOUNT
from ledger.models import Entry
from tests.support.clients import JSONClient
from tests.support.workbooks import (
    ENTRY,
    RESTORE,
    WHOLE,
    error_places,
    make_xlsx,
    send_json,
    upload,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_reader")]

WALLET = {"name": "카드", "kind": "CARD"}
CATEGORY = {"type": "expense", "name": "식비"}
RULE = WHOLE["recurring"][0]
BUDGET = WHOLE["budgets"][0]
FOREIGN = ENTRY | {"currency": "USD", "originalAmount": "5", "exchangeRate": "1300"}
BASE = {
    "wallets": [WALLET, {"name": "현금", "kind": "CASH"}],
    "tags": [{"name": "여행"}],
    "categories": [CATEGORY, {"type": "income", "name": "급여"}],
}

# By sheet: what a valid row has, and what makes it invalid, with column and code.
OTHER = WALLET | {"name": "b"}
RULES: list[tuple[str, dict[str, Any], list[tuple[dict[str, Any], str, str]]]] = [
    ("wallets", WALLET, [({}, "name", "duplicate")]),
    (
        "wallets",
        OTHER,
        [
            ({"name": ""}, "name", "required"),
            ({"name": "  "}, "name", "required"),
            ({"name": "x" * 101}, "name", "max_length"),
            ({"kind": "SOCK"}, "kind", "invalid_choice"),
            ({"kind": None}, "kind", "required"),
            ({"institution": "x" * 101}, "institution", "max_length"),
            ({"accountNumber": "1" * 65}, "accountNumber", "max_length"),
            ({"accountNumber": "sealed:1:x"}, "accountNumber", "max_length"),
            ({"openingBalance": 10**12}, "openingBalance", "range"),
            ({"currentValue": 1.5}, "currentValue", "invalid"),
            ({"archived": "yes"}, "archived", "invalid"),
            ({"memo": "x" * 501}, "memo", "max_length"),
        ],
    ),
    (
        "tags",
        {},
        [({"name": "a,b"}, "name", "comma"), ({"name": "여행"}, "name", "duplicate")],
    ),
    ("categories", CATEGORY, [({}, "name", "duplicate")]),
    (
        "categories",
        {"type": "expense", "name": "x"},
        [
            ({"type": "both"}, "type", "invalid_choice"),
            ({"parent": "y"}, "parent", "hierarchy"),
            ({"type": "income", "parent": "식비"}, "parent", "hierarchy"),
            ({"name": "z", "parent": "z"}, "parent", "hierarchy"),
        ],
    ),
    (
        "entries",
        ENTRY,
        [
            ({"date": None}, "date", "required"),
            ({"date": "2026-02-30"}, "date", "invalid"),
            ({"date": "20260202"}, "date", "invalid"),
            ({"date": "2026-W01-1"}, "date", "invalid"),
            ({"type": "Income"}, "type", "invalid_choice"),
            ({"amount": 0}, "amount", "required"),
            ({"amount": None}, "amount", "required"),
            ({"amount": -1}, "amount", "range"),
            ({"amount": MAX_AMOUNT + 1}, "amount", "range"),
            ({"amount": 1.5}, "amount", "invalid"),
            ({"amount": "100"}, "amount", "invalid"),
            ({"amount": True}, "amount", "invalid"),
            ({"category": "없음"}, "category", "does_not_exist"),
            ({"category": "급여"}, "category", "does_not_exist"),
            ({"wallet": "없음"}, "wallet", "does_not_exist"),
            ({"tags": ["없음"]}, "tags", "does_not_exist"),
            ({"tags": ["x" * 101]}, "tags", "max_length"),
            ({"memo": "x" * 501}, "memo", "max_length"),
            ({"pending": 1}, "pending", "invalid"),
            *(
                (fields | {"installmentMonths": months}, "installmentMonths", code)
                for fields, months, code in (
                    ({}, 3, "invalid"),
                    ({"wallet": "현금"}, 3, "invalid"),
                    ({"wallet": "카드"}, 25, "range"),
                    ({"wallet": "카드", "type": "income"}, 3, "invalid"),
                )
            ),
        ],
    ),
    (
        "entries",
        FOREIGN,
        [
            ({"currency": "XXX"}, "currency", "invalid"),
            ({"currency": None}, "currency", "required"),
            ({"currency": "KRW"}, "currency", "required"),
            ({"originalAmount": None}, "originalAmount", "required"),
            ({"originalAmount": "1.23456"}, "originalAmount", "max_decimal_places"),
            ({"originalAmount": "1" * 13}, "originalAmount", "max_digits"),
            ({"exchangeRate": "0"}, "exchangeRate", "not_positive"),
            ({"exchangeRate": "NaN"}, "exchangeRate", "invalid"),
            ({"amount": None, "exchangeRate": None}, "exchangeRate", "required"),
            *(
                ({"originalAmount": text}, "originalAmount", "invalid")
                for text in ("1_0", "١", "５", " 5", "+5", ".5", "5.", "Infinity")
            ),
        ],
    ),
    (
        "recurring",
        RULE,
        [
            ({"frequency": "HOURLY"}, "frequency", "invalid_choice"),
            ({"interval": 0}, "interval", "range"),
            ({"interval": 1001}, "interval", "range"),
            ({"anchorDate": None}, "anchorDate", "required"),
            ({"endDate": "2019-12-31"}, "endDate", "invalid"),
            ({"amount": None}, "amount", "required"),
        ],
    ),
    (
        "budgets",
        BUDGET,
        [
            ({"category": "급여"}, "category", "does_not_exist"),
            ({"month": 13}, "month", "range"),
            ({"year": 1899}, "year", "range"),
            ({"amount": 0}, "amount", "range"),
        ],
    ),
    (
        "quickEntries",
        {"name": "x", "type": "expense"},
        [
            ({"name": None}, "name", "required"),
            ({"wallet": "없음"}, "wallet", "does_not_exist"),
        ],
    ),
]


@pytest.mark.parametrize("kind", ["json", "xlsx"])
def test_each_invalid_row_is_reported(client: JSONClient, kind: str) -> None:
    book = {name: list(rows) for name, rows in BASE.items()}
    expected = []
    for sheet, valid, cases in RULES:
        rows = book.setdefault(sheet, [])
        for changes, column, code in cases:
            rows.append(valid | changes)
            expected.append((sheet, len(rows) + 1, column, code))
    response = (
        send_json(client, book) if kind == "json" else upload(client, make_xlsx(book))
    )
    assert response.status_code == 400, response.data
    assert response.data["code"] == "INVALID_BACKUP"
    assert error_places(response) == set(expected)
    assert len(response.data["errors"]) == len(expected)


def test_two_budgets_of_one_month_are_rejected(client: JSONClient) -> None:
    response = send_json(client, BASE | {"budgets": [BUDGET, BUDGET]})
    assert error_places(response) == {("budgets", 3, "category", "duplicate")}


@pytest.mark.parametrize("text", ["a\x00b", "a\x07b", "\ud800"])
def test_control_characters_are_rejected(client: JSONClient, text: str) -> None:
    response = send_json(client, {"tags": [{"name": text}]})
    assert error_places(response) == {("tags", 2, "name", "control")}


def test_lone_surrogate_in_a_tag_of_an_entry_is_a_control_character(
    client: JSONClient,
) -> None:
    response = send_json(client, {"entries": [ENTRY | {"tags": ["a\ud800"]}]})
    assert error_places(response) == {("entries", 2, "tags", "control")}


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("1e2", None),
        ("1.0", None),
        ("9" * 25, "range"),
        ("-" + "9" * 25, "range"),
        ("1e30", "invalid"),
        ("1e-999999999", "invalid"),
        ('{"number": "5"}', "invalid"),
        ("[5]", "invalid"),
        ('[[{"a": []}]]', "invalid"),
    ],
)
def test_amount_in_json_is_a_whole_number_within_bounds(
    client: JSONClient, value: str, code: str | None
) -> None:
    body = '{"entries": [{"date": "2026-11-02", "type": "expense", "amount": %s}]}'
    response: Any = client.generic("POST", RESTORE, body % value, "application/json")
    response.data = response.json()
    if code is None:
        assert response.data["entries"] == 1
    else:
        assert error_places(response) == {("entries", 2, "amount", code)}


def test_decimals_in_json_keep_all_their_digits(client: JSONClient) -> None:
    # A float has 15 to 17 of them.
    row = json.dumps(FOREIGN)
    row = row.replace('"5"', "123456789012.1234").replace('"1300"', "0.12345678")
    body = f'{{"entries": [{row}]}}'
    response = client.generic("POST", RESTORE, body, "application/json")
    assert response.status_code == 200, response.content
    entry = Entry.objects.get()
    assert entry.original_amount == Decimal("123456789012.1234")
    assert entry.exchange_rate == Decimal("0.12345678")


@pytest.mark.parametrize("value", [5, True, [], {}, [1], 1.5])
def test_text_is_text_in_json(client: JSONClient, value: Any) -> None:
    response = send_json(client, {"tags": [{"name": value}]})
    assert error_places(response) == {("tags", 2, "name", "invalid")}


def test_number_typed_into_a_sheet_is_a_name(client: JSONClient) -> None:
    assert upload(client, make_xlsx({"tags": [{"name": 2024}]})).status_code == 200
    assert client.get_json("/api/account/tags")[0]["name"] == "2024"


@pytest.mark.parametrize("row", [5, None, "x", []])
def test_row_that_is_no_object_is_reported(client: JSONClient, row: Any) -> None:
    response = send_json(client, {"tags": [{"name": "a"}, row]})
    assert error_places(response) == {("tags", 3, None, "invalid")}


def test_100_errors_are_reported_and_the_others_counted(client: JSONClient) -> None:
    response = send_json(client, {"entries": [ENTRY | {"amount": 0}] * 250})
    assert len(response.data["errors"]) == 100
    assert "nothing was changed. 150 more errors." in response.data["detail"]


def test_counting_stops_at_1000_errors(
    client: JSONClient,
) -> None:
    response = send_json(client, {"entries": [ENTRY | {"amount": 0}] * 1_500})
    assert len(response.data["errors"]) == 100
    assert "At least 900 more errors." in response.data["detail"]
