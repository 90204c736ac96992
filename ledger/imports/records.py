"""What a source reads from a file: records, without anything of the ledger.

A source is given the tables of a file and yields one `Record` or `BadRow` for each row
that stands for an entry. Wallets and categories are the names of the file: which of the
ledger's they become is decided later (`ledger.imports.judging`).
"""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Protocol, TypeAlias

# A cell as the sandboxed reader sends it: dates are ISO texts ("2026-09-05" or
# "2026-09-05T13:20:00"), numbers of workbooks floats.
Cell: TypeAlias = str | int | float | bool | None


class Direction(StrEnum):
    OUT = "OUT"
    IN = "IN"


class RecordKind(StrEnum):
    # An expense where it goes out, an income where it comes in.
    FLOW = "FLOW"
    # Money that came back: it takes from an expense, whatever its direction says.
    REFUND = "REFUND"
    # A refund by the issuer of the card: it may cancel a purchase of the same file.
    CANCELLATION = "CANCELLATION"
    # Between two wallets of the member; `other_wallet` is the other one, if it is told.
    TRANSFER = "TRANSFER"
    # The first balance of a wallet: it is no income and no expense.
    OPENING = "OPENING"


@dataclass(frozen=True, slots=True)
class Table:
    """One sheet or list of a file, as text and numbers.

    `kind` is the format by content: csv, xlsx, xls, html, ofx, qif, camt053, mt940 or
    ledger. Formats that are no tables (ofx, qif, camt053, mt940) have a first row of
    the names that `ledger.imports.reading` documents.
    """

    kind: str
    name: str
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A part of a split entry; the amount is signed in the entry's direction."""

    amount: int
    category: str | None = None
    minor_category: str | None = None
    memo: str = ""
    # A part that goes to another wallet of the member instead of a category.
    wallet: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A row of a file that stands for an entry.

    `row` is the number of the row as a spreadsheet shows it (from 1, the header too).
    `amount` is positive, in whole units of the home currency; None where the file has
    the amount in another currency alone (`original_amount`, positive).
    `text` is what the key of the row is made of: the bank's description, whole;
    `memo` is what the entry shows.
    """

    row: int
    date: datetime.date
    direction: Direction
    amount: int | None
    kind: RecordKind = RecordKind.FLOW
    time: datetime.time | None = None
    # None: the wallet that the member names for the file.
    wallet: str | None = None
    other_wallet: str | None = None
    category: str | None = None
    minor_category: str | None = None
    text: str = ""
    memo: str = ""
    tags: tuple[str, ...] = ()
    currency: str | None = None
    original_amount: Decimal | None = None
    # Home units for one unit of the currency, if the file says it.
    exchange_rate: Decimal | None = None
    months: int | None = None
    # The bank's or app's own id of the row (FITID and the like), if it has one.
    external_id: str | None = None
    lines: tuple[RecordLine, ...] = ()


@dataclass(frozen=True, slots=True)
class RowError:
    """Why a row cannot be read: a field of the mapping, and a sentence for a person."""

    field: str
    message: str


@dataclass(frozen=True, slots=True)
class BadRow:
    row: int
    errors: tuple[RowError, ...]
    # The row's cells as text, shortened: what the member sees beside the reason.
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MappedColumn:
    """A column of the header, and the field it is read as (None: not read)."""

    column: int
    name: str
    field: str | None


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Which column is what. `date_order` is ymd, dmy or mdy."""

    header_row: int
    columns: tuple[MappedColumn, ...]
    date_order: str = "ymd"


@dataclass(frozen=True, slots=True)
class WalletBalance:
    """A balance that the file tells of a wallet (뱅크샐러드's first sheet, OFX)."""

    wallet: str
    amount: int
    date: datetime.date
    # A kind of `ledger.models.Wallet`, guessed.
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class ReadContext:
    """What a source is told besides the file."""

    today: datetime.date
    home_currency: str


@dataclass(slots=True)
class FileReading:
    """What a file holds, in its order.

    `passed_over` counts what is no entry by its reason ("total", "empty", "part", ...);
    `left_out` names, for a person, what the file has and the ledger cannot hold.
    """

    source: str
    mapping: ColumnMapping | None
    records: list[Record | BadRow]
    balances: list[WalletBalance] = field(default_factory=list)
    passed_over: Mapping[str, int] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


class Source(Protocol):
    """A reader of one app's or bank's files: a small pure module."""

    name: str

    def recognizes(self, tables: Sequence[Table]) -> bool:
        """Return whether the file is one of this source, by its header."""

    def read(
        self,
        tables: Sequence[Table],
        mapping: ColumnMapping | None,
        context: ReadContext,
    ) -> FileReading:
        """Read the file; the mapping is the member's, where the columns are free."""


RecordRows: TypeAlias = Iterator[Record | BadRow]
