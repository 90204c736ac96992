"""Rules over several rows of a backup: wallets of transfers, lines, refunds, merges.

Each row is valid by itself. No database access.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Container, Iterator
from dataclasses import fields
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
    ReferringRow,
)
from ledger.entries.refunds import RATE_MARGIN, is_on_expenses
from ledger.entry_shape import EntryShape, LineShape
from ledger.errors import RefundExceedsError
from ledger.models.base import EntryType
from ledger.models.lines import MAX_LINES

_SHAPE_FIELDS: dict[Any, tuple[str, ...]] = {
    sheet.row_class: tuple(
        each.name
        for each in fields(EntryShape)
        if each.name in {column.name for column in sheet.columns} - {"tags"}
    )
    for sheet in (ENTRIES, RECURRING, QUICK_ENTRIES)
}
# Field of a request -> column.
_COLUMNS = {"walletId": "wallet", "toWalletId": "toWallet", "lines": "amount"}


class Misfit(NamedTuple):
    """A row that does not fit the others; `row_index` counts the rows of its sheet."""

    sheet: str
    row_index: int
    column: str
    code: str
    detail: str


def list_misfits(backup: Backup) -> Iterator[Misfit]:
    lines = _group_lines(backup)
    keys: set[str] = set()
    for sheet in (ENTRIES, RECURRING, QUICK_ENTRIES):
        any_sheet: Any = sheet
        rows: list[ReferringRow] = backup.rows_of(any_sheet)
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


def _flatten(row: ReferringRow, line: LineRow) -> None:
    flat = _read_shape(row, [line]).flatten()
    if isinstance(row, EntryRow):
        row.refund_of = row.refund_of or line.refund_of
    for name in _SHAPE_FIELDS[type(row)]:
        # Refunds are checked afterwards.
        if name != "refund_of":
            setattr(row, name, getattr(flat, name))


def _group_lines(backup: Backup) -> dict[str, list[LineRow]]:
    lines: dict[str, list[LineRow]] = defaultdict(list)
    for line in backup.lines:
        lines[line.entry].append(line)
    return lines


def _check_shape(
    sheet: str, index: int, row: ReferringRow, lines: list[LineRow]
) -> Iterator[Misfit]:
    # Refunds are checked afterwards.
    shape = _read_shape(row, lines).without_refunds()
    try:
        shape.validate()
    except DomainError as error:
        first = error.errors[0]
        column = _COLUMNS.get(first.field, first.field).split(".")[0]
        column = _COLUMNS.get(column, column)
        yield Misfit(sheet, index, column, first.code, str(first.detail))
        return
    if len(lines) > MAX_LINES:
        detail = gettext("At most {limit} lines are allowed.")
        yield Misfit(sheet, index, "key", "max_length", detail.format(limit=MAX_LINES))


def _read_shape(row: ReferringRow, lines: list[LineRow]) -> EntryShape:
    return EntryShape(
        lines=tuple(
            LineShape(
                line.amount,
                line.category,
                line.category_type,
                line.wallet,
                line.memo,
                line.refund_of,
            )
            for line in lines
        ),
        **{name: getattr(row, name) for name in _SHAPE_FIELDS[type(row)]},
    )


def list_refund_misfits(backup: Backup) -> Iterator[Misfit]:
    """Yield refunds of no expense, not booked on expenses, or of more than was spent.

    Rows with one line are flat by now. Only refunds in the home currency are summed; of
    a foreign expense they may be larger, for another rate.
    """
    lines = _group_lines(backup)
    left = {
        row.key: _most_refunds(row)
        for row in backup.entries
        if row.type == EntryType.EXPENSE and row.key is not None
    }
    for index, row in enumerate(backup.entries):
        own = lines.get(row.key, []) if row.key is not None else []
        parts = [line for line in own if line.refund_of is not None]
        if row.refund_of is None and not parts:
            continue
        shape = _read_shape(row, own)
        if not _is_refund(shape, left):
            detail = gettext("Must be the key of an expense that comes back.")
            yield Misfit(ENTRIES.name, index, "refundOf", "does_not_exist", detail)
            continue
        refunds = [(str(line.refund_of), line.amount) for line in parts]
        if (whole := shape.with_one_refund().refund_of) is not None:
            row.refund_of = str(whole)
            for line in parts:
                line.refund_of = None
            refunds = [(row.refund_of, 0 if row.currency else row.amount or 0)]
        for key, amount in refunds:
            left[key] -= amount
            if left[key] < 0 < amount:
                detail = str(RefundExceedsError.detail)
                yield Misfit(ENTRIES.name, index, "refundOf", "exceeds", detail)


def _most_refunds(row: EntryRow) -> int:
    amount = row.amount or 0
    return amount if row.currency is None else math.floor(amount * RATE_MARGIN)


def _is_refund(shape: EntryShape, expenses: Container[object]) -> bool:
    """Return True if an entry, or each line that says so, can bring expenses back."""
    if any(key not in expenses for key in shape.refunded_ids):
        return False
    try:
        is_whole = shape.with_one_refund().refund_of is not None
        shape.validate()
    except DomainError:
        return False
    return is_on_expenses(shape) or not is_whole


def list_dismissal_misfits(backup: Backup) -> Iterator[Misfit]:
    """Yield rows of `notWith` that name no expense and income, both with a wallet."""
    if not any(row.not_with for row in backup.entries):
        return
    incomes = {
        row.key for row in backup.entries if row.type == EntryType.INCOME and row.wallet
    }
    for index, row in enumerate(backup.entries):
        is_expense = row.type == EntryType.EXPENSE and None not in (row.key, row.wallet)
        if row.not_with and not (is_expense and incomes.issuperset(row.not_with)):
            detail = gettext("Must be keys of incomes, on an expense with a wallet.")
            yield Misfit(ENTRIES.name, index, "notWith", "does_not_exist", detail)
