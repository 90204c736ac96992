"""Lists of bank accounts: what goes out and comes in, and the balance (spec 3.29).

The wallet is the one that the member names for the file. Pure.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext

from ledger.imports.errors import UnreadableValueError
from ledger.imports.records import (
    Cell,
    Direction,
    FileReading,
    ReadContext,
    Record,
    RecordKind,
    WalletBalance,
)
from ledger.imports.sources.card_bills import find_card_issuer, is_card_bill
from ledger.imports.sources.layouts import Found
from ledger.imports.sources.rows import (
    Columns,
    Row,
    TableReader,
    missing_amount,
    to_units,
)
from ledger.imports.sources.statements import FieldError
from ledger.imports.values import parse_amount, to_home_units


@dataclass(frozen=True, slots=True)
class BankLayout:
    """The columns of a bank's list, by name.

    Either `out` and `into`, or a signed `amount`, whose sign may be missing where
    `kind` says 출금. `texts` is what the bank writes, the counterparty first; `notes`
    are what the owner of the account may write and change.
    """

    marks: tuple[str, ...]
    texts: tuple[str, ...]
    balance: str
    out: str | None = None
    into: str | None = None
    amount: str | None = None
    kind: str | None = None
    time: str | None = None
    notes: tuple[str, ...] = ()
    header_rows: int = 1

    @property
    def date(self) -> str:
        return self.marks[0]

    def make_reader(
        self, context: ReadContext, institution: str, found: Sequence[Found]
    ) -> TableReader:
        del found
        return _BankReader(self, context, institution)


class _BankReader(TableReader):
    def __init__(
        self, layout: BankLayout, context: ReadContext, institution: str
    ) -> None:
        super().__init__(context)
        self.layout, self.institution = layout, institution
        self.date_name = layout.date
        named = {
            "date": layout.date,
            "time": layout.time,
            "out": layout.out,
            "in": layout.into,
            "amount": layout.amount,
            "type": layout.kind,
            "text": layout.texts[0],
        }
        self.fields = {name: field for field, name in named.items() if name}
        self.balances: list[tuple[datetime.datetime, Cell]] = []

    def prepare(self, rows: Sequence[Sequence[Cell]], columns: Columns) -> None:
        """Know the column of the balance; Korean banks write the year first."""
        columns.find(self.layout.balance)

    def read_row(self, row: Row) -> Record | str:
        layout = self.layout
        day, time = row.date(layout.date, self.context.today)
        time = row.time(layout.time) or time
        moment = datetime.datetime.combine(day, time or datetime.time.min)
        self.balances.append((moment, row.cell(layout.balance)))
        signed = self._read_amount(row)
        if not signed:
            return "zero"
        direction = Direction.IN if signed > 0 else Direction.OUT
        texts = row.texts(layout.texts)
        kind, other = RecordKind.FLOW, None
        if direction is Direction.OUT and is_card_bill(texts):
            kind, other = RecordKind.TRANSFER, find_card_issuer(texts)
        return Record(
            row=row.number,
            date=day,
            direction=direction,
            amount=to_units(abs(signed)),
            kind=kind,
            time=time,
            other_wallet=other,
            text=" ".join(texts),
            memo=self.make_memo(*texts, *row.texts(layout.notes, "memo")),
        )

    def _read_amount(self, row: Row) -> Decimal:
        """Return the amount, negative where it goes out."""
        layout = self.layout
        if layout.amount is not None:
            amount = row.amount(layout.amount)
            if amount is None:
                raise missing_amount()
            is_out = "출금" in row.text(layout.kind, "type")
            return -abs(amount) if is_out else amount
        out, into = row.amount(layout.out, "out"), row.amount(layout.into, "in")
        if out is None and into is None:
            raise missing_amount()
        if out and into:
            raise FieldError("in", gettext("Either goes out or comes in, not both."))
        return (into or Decimal(0)) - (out or Decimal(0))

    def make_reading(self, source: str) -> FileReading:
        balance = self._find_balance()
        reading = super().make_reading(source)
        reading.balances = [] if balance is None else [balance]
        return reading

    def _find_balance(self) -> WalletBalance | None:
        """Return the balance of the last row in time; lists begin at either end."""
        if not self.balances:
            return None
        is_descending = self.balances[0][0] > self.balances[-1][0]
        rows = self.balances if is_descending else self.balances[::-1]
        moment, cell = max(rows, key=lambda each: each[0])
        try:
            amount = parse_amount(cell)
            if amount is None:
                return None
            units = to_home_units(amount)
        except UnreadableValueError as error:
            self.note(error.message)
            return None
        return WalletBalance(self.institution, units, moment.date(), "BANK")
