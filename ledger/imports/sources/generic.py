"""Tables of any columns: csv, xlsx, xls, html (spec 3.29).

The mapping says which column is what; without one it is guessed. `amount` is signed,
money that goes out is negative, unless a `type` tells the direction. `out` and `in` are
positive; a negative `out` is money that comes back.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from typing import Any

from django.utils.translation import gettext

from ledger.imports.column_words import (
    find_direction,
    is_cancelled,
    is_declined,
    is_transfer,
)
from ledger.imports.errors import (
    InvalidMappingError,
    UnreadableFileError,
    UnreadableValueError,
)
from ledger.imports.records import (
    BadRow,
    Cell,
    ColumnMapping,
    Direction,
    FileReading,
    ReadContext,
    Record,
    RecordKind,
    RowError,
    Table,
)
from ledger.imports.tables import (
    find_header,
    guess_columns,
    header_key,
    is_empty_row,
    is_total_row,
    read_header,
    validate_mapping,
)
from ledger.imports.texts import shorten_cells
from ledger.imports.values import (
    clean_text,
    guess_decimal_mark,
    join_memo,
    parse_amount,
    parse_currency,
    parse_date,
    parse_months,
    parse_rate,
    parse_tags,
    parse_time,
    to_positive_units,
)

# Any of them is read alike, whichever of these sources a member names.
TABLE_KINDS = ("csv", "xlsx", "xls", "html")
# Of the memo of an entry (spec 10.1).
MAX_MEMO_LENGTH = 500
_FLOW_FIELDS = ("amount", "out", "in")
_AMOUNT_FIELDS = (*_FLOW_FIELDS, "originalAmount", "exchangeRate")
_PARSERS: Mapping[str, Callable[[Cell], Any]] = {
    "time": parse_time,
    "currency": parse_currency,
    "months": parse_months,
    "tags": parse_tags,
}


class GenericSource:
    def __init__(self, name: str) -> None:
        self.name = name

    def recognizes(self, tables: Sequence[Table]) -> bool:
        return bool(tables) and tables[0].kind == self.name

    def read(
        self,
        tables: Sequence[Table],
        mapping: ColumnMapping | None,
        context: ReadContext,
    ) -> FileReading:
        """Read the first table with a header, and all tables with the same header.

        The rows of further tables count on after those of the tables before. Without a
        mapping, and where no date or amount is found, there are no records: the member
        names the columns. Raises `UnreadableFileError` without a header, and
        `InvalidMappingError` for a given mapping.
        """
        if any(table.kind not in TABLE_KINDS for table in tables):
            raise UnreadableFileError(gettext("The file is of another kind."))
        first, chosen = _choose_table(tables, mapping)
        try:
            validate_mapping(first, chosen)
        except InvalidMappingError as error:
            if mapping is not None:
                raise
            messages = [each.message for each in error.errors]
            return FileReading(self.name, chosen, [], left_out=messages)
        mapping = chosen
        reader = _TableReader(mapping, context, first)
        key = header_key(reader.names)
        row_count = 0
        for table in tables:
            header_row = _find_same_header(table, first, mapping, key)
            if header_row is not None:
                reader.read_rows(table, header_row, row_count)
            elif table.rows:
                text = gettext("The table {name} has other columns: it is not read.")
                reader.left_out.append(text.format(name=table.name))
            row_count += len(table.rows)
        records = _settle_cancelled(reader.records, reader.cancelled, reader.counts)
        return FileReading(
            self.name,
            mapping,
            records,
            passed_over=dict(reader.counts),
            left_out=reader.left_out,
        )


def _choose_table(
    tables: Sequence[Table], mapping: ColumnMapping | None
) -> tuple[Table, ColumnMapping]:
    """Return the table that has the mapping's header, or the first with any header."""
    if mapping is not None:
        names = [each.name for each in mapping.columns]
        for table in tables:
            if len(table.rows) >= mapping.header_row >= 1:
                header = read_header(
                    mapping.header_row, table.rows[mapping.header_row - 1]
                )
                if set(names) <= set(header.names):
                    return table, mapping
        return tables[0], mapping
    for table in tables:
        try:
            return table, guess_columns(table)
        except UnreadableFileError:
            if table is tables[-1]:
                raise
    raise UnreadableFileError(gettext("The file is empty."))


def _find_same_header(
    table: Table, first: Table, mapping: ColumnMapping, key: str
) -> int | None:
    if table is first:
        return mapping.header_row
    try:
        header = find_header(table)
    except UnreadableFileError:
        return None
    return header.row if header_key(header.names) == key else None


class _RowErrors(Exception):  # noqa: N818  # several errors of one row
    def __init__(self, errors: Sequence[RowError]) -> None:
        self.errors = tuple(errors)
        super().__init__(errors)


class _TableReader:
    """Reads rows by one mapping; counts what is no entry."""

    def __init__(
        self, mapping: ColumnMapping, context: ReadContext, first: Table
    ) -> None:
        self.mapping, self.context = mapping, context
        header = read_header(mapping.header_row, first.rows[mapping.header_row - 1])
        self.names = header.names
        self.columns = {
            each.field: each.column for each in mapping.columns if each.field
        }
        rows = first.rows[mapping.header_row :]
        self.decimal_marks = {
            field: guess_decimal_mark(_iter_column(rows, self.columns[field]))
            for field in _AMOUNT_FIELDS
            if field in self.columns
        }
        self.is_signed = self._has_negative_expense(rows)
        self.records: list[Record | BadRow] = []
        # Rows that say that they are cancelled, by their number.
        self.cancelled: set[int] = set()
        self.counts: Counter[str] = Counter()
        self.left_out: list[str] = []

    def _has_negative_expense(self, rows: Sequence[Sequence[Cell]]) -> bool:
        """Return True if expenses are negative beside a type that names them."""
        if not {"amount", "type"} <= self.columns.keys():
            return False
        for cells in rows:
            word = self._cell(cells, "type")
            if find_direction(word) is not Direction.OUT:
                continue
            amount = _try_amount(self._cell(cells, "amount"))
            if amount is not None and amount < 0:
                return True
        return False

    def _cell(self, cells: Sequence[Cell], field: str) -> Cell:
        column = self.columns.get(field)
        return cells[column] if column is not None and column < len(cells) else None

    def read_rows(self, table: Table, header_row: int, row_count: int) -> None:
        for number, cells in enumerate(
            islice(table.rows, header_row, None), header_row + 1 + row_count
        ):
            reason = self._reason_to_pass_over(cells)
            if reason is not None:
                self.counts[reason] += 1
                continue
            try:
                record = self._read_row(number, cells)
            except _RowErrors as error:
                self.records.append(BadRow(number, error.errors, shorten_cells(cells)))
                continue
            if record is None:
                self.counts["zero"] += 1
            else:
                self.records.append(record)

    def _reason_to_pass_over(self, cells: Sequence[Cell]) -> str | None:
        if is_empty_row(cells):
            return "empty"
        if not self._has_date(cells):
            if is_total_row(cells):
                return "total"
            if sum(cell not in {None, ""} for cell in cells) == 1:
                return "note"
            if read_header(0, cells).names == self.names:
                return "header"
        if is_declined(self._cell(cells, "status")):
            return "declined"
        return None

    def _has_date(self, cells: Sequence[Cell]) -> bool:
        try:
            self._parse_date(self._cell(cells, "date"))
        except UnreadableValueError:
            return False
        return True

    def _parse_date(self, cell: Cell) -> Any:
        return parse_date(cell, self.context.today, self.mapping.date_order)

    def _read_row(self, number: int, cells: Sequence[Cell]) -> Record | None:
        """Return the record of a row, None if its amount is 0; raise `_RowErrors`."""
        values: dict[str, Any] = {}
        errors: list[RowError] = []
        for field in self.columns:
            try:
                values[field] = self._parse(field, self._cell(cells, field))
            except UnreadableValueError as error:
                errors.append(RowError(field, error.message))
        if errors:
            raise _RowErrors(errors)
        try:
            return self._make_record(number, values)
        except UnreadableValueError as error:
            fields = (*_FLOW_FIELDS, "originalAmount")
            given = [field for field in fields if values.get(field) is not None]
            field = (given or [field for field in fields if field in self.columns])[0]
            raise _RowErrors([RowError(field, error.message)]) from None

    def _parse(self, field: str, cell: Cell) -> Any:
        if field == "date":
            return self._parse_date(cell)
        if field in _AMOUNT_FIELDS:
            parse = parse_rate if field == "exchangeRate" else parse_amount
            return parse(cell, self.decimal_marks[field])
        return _PARSERS.get(field, clean_text)(cell)

    def _make_record(self, number: int, values: Mapping[str, Any]) -> Record | None:
        signed, kind = self._find_flow(values)
        if not signed:
            return None
        day, time = values["date"]
        text = values.get("text", "")
        if is_cancelled(values.get("status")) and kind is RecordKind.FLOW:
            self.cancelled.add(number)
        return Record(
            row=number,
            date=day,
            direction=Direction.IN if signed > 0 else Direction.OUT,
            kind=kind,
            time=values.get("time") or time,
            wallet=values.get("wallet") or None,
            other_wallet=values.get("toWallet") or None,
            category=values.get("category") or None,
            minor_category=values.get("minorCategory") or None,
            text=text or values.get("memo", ""),
            memo=self._make_memo(text, values.get("memo", "")),
            tags=values.get("tags", ()),
            months=values.get("months"),
            external_id=values.get("id") or None,
            **self._make_amounts(abs(signed), values),
        )

    def _make_memo(self, text: str, memo: str) -> str:
        shown = join_memo(text, memo)
        if len(shown) > MAX_MEMO_LENGTH:
            note = gettext("Memos are shortened to {limit} characters.")
            note = note.format(limit=MAX_MEMO_LENGTH)
            if note not in self.left_out:
                self.left_out.append(note)
        return shown[:MAX_MEMO_LENGTH]

    def _make_amounts(
        self, amount: Decimal, values: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the amounts in the home currency and in the row's own."""
        currency, original = values.get("currency"), values.get("originalAmount")
        if currency is None or currency == self.context.home_currency:
            return {"amount": to_positive_units(amount)}
        home = None
        if original is None:
            original = amount
        elif any(values.get(field) is not None for field in _FLOW_FIELDS):
            home = to_positive_units(amount)
        return {
            "amount": home,
            "currency": currency,
            "original_amount": abs(original),
            "exchange_rate": values.get("exchangeRate"),
        }

    def _find_flow(self, values: Mapping[str, Any]) -> tuple[Decimal, RecordKind]:
        """Return the amount, negative where it goes out, and the kind of the row."""
        if "out" in self.columns or "in" in self.columns:
            return _find_split_flow(values)
        amount = values.get("amount")
        if amount is None:
            amount = values.get("originalAmount")
        if amount is None:
            raise UnreadableValueError(gettext("The amount is missing."))
        word = values.get("type", "")
        if values.get("toWallet") or is_transfer(word):
            is_in = amount > 0 and (
                self.is_signed or find_direction(word) is Direction.IN
            )
            return (amount if is_in else -abs(amount)), RecordKind.TRANSFER
        direction = find_direction(word) if word else None
        if direction is None:
            if word and amount > 0 and not self.is_signed:
                text = gettext("The type is neither an income nor an expense.")
                raise _RowErrors([RowError("type", text)])
            return amount, RecordKind.FLOW
        if direction is Direction.IN:
            return amount, RecordKind.FLOW
        if is_cancelled(word):
            return abs(amount), RecordKind.CANCELLATION
        if self.is_signed and amount > 0:
            return amount, RecordKind.REFUND
        return -abs(amount), RecordKind.FLOW


def _find_split_flow(values: Mapping[str, Any]) -> tuple[Decimal, RecordKind]:
    out, into = values.get("out") or Decimal(0), values.get("in") or Decimal(0)
    if values.get("out") is None and values.get("in") is None:
        if values.get("originalAmount") is None:
            raise UnreadableValueError(gettext("The amount is missing."))
        out = values["originalAmount"]
    if out and into:
        text = gettext("Either goes out or comes in, not both.")
        raise _RowErrors([RowError("in", text)])
    is_move = bool(values.get("toWallet"))
    if out < 0 and not is_move:
        # Of a card's list: the purchase is cancelled or money comes back.
        is_issuer = is_cancelled(values.get("status"))
        return -out, RecordKind.CANCELLATION if is_issuer else RecordKind.REFUND
    return into - out, RecordKind.TRANSFER if is_move else RecordKind.FLOW


def _try_amount(cell: Cell) -> Decimal | None:
    try:
        return parse_amount(cell)
    except UnreadableValueError:
        return None


def _iter_column(rows: Sequence[Sequence[Cell]], column: int) -> Iterator[Cell]:
    return (cells[column] for cells in rows if column < len(cells))


def _settle_cancelled(
    records: list[Record | BadRow], cancelled: set[int], counts: Counter[str]
) -> list[Record | BadRow]:
    """Read rows that are marked as cancelled.

    Where the same purchase stands in the file without the mark, the row is the
    cancellation of it; else it is the purchase itself, which has never been paid.
    """
    if not cancelled:
        return records
    purchases = Counter(
        (each.amount, each.original_amount, each.text)
        for each in records
        if isinstance(each, Record) and each.row not in cancelled
    )
    settled: list[Record | BadRow] = []
    for each in records:
        if isinstance(each, BadRow) or each.row not in cancelled:
            settled.append(each)
            continue
        key = each.amount, each.original_amount, each.text
        if purchases[key] > 0:
            purchases[key] -= 1
            settled.append(
                replace(each, direction=Direction.IN, kind=RecordKind.CANCELLATION)
            )
        else:
            counts["cancelled"] += 1
    return settled
