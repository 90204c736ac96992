"""Firefly III: the CSV of all transactions.

Each row is a part of a group; a group of several parts is one entry with lines. Whether
money goes out, comes in or moves is told by the types of both accounts: a payment of a
loan is a withdrawal for Firefly, and a transfer between two wallets here. A deposit
with a category of withdrawals is a refund. Pure.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

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
    unknown_type,
)
from ledger.imports.sources.splits import Part, join_parts
from ledger.imports.texts import normalize_text, to_text
from ledger.imports.values import parse_tags

# Types of accounts that are wallets; others are shops, employers and helpers.
_OWN = frozenset(
    ("assetaccount", "defaultaccount", "loan", "debt", "mortgage", "liabilitycredit")
)
# Helpers, whose names say nothing.
_UNNAMED = frozenset(("cashaccount", "initialbalanceaccount", "reconciliationaccount"))
_OPENING = frozenset(("openingbalance", "liabilitycredit"))
_MIDNIGHT = "00:00:00"


class _Amounts(NamedTuple):
    home: Decimal | None
    currency: str | None
    original: Decimal | None


class _FireflyReader(TableReader):
    date_name = "date"
    fields = {
        "date": "date",
        "type": "type",
        "amount": "amount",
        "currency_code": "currency",
        "foreign_amount": "originalAmount",
        "description": "text",
        "notes": "memo",
        "category": "category",
        "source_name": "wallet",
        "destination_name": "toWallet",
        "tags": "tags",
        "journal_id": "id",
    }

    def __init__(self, context: ReadContext) -> None:
        super().__init__(context)
        # Parts of each group that can be read, by their place in the records; and all.
        self.parts: dict[str, list[int]] = defaultdict(list)
        self.sizes: Counter[str] = Counter()
        self.titles: dict[str, str] = {}
        # By the number of the row: what a line says, and the shop of the part.
        self.memos: dict[int, str] = {}
        self.shops: dict[int, str] = {}
        self.mark = "."
        self.incomes: frozenset[str] = frozenset()

    def prepare(self, rows: Sequence[Sequence[Cell]], columns: Columns) -> None:
        """Know how numbers look, and columns that say nothing to a person."""
        super().prepare(rows, columns)
        self.mark = find_decimal_mark(rows, columns, ("amount", "foreign_amount"))
        self.incomes = find_income_categories(
            iter_cells(rows, columns, "category"),
            [
                -1 if normalize_text(to_text(cell)) == "withdrawal" else 1
                for cell in iter_cells(rows, columns, "type")
            ],
        )
        for name in (
            *("user_id", "updated_at", "import_hash", "import_hash_v2"),
            *("primary_currency_code", "pc_amount", "pc_foreign_amount"),
        ):
            columns.find(name)

    def read_row(self, row: Row) -> Record | str:
        group = row.text("group_id", "id")
        self.sizes[group] += 1
        record = self._make_record(row)
        if isinstance(record, Record) and group:
            self.titles[group] = row.text("group_title")
            self.parts[group].append(len(self.records))
        return record

    def _make_record(self, row: Row) -> Record | str:
        day, time = row.date("date", self.context.today, self.date_order)
        amounts = self._read_amounts(row)
        if not amounts.home and not amounts.original:
            return "zero"
        source, source_type = _read_account(row, "source")
        target, target_type = _read_account(row, "destination")
        is_from_own, is_to_own = source_type in _OWN, target_type in _OWN
        if not is_from_own and not is_to_own:
            raise unknown_type()
        kind, other = RecordKind.FLOW, None
        type_ = normalize_text(row.text("type", "type"))
        if type_ in _OPENING:
            kind = RecordKind.OPENING
        elif is_from_own and is_to_own:
            kind, other = RecordKind.TRANSFER, target
        elif type_ == "reconciliation":
            # Corrects a balance: no income and no expense, on its own day.
            kind = RecordKind.TRANSFER
        category = row.text("category", "category")
        is_income = not category or category in self.incomes
        if kind is RecordKind.FLOW and is_to_own and not is_income:
            kind = RecordKind.REFUND
        shop, shop_type = (
            (target, target_type) if is_from_own else (source, source_type)
        )
        is_flow = kind in {RecordKind.FLOW, RecordKind.REFUND}
        is_named = is_flow and shop_type not in _UNNAMED
        text, notes = row.text("description"), row.text("notes", "memo")
        self.memos[row.number] = self.make_memo(text, notes)
        self.shops[row.number] = shop = shop if is_named else ""
        return Record(
            row=row.number,
            date=day,
            direction=Direction.OUT if is_from_own else Direction.IN,
            amount=to_units(amounts.home) if amounts.home else None,
            kind=kind,
            time=None if time is None or time.isoformat() == _MIDNIGHT else time,
            wallet=source if is_from_own else target,
            other_wallet=other,
            category=(category or None) if is_flow else None,
            text=text,
            memo=self.make_memo(text, shop, notes),
            tags=parse_tags(row.text("tags", "tags")),
            currency=amounts.currency,
            original_amount=amounts.original,
            external_id=self._make_id(row),
        )

    def _make_id(self, row: Row) -> str | None:
        """Return the id of a row.

        Numbers begin anew with each installation: when the row was made belongs to it.
        """
        journal = row.text("journal_id", "id")
        created = row.text("created_at", "id")
        return f"firefly:{journal}:{created}" if journal and created else None

    def _read_amounts(self, row: Row) -> _Amounts:
        """Return the home amount, and currency and amount of another; all above 0."""
        home = self.context.home_currency
        amount = row.amount("amount", mark=self.mark)
        if amount is None:
            raise missing_amount()
        currency = row.currency("currency_code") or home
        foreign = row.amount("foreign_amount", "originalAmount", self.mark)
        foreign_currency = row.currency("foreign_currency_code")
        if currency == home:
            if foreign and foreign_currency not in {None, home}:
                return _Amounts(abs(amount), foreign_currency, abs(foreign))
            return _Amounts(abs(amount), None, None)
        if foreign and foreign_currency == home:
            return _Amounts(abs(foreign), currency, abs(amount))
        primary = row.amount("pc_amount", mark=self.mark)
        if primary and row.currency("primary_currency_code") == home:
            return _Amounts(abs(primary), currency, abs(amount))
        return _Amounts(None, currency, abs(amount))

    def make_reading(self, source: str) -> FileReading:
        self._join_groups()
        return super().make_reading(source)

    def _join_groups(self) -> None:
        """Make one record of each group with several parts, if all can be read."""
        joined: dict[int, list[Record]] = {}
        for group, places in self.parts.items():
            if len(places) < 2 or len(places) != self.sizes[group]:
                continue
            parts = [self._as_part(self.records[place]) for place in places]
            title = self.titles[group]
            shops = dict.fromkeys(self.shops[part.record.row] for part in parts)
            memo = self.make_memo(title, *shops)
            joined[places[0]] = join_parts(parts, title, memo)
            joined |= {place: [] for place in places[1:]}
        self.records = [
            each
            for place, record in enumerate(self.records)
            for each in joined.get(place, [record])
        ]

    def _as_part(self, record: Record | BadRow) -> Part:
        assert isinstance(record, Record)  # noqa: S101  # only those are parts
        sign = 1 if record.direction is Direction.IN else -1
        memo = self.memos[record.row]
        return Part(record, Decimal(sign * (record.amount or 0)), memo)


def _read_account(row: Row, side: str) -> tuple[str, str]:
    """Return name and type of the account on one side."""
    field = "wallet" if side == "source" else "toWallet"
    name = row.text(f"{side}_name", field)
    return name, normalize_text(row.text(f"{side}_type", field))


class FireflySource(NamedSource):
    name = "firefly"
    marks = (
        *("date", "group_id", "journal_id", "type", "amount", "currency_code"),
        *("description", "source_name", "source_type", "destination_name"),
        "destination_type",
    )
    reader = _FireflyReader
