"""Validates a backup as a whole. No database access."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from core.api.unknown_names import MAX_DISTANCE, find_suggestion
from ledger.backup.card_rules import (
    CARD_RULES,
    check_parts,
    list_main_card_misfits,
)
from ledger.backup.cell_parsers import CellError
from ledger.backup.columns import CATEGORIES, ENTRIES, SHEETS, Backup, IgnoredName
from ledger.backup.error_collector import ErrorCollector
from ledger.backup.parts import (
    Misfit,
    flatten_single_lines,
    list_dismissal_misfits,
    list_misfits,
    list_refund_misfits,
)
from ledger.backup.row_rules import ROW_RULES, RowError, list_rows_without_parent
from ledger.backup.schema import Column, RowT, Sheet
from ledger.backup.workbook import Table
from ledger.errors import EmptyBackupError

# Row 1 holds the headers; rows of JSON are counted the same way.
HEADER_ROW, FIRST_DATA_ROW = 1, 2
EMPTY_CELLS = (None, "")
MAX_CACHED_CELLS = 10_000


def validate_tables(tables: Iterable[Table], home_currency: str) -> Backup:
    """Return the rows of all tables.

    Raises `InvalidBackupError` with the first 100 errors, or `EmptyBackupError`.
    """
    backup, errors = Backup(), ErrorCollector()
    sheets = {sheet.name: sheet for sheet in SHEETS}
    numbers_by_sheet: dict[str, list[int]] = {}
    for table in tables:
        if table.is_unknown:
            backup.ignored.append(IgnoredName(table.name))
            continue
        sheet = sheets[table.name]
        errors.start_sheet(sheet.name)
        backup.ignored += _pass_over_columns(table, errors)
        check_row = (ROW_RULES | CARD_RULES)[sheet.name](backup, home_currency)
        rows = backup.rows_of(sheet)
        row_numbers: list[int] = []
        for row_number, row in _parse_rows(sheet, table, errors):
            try:
                check_row(row)
                if sheet is ENTRIES:
                    check_parts(row)
            except RowError as error:
                errors.add(row_number, error.column, error.code, error.detail)
            else:
                rows.append(row)
                row_numbers.append(row_number)
        numbers_by_sheet[sheet.name] = row_numbers
        if sheet is CATEGORIES:
            for index, detail in list_rows_without_parent(backup.categories):
                errors.add(row_numbers[index], "parent", "hierarchy", detail)
    errors.raise_if_any()
    _add_misfits(errors, list_misfits(backup), numbers_by_sheet)
    _add_misfits(errors, list_main_card_misfits(backup), numbers_by_sheet)
    flatten_single_lines(backup)
    _add_misfits(errors, list_refund_misfits(backup), numbers_by_sheet)
    _add_misfits(errors, list_dismissal_misfits(backup), numbers_by_sheet)
    errors.raise_if_any()
    if not any(backup.row_counts().values()):
        raise EmptyBackupError
    return backup


def _add_misfits(
    errors: ErrorCollector,
    misfits: Iterable[Misfit],
    numbers_by_sheet: Mapping[str, Sequence[int]],
) -> None:
    for misfit in misfits:
        errors.start_sheet(misfit.sheet)
        number = numbers_by_sheet[misfit.sheet][misfit.row_index]
        errors.add(number, misfit.column, misfit.code, misfit.detail)


def _parse_rows(
    sheet: Sheet[RowT], table: Table, errors: ErrorCollector
) -> Iterator[tuple[int, RowT]]:
    parsers = [_ColumnParser(column) for column in sheet.columns]
    for row_number, cells in enumerate(table.rows, start=FIRST_DATA_ROW):
        if not isinstance(cells, list):
            _add_row_errors(row_number, cells, sheet, errors)
            continue
        try:
            # The hot loop of a restore: most cells are in the cache of their column,
            # without a call of a function.
            values = [
                parser[cell]
                if cell.__class__ is str or cell.__class__ is bool
                else parser.parse(cell)
                for parser, cell in zip(parsers, cells, strict=True)
            ]
        except CellError:
            is_blank = all(cell in EMPTY_CELLS for cell in cells)
            if not (table.has_blank_rows and is_blank):
                _add_cell_errors(row_number, cells, parsers, errors)
        else:
            yield row_number, sheet.row_class(*values)


def _pass_over_columns(table: Table, errors: ErrorCollector) -> Iterator[IgnoredName]:
    """Yield the unknown columns, but for misspelt ones, which are errors."""
    for name in table.unknown_columns:
        # A short name too: an ignored memo would be lost.
        suggestion = find_suggestion(
            name, table.missing_columns, (), max_distance=MAX_DISTANCE
        )
        if suggestion is not None:
            errors.add_unknown_name(HEADER_ROW, name, suggestion)
        else:
            yield IgnoredName(table.name, name)


def _add_row_errors(
    row_number: int,
    row: dict[str, list[str]] | None,
    sheet: Sheet[Any],
    errors: ErrorCollector,
) -> None:
    if row is None:
        errors.add(row_number, None, "invalid", gettext("A row must be an object."))
        return
    for name in row["unknown"]:
        errors.add_unknown_name(
            row_number, name, find_suggestion(name, sheet.headers, ())
        )


class _ColumnParser(dict[str | bool, Any]):
    """Parses the cells of one column, with a cache."""

    def __init__(self, column: Column) -> None:
        self.column = column
        if not column.is_required:
            self[""] = column.default

    def __missing__(self, cell: str | bool) -> Any:
        value = self.parse(cell)
        if self.column.has_recurring_texts and len(self) < MAX_CACHED_CELLS:
            self[cell] = value
        return value

    def parse(self, cell: Any) -> Any:
        if cell is not None and cell != "":
            return self.column.parse(cell)
        if self.column.is_required:
            raise CellError("required", gettext("Required."))
        return self.column.absent_default if cell is None else self.column.default


def _add_cell_errors(
    row_number: int,
    cells: list[Any],
    parsers: Iterable[_ColumnParser],
    errors: ErrorCollector,
) -> None:
    for parser, cell in zip(parsers, cells, strict=True):
        try:
            parser.parse(cell)
        except CellError as error:
            errors.add(row_number, parser.column.header, error.code, error.detail)
