"""The CSV file and the workbook of an export (spec 3.28)."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import islice
from typing import IO, Any

from core.api.renderers import format_decimal
from core.csv_cells import BYTE_ORDER_MARK, make_cell, quote_formula
from ledger.backup.xlsx import WorkbookWriter
from ledger.export.scope import Export
from ledger.export.tables import ENTRY_LINES, SHEETS, Table

# Spreadsheet programs read 1,048,576 rows of a sheet.
MAX_SHEET_ROWS = 1_000_000


def write_csv(export: Export, file: IO[bytes]) -> None:
    """Write a row for each line of an entry; a flat entry is its only line."""
    text = io.StringIO()
    writer = csv.writer(text)
    text.write(BYTE_ORDER_MARK)
    writer.writerow(ENTRY_LINES.headers)
    for batch in ENTRY_LINES.fetch(export):
        writer.writerows(map(_make_csv_row, batch))
        file.write(text.getvalue().encode())
        text.seek(0)
        text.truncate()
    file.write(text.getvalue().encode())


def _make_csv_row(row: Sequence[Any]) -> list[Any]:
    return [value if type(value) is int else _make_csv_cell(value) for value in row]


def _make_csv_cell(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return format_decimal(value) if isinstance(value, Decimal) else make_cell(value)


def write_xlsx(export: Export, file: IO[bytes]) -> None:
    """Write a sheet for each table, and more than one for a very long table."""
    parts = [(table, _name_sheets(table, export)) for table in SHEETS]
    names = [name for _, names in parts for name in names]
    with WorkbookWriter(file, names) as workbook:
        for table, sheet_names in parts:
            rows = _iterate_rows(table, export)
            for name in sheet_names:
                with workbook.open_sheet(name) as sheet:
                    sheet.write([table.headers])
                    for batch in _cut(islice(rows, MAX_SHEET_ROWS)):
                        sheet.write(batch)


def _name_sheets(table: Table, export: Export) -> list[str]:
    names = [table.name]
    if table.is_scoped:
        more = (table.count(export) - 1) // MAX_SHEET_ROWS
        names += [f"{table.name}{number}" for number in range(2, more + 2)]
    return names


def _iterate_rows(table: Table, export: Export) -> Iterator[list[Any]]:
    for batch in table.fetch(export):
        for row in batch:
            yield [
                quote_formula(value) if isinstance(value, str) else value
                for value in row
            ]


def _cut(rows: Iterable[list[Any]], size: int = 500) -> Iterator[list[list[Any]]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, size)):
        yield batch
