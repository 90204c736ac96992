"""ezBookkeeping: the CSV or TSV of all transactions.

A transfer is one row with both accounts. The first balance of an account is a row of
the type Balance Modification. Pure.
"""

from collections.abc import Sequence
from decimal import Decimal

from django.utils.translation import gettext

from ledger.imports.records import (
    Cell,
    Direction,
    ReadContext,
    Record,
    RecordKind,
)
from ledger.imports.sources.rows import (
    Columns,
    NamedSource,
    Row,
    TableReader,
    find_decimal_mark,
    missing_amount,
    to_units,
    unknown_type,
)
from ledger.imports.texts import normalize_text
from ledger.imports.values import parse_tags

_TYPES = {
    "expense": (Direction.OUT, RecordKind.FLOW),
    "income": (Direction.IN, RecordKind.FLOW),
    "transfer": (Direction.OUT, RecordKind.TRANSFER),
    "balancemodification": (Direction.IN, RecordKind.OPENING),
}
_OPPOSITE = {Direction.OUT: Direction.IN, Direction.IN: Direction.OUT}


class _EzBookkeepingReader(TableReader):
    date_name = "Time"
    fields = {
        "Time": "date",
        "Type": "type",
        "Category": "category",
        "Sub Category": "minorCategory",
        "Account": "wallet",
        "Account Currency": "currency",
        "Amount": "amount",
        "Account2": "toWallet",
        "Tags": "tags",
        "Description": "text",
    }

    def __init__(self, context: ReadContext) -> None:
        super().__init__(context)
        self.mark = "."

    def prepare(self, rows: Sequence[Sequence[Cell]], columns: Columns) -> None:
        """Know how numbers look; a time stays as it is written, whatever its zone."""
        super().prepare(rows, columns)
        self.mark = find_decimal_mark(rows, columns, ("Amount", "Account2 Amount"))
        columns.find("Timezone")

    def read_row(self, row: Row) -> Record | str:
        day, time = row.date("Time", self.context.today, self.date_order)
        word = normalize_text(row.text("Type", "type"))
        if word not in _TYPES:
            raise unknown_type()
        direction, kind = _TYPES[word]
        amount, currency, original = self._read_amounts(row, kind)
        signed = amount if amount is not None else original
        if not signed:
            return "zero"
        if signed < 0:
            direction = _OPPOSITE[direction]
            kind = RecordKind.REFUND if kind is RecordKind.FLOW else kind
        is_flow = kind in {RecordKind.FLOW, RecordKind.REFUND}
        category = row.text("Category", "category") or None
        minor = row.text("Sub Category", "minorCategory") or None
        other = row.text("Account2", "toWallet") or None
        text = row.text("Description")
        return Record(
            row=row.number,
            date=day,
            direction=direction,
            amount=None if amount is None else to_units(abs(amount)),
            kind=kind,
            time=time,
            wallet=row.text("Account", "wallet") or None,
            other_wallet=other if kind is RecordKind.TRANSFER else None,
            category=category if is_flow else None,
            minor_category=minor if is_flow and minor != category else None,
            text=text,
            memo=self.make_memo(text),
            tags=parse_tags(row.text("Tags", "tags")),
            currency=currency,
            original_amount=None if original is None else abs(original),
        )

    def _read_amounts(
        self, row: Row, kind: RecordKind
    ) -> tuple[Decimal | None, str | None, Decimal | None]:
        """Return the home amount, and currency and amount of another one."""
        home = self.context.home_currency
        amount = row.amount("Amount", mark=self.mark)
        if amount is None:
            raise missing_amount()
        currency = row.currency("Account Currency") or home
        second = row.amount("Account2 Amount", mark=self.mark)
        second_currency = row.currency("Account2 Currency") or currency
        if kind is RecordKind.TRANSFER and second_currency != currency:
            text = gettext(
                "Transfers between currencies have the amount in the home currency"
                " alone."
            )
            self.note(text)
            if second_currency == home and second is not None:
                return second, None, None
        if currency == home:
            return amount, None, None
        return None, currency, amount


class EzBookkeepingSource(NamedSource):
    name = "ezbookkeeping"
    marks = (
        *("Time", "Timezone", "Type", "Category", "Sub Category", "Account"),
        *("Account Currency", "Amount", "Account2"),
    )
    reader = _EzBookkeepingReader
