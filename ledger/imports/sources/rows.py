"""Rows of files whose columns are known by name (spec 3.29).

A source finds its header with `find_columns` and overrides `TableReader.read_row`.
Pure: no database.
"""

import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import islice, zip_longest
from typing import TypeAlias, TypeVar

from django.utils.translation import gettext

from ledger.imports.column_names import plain_name
from ledger.imports.errors import UnreadableFileError, UnreadableValueError
from ledger.imports.records import (
    BadRow,
    Cell,
    ColumnMapping,
    FileReading,
    MappedColumn,
    ReadContext,
    Record,
    RowError,
    Table,
)
from ledger.imports.sources.statements import FieldError
from ledger.imports.tables import (
    MAX_HEADER_ROW,
    Header,
    is_empty_row,
    read_header,
)
from ledger.imports.texts import normalize_text, shorten_cells, to_text
from ledger.imports.values import (
    DateAndTime,
    clean_text,
    guess_date_order,
    guess_decimal_mark,
    join_memo,
    parse_amount,
    parse_currency,
    parse_date,
    parse_time,
    to_positive_units,
)

# Of the memo of an entry (spec 10.1).
MAX_MEMO_LENGTH = 500
CACHED_NAMES = 4_096
# Of a column, with line breaks and brackets.
MAX_NAME_LENGTH = 100
# Rows that are sums; asked only of rows without a date.
_TOTAL = re.compile(r"합계|소계|총계|누계|건수|^(?:sub|grand)?total", re.IGNORECASE)
# Of a leap year: here only the form of a date matters.
_SAMPLE_TODAY = datetime.date(2028, 12, 31)
_NOTHING = frozenset({"", "-", "0", "0.00"})

# The names of columns by what `ledger.imports.column_names.FIELDS` calls them.
Fields: TypeAlias = Mapping[str, str]
T = TypeVar("T")


@lru_cache(maxsize=CACHED_NAMES)
def _keys(name: str) -> tuple[str, str]:
    return normalize_text(name), plain_name(name)


class Columns:
    """The columns of a header by name, whatever letter case, spaces and line breaks.

    A name is compared whole first, then with what stands before a bracket: 출금액 finds
    출금액(원), and 승인금액(원) never finds 승인금액(USD).
    """

    def __init__(self, header: Header, names_below: Sequence[str] = ()) -> None:
        self.header = header
        self._names_below = names_below
        self._whole: dict[str, list[int]] = {}
        self._plain: dict[str, list[int]] = {}
        for names in (header.names, names_below):
            for column, name in enumerate(names):
                whole, plain = _keys(name)
                self._whole.setdefault(whole, []).append(column)
                self._plain.setdefault(plain, []).append(column)
        self._found: dict[tuple[str, int], int | None] = {}

    def find(self, name: str, occurrence: int = 0) -> int | None:
        """Return the column of a name, of several the one of that place, or None.

        The column counts as read.
        """
        key = (name, occurrence)
        if key not in self._found:
            places = self._list_places(name)
            self._found[key] = places[occurrence] if occurrence < len(places) else None
        return self._found[key]

    def _list_places(self, name: str) -> list[int]:
        whole, _ = _keys(name)
        return self._whole.get(whole) or self._plain.get(whole) or []

    def has_all(self, names: Iterable[str]) -> bool:
        return all(map(self._list_places, names))

    def list_unread(self) -> Iterator[tuple[int, str]]:
        """Yield number and name of the columns that nothing has asked for."""
        read = set(self._found.values())
        names = zip_longest(self.header.names, self._names_below, fillvalue="")
        for column, (name, name_below) in enumerate(names):
            if column not in read and (name_below or name):
                yield column, name_below or name


def find_columns(
    table: Table, marks: Sequence[str], header_rows: int = 1
) -> Columns | None:
    """Return the columns of the first of 20 rows that has all the names, or None.

    The first name is that of the date. With two header rows the names of the second
    one count too, unless it is a row of data already.
    """
    date_key, _ = _keys(marks[0])
    for index in range(min(MAX_HEADER_ROW, len(table.rows))):
        cells = table.rows[index]
        if len(cells) < 2 or not any(_may_be_named(cell, date_key) for cell in cells):
            continue
        header = read_header(index + 1, cells)
        columns = Columns(header)
        if header_rows == 2 and columns.has_all(marks[:1]):
            columns = _with_second_row(table, columns, marks[0])
        if columns.has_all(marks):
            return columns
    return None


def _may_be_named(cell: Cell, key: str) -> bool:
    """Return False for most cells that have not the name; normalizing takes time."""
    if not isinstance(cell, str) or len(cell) > MAX_NAME_LENGTH:
        return False
    if not cell.isascii():
        return True
    return key.isascii() and key[0] in cell.casefold()


def _with_second_row(table: Table, columns: Columns, date_name: str) -> Columns:
    header = columns.header
    if header.row >= len(table.rows):
        return columns
    cells = table.rows[header.row]
    cell = Row(header.row + 1, cells, columns).cell(date_name)
    try:
        parse_date(cell, _SAMPLE_TODAY)
    except UnreadableValueError:
        below = read_header(header.row + 1, cells)
        return Columns(Header(below.row, header.names), below.names)
    return columns


@dataclass(frozen=True, slots=True)
class Row:
    """A row below a header; its cells are asked for by the names of columns.

    The readers raise `FieldError` with the field of the mapping that they read.
    """

    number: int
    cells: Sequence[Cell]
    columns: Columns

    def cell(self, name: str | None, occurrence: int = 0) -> Cell:
        column = None if name is None else self.columns.find(name, occurrence)
        is_there = column is not None and column < len(self.cells)
        return self.cells[column] if column is not None and is_there else None

    def text(self, name: str | None, field: str = "text") -> str:
        return _read(field, clean_text, self.cell(name))

    def texts(self, names: Iterable[str], field: str = "text") -> list[str]:
        """Return the texts of columns, without empty ones."""
        return [text for name in names if (text := self.text(name, field))]

    def amount(
        self, name: str | None, field: str = "amount", mark: str = "."
    ) -> Decimal | None:
        return _read(field, lambda cell: parse_amount(cell, mark), self.cell(name))

    def date(
        self, name: str, today: datetime.date, date_order: str = "ymd"
    ) -> DateAndTime:
        cell = self.cell(name)
        return _read("date", lambda cell: parse_date(cell, today, date_order), cell)

    def time(self, name: str | None) -> datetime.time | None:
        return _read("time", parse_time, self.cell(name))

    def currency(self, name: str | None) -> str | None:
        return _read("currency", parse_currency, self.cell(name))


def _read(field: str, parse: Callable[[Cell], T], cell: Cell) -> T:
    try:
        return parse(cell)
    except UnreadableValueError as error:
        raise FieldError(field, error.message) from None


def to_units(amount: Decimal, field: str = "amount") -> int:
    """Return a positive amount in whole home units; raise `FieldError`."""
    try:
        return to_positive_units(amount)
    except UnreadableValueError as error:
        raise FieldError(field, error.message) from None


def missing_amount() -> FieldError:
    return FieldError("amount", gettext("The amount is missing."))


def unknown_type() -> FieldError:
    text = gettext("The type is neither an income nor an expense.")
    return FieldError("type", text)


class TableReader:
    """Reads the rows of a file one by one; counts what is no entry.

    `date_name` is the column of the date, `fields` what the columns are in a mapping.
    """

    date_name = ""
    fields: Fields = {}

    def __init__(self, context: ReadContext) -> None:
        self.context = context
        self.records: list[Record | BadRow] = []
        self.counts: Counter[str] = Counter()
        # Sentences, each once, in their order.
        self.notes: dict[str, None] = {}
        self.date_order = "ymd"
        self.columns: Columns | None = None
        self._row_count = 0

    def start_after(self, row_count: int) -> None:
        """Let the rows count on after those of tables that another reader reads."""
        self._row_count = row_count

    def read_row(self, row: Row) -> Record | str:
        """Return the record of a row, or the reason for which it is none.

        Raises `FieldError` if the row cannot be read.
        """
        raise NotImplementedError

    def prepare(self, rows: Sequence[Sequence[Cell]], columns: Columns) -> None:
        """Look at all rows of a table before the first is read."""
        cells = iter_cells(rows, columns, self.date_name)
        # A year of four digits in front decides by itself.
        self.date_order = guess_date_order(
            cell
            for cell in cells
            if isinstance(cell, str) and not cell.lstrip()[:4].isdigit()
        )

    def read_table(self, table: Table, columns: Columns) -> None:
        """Read a table; rows of further tables count on after those before."""
        start = columns.header.row
        rows = table.rows[start:]
        self.columns = self.columns or columns
        self.prepare(rows, columns)
        for number, cells in enumerate(rows, start + 1 + self._row_count):
            row = Row(number, cells, columns)
            if reason := self._reason_to_pass_over(row):
                self.counts[reason] += 1
                continue
            try:
                record = self.read_row(row)
            except FieldError as error:
                errors = (RowError(error.field, error.message),)
                self.records.append(BadRow(number, errors, shorten_cells(cells)))
                continue
            if isinstance(record, str):
                self.counts[record] += 1
            else:
                self.records.append(record)
        self._row_count += len(table.rows)
        self._note_unread(rows, columns)

    def _reason_to_pass_over(self, row: Row) -> str | None:
        if is_empty_row(row.cells):
            return "empty"
        cell = row.cell(self.date_name)
        try:
            parse_date(cell, self.context.today, self.date_order)
        except UnreadableValueError:
            return self._reason_without_date(row)
        return None

    def _reason_without_date(self, row: Row) -> str | None:
        """Return why a row without a date is no entry, None if it is a bad one."""
        texts = [normalize_text(to_text(cell)) for cell in row.cells]
        if any(map(_TOTAL.search, texts)):
            return "total"
        if sum(bool(text) for text in texts) == 1:
            return "note"
        date_text = normalize_text(to_text(row.cell(self.date_name)))
        is_header = date_text == normalize_text(self.date_name)
        return "header" if is_header else None

    def make_memo(self, *texts: str) -> str:
        """Return texts as one memo of at most 500 characters."""
        memo = join_memo(*texts)
        if len(memo) > MAX_MEMO_LENGTH:
            note = gettext("Memos are shortened to {limit} characters.")
            self.note(note.format(limit=MAX_MEMO_LENGTH))
        return memo[:MAX_MEMO_LENGTH]

    def note(self, sentence: str) -> None:
        self.notes[sentence] = None

    def _note_unread(self, rows: Sequence[Sequence[Cell]], columns: Columns) -> None:
        """Name the columns with content that nothing has asked for."""
        names = [
            name for column, name in columns.list_unread() if _has_content(rows, column)
        ]
        if names:
            text = gettext("Columns that are not read: {names}.")
            self.note(text.format(names=", ".join(dict.fromkeys(names))))

    def make_reading(self, source: str) -> FileReading:
        return FileReading(
            source,
            self._make_mapping(),
            self.records,
            passed_over=dict(self.counts),
            left_out=list(self.notes),
        )

    def _make_mapping(self) -> ColumnMapping | None:
        if self.columns is None:
            return None
        header = self.columns.header
        by_column = {self.columns.find(name): key for name, key in self.fields.items()}
        columns = (
            MappedColumn(column, name, by_column.get(column))
            for column, name in enumerate(header.names)
        )
        return ColumnMapping(header.row, tuple(columns), self.date_order)


def iter_cells(
    rows: Iterable[Sequence[Cell]], columns: Columns, name: str
) -> list[Cell]:
    """Return the cells of a column, None where a row ends before it."""
    column = columns.find(name)
    if column is None:
        return []
    return [cells[column] if column < len(cells) else None for cells in rows]


def find_decimal_mark(
    rows: Sequence[Sequence[Cell]], columns: Columns, names: Iterable[str]
) -> str:
    """Return the decimal mark of some columns of amounts together."""
    return guess_decimal_mark(
        cell for name in names for cell in iter_cells(rows, columns, name)
    )


def find_income_categories(
    categories: Iterable[Cell], signs: Iterable[int]
) -> frozenset[str]:
    """Return the categories into which money comes more often than it goes out.

    Apps without kinds of categories have refunds as money that comes into another one.
    """
    counts: Counter[str] = Counter()
    for cell, sign in zip(categories, signs, strict=False):
        counts[" ".join(to_text(cell).split())] += sign
    return frozenset(name for name, count in counts.items() if count > 0)


def _has_content(rows: Sequence[Sequence[Cell]], column: int) -> bool:
    return any(
        column < len(cells) and to_text(cells[column]).strip() not in _NOTHING
        for cells in rows
    )


class NamedSource:
    """A source of one table with known columns; a subclass makes the reader."""

    name = ""
    # Names that all stand in the header; the first one is that of the date.
    marks: Sequence[str] = ()
    reader: type[TableReader]

    def find_table(self, tables: Sequence[Table]) -> tuple[Table, Columns] | None:
        for table in tables:
            if columns := find_columns(table, self.marks):
                return table, columns
        return None

    def recognizes(self, tables: Sequence[Table]) -> bool:
        return self.find_table(tables) is not None

    def read(
        self,
        tables: Sequence[Table],
        mapping: ColumnMapping | None,
        context: ReadContext,
    ) -> FileReading:
        """Read the table with the header; the columns are known, no mapping is used.

        Raises `UnreadableFileError` for a file of another source.
        """
        del mapping
        found = self.find_table(tables)
        if found is None:
            raise other_source()
        reader = self.reader(context)
        reader.read_table(*found)
        self.finish(reader, tables, found[0])
        return reader.make_reading(self.name)

    def finish(
        self, reader: TableReader, tables: Sequence[Table], table: Table
    ) -> None:
        """Say which tables are not read."""
        note_other_tables(reader, [each for each in tables if each is not table])


def note_other_tables(reader: TableReader, tables: Sequence[Table]) -> None:
    count = sum(any(map(any, islice(table.rows, MAX_HEADER_ROW))) for table in tables)
    if count:
        text = gettext("Tables with other columns are not read: {count}.")
        reader.note(text.format(count=count))


def other_source() -> UnreadableFileError:
    return UnreadableFileError(
        gettext("The file does not have the columns of this source.")
    )
