"""YNAB: the register of all accounts, of the web app and of YNAB 4.

Both sides of a transfer are rows with the payee `Transfer : ACCOUNT`. The parts of a
split entry are rows one after another whose memos begin with `Split (1/2)`. Money that
comes into a category of expenses is a refund. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from ledger.imports.records import (
    BadRow,
    Cell,
    Direction,
    FileReading,
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
)
from ledger.imports.sources.splits import Part, drop_other_sides, join_parts
from ledger.imports.texts import normalize_text

_TRANSFER = re.compile(r"transfer\s*:\s*(.+)", re.IGNORECASE)
_SPLIT = re.compile(r"split\s*\((\d+)/(\d+)\)\s*:?\s*(.*)", re.IGNORECASE)
_OPENING = "startingbalance"
# The categories of money that is not given to any yet.
_INFLOW = frozenset(
    ("inflow", "readytoassign", "tobebudgeted", "availablethismonth", "income")
)


@dataclass(frozen=True, slots=True)
class _Place:
    """Which part of a split a row is."""

    number: int
    count: int
    payee: str
    memo: str


class _YnabReader(TableReader):
    date_name = "Date"
    fields = {
        "Date": "date",
        "Account": "wallet",
        "Payee": "text",
        "Memo": "memo",
        "Outflow": "out",
        "Inflow": "in",
        "Flag": "tags",
    }

    def __init__(self, context: ReadContext) -> None:
        super().__init__(context)
        self.mark = "."
        # Parts of splits by the number of their row.
        self.places: dict[int, _Place] = {}

    def prepare(self, rows: Sequence[Sequence[Cell]], columns: Columns) -> None:
        """Know how numbers and dates look, which the settings of a budget decide."""
        super().prepare(rows, columns)
        self.mark = find_decimal_mark(rows, columns, ("Outflow", "Inflow"))
        # They repeat what other columns say.
        for name in ("Category Group/Category", "Running Balance"):
            columns.find(name)

    def read_row(self, row: Row) -> Record | str:
        day, _ = row.date("Date", self.context.today, self.date_order)
        signed = self._read_amount(row)
        payee, memo = row.text("Payee"), row.text("Memo", "memo")
        group, category = _read_category(row)
        is_open = {normalize_text(group), normalize_text(category)} & _INFLOW
        if is_open:
            group = category = ""
        kind, other = RecordKind.FLOW, None
        if match := _TRANSFER.fullmatch(payee):
            kind, other = RecordKind.TRANSFER, match[1].strip()
        elif normalize_text(payee) == _OPENING:
            kind = RecordKind.OPENING
        elif signed > 0 and category:
            kind = RecordKind.REFUND
        if not signed:
            return "zero"
        if split := _SPLIT.fullmatch(memo):
            memo = split[3]
            place = _Place(int(split[1]), int(split[2]), payee, memo)
            self.places[row.number] = place
        is_flow = kind in {RecordKind.FLOW, RecordKind.REFUND}
        group = group or category
        flag = row.text("Flag", "tags")
        return Record(
            row=row.number,
            date=day,
            direction=Direction.IN if signed > 0 else Direction.OUT,
            amount=to_units(abs(signed)),
            kind=kind,
            wallet=row.text("Account", "wallet") or None,
            other_wallet=other,
            category=(group or None) if is_flow else None,
            minor_category=category if is_flow and category != group else None,
            text=payee if is_flow else payee or memo,
            memo=self.make_memo(payee if is_flow else "", memo),
            tags=(flag,) if flag else (),
        )

    def _read_amount(self, row: Row) -> Decimal:
        out = row.amount("Outflow", "out", self.mark)
        into = row.amount("Inflow", "in", self.mark)
        if out is None and into is None:
            raise missing_amount()
        return (into or Decimal(0)) - (out or Decimal(0))

    def make_reading(self, source: str) -> FileReading:
        self.records = drop_other_sides(self._join_splits(), self.counts)
        return super().make_reading(source)

    def _join_splits(self) -> list[Record | BadRow]:
        """Make one record of parts 1 to n that follow each other."""
        joined: list[Record | BadRow] = []
        index = 0
        while index < len(self.records):
            size = self._count_parts(index)
            if size < 2:
                joined.append(self.records[index])
                index += 1
                continue
            parts = self._list_parts(index, size)
            payee = next(
                (
                    place.payee
                    for place in self._list_places(index, size)
                    if not _TRANSFER.fullmatch(place.payee)
                ),
                "",
            )
            joined += join_parts(parts, payee, self.make_memo(payee))
            index += size
        return joined

    def _count_parts(self, index: int) -> int:
        """Return how many rows from here are the whole of one split, else 0."""
        first = self.records[index]
        place = self.places.get(first.row)
        if place is None or place.number != 1:
            return 0
        rows = self.records[index : index + place.count]
        expected = [(number, place.count) for number in range(1, place.count + 1)]
        found = [
            (each.number, each.count)
            for row in rows
            if isinstance(row, Record) and (each := self.places.get(row.row))
        ]
        return place.count if found == expected else 0

    def _list_places(self, index: int, size: int) -> list[_Place]:
        return [self.places[each.row] for each in self.records[index : index + size]]

    def _list_parts(self, index: int, size: int) -> list[Part]:
        parts = []
        for record in self.records[index : index + size]:
            if isinstance(record, Record):
                sign = 1 if record.direction is Direction.IN else -1
                signed = Decimal(sign * (record.amount or 0))
                parts.append(Part(record, signed, self.places[record.row].memo))
        return parts


def _read_category(row: Row) -> tuple[str, str]:
    """Return group and category; YNAB 4 calls them master and sub category."""
    if row.columns.find("Category Group") is not None:
        return row.text("Category Group", "category"), row.text("Category", "category")
    if row.columns.find("Master Category") is not None:
        sub = row.text("Sub Category", "minorCategory")
        row.columns.find("Category")
        return row.text("Master Category", "category"), sub
    group, _, category = row.text("Category Group/Category", "category").partition(":")
    return (group.strip(), category.strip()) if category else ("", group.strip())


class YnabSource(NamedSource):
    name = "ynab"
    marks = ("Date", "Account", "Flag", "Payee", "Memo", "Outflow", "Inflow", "Cleared")
    reader = _YnabReader
