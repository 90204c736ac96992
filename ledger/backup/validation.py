"""Checks a backup as a whole before anything is changed.

Pure: plain rows in; typed records out, or what is wrong with which row and column.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from ledger.backup import row_rules
from ledger.backup.cell_parsers import BadCell
from ledger.backup.columns import SHEETS, Column, Sheet
from ledger.backup.error_collector import Problems
from ledger.backup.rows import RECORDS, Backup
from ledger.backup.workbook import Table

FIRST_ROW = 2
"""Row 1 holds the headers; JSON counts the same."""
MISSING = (None, "")
MOST_REMEMBERED = 10_000
"""Different texts of a column that are read once only."""


def check_tables(tables: Iterable[Table], home_currency: str) -> Backup:
    """The backup, or `EmptyBackup`, or `InvalidBackup` with its first 100 errors."""
    backup, problems = Backup(), Problems()
    sheets = {sheet.name: sheet for sheet in SHEETS}
    for table in tables:
        problems.begin(table.name)
        rule = row_rules.RULES[table.name](backup, home_currency)
        records: list[Any] = getattr(backup, table.name)
        numbers: list[int] = []
        for number, record in _read_records(sheets[table.name], table, problems):
            try:
                records.append(rule(record))
                numbers.append(number)
            except row_rules.BadRow as bad:
                problems.add(number, bad.column, bad.code, bad.detail)
        row_rules.finish(table.name, backup, numbers, problems)
    problems.raise_any(is_empty=not any(backup.count().values()))
    return backup


def _read_records(
    sheet: Sheet, table: Table, problems: Problems
) -> Iterator[tuple[int, Any]]:
    """The records whose cells are all right, with their row numbers."""
    readers = [_Reader(column) for column in sheet.columns]
    make = RECORDS[sheet.name]._make
    for number, cells in enumerate(table.rows, start=FIRST_ROW):
        try:
            record = make(
                [
                    reader[cell] if cell.__class__ is str else reader.read(cell)
                    for reader, cell in zip(readers, cells, strict=True)  # type: ignore[arg-type]
                ]
            )
        except (BadCell, TypeError):
            _note_bad_cells(number, cells, readers, table, problems)
        else:
            yield number, record


class _Reader(dict[str, Any]):
    """Reads the cells of one column; texts that repeat are read once."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self._absent = column.default if column.absent is None else column.absent

    def __missing__(self, cell: str) -> Any:
        value = self.read(cell)
        if self.column.repeats and len(self) < MOST_REMEMBERED:
            self[cell] = value
        return value

    def read(self, cell: Any) -> Any:
        if cell is not None and cell != "":
            return self.column.read(cell)
        if self.column.required:
            raise BadCell("required", "This is required.")
        return self._absent if cell is None else self.column.default


def _note_bad_cells(
    number: int,
    cells: list[Any] | None,
    readers: list[_Reader],
    table: Table,
    problems: Problems,
) -> None:
    if cells is None:
        problems.add(number, None, "invalid", "A row is an object.")
        return
    if table.has_blanks and all(cell in MISSING for cell in cells):
        return
    for reader, cell in zip(readers, cells, strict=True):
        try:
            reader.read(cell)
        except BadCell as bad:
            problems.add(number, reader.column.name, bad.code, bad.detail)
