"""편한가계부 and its English edition, Money Manager.

A transfer is a row of the wallet that the money leaves, with the other wallet in the
column of the category; a second row of the other wallet may follow. Columns with the
same name repeat: the first 자산 is the wallet, a second one an amount in its currency.
Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from ledger.currencies.codes import CURRENCY_CODES
from ledger.imports.records import (
    Cell,
    Direction,
    ReadContext,
    Record,
    RecordKind,
    Table,
)
from ledger.imports.sources.rows import (
    Columns,
    NamedSource,
    Row,
    TableReader,
    find_columns,
    find_decimal_mark,
    missing_amount,
    to_units,
    unknown_type,
)
from ledger.imports.texts import normalize_text

_OUT, _IN = Direction.OUT, Direction.IN
_FLOW, _TRANSFER = RecordKind.FLOW, RecordKind.TRANSFER
_TYPES = {
    "지출": (_OUT, _FLOW),
    "수입": (_IN, _FLOW),
    "이체출금": (_OUT, _TRANSFER),
    "이체지출": (_OUT, _TRANSFER),
    "이체": (_OUT, _TRANSFER),
    "이체입금": (_IN, _TRANSFER),
    "exp.": (_OUT, _FLOW),
    "expense": (_OUT, _FLOW),
    "income": (_IN, _FLOW),
    "transfer-out": (_OUT, _TRANSFER),
    "transfer-in": (_IN, _TRANSFER),
}


@dataclass(frozen=True, slots=True)
class _Names:
    date: str
    wallet: str
    category: str
    minor: str
    text: str
    type: str
    memo: str
    amount: str
    currency: str

    @property
    def marks(self) -> tuple[str, ...]:
        return (self.date, self.wallet, self.category, self.text, self.type)


_KOREAN = _Names(
    *("기간", "자산", "분류", "소분류", "내용", "수입/지출", "메모", "금액", "화폐")
)
_EDITIONS = (
    _KOREAN,
    replace(_KOREAN, date="날짜"),
    _Names(
        *("Period", "Accounts", "Category", "Subcategory", "Note", "Income/Expense"),
        *("Description", "Amount", "Currency"),
    ),
    _Names(
        *("Date", "Account", "Category", "Subcategory", "Note", "Income/Expense"),
        *("Description", "Amount", "Currency"),
    ),
)


def _find_edition(columns: Columns) -> _Names:
    return next(names for names in _EDITIONS if columns.has_all(names.marks))


class _EasyMoneyReader(TableReader):
    def __init__(self, context: ReadContext) -> None:
        super().__init__(context)
        self.names = _KOREAN
        # The column that is named for a currency, and the currency.
        self.main_amount: str | None = None
        self.mark = "."

    def prepare(self, rows: Sequence[Sequence[Cell]], columns: Columns) -> None:
        """Know the edition, the column of the main currency, and how numbers look."""
        names = self.names = _find_edition(columns)
        self.date_name = names.date
        codes = [name for name in columns.header.names if name in CURRENCY_CODES]
        home = self.context.home_currency
        self.main_amount = home if home in codes else next(iter(codes), None)
        amounts = [name for name in (names.amount, self.main_amount) if name]
        self.mark = find_decimal_mark(rows, columns, amounts)
        # An amount in the currency of the wallet repeats what other columns say.
        columns.find(names.wallet, 1)
        self.fields = {
            names.date: "date",
            names.wallet: "wallet",
            names.category: "category",
            names.minor: "minorCategory",
            names.text: "text",
            names.memo: "memo",
            names.type: "type",
            names.currency: "currency",
            self.main_amount or names.amount: "amount",
        }
        super().prepare(rows, columns)

    def read_row(self, row: Row) -> Record | str:
        names = self.names
        day, time = row.date(names.date, self.context.today, self.date_order)
        word = normalize_text(row.text(names.type, "type"))
        if word not in _TYPES:
            raise unknown_type()
        direction, kind = _TYPES[word]
        amount, currency, original = self._read_amounts(row)
        if not amount and not original:
            return "zero"
        if kind is _FLOW and (amount or original or Decimal(0)) < 0:
            direction = _OUT if direction is _IN else _IN
            kind = RecordKind.REFUND
        wallet = row.text(names.wallet, "wallet") or None
        category = row.text(names.category, "category") or None
        minor = row.text(names.minor, "minorCategory") or None
        text, memo = row.text(names.text), row.text(names.memo, "memo")
        is_move = kind is _TRANSFER
        return Record(
            row=row.number,
            date=day,
            direction=direction,
            amount=to_units(abs(amount)) if amount else None,
            kind=kind,
            time=time,
            wallet=wallet,
            other_wallet=category if is_move else None,
            category=None if is_move else category,
            minor_category=None if is_move else minor,
            text=text or memo,
            memo=self.make_memo(text, memo),
            currency=currency,
            original_amount=None if original is None else abs(original),
        )

    def _read_amounts(
        self, row: Row
    ) -> tuple[Decimal | None, str | None, Decimal | None]:
        """Return the home amount, and currency and amount of another one."""
        names, home = self.names, self.context.home_currency
        main = row.amount(self.main_amount, mark=self.mark)
        own = row.amount(names.amount, mark=self.mark)
        currency = row.currency(names.currency)
        if main is None and own is None:
            raise missing_amount()
        if self.main_amount not in {None, home}:
            # The app counts in another currency than the ledger.
            if currency == home and own is not None:
                return own, None, None
            return None, self.main_amount, main
        if currency in {None, home}:
            return (own if main is None else main), None, None
        return main, currency, own


class EasyMoneySource(NamedSource):
    name = "easymoney"
    reader = _EasyMoneyReader

    def find_table(self, tables: Sequence[Table]) -> tuple[Table, Columns] | None:
        for table in tables:
            for names in _EDITIONS:
                if columns := find_columns(table, names.marks):
                    return table, columns
        return None
