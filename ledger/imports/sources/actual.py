"""Actual Budget: the CSV of transactions.

The payee of a transfer is the other account. A split entry is a row with the whole
amount in Split_Amount and `(SPLIT INTO 2)` in its notes; its parts follow. Pure.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from django.utils.translation import gettext

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
    find_income_categories,
    iter_cells,
    missing_amount,
    to_units,
)
from ledger.imports.sources.splits import Part, drop_other_sides, join_parts
from ledger.imports.texts import normalize_text, to_text

_PARENT = re.compile(r"\(SPLIT INTO (\d+)\)")
_PART = re.compile(r"\(SPLIT (\d+) OF (\d+)\)")
_TAG = re.compile(r"(?<!#)#([^\s#]+)")
_OPENING = "startingbalance"


class _ActualReader(TableReader):
    date_name = "Date"
    fields = {
        "Date": "date",
        "Account": "wallet",
        "Payee": "text",
        "Notes": "memo",
        "Category": "category",
        "Amount": "amount",
    }

    def __init__(self, context: ReadContext) -> None:
        super().__init__(context)
        self.mark = "."
        self.accounts: frozenset[str] = frozenset()
        self.incomes: frozenset[str] = frozenset()
        # By the number of the row: how many parts an entry has; which part a row is.
        self.parents: dict[int, int] = {}
        self.parts: dict[int, tuple[int, int]] = {}
        # What the line of a part says, without the payee.
        self.memos: dict[int, str] = {}

    def prepare(self, rows: Sequence[Sequence[Cell]], columns: Columns) -> None:
        """Know the accounts, the categories of incomes, and how numbers look."""
        super().prepare(rows, columns)
        self.mark = find_decimal_mark(rows, columns, ("Amount", "Split_Amount"))
        cells = iter_cells(rows, columns, "Account")
        self.accounts = frozenset(" ".join(to_text(cell).split()) for cell in cells)
        self.incomes = find_income_categories(
            iter_cells(rows, columns, "Category"),
            [
                -1 if to_text(cell).startswith(("-", "(")) else 1
                for cell in iter_cells(rows, columns, "Amount")
            ],
        )

    def read_row(self, row: Row) -> Record | str:
        day, time = row.date("Date", self.context.today, self.date_order)
        signed = row.amount("Amount", mark=self.mark)
        if signed is None:
            raise missing_amount()
        payee, notes = row.text("Payee"), row.text("Notes", "memo")
        account = row.text("Account", "wallet")
        category = row.text("Category", "category")
        if match := _PARENT.match(notes):
            self.parents[row.number] = int(match[1])
            signed = row.amount("Split_Amount", mark=self.mark) or signed
            notes = notes[match.end() :].strip()
        elif match := _PART.match(notes):
            self.parts[row.number] = (int(match[1]), int(match[2]))
            notes = self.memos[row.number] = notes[match.end() :].strip()
        kind, other = RecordKind.FLOW, None
        if normalize_text(payee) == _OPENING:
            kind = RecordKind.OPENING
        elif payee in self.accounts and payee != account:
            kind, other = RecordKind.TRANSFER, payee
        elif signed > 0 and category and category not in self.incomes:
            kind = RecordKind.REFUND
        if not signed:
            return "zero"
        is_flow = kind in {RecordKind.FLOW, RecordKind.REFUND}
        group, _, minor = category.partition(": ")
        return Record(
            row=row.number,
            date=day,
            direction=Direction.IN if signed > 0 else Direction.OUT,
            amount=to_units(abs(signed)),
            kind=kind,
            time=time,
            wallet=account or None,
            other_wallet=other,
            category=(group or None) if is_flow else None,
            minor_category=(minor or None) if is_flow else None,
            text=payee or notes,
            memo=self.make_memo(payee if is_flow else "", notes),
            tags=tuple(dict.fromkeys(_TAG.findall(notes))),
        )

    def make_reading(self, source: str) -> FileReading:
        self.records = drop_other_sides(self._join_splits(), self.counts)
        return super().make_reading(source)

    def _join_splits(self) -> list[Record | BadRow]:
        """Let the parts of an entry be its lines."""
        entries, taken = self._find_entries()
        joined: list[Record | BadRow] = []
        for record in self.records:
            if record.row in entries:
                joined += entries[record.row]
            elif record.row not in taken:
                joined.append(record)
        self.counts["part"] += len(taken)
        return joined

    def _find_entries(self) -> tuple[dict[int, list[Record]], set[int]]:
        """Return what each split entry becomes, by its row, and the rows of parts.

        An entry whose parts do not add up stays whole, without them.
        """
        waiting = self._list_waiting()
        entries: dict[int, list[Record]] = {}
        taken: set[int] = set()
        for record in self.records:
            size = self.parents.get(record.row)
            if size is None or isinstance(record, BadRow):
                continue
            queue = waiting[record.wallet, record.date, size]
            parts = [
                Part(each, _signed(each), self.memos[each.row]) for each in queue[:size]
            ]
            del queue[:size]
            taken |= {part.record.row for part in parts}
            numbers = [self.parts[part.record.row][0] for part in parts]
            is_whole = numbers == list(range(1, size + 1))
            if is_whole and sum(part.signed for part in parts) == _signed(record):
                entries[record.row] = _join(record, parts)
                continue
            text = gettext(
                "Parts that do not add up to their entry are not read: the entry has"
                " no category."
            )
            self.note(text)
            entries[record.row] = [record]
        return entries, taken

    def _list_waiting(self) -> dict[tuple[object, ...], list[Record]]:
        """Return the parts by wallet, day and number of parts, in their order."""
        waiting: dict[tuple[object, ...], list[Record]] = defaultdict(list)
        for record in self.records:
            if isinstance(record, Record) and record.row in self.parts:
                size = self.parts[record.row][1]
                waiting[record.wallet, record.date, size].append(record)
        return waiting


def _join(parent: Record, parts: Sequence[Part]) -> list[Record]:
    """Return the entry with its lines; without lines, as its parts."""
    joined = join_parts(parts, parent.text, parent.memo)
    if len(joined) != 1:
        return joined
    tags = tuple(dict.fromkeys((*parent.tags, *joined[0].tags)))
    return [replace(joined[0], row=parent.row, tags=tags)]


def _signed(record: Record) -> Decimal:
    sign = 1 if record.direction is Direction.IN else -1
    return Decimal(sign * (record.amount or 0))


class ActualSource(NamedSource):
    name = "actual"
    marks = ("Date", "Account", "Payee", "Notes", "Category", "Amount", "Cleared")
    reader = _ActualReader
