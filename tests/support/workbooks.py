"""Backups for tests: ledgers to write, workbooks to upload."""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from openpyxl import Workbook, load_workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.utils.escape import unescape

from ledger.backup.columns import SHEETS
from ledger.backup.export import write_backup
from tests.support.clients import JSONClient

BACKUP, RESTORE = "/api/account/backup", "/api/account/restore"
HEADERS = {sheet.name: sheet.headers for sheet in SHEETS}

Book = dict[str, list[dict[str, Any]]]
Rows = list[list[Any]]
Sheets = Mapping[str, Sequence[Sequence[Any]]]

ENTRY = {"date": "2026-11-02", "type": "expense", "amount": 1_000}
WHOLE: Book = {
    "wallets": [
        {"name": "현금", "kind": "CASH", "openingBalance": 5_000, "memo": "=1+1"},
        {
            "name": "카드",
            "kind": "CARD",
            "accountNumber": "0123-45",
            "institution": "신한",
        },
        {
            "name": "연금",
            "kind": "PENSION",
            "manualValuation": True,
            "currentValue": -7,
            "archived": True,
        },
    ],
    "tags": [{"name": "여행"}, {"name": "@home"}],
    "categories": [
        {"type": "expense", "name": "점심", "parent": "식비"},
        {"type": "expense", "name": "식비"},
        {"type": "income", "name": "급여"},
    ],
    "entries": [
        ENTRY
        | {
            "category": "점심",
            "wallet": "카드",
            "memo": "=SUM(A1)\n둘째 줄 🍜",
            "tags": ["@home", "여행"],
            "installmentMonths": 3,
        },
        ENTRY
        | {"type": "income", "category": "급여", "wallet": "현금", "pending": True},
        ENTRY
        | {"currency": "USD", "originalAmount": "12.3456", "exchangeRate": "1350.5"},
    ],
    "recurring": [
        {
            "name": "월세",
            "type": "expense",
            "amount": 500_000,
            "category": "식비",
            "wallet": "현금",
            "tags": ["여행"],
            "frequency": "MONTHLY",
            "anchorDate": "2020-01-31",
            "active": False,
        }
    ],
    "budgets": [{"category": "식비", "year": 2020, "month": 1, "amount": 300_000}],
    "quickEntries": [
        {"name": "커피", "type": "expense", "amount": 4_500, "tags": ["여행"]},
        {"name": "교통", "type": "expense", "wallet": "카드"},
    ],
}
COUNTS = dict.fromkeys(HEADERS, 0) | {name: len(rows) for name, rows in WHOLE.items()}


def make_xlsx(book: Book) -> bytes:
    """Return what a member might make of these rows in a spreadsheet program."""
    workbook = Workbook(write_only=True)
    for name, rows in book.items():
        sheet = workbook.create_sheet(name)
        sheet.append(HEADERS[name])
        for row in rows:
            sheet.append([_cell(sheet, row.get(column)) for column in HEADERS[name]])
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def write_sheets(sheets: Sheets) -> bytes:
    """Return a workbook of these sheets."""
    workbook = Workbook(write_only=True)
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(row)
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def _cell(sheet: Any, value: Any) -> Any:
    """Return a cell that keeps text as text, also where it looks like a formula."""
    value = ", ".join(value) if isinstance(value, list) else value
    cell = WriteOnlyCell(sheet, value)
    if isinstance(value, str):
        cell.data_type = "s"
    return cell


def upload(client: JSONClient, data: bytes, query: str = "") -> Any:
    file = SimpleUploadedFile("backup.xlsx", data)
    response: Any = client.post(RESTORE + query, {"file": file})
    response.data = json.loads(response.content)
    return response


def get_file(client: JSONClient, path: str) -> bytes:
    response: Any = client.get(path)
    assert response.status_code == 200, response.content
    return b"".join(response.streaming_content)


def send_json(client: JSONClient, book: Any, query: str = "") -> Any:
    return client.send("POST", RESTORE + query, book)


def read_book(data: bytes) -> dict[str, list[tuple[Any, ...]]]:
    """Return the tables of a workbook as read by openpyxl, another reader than ours."""
    workbook = load_workbook(io.BytesIO(data), read_only=True)
    return {
        sheet.title: [tuple(map(_plain, row)) for row in sheet.values]
        for sheet in workbook
    }


def _plain(value: Any) -> Any:
    return unescape(value) if isinstance(value, str) else value


def download_backup(member: Any) -> bytes:
    file = io.BytesIO()
    write_backup(member, file)
    return file.getvalue()


def error_places(response: Any) -> set[tuple[Any, ...]]:
    """Return sheet, row, column and code of each error."""
    return {
        (e["sheet"], e["row"], e["column"], e["code"]) for e in response.data["errors"]
    }
