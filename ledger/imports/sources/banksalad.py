"""뱅크샐러드: the entries of at most a year, and the balances of the day.

Amounts are signed. An expense above 0 and an income below 0 are money that came back.
Both rows of a transfer are equal but for the sign and 결제수단: they are paired by the
ledger. Pure.
"""

import datetime
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

from django.utils.translation import gettext

from ledger.imports.errors import UnreadableValueError
from ledger.imports.records import (
    BadRow,
    Cell,
    ColumnMapping,
    Direction,
    FileReading,
    ReadContext,
    Record,
    RecordKind,
    Table,
    WalletBalance,
)
from ledger.imports.sources.card_bills import find_card_issuer
from ledger.imports.sources.rows import (
    NamedSource,
    Row,
    TableReader,
    missing_amount,
    note_other_tables,
    to_units,
    unknown_type,
)
from ledger.imports.texts import normalize_text, to_text
from ledger.imports.values import clean_text, parse_amount, parse_date, to_home_units

_STATUS_SHEET = "뱅샐현황"
_BILL = "카드대금"
# Kinds of wallets by a word of 항목; the first that is found decides.
_KINDS = (
    ("대출", "LOAN"),
    ("현금", "CASH"),
    ("전자금융", "PREPAID"),
    ("연금", "PENSION"),
    ("투자|신탁|펀드|주식", "INVESTMENT"),
    ("예금|입출금|저축", "BANK"),
)
_SECTION = re.compile(r"\d+\.")
_DATE_LABELS = frozenset({"기준일", "조회일", "현황기준일", "자산기준일"})


class _BankSaladReader(TableReader):
    date_name = "날짜"
    fields = {
        "날짜": "date",
        "시간": "time",
        "타입": "type",
        "대분류": "category",
        "소분류": "minorCategory",
        "내용": "text",
        "금액": "amount",
        "화폐": "currency",
        "결제수단": "wallet",
        "메모": "memo",
    }

    def __init__(self, context: ReadContext) -> None:
        super().__init__(context)
        # Numbers of rows that pay the bill of a card.
        self.bills: set[int] = set()

    def read_row(self, row: Row) -> Record | str:
        day, time = row.date("날짜", self.context.today, self.date_order)
        amount = row.amount("금액")
        if amount is None:
            raise missing_amount()
        direction = Direction.IN if amount > 0 else Direction.OUT
        kind = _find_kind(row.text("타입", "type"), direction)
        currency = row.currency("화폐")
        is_home = currency in {None, self.context.home_currency}
        text, note = row.text("내용"), row.text("메모", "memo")
        categories = row.texts(("대분류", "소분류"), "category")
        if not amount:
            return "zero"
        is_move = kind is RecordKind.TRANSFER
        if is_move and direction is Direction.OUT and _BILL in categories:
            self.bills.add(row.number)
        return Record(
            row=row.number,
            date=day,
            direction=direction,
            amount=to_units(abs(amount)) if is_home else None,
            kind=kind,
            time=row.time("시간") or time,
            wallet=row.text("결제수단", "wallet") or None,
            category=None if is_move else _drop_none(row.text("대분류", "category")),
            minor_category=(
                None if is_move else _drop_none(row.text("소분류", "minorCategory"))
            ),
            text=text,
            memo=self.make_memo(text, note),
            currency=None if is_home else currency,
            original_amount=None if is_home else abs(amount),
        )

    def make_reading(self, source: str) -> FileReading:
        self._name_cards()
        return super().make_reading(source)

    def _name_cards(self) -> None:
        """Let payments of bills go to the card of the file, or to one of its issuer."""
        wallets = {
            each.wallet
            for each in self.records
            if isinstance(each, Record) and each.wallet
        }
        for index, record in enumerate(self.records):
            if isinstance(record, BadRow) or record.row not in self.bills:
                continue
            issuer = find_card_issuer([record.text])
            if issuer is None:
                continue
            stem = normalize_text(issuer.removesuffix("카드"))
            cards = {
                wallet
                for wallet in wallets - {record.wallet}
                if normalize_text(wallet).startswith(stem) and "카드" in wallet
            }
            # With several cards of the issuer the member says which one it is.
            name = issuer if not cards else min(cards) if len(cards) == 1 else None
            self.records[index] = replace(record, other_wallet=name)


def _find_kind(word: str, direction: Direction) -> RecordKind:
    if word == "이체":
        return RecordKind.TRANSFER
    if word not in {"수입", "지출"}:
        raise unknown_type()
    usual = Direction.IN if word == "수입" else Direction.OUT
    return RecordKind.FLOW if direction is usual else RecordKind.REFUND


def _drop_none(category: str) -> str | None:
    """Return a category, None for 미분류 (none)."""
    return None if category in {"", "미분류"} else category


class BankSaladSource(NamedSource):
    name = "banksalad"
    marks = ("날짜", "시간", "타입", "대분류", "내용", "금액", "화폐", "결제수단")
    reader = _BankSaladReader

    def read(
        self,
        tables: Sequence[Table],
        mapping: ColumnMapping | None,
        context: ReadContext,
    ) -> FileReading:
        reading = super().read(tables, mapping, context)
        for table in tables:
            if table.name == _STATUS_SHEET:
                balances, notes = read_status(table, context)
                reading.balances += balances
                reading.left_out += notes
        return reading

    def finish(
        self, reader: TableReader, tables: Sequence[Table], table: Table
    ) -> None:
        others = [
            each for each in tables if each is not table and each.name != _STATUS_SHEET
        ]
        note_other_tables(reader, others)


def read_status(
    table: Table, context: ReadContext
) -> tuple[list[WalletBalance], list[str]]:
    """Return the balances of the sheet 뱅샐현황, and what of it is not read.

    Assets and debts stand side by side below two headers 항목, 상품명, 금액; debts are
    below 0. The day is that of the sheet, else today.
    """
    balances: list[WalletBalance] = []
    notes: dict[str, None] = {}
    day = _find_day(table, context)
    for kind, name, cell in _iter_products(table):
        try:
            amount = parse_amount(cell)
            wallet = clean_text(name)
            units = 0 if amount is None else to_home_units(amount)
        except UnreadableValueError as error:
            notes[error.message] = None
            continue
        if kind == "LOAN":
            units = -abs(units)
        balances.append(WalletBalance(wallet, units, day, kind))
    text = gettext("The sheet {name} is read for its balances alone.")
    notes[text.format(name=_STATUS_SHEET)] = None
    return balances, list(notes)


def _find_day(table: Table, context: ReadContext) -> datetime.date:
    """Return the day behind a label such as 기준일, not after today; else today."""
    for cells in table.rows:
        for label, cell in pairwise(cells):
            if normalize_text(to_text(label)).rstrip(":") not in _DATE_LABELS:
                continue
            with suppress(UnreadableValueError):
                return min(parse_date(cell, context.today).date, context.today)
    return context.today


def _iter_products(table: Table) -> Iterator[tuple[str, Cell, Cell]]:
    """Yield the kind of wallet, name and amount of assets and debts."""
    sides: list[_Side] = []
    for cells in table.rows:
        names = [normalize_text(to_text(cell)) for cell in cells]
        if not sides:
            sides = _find_sides(names)
            continue
        if any(name.startswith(("총자산", "순자산")) for name in names):
            return
        if any(_SECTION.match(name) for name in names):
            return
        for side in sides:
            name, amount = side.cell(cells, 1), side.cell(cells, 2)
            if group := to_text(side.cell(cells, 0)).strip():
                side.group = group
            if to_text(name).strip() and to_text(amount).strip():
                yield side.kind, name, amount


@dataclass(slots=True)
class _Side:
    """The columns of 항목, 상품명 and 금액, and the last 항목: its cells are merged."""

    columns: tuple[int, int, int]
    is_debt: bool
    group: str = ""

    def cell(self, cells: Sequence[Cell], index: int) -> Cell:
        column = self.columns[index]
        return cells[column] if column < len(cells) else None

    @property
    def kind(self) -> str:
        if self.is_debt:
            return "LOAN"
        for words, kind in _KINDS:
            if re.search(words, self.group):
                return kind
        return "OTHER"


def _find_sides(names: Sequence[str]) -> list[_Side]:
    places = [
        [column for column, name in enumerate(names) if name == wanted]
        for wanted in ("항목", "상품명", "금액")
    ]
    return [
        _Side(columns, is_debt=number > 0)
        for number, columns in enumerate(zip(*places, strict=False))
    ]
