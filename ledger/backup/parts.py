"""Rules over several rows of a backup: wallets of transfers, lines, refunds, merges.

They are checked when all sheets are read, and each row by itself is valid. No database
access.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.utils.translation import gettext

from core.errors import DomainError
from ledger.backup.columns import (
    ENTRIES,
    LINES,
    MERGED_ENTRIES,
    QUICK_ENTRIES,
    RECURRING,
    Backup,
    EntryRow,
    LineRow,
    QuickEntryRow,
    RecurringRow,
)
from ledger.errors import RefundExceedsError
from ledger.lines import validate_shape
from ledger.models.base import MAX_MEMO_LENGTH, CategoryType, EntryType
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
    """Yield what is wrong with transfers, lines and merged entries."""
    lines = _group_lines(backup)
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
            yield _make_missing_key(LINES.name, index, line.entry)
    yield from _check_merged_entries(backup)


def _check_merged_entries(backup: Backup) -> Iterator[Misfit]:
    """Yield merged entries of no entry, and those without their other half."""
    if not backup.merged_entries:
        return
    keys = {row.key for row in backup.entries}
    counts = Counter(row.entry for row in backup.merged_entries)
    for index, row in enumerate(backup.merged_entries):
        if row.entry not in keys:
            yield _make_missing_key(MERGED_ENTRIES.name, index, row.entry)
        elif counts[row.entry] == 1:
            detail = gettext("A transfer is merged from an expense and an income.")
            yield Misfit(MERGED_ENTRIES.name, index, "type", "required", detail)


def _make_missing_key(sheet: str, index: int, key: str) -> Misfit:
    detail = gettext("This backup has no row with the key {key}.").format(key=key)
    return Misfit(sheet, index, "entry", "does_not_exist", detail)


def flatten_single_lines(backup: Backup) -> None:
    """Make rows with one line flat: booked on its category, or a transfer."""
    counts = Counter(line.entry for line in backup.lines)
    single = {line.entry: line for line in backup.lines if counts[line.entry] == 1}
    if not single:
        return
    for rows in (backup.entries, backup.recurring, backup.quick_entries):
        for row in rows:
            if row.key in single:
                _flatten(row, single[row.key])
    backup.lines = [line for line in backup.lines if line.entry not in single]


def _flatten(row: EntryRow | RecurringRow | QuickEntryRow, line: LineRow) -> None:
    memos = dict.fromkeys(memo for memo in (row.memo, line.memo) if memo)
    row.memo = ", ".join(memos)[:MAX_MEMO_LENGTH]
    if line.wallet is None:
        row.category, row.category_type = line.category, line.category_type
        return
    # An income from another wallet is a transfer the other way.
    if row.type == EntryType.INCOME:
        row.wallet, row.to_wallet = line.wallet, row.wallet
    else:
        row.to_wallet = line.wallet
    row.type = EntryType.TRANSFER.value
    row.category_type = CategoryType.EXPENSE.value
    if isinstance(row, EntryRow):
        row.currency = row.original_amount = row.exchange_rate = None
        row.installment_months = None


def _group_lines(backup: Backup) -> dict[str, list[LineRow]]:
    """Return the lines by the key of what they belong to."""
    lines: dict[str, list[LineRow]] = defaultdict(list)
    for line in backup.lines:
        lines[line.entry].append(line)
    return lines


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


def list_refund_misfits(backup: Backup) -> Iterator[Misfit]:
    """Yield refunds of no expense, not booked on expenses, or of more than was spent.

    Rows with one line are flat by now. Only refunds in the home currency are summed.
    """
    if not any(row.refund_of is not None for row in backup.entries):
        return
    lines = _group_lines(backup)
    left = {
        row.key: row.amount or 0
        for row in backup.entries
        if row.type == EntryType.EXPENSE and row.key is not None
    }
    for index, row in enumerate(backup.entries):
        if row.refund_of is None:
            continue
        own = lines.get(row.key, []) if row.key is not None else []
        types = {line.category_type for line in own if line.wallet is None}
        if not own:
            types = {row.category_type}
        if (
            row.refund_of not in left
            or row.type != EntryType.INCOME
            or types != {CategoryType.EXPENSE.value}
        ):
            detail = gettext("Must be the key of an expense that comes back.")
            yield Misfit(ENTRIES.name, index, "refundOf", "does_not_exist", detail)
            continue
        if row.currency is None:
            left[row.refund_of] -= row.amount or 0
            if left[row.refund_of] < 0:
                detail = str(RefundExceedsError.detail)
                yield Misfit(ENTRIES.name, index, "refundOf", "exceeds", detail)
