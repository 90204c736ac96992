"""Lists of card issuers: purchases, and bills with the parts of them (spec 3.29).

A list of purchases has the months of an installment. A bill has one row for each part
that is due: the first part stands for the purchase, later ones are passed over. Rows
that are cancelled are `CANCELLATION`, wherever their purchase stands. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from django.utils.translation import gettext

from ledger.imports.column_words import is_cancelled, is_declined
from ledger.imports.records import (
    Cell,
    Direction,
    ReadContext,
    Record,
    RecordKind,
)
from ledger.imports.sources.layouts import Found
from ledger.imports.sources.rows import (
    Columns,
    Row,
    TableReader,
    iter_cells,
    missing_amount,
    to_units,
)
from ledger.imports.sources.statements import FieldError
from ledger.imports.texts import normalize_text, to_text
from ledger.imports.values import (
    MAX_MONTHS,
    clean_text,
    parse_amount,
    parse_currency,
)

# Months and part: 3/1, 12 / 2, 3개월/1회.
_MONTHS_AND_PART = re.compile(r"(\d{1,2})(?:개월)?/(\d{1,2})(?:회차?)?")
# Home amount and foreign amount in one cell: 33,170 USD22.00.
_ABROAD = re.compile(r"(-?[\d,.]+)\s*(?:\\n|\s)*(?:([A-Z]{3})\s*(-?[\d,.]+))?")
_CANCELLED_PREFIX = "취소-"
# A card company takes its own discount back as a cancelled row.
_DISCOUNT = re.compile(r"할인$|캐시백$")


@dataclass(frozen=True, slots=True)
class CardLayout:
    """The columns of a list of a card issuer, by name.

    `amount` is positive for a purchase. `months` is of a list of purchases or a bill;
    `part` makes the list a bill, and may have the months too (`3/1`). `due` is the part
    that a bill asks for, taken where it has no amount of the purchase. `statuses` are
    columns of words; `cancelled_on` is a date in the rows that are cancelled.
    `foreign` is an amount in `currency`, or in `foreign_currency` if no column tells.
    """

    marks: tuple[str, ...]
    merchant: str
    amount: str
    time: str | None = None
    card: str | None = None
    months: str | None = None
    part: str | None = None
    due: str | None = None
    statuses: tuple[str, ...] = ()
    cancelled_on: str | None = None
    cancelled_amount: str | None = None
    currency: str | None = None
    foreign: str | None = None
    foreign_currency: str | None = None
    # A word of the statuses: the amount is foreign, and `due` has both amounts.
    abroad: str | None = None
    # A word of the statuses: money that the issuer gives.
    benefit: str | None = None
    header_rows: int = 1

    @property
    def date(self) -> str:
        return self.marks[0]

    def make_reader(
        self, context: ReadContext, institution: str, found: Sequence[Found]
    ) -> TableReader:
        return _CardReader(self, context, institution, _list_cards(self, found))


def _list_cards(layout: CardLayout, found: Sequence[Found]) -> set[str]:
    """Return the names that a file has for its cards."""
    if layout.card is None:
        return set()
    cells: list[Cell] = []
    for each in found:
        rows = each.table.rows[each.columns.header.row :]
        cells += iter_cells(rows, each.columns, layout.card)
    return {text for cell in cells if (text := normalize_text(to_text(cell)))}


class _CardReader(TableReader):
    def __init__(
        self,
        layout: CardLayout,
        context: ReadContext,
        institution: str,
        cards: set[str],
    ) -> None:
        super().__init__(context)
        self.layout, self.institution = layout, institution
        # A file of one card is for the wallet that the member names.
        self.has_several_cards = len(cards) > 1
        self.date_name = layout.date
        named = {
            "date": layout.date,
            "time": layout.time,
            "out": layout.amount,
            "text": layout.merchant,
            "wallet": layout.card,
            "months": layout.months,
            "currency": layout.currency,
            "originalAmount": layout.foreign,
            "status": layout.statuses[0] if layout.statuses else layout.cancelled_on,
        }
        self.fields = {name: field for field, name in named.items() if name}

    def prepare(self, rows: Sequence[Sequence[Cell]], columns: Columns) -> None:
        """Know the columns that only some rows need; the year stands first."""
        layout = self.layout
        for name in (layout.part, layout.due, layout.cancelled_amount, layout.card):
            if name is not None:
                columns.find(name)

    def read_row(self, row: Row) -> Record | str:
        layout = self.layout
        day, time = row.date(layout.date, self.context.today)
        statuses = row.texts(layout.statuses, "status")
        if any(map(is_declined, statuses)):
            return "declined"
        months, part = self._read_months(row)
        if part > 1:
            return "part"
        merchant = row.text(layout.merchant)
        record = Record(
            row=row.number,
            date=day,
            direction=Direction.OUT,
            amount=None,
            time=row.time(layout.time) or time,
            wallet=self._read_wallet(row),
            text=merchant,
            memo=self.make_memo(merchant),
            months=months,
        )
        priced = self._with_amount(record, row, statuses)
        return "zero" if priced is None else self._with_kind(priced, row, statuses)

    def _read_months(self, row: Row) -> tuple[int | None, int]:
        """Return months and part: 1 of a list of purchases and of one payment."""
        layout = self.layout
        text = "".join(row.text(layout.part, "months").split())
        match = _MONTHS_AND_PART.fullmatch(text)
        if match is not None:
            return self._bound_months(int(match[1])), int(match[2])
        number = re.search(r"\d+", row.text(layout.months, "months"))
        months = self._bound_months(int(number[0])) if number else None
        part = re.search(r"\d+", text)
        return months, int(part[0]) if part else 1

    def _bound_months(self, months: int) -> int | None:
        """Return the months of an installment that the ledger has, else None."""
        if months > MAX_MONTHS:
            text = gettext(
                "Installments over {maximum} months are read as one payment."
            )
            self.note(text.format(maximum=MAX_MONTHS))
        return months if 1 < months <= MAX_MONTHS else None

    def _read_wallet(self, row: Row) -> str | None:
        name = row.text(self.layout.card, "wallet")
        if not self.has_several_cards or not name:
            return None
        return f"{self.institution} {name}"

    def _with_amount(
        self, record: Record, row: Row, statuses: Sequence[str]
    ) -> Record | None:
        """Add the amounts, which are signed still; None if they are 0."""
        layout = self.layout
        if layout.abroad and any(layout.abroad in status for status in statuses):
            return self._with_amount_abroad(record, row)
        amount = row.amount(layout.amount, "out")
        foreign = row.amount(layout.foreign, "originalAmount")
        if layout.due is not None and not amount and record.months is None:
            amount = row.amount(layout.due, "out")
        if amount is None and foreign is None:
            raise missing_amount()
        currency = row.currency(layout.currency) or layout.foreign_currency
        if not foreign or currency is None or currency == self.context.home_currency:
            currency = foreign = None
        if not amount:
            amount = row.amount(layout.cancelled_amount)
        if not amount and not foreign:
            return None
        is_back = (amount or foreign or Decimal(0)) < 0
        return replace(
            record,
            direction=Direction.IN if is_back else Direction.OUT,
            amount=to_units(abs(amount), "out") if amount else None,
            currency=currency,
            original_amount=None if foreign is None else abs(foreign),
        )

    def _with_amount_abroad(self, record: Record, row: Row) -> Record | None:
        """Add the amounts that stand in one cell: 33,170 USD22.00."""
        text = row.text(self.layout.due, "out")
        match = _ABROAD.fullmatch(text)
        if match is None:
            raise missing_amount()
        try:
            amount = parse_amount(match[1])
            currency, foreign = parse_currency(match[2]), parse_amount(match[3])
        except ValueError as error:
            raise FieldError("out", str(error)) from None
        if not amount:
            return None
        return replace(
            record,
            direction=Direction.IN if amount < 0 else Direction.OUT,
            amount=to_units(abs(amount), "out"),
            currency=currency if foreign else None,
            original_amount=abs(foreign) if foreign else None,
        )

    def _with_kind(self, record: Record, row: Row, statuses: Sequence[str]) -> Record:
        layout = self.layout
        is_back = record.direction is Direction.IN
        if layout.benefit and any(layout.benefit in status for status in statuses):
            kind = RecordKind.REFUND
        elif self._is_partly_cancelled(statuses) and not is_back:
            text = gettext(
                "Partly cancelled purchases are read in full: the file does not tell"
                " what came back."
            )
            self.note(text)
            return record
        elif is_back or self._is_cancelled(row, statuses):
            is_discount = _DISCOUNT.search(record.text) is not None
            kind = RecordKind.REFUND if is_discount else RecordKind.CANCELLATION
        else:
            return record
        # The name as in the purchase, by which the ledger finds it.
        memo = record.memo.removeprefix(_CANCELLED_PREFIX)
        return replace(
            record, direction=Direction.IN, kind=kind, memo=memo, months=None
        )

    def _is_cancelled(self, row: Row, statuses: Sequence[str]) -> bool:
        if any(is_cancelled(each) or "취소" in each for each in statuses):
            return True
        return clean_text(row.cell(self.layout.cancelled_on)) not in {"", "-"}

    def _is_partly_cancelled(self, statuses: Sequence[str]) -> bool:
        return any("부분취소" in "".join(each.split()) for each in statuses)
