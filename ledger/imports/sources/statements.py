"""Statements in standard formats: ofx, camt053 and mt940 (spec 3.29).

Their columns are fixed (`ledger.imports.formats.statement_columns`), so that no mapping
is needed. The bank's id of a row is kept beside our key and never instead of it: banks
change them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal

from django.utils.translation import gettext

from ledger.currencies.codes import EXACT
from ledger.imports.errors import UnreadableFileError, UnreadableValueError
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
    WalletBalance,
)
from ledger.imports.texts import shorten_cells
from ledger.imports.values import (
    clean_text,
    guess_decimal_mark,
    join_memo,
    parse_amount,
    parse_currency,
    parse_date,
    parse_rate,
    to_home_units,
    to_positive_units,
)

# Of an original amount (spec 3.6).
ORIGINAL_QUANTUM = Decimal("0.0001")
# Kinds of wallets by the types of accounts in OFX.
_WALLET_KINDS = {
    "CHECKING": "BANK",
    "SAVINGS": "BANK",
    "MONEYMRKT": "BANK",
    "CREDITCARD": "CARD",
    "INVESTMENT": "INVESTMENT",
}

Row = Mapping[str, Cell]


def list_rows(table: Table) -> Iterator[tuple[int, Row]]:
    """Yield number and cells by name of each row below the first one."""
    names = [str(cell) for cell in table.rows[0]] if table.rows else []
    for number, cells in enumerate(table.rows[1:], 2):
        yield number, dict(zip(names, cells, strict=False))


def find_table(tables: Sequence[Table], name: str) -> Table:
    """Return the table of a name; an empty one if the file has none."""
    return next((each for each in tables if each.name == name), Table("", name, ()))


class StatementSource:
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
        """Read transactions and the last balance of each account; needs no mapping.

        Raises `UnreadableFileError` for a file of another kind.
        """
        if not self.recognizes(tables):
            raise UnreadableFileError(gettext("The file is of another kind."))
        transactions = find_table(tables, "transactions")
        rows = list(list_rows(transactions))
        reader = _StatementReader(context, rows)
        records = list(reader.read_all(transactions))
        balances, notes = _read_balances(tables, context)
        return FileReading(
            self.name,
            None,
            records,
            balances=balances,
            passed_over=dict(reader.counts),
            left_out=notes,
        )


class FieldError(Exception):
    """A field of a row cannot be read."""

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        self.message = message
        super().__init__(field, message)


@contextmanager
def reading_field(name: str) -> Iterator[None]:
    """Name the field of an `UnreadableValueError`; raise `FieldError`."""
    try:
        yield
    except UnreadableValueError as error:
        raise FieldError(name, error.message) from None


@dataclass
class _StatementReader:
    context: ReadContext
    rows: Sequence[tuple[int, Row]]
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.decimal_mark = guess_decimal_mark(
            row.get("amount") for _, row in self.rows
        )
        # Ids of rows that a later row of an OFX file corrects.
        self.corrected = {
            row["corrects"] for _, row in self.rows if row.get("corrects")
        }

    def read_all(self, table: Table) -> Iterator[Record | BadRow]:
        for number, row in self.rows:
            reason = self._reason_to_pass_over(row)
            if reason is not None:
                self.counts[reason] += 1
                continue
            try:
                record = self._read_row(number, row)
            except FieldError as error:
                errors = (RowError(error.field, error.message),)
                yield BadRow(number, errors, shorten_cells(table.rows[number - 1]))
                continue
            if record is None:
                self.counts["zero"] += 1
            else:
                yield record

    def _reason_to_pass_over(self, row: Row) -> str | None:
        if not any(row.values()):
            return "empty"
        if row.get("correction") == "DELETE" or row.get("id") in self.corrected:
            return "corrected"
        if row.get("status") in {"PDNG", "INFO"}:
            return "pending"
        return None

    def _read_row(self, number: int, row: Row) -> Record | None:
        """Return the record of a row, None if its amount is 0; raise `FieldError`."""
        with reading_field("date"):
            day, time = parse_date(row.get("date"), self.context.today)
        with reading_field("amount"):
            signed = parse_amount(row.get("amount"), self.decimal_mark)
            if signed is None:
                raise UnreadableValueError(gettext("The amount is missing."))
        if not signed:
            return None
        with reading_field("text"):
            names = [clean_text(row.get(name)) for name in ("name", "text", "memo")]
            text = join_memo(*names)
            account = clean_text(row.get("account"))
            external_id = clean_text(row.get("id"))
        is_refund = row.get("reversal") == "true" and signed > 0
        record = Record(
            row=number,
            date=day,
            direction=Direction.IN if signed > 0 else Direction.OUT,
            amount=None,
            kind=RecordKind.REFUND if is_refund else RecordKind.FLOW,
            time=time,
            wallet=account or None,
            text=text,
            memo=text,
            external_id=external_id or None,
        )
        return self._with_amounts(record, abs(signed), row)

    def _with_amounts(self, record: Record, amount: Decimal, row: Row) -> Record:
        """Add the amounts: in the currency of the account or in the row's own."""
        home = self.context.home_currency
        with reading_field("currency"):
            currency = parse_currency(row.get("currency"))
            currency = currency or parse_currency(row.get("accountCurrency")) or home
            original_currency = parse_currency(row.get("originalCurrency"))
        with reading_field("exchangeRate"):
            rate = parse_rate(row.get("rate"), self.decimal_mark)
        with reading_field("originalAmount"):
            original = parse_amount(row.get("originalAmount"), self.decimal_mark)
        if currency != home:
            # The rate is that to the account's currency, which is not ours either.
            is_to_home = parse_currency(row.get("accountCurrency")) == home
            return _replace_amounts(
                record, None, currency, amount, rate if is_to_home else None
            )
        with reading_field("amount"):
            units = to_positive_units(amount)
        if original_currency in {None, home}:
            return _replace_amounts(record, units, None, None, None)
        if original is None and rate is not None:
            quotient = EXACT.divide(amount, rate)
            original = quotient.quantize(ORIGINAL_QUANTUM, ROUND_HALF_UP, EXACT)
        if not original:
            return _replace_amounts(record, units, None, None, None)
        return _replace_amounts(record, units, original_currency, abs(original), rate)


def _replace_amounts(
    record: Record,
    amount: int | None,
    currency: str | None,
    original: Decimal | None,
    rate: Decimal | None,
) -> Record:
    return replace(
        record,
        amount=amount,
        currency=currency,
        original_amount=original,
        exchange_rate=rate,
    )


def _read_balances(
    tables: Sequence[Table], context: ReadContext
) -> tuple[list[WalletBalance], list[str]]:
    """Return the latest balance of each account in the home currency, and notes."""
    latest: dict[str, WalletBalance] = {}
    notes: dict[str, None] = {}
    for _, row in list_rows(find_table(tables, "balances")):
        account = clean_text(row.get("account"))
        currency = str(row.get("accountCurrency") or context.home_currency)
        if currency != context.home_currency:
            text = gettext("Balances in {currency} are not read.")
            notes[text.format(currency=currency)] = None
            continue
        try:
            day = parse_date(row.get("date"), context.today).date
            amount = to_home_units(parse_amount(row.get("amount")) or Decimal(0))
        except UnreadableValueError as error:
            notes[error.message] = None
            continue
        if account not in latest or latest[account].date <= day:
            kind = _WALLET_KINDS.get(str(row.get("accountType")))
            latest[account] = WalletBalance(account, amount, day, kind)
    return list(latest.values()), list(notes)
