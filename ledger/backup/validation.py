"""Checks a backup as a whole before anything is changed.

Pure: plain rows in; typed records out, or what is wrong with which row and column.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from ledger.backup import row_rules
from ledger.backup.cell_parsers import CellError
from ledger.backup.columns import SHEETS, Column, Sheet
from ledger.backup.error_collector import ErrorCollector
from ledger.backup.rows import ROW_CLASSES, Backup
from ledger.backup.workbook import Table

FIRST_DATA_ROW = 2
"""Row 1 holds the headers; JSON counts the same."""
EMPTY_CELLS = (None, "")
MAX_CACHED_CELLS = 10_000
"""Different texts of a column that are read once only."""


def validate_tables(tables: Iterable[Table], home_currency: str) -> Backup:
    """The backup, or `EmptyBackup`, or `InvalidBackup` with its first 100 errors."""
    backup, problems = Backup(), ErrorCollector()
    sheets = {sheet.name: sheet for sheet in SHEETS}
    for table in tables:
        problems.start_sheet(table.name)
        rule = row_rules.ROW_RULES[table.name](backup, home_currency)
        records: list[Any] = getattr(backup, table.name)
        numbers: list[int] = []
        for number, record in _parse_records(sheets[table.name], table, problems):
            try:
                records.append(rule(record))
                numbers.append(number)
            except row_rules.RowError as bad:
                problems.add(number, bad.column, bad.code, bad.detail)
        row_rules.validate_sheet(table.name, backup, numbers, problems)
    problems.raise_if_any(is_empty=not any(backup.row_counts().values()))
    return backup


def _parse_records(
    sheet: Sheet, table: Table, problems: ErrorCollector
) -> Iterator[tuple[int, Any]]:
    """The records whose cells are all right, with their row numbers."""
    readers = [_ColumnParser(column) for column in sheet.columns]
    make = ROW_CLASSES[sheet.name]._make
    for number, cells in enumerate(table.rows, start=FIRST_DATA_ROW):
        try:
            record = make(
                [
                    reader[cell] if cell.__class__ is str else reader.parse(cell)
                    for reader, cell in zip(readers, cells, strict=True)  # type: ignore[arg-type]
                ]
            )
        except (CellError, TypeError):
            _report_cell_errors(number, cells, readers, table, problems)
        else:
            yield number, record


class _ColumnParser(dict[str, Any]):
    """Reads the cells of one column; texts that repeat are read once."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self._missing_default = (
            column.default if column.missing_default is None else column.missing_default
        )

    def __missing__(self, cell: str) -> Any:
        value = self.parse(cell)
        if self.column.is_cacheable and len(self) < MAX_CACHED_CELLS:
            self[cell] = value
        return value

    def parse(self, cell: Any) -> Any:
        if cell is not None and cell != "":
            return self.column.parse(cell)
        if self.column.required:
            raise CellError("required", "This is required.")
        return self._missing_default if cell is None else self.column.default


def _report_cell_errors(
    number: int,
    cells: list[Any] | None,
    readers: list[_ColumnParser],
    table: Table,
    problems: ErrorCollector,
) -> None:
    if cells is None:
        problems.add(number, None, "invalid", "A row is an object.")
        return
    if table.has_blanks and all(cell in EMPTY_CELLS for cell in cells):
        return
    for reader, cell in zip(readers, cells, strict=True):
        try:
            reader.parse(cell)
        except CellError as bad:
            problems.add(number, reader.column.name, bad.code, bad.detail)
