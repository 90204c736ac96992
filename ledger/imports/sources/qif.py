"""QIF of Quicken, GnuCash, KMyMoney and others (spec 3.29).

Both legs of a transfer stand in a file of several accounts: each is a record, and they
are paired later. The order of dates is in no file, so that it can be told by a mapping.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from django.utils.translation import gettext

from ledger.imports.dates import DATE_ORDERS, guess_date_order
from ledger.imports.errors import UnreadableFileError, UnreadableValueError
from ledger.imports.records import (
    BadRow,
    Cell,
    ColumnMapping,
    Direction,
    FileReading,
    MappedColumn,
    ReadContext,
    Record,
    RecordKind,
    RecordLine,
    RowError,
    Table,
)
from ledger.imports.sources.statements import (
    FieldError,
    Row,
    find_table,
    list_rows,
    reading_field,
)
from ledger.imports.texts import shorten_cells
from ledger.imports.values import (
    clean_text,
    guess_decimal_mark,
    join_memo,
    parse_amount,
    parse_date,
    to_home_units,
    to_positive_units,
)

_OPENING_PAYEES = frozenset({"opening balance", "beginning balance", "기초잔액"})
_FIELDS = {
    "account": "wallet",
    "date": "date",
    "amount": "amount",
    "payee": "text",
    "memo": "memo",
    "category": "category",
}


class QifSource:
    name = "qif"

    def recognizes(self, tables: Sequence[Table]) -> bool:
        return bool(tables) and tables[0].kind == self.name

    def read(
        self,
        tables: Sequence[Table],
        mapping: ColumnMapping | None,
        context: ReadContext,
    ) -> FileReading:
        """Read all accounts of a file; of a mapping, the order of dates alone.

        Raises `UnreadableFileError` for a file of another kind.
        """
        if not self.recognizes(tables):
            raise UnreadableFileError(gettext("The file is of another kind."))
        table = find_table(tables, "transactions")
        rows = list(list_rows(table))
        guessed = _guess_order([row.get("date") for _, row in rows])
        if mapping is not None and mapping.date_order in DATE_ORDERS:
            guessed = mapping.date_order
        reader = _QifReader(context, guessed, rows, list_rows_of(tables))
        records: list[Record | BadRow] = []
        for number, row in rows:
            try:
                record = reader.read_row(number, row)
            except FieldError as error:
                errors = (RowError(error.field, error.message),)
                cells = shorten_cells(table.rows[number - 1])
                records.append(BadRow(number, errors, cells))
                continue
            if record is not None:
                records.append(record)
        left_out = [
            gettext("Records of the list “{name}” are not read: {count}.").format(
                name=row["type"], count=row["count"]
            )
            for _, row in list_rows(find_table(tables, "others"))
        ]
        return FileReading(
            self.name,
            _make_mapping(table, guessed),
            records,
            passed_over=dict(reader.counts),
            left_out=left_out,
        )


def _guess_order(dates: Sequence[Cell]) -> str:
    """Return the order of dates; of slashes the month first, as Quicken writes it.

    A day above 12 tells another order.
    """
    order = guess_date_order(dates)
    has_slashes = any(isinstance(each, str) and "/" in each for each in dates)
    if order == "dmy" and has_slashes:
        return guess_date_order([*dates, "01/31/2026"])
    return order


def list_rows_of(tables: Sequence[Table]) -> dict[int, list[Row]]:
    """Return the splits of each transaction by its row."""
    splits: dict[int, list[Row]] = defaultdict(list)
    for _, row in list_rows(find_table(tables, "splits")):
        splits[int(str(row["transaction"]))].append(row)
    return splits


def _make_mapping(table: Table, date_order: str) -> ColumnMapping:
    names = [str(cell) for cell in table.rows[0]]
    columns = (
        MappedColumn(column, name, _FIELDS.get(name))
        for column, name in enumerate(names)
    )
    return ColumnMapping(1, tuple(columns), date_order)


class _QifReader:
    def __init__(
        self,
        context: ReadContext,
        date_order: str,
        rows: Sequence[tuple[int, Row]],
        splits: dict[int, list[Row]],
    ) -> None:
        self.context, self.date_order, self.splits = context, date_order, splits
        self.mark = guess_decimal_mark(row.get("amount") for _, row in rows)
        self.counts: Counter[str] = Counter()

    def read_row(self, number: int, row: Row) -> Record | None:
        """Return the record of a transaction, None if its amount is 0."""
        with reading_field("date"):
            day, _ = parse_date(row.get("date"), self.context.today, self.date_order)
        signed = self._read_amount(row)
        if not signed:
            self.counts["zero"] += 1
            return None
        with reading_field("text"):
            payee, memo = clean_text(row.get("payee")), clean_text(row.get("memo"))
            account = clean_text(row.get("account"))
        with reading_field("category"):
            category, minor, other = _read_category(row)
        with reading_field("amount"):
            amount = to_positive_units(abs(signed))
        lines = self._read_lines(number, signed, amount)
        kind = RecordKind.TRANSFER if other is not None else RecordKind.FLOW
        if payee.casefold() in _OPENING_PAYEES and other in {account, None}:
            kind, other = RecordKind.OPENING, None
        elif lines:
            # The category of a split transaction is that of its first part.
            kind, category, minor, other = RecordKind.FLOW, None, None, None
        return Record(
            row=number,
            date=day,
            direction=Direction.IN if signed > 0 else Direction.OUT,
            amount=amount,
            kind=kind,
            wallet=account or None,
            other_wallet=other,
            category=category,
            minor_category=minor,
            text=payee or memo,
            memo=join_memo(payee, memo),
            lines=lines,
        )

    def _read_amount(self, row: Row) -> Decimal:
        with reading_field("amount"):
            amount = parse_amount(row.get("amount"), self.mark)
            if amount is None:
                raise UnreadableValueError(gettext("The amount is missing."))
        return amount

    def _read_lines(
        self, number: int, signed: Decimal, amount: int
    ) -> tuple[RecordLine, ...]:
        """Return the parts of a transaction, signed in its direction, without zeros."""
        sign = 1 if signed > 0 else -1
        lines: list[RecordLine] = []
        total = Decimal(0)
        for split in self.splits.get(number, ()):
            part = self._read_amount(split)
            total += part
            with reading_field("amount"):
                units = to_home_units(sign * part)
            with reading_field("category"):
                category, minor, wallet = _read_category(split)
                memo = clean_text(split.get("memo"))
            if units:
                lines.append(RecordLine(units, category, minor, memo, wallet))
        if lines and total != signed:
            text = gettext("The parts do not add up to the amount.")
            raise FieldError("amount", text)
        # Each part is rounded by itself; the largest takes what is over.
        rest = amount - sum(line.amount for line in lines)
        if lines and rest:
            index = max(range(len(lines)), key=lambda i: abs(lines[i].amount))
            largest = lines[index]
            lines[index] = replace(largest, amount=largest.amount + rest)
        return tuple(lines)


def _read_category(row: Row) -> tuple[str | None, str | None, str | None]:
    """Return major and minor category, or the other wallet: "Food:Cafe", "[Savings]".

    What stands behind a slash is a class, which the ledger does not have.
    """
    text = clean_text(row.get("category"))
    if text.startswith("["):
        name = text[1:].partition("]")[0].strip()
        return None, None, name or None
    major, _, minor = text.partition("/")[0].partition(":")
    return major.strip() or None, minor.strip() or None, None
