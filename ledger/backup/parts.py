"""Rules over several rows of a backup: wallets of transfers, lines, refunds.

They are checked when all sheets are read, and each row by itself is valid. No database
access.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.utils.translation import gettext

from core.errors import DomainError
from ledger.backup.columns import (
    ENTRIES,
    LINES,
    QUICK_ENTRIES,
    RECURRING,
    Backup,
    EntryRow,
    LineRow,
    QuickEntryRow,
    RecurringRow,
)
from ledger.lines import validate_shape
from ledger.models.base import CategoryType, EntryType
from ledger.models.lines import MAX_LINES

# The columns of the fields of requests.
_COLUMNS = {"walletId": "wallet", "toWalletId": "toWallet", "lines": "amount"}


class Misfit(NamedTuple):
    """A row that does not fit the others; `row_index` counts the rows of its sheet."""

    sheet: str
    row_index: int
    column: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class _Name:
    """A wallet by its name."""

    pk: str


@dataclass(frozen=True, slots=True)
class _Line:
    amount: int
    category: str | None
    wallet: _Name | None


@dataclass(frozen=True, slots=True)
class _Shape:
    type: str
    amount: int | None
    category: str | None
    category_type: str | None
    wallet: _Name | None
    to_wallet: _Name | None
    lines: list[_Line]


def list_misfits(backup: Backup) -> Iterator[Misfit]:
    """Yield what is wrong with transfers, lines and refunds."""
    lines: dict[str, list[LineRow]] = defaultdict(list)
    for line in backup.lines:
        lines[line.entry].append(line)
    keys: set[str] = set()
    for sheet in (ENTRIES, RECURRING, QUICK_ENTRIES):
        any_sheet: Any = sheet
        rows: list[EntryRow | RecurringRow | QuickEntryRow] = backup.rows_of(any_sheet)
        for index, row in enumerate(rows):
            if row.key is not None:
                if row.key in keys:
                    detail = gettext("An earlier row has the same value.")
                    yield Misfit(sheet.name, index, "key", "duplicate", detail)
                keys.add(row.key)
            own = lines.get(row.key, []) if row.key is not None else []
            if own or row.to_wallet is not None or row.type == EntryType.TRANSFER:
                yield from _check_shape(sheet.name, index, row, own)
    for index, line in enumerate(backup.lines):
        if line.entry not in keys:
            detail = gettext("This backup has no row with the key {key}.")
            yield Misfit(
                LINES.name,
                index,
                "entry",
                "does_not_exist",
                detail.format(key=line.entry),
            )
    yield from _check_refunds(backup, lines)


def _check_shape(
    sheet: str,
    index: int,
    row: EntryRow | RecurringRow | QuickEntryRow,
    lines: list[LineRow],
) -> Iterator[Misfit]:
    shape = _Shape(
        row.type,
        row.amount,
        row.category,
        row.category_type,
        _name(row.wallet),
        _name(row.to_wallet),
        [_Line(line.amount, line.category, _name(line.wallet)) for line in lines],
    )
    try:
        validate_shape(shape)
    except DomainError as error:
        first = error.errors[0]
        column = _COLUMNS.get(first.field, first.field).split(".")[0]
        column = _COLUMNS.get(column, column)
        yield Misfit(sheet, index, column, first.code, str(first.detail))
        return
    if len(lines) > MAX_LINES:
        detail = gettext("At most {limit} lines are allowed.")
        yield Misfit(sheet, index, "key", "max_length", detail.format(limit=MAX_LINES))
    if isinstance(row, EntryRow) and row.type == EntryType.TRANSFER and row.currency:
        detail = gettext("A transfer is in the home currency.")
        yield Misfit(sheet, index, "currency", "invalid", detail)


def _name(name: str | None) -> _Name | None:
    return None if name is None else _Name(name)


def _check_refunds(backup: Backup, lines: dict[str, list[LineRow]]) -> Iterator[Misfit]:
    """Yield refunds that are of no expense, or not booked on expenses."""
    if not any(row.refund_of is not None for row in backup.entries):
        return
    expenses = {row.key for row in backup.entries if row.type == EntryType.EXPENSE}
    for index, row in enumerate(backup.entries):
        if row.refund_of is None:
            continue
        types = {
            line.category_type
            for line in lines.get(row.key or "", [])
            if line.wallet is None
        } or {row.category_type}
        if (
            row.refund_of not in expenses
            or row.type != EntryType.INCOME
            or types != {CategoryType.EXPENSE.value}
        ):
            detail = gettext("Must be the key of an expense that comes back.")
            yield Misfit(ENTRIES.name, index, "refundOf", "does_not_exist", detail)
