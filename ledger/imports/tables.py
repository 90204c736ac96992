"""The header of a table, and which of its columns is what (spec 3.29).

Pure: no database. Rows and header rows count from 1, as spreadsheets show them; columns
count from 0.
"""

import datetime
import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from django.utils.translation import gettext

from ledger.imports.column_names import (
    FIELDS,
    SPENT_NAMES,
    TOTAL_NAMES,
    fields_named,
    plain_name,
)
from ledger.imports.column_words import find_direction, is_transfer
from ledger.imports.dates import (
    DATE_ORDERS,
    guess_date_order,
    parse_date,
    parse_time,
)
from ledger.imports.errors import (
    InvalidMappingError,
    MappingError,
    UnreadableFileError,
    UnreadableValueError,
)
from ledger.imports.records import Cell, ColumnMapping, MappedColumn, Table
from ledger.imports.texts import normalize_text, to_text
from ledger.imports.values import (
    parse_amount,
    parse_currency,
    parse_months,
    parse_rate,
)

MAX_HEADER_ROW = 20
# Rows from which fields are guessed.
MAX_SAMPLE_ROWS = 200
# Fields whose cells are of one form.
_PARSERS: Mapping[str, Callable[[Cell], object]] = {
    "time": parse_time,
    "currency": parse_currency,
    "originalAmount": parse_amount,
    "exchangeRate": parse_rate,
    "months": parse_months,
}
# Of a leap year: here only the form of a date matters.
_SAMPLE_TODAY = datetime.date(2028, 12, 31)


@dataclass(frozen=True, slots=True)
class Header:
    """The row of a table's names, each on one line; names may repeat."""

    row: int
    names: tuple[str, ...]

    def find(self, name: str) -> int | None:
        """Return the first column of a name, whatever its case and spaces."""
        wanted = normalize_text(name)
        for column, each in enumerate(self.names):
            if normalize_text(each) == wanted:
                return column
        return None


def read_header(row: int, cells: Iterable[Cell]) -> Header:
    names = [" ".join(to_text(cell).split()) for cell in cells]
    while names and not names[-1]:
        names.pop()
    return Header(row, tuple(names))


def find_named_header(table: Table, names: Collection[str]) -> Header | None:
    """Return the first of the first 20 rows that has all the names, or None."""
    wanted = {normalize_text(name) for name in names}
    for number, cells in enumerate(islice(table.rows, MAX_HEADER_ROW), 1):
        header = read_header(number, cells)
        if wanted <= {normalize_text(name) for name in header.names}:
            return header
    return None


def find_header(table: Table) -> Header:
    """Return the header of a table of any columns.

    It is the row of the first 20 with the most known names, two at least; without one,
    the last row of texts above the first row with a date and an amount. Raises
    `UnreadableFileError`.
    """
    headers = [
        read_header(number, cells)
        for number, cells in enumerate(islice(table.rows, MAX_HEADER_ROW), 1)
    ]
    best = max(headers, key=_count_fields, default=None)
    if best is not None and _count_fields(best) >= 2:
        return best
    for header, following in pairwise(headers):
        cells = table.rows[following.row - 1]
        texts = [name for name in header.names if name]
        if len(texts) >= 2 and not any(map(_is_value, texts)) and _has_entry(cells):
            return header
    text = gettext("No row of the first {limit} names the columns.")
    raise UnreadableFileError(text.format(limit=MAX_HEADER_ROW))


def _count_fields(header: Header) -> int:
    """Return how many fields a row names; a row of data names none or one."""
    found = {field for name in header.names for field, _ in fields_named(name)}
    return len(found) if found & {"date", "amount", "out", "in"} else 0


def _is_value(cell: Cell) -> bool:
    return _is_date(cell) or _is_amount(cell)


def _has_entry(cells: Sequence[Cell]) -> bool:
    return any(map(_is_date, cells)) and any(map(_is_amount, cells))


def _is_date(cell: Cell) -> bool:
    if not isinstance(cell, str):
        return False
    sample = [cell] if any(mark in cell for mark in "-./년, ") else []
    return bool(sample) and any(_reads_as_date(cell, order) for order in DATE_ORDERS)


def _reads_as_date(cell: Cell, order: str) -> bool:
    return _can_read(lambda each: parse_date(each, _SAMPLE_TODAY, order), cell)


def _is_amount(cell: Cell) -> bool:
    if cell is None or isinstance(cell, bool) or cell == "" or _is_date(cell):
        return False
    try:
        return parse_amount(cell) is not None
    except UnreadableValueError:
        return False


def header_key(headers: Sequence[str]) -> str:
    """Return the digest by which the mapping of a header is remembered: 64 hex digits.

    Letter case, spaces and line breaks do not matter; the order does.
    """
    joined = "\x1f".join(map(normalize_text, headers))
    return hashlib.sha256(joined.encode()).hexdigest()


def guess_columns(table: Table) -> ColumnMapping:
    """Return which column is what, by names and by the cells below.

    Raises `UnreadableFileError` without a header. A date or an amount that is not found
    stays unmapped: the member names it.
    """
    header = find_header(table)
    rows = list(islice(table.rows, header.row, header.row + MAX_SAMPLE_ROWS))
    samples = [
        [
            row[column]
            for row in rows
            if column < len(row) and row[column] not in {None, ""}
        ]
        for column in range(len(header.names))
    ]
    found = _assign_names(header, samples)
    _drop_misfits(found, samples)
    _settle_amounts(found, header, samples)
    _guess_from_cells(found, samples)
    fields = {column: field for field, column in found.items()}
    dates = samples[found["date"]] if "date" in found else []
    return ColumnMapping(
        header.row,
        tuple(
            MappedColumn(column, name, fields.get(column))
            for column, name in enumerate(header.names)
        ),
        guess_date_order(dates),
    )


def _assign_names(header: Header, samples: Sequence[Sequence[Cell]]) -> dict[str, int]:
    """Give each field the column with its best name; a column with cells goes first."""
    ranked = sorted(
        (rank, not samples[column], column, field)
        for column, name in enumerate(header.names)
        for field, rank in fields_named(name)
    )
    found: dict[str, int] = {}
    for _, _, column, field in ranked:
        if field not in found and column not in found.values():
            found[field] = column
    return found


def _drop_misfits(found: dict[str, int], samples: Sequence[Sequence[Cell]]) -> None:
    """Drop a field whose name fits a column and whose cells mostly do not."""
    for field, parse in _PARSERS.items():
        cells = samples[found[field]] if field in found else []
        if sum(_can_read(parse, cell) for cell in cells) < len(cells) / 2:
            del found[field]
    words = samples[found["type"]] if "type" in found else []
    if words and not any(find_direction(cell) or is_transfer(cell) for cell in words):
        del found["type"]


def _can_read(parse: Callable[[Cell], object], cell: Cell) -> bool:
    try:
        parse(cell)
    except UnreadableValueError:
        return False
    return True


def _settle_amounts(
    found: dict[str, int], header: Header, samples: Sequence[Sequence[Cell]]
) -> None:
    """Keep either the signed amount or those that go out and come in.

    An amount without a sign or a type that would tell the direction is one that goes
    out, as in a card's list of purchases.
    """
    if {"out", "in"} <= found.keys():
        found.pop("amount", None)
    elif "amount" in found:
        found.pop("out", None)
        found.pop("in", None)
        column = found["amount"]
        is_spent = plain_name(header.names[column]) in SPENT_NAMES
        if "type" not in found and (is_spent or not _has_negative(samples[column])):
            found["out"] = found.pop("amount")


def _has_negative(cells: Iterable[Cell]) -> bool:
    for cell in cells:
        try:
            amount = parse_amount(cell)
        except UnreadableValueError:
            continue
        if amount is not None and amount < 0:
            return True
    return False


def _guess_from_cells(found: dict[str, int], samples: Sequence[Sequence[Cell]]) -> None:
    """Find a date and an amount by their cells, where no name tells them."""
    for field, is_one in (("date", _is_date), ("amount", _is_amount)):
        if field in found or (field == "amount" and {"out", "in"} & found.keys()):
            continue
        for column, cells in enumerate(samples):
            if column not in found.values() and cells and all(map(is_one, cells)):
                is_unsigned = field == "amount" and "type" not in found
                is_out = is_unsigned and not _has_negative(cells)
                found["out" if is_out else field] = column
                break


def validate_mapping(table: Table, mapping: ColumnMapping) -> None:
    """Raise `InvalidMappingError` with an error for each field that is wrong."""
    errors = list(_list_mapping_errors(table, mapping))
    if errors:
        raise InvalidMappingError(tuple(errors))


def _list_mapping_errors(
    table: Table, mapping: ColumnMapping
) -> Iterator[MappingError]:
    if mapping.date_order not in DATE_ORDERS:
        text = gettext("Must be ymd, dmy or mdy.")
        yield MappingError("dateOrder", "invalid", text)
    if not 1 <= mapping.header_row <= min(MAX_HEADER_ROW, len(table.rows)):
        yield MappingError("headerRow", "invalid", gettext("The file has no such row."))
        return
    header = read_header(mapping.header_row, table.rows[mapping.header_row - 1])
    seen: set[int] = set()
    for index, each in enumerate(mapping.columns):
        place = f"columns[{index}]"
        if not 0 <= each.column < len(header.names) or (
            normalize_text(header.names[each.column]) != normalize_text(each.name)
        ):
            text = gettext("The file has no such column.")
            yield MappingError(f"{place}.column", "does_not_exist", text)
        elif each.column in seen:
            text = gettext("The column is named twice.")
            yield MappingError(f"{place}.column", "repeated", text)
        seen.add(each.column)
        if each.field is not None and each.field not in FIELDS:
            text = gettext("There is no such field.")
            yield MappingError(f"{place}.field", "unknown", text)
    yield from _list_field_errors(mapping)


def _list_field_errors(mapping: ColumnMapping) -> Iterator[MappingError]:
    counts = Counter(each.field for each in mapping.columns if each.field)
    for field, count in counts.items():
        if count > 1:
            text = gettext("Only one column can be read as this field.")
            yield MappingError(field, "repeated", text)
    if "date" not in counts:
        text = gettext("A column must be read as the date.")
        yield MappingError("date", "required", text)
    has_flow = bool({"out", "in"} & counts.keys())
    if "amount" in counts and has_flow:
        text = gettext("Either the amount, or what goes out and comes in.")
        yield MappingError("amount", "mismatch", text)
    if "amount" not in counts and not has_flow and "originalAmount" not in counts:
        text = gettext("A column must be read as the amount.")
        yield MappingError("amount", "required", text)


def is_empty_row(cells: Sequence[Cell]) -> bool:
    return all(cell is None or not to_text(cell).strip() for cell in cells)


def is_total_row(cells: Sequence[Cell]) -> bool:
    """Return True for a row of sums (합계, Total); ask only of rows without a date."""
    return any(
        isinstance(cell, str) and normalize_text(cell).startswith(TOTAL_NAMES)
        for cell in cells
    )
