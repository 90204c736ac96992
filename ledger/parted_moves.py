"""Moves of transfers, split entries and templates to another wallet or category.

A part for the wallet that it is then paid from goes: it has no effect any more. Lines
for one category become one line. What has one line left for a category is flat again.
All functions are called under `lock_ledger`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ledger.models import (
    Category,
    Entry,
    EntryLine,
    EntryTag,
    QuickEntry,
    QuickEntryLine,
    RecurringLine,
    RecurringRule,
    Wallet,
)
from ledger.models.base import MAX_MEMO_LENGTH, CategoryType, EntryType, MovableModel
from ledger.models.lines import Line

_LINES_OF: dict[Any, tuple[type[Line], str]] = {
    Entry: (EntryLine, "entry_id"),
    QuickEntry: (QuickEntryLine, "quick_entry_id"),
    RecurringRule: (RecurringLine, "rule_id"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """A line by ids."""

    amount: int
    category_id: int | None
    category_type: str
    wallet_id: int | None
    memo: str


@dataclass(frozen=True, slots=True)
class Shape:
    """What a move may change of an entry or template.

    `to_wallet_id` is that of a flat transfer, and `parts` are the lines of a split one.
    """

    type: str
    amount: int
    wallet_id: int | None
    to_wallet_id: int | None
    parts: tuple[Part, ...] = ()


def move_wallet_of(shape: Shape, source: int, target: int) -> Shape | None:
    """Return the shape after a move; None if nothing is left of it."""
    wallet_id = target if shape.wallet_id == source else shape.wallet_id
    to_wallet_id = target if shape.to_wallet_id == source else shape.to_wallet_id
    if to_wallet_id is not None and to_wallet_id == wallet_id:
        return None
    parts = [
        replace(part, wallet_id=target) if part.wallet_id == source else part
        for part in shape.parts
    ]
    left = [
        part for part in parts if part.wallet_id is None or part.wallet_id != wallet_id
    ]
    amount = shape.amount - sum(part.amount for part in parts if part not in left)
    moved = replace(
        shape,
        amount=amount,
        wallet_id=wallet_id,
        to_wallet_id=to_wallet_id,
        parts=tuple(left),
    )
    if shape.parts and not left:
        return None
    return _with_fitting_type(moved)


def move_category_of(shape: Shape, source: int, target: int) -> Shape:
    """Return the shape after a move, with one line for the target."""
    merged: list[Part] = []
    for part in shape.parts:
        if part.category_id == source:
            part = replace(part, category_id=target)
        same = next(
            (n for n, each in enumerate(merged) if each.category_id == target), None
        )
        if part.category_id != target or same is None:
            merged.append(part)
            continue
        first = merged[same]
        memos = dict.fromkeys(memo for memo in (first.memo, part.memo) if memo)
        merged[same] = replace(
            first,
            amount=first.amount + part.amount,
            memo=", ".join(memos)[:MAX_MEMO_LENGTH],
        )
    return replace(shape, parts=tuple(part for part in merged if part.amount))


def _with_fitting_type(shape: Shape) -> Shape:
    """Turn what is no transfer any more, or moves money the other way."""
    type_, amount, parts = shape.type, shape.amount, shape.parts
    is_transfer = any(part.wallet_id is not None for part in parts)
    if amount < 0:
        amount = -amount
        parts = tuple(replace(part, amount=-part.amount) for part in parts)
        if type_ == EntryType.INCOME:
            type_ = EntryType.EXPENSE.value
        else:
            type_ = EntryType.INCOME.value
    elif type_ == EntryType.TRANSFER and parts and not is_transfer:
        type_ = EntryType.EXPENSE.value
    return replace(shape, type=type_, amount=amount, parts=parts)


def move_parted_entries(
    source: MovableModel, target: MovableModel, ids: Sequence[int]
) -> int:
    """Move these transfers and split entries, with the triggers of totals."""
    rows = Entry.objects.filter(member_id=source.member_id, pk__in=ids).order_by("pk")
    count = 0
    for entry in rows:
        lines = EntryLine.objects.filter(
            member_id=entry.member_id, entry_id=entry.pk
        ).order_by("position")
        shape = _read_shape(entry, lines)
        moved = _move(shape, source, target)
        if moved != shape:
            _write_entry(entry, shape, moved)
        count += 1
    return count


def move_templates(
    model: type[QuickEntry] | type[RecurringRule],
    source: MovableModel,
    target: MovableModel,
) -> None:
    """Move the templates and their lines; transfers without effect are deleted."""
    line_model, owner = _LINES_OF[model]
    rows: Any = model._default_manager.filter(member_id=source.member_id)
    lines: Any = line_model._default_manager.filter(member_id=source.member_id)
    if isinstance(source, Category):
        rows.filter(category=source.pk).update(category=target)
        split_ids = set(lines.filter(category=source.pk).values_list(owner, flat=True))
    else:
        rows.filter(wallet=source.pk, to_wallet=None).update(wallet=target)
        split_ids = set(lines.filter(wallet=source.pk).values_list(owner, flat=True))
        moved = rows.filter(wallet=target.pk).values_list("pk", flat=True)
        split_ids |= set(
            lines.filter(wallet__isnull=False, **{f"{owner}__in": moved}).values_list(
                owner, flat=True
            )
        )
        split_ids |= set(
            rows.filter(wallet=source.pk).values_list("pk", flat=True)
        ) | set(rows.filter(to_wallet=source.pk).values_list("pk", flat=True))
    for row in rows.filter(pk__in=split_ids) if split_ids else ():
        of_row = lines.filter(**{owner: row.pk})
        shape = _read_shape(row, of_row.order_by("position"))
        moved_shape = _move(shape, source, target)
        if moved_shape is None:
            row.delete()
        elif moved_shape != shape:
            of_row.delete()
            values = _flatten(moved_shape)
            rows.filter(pk=row.pk).update(**values)
            if not _is_flat(moved_shape):
                _insert_lines(line_model, owner, row, moved_shape)


def _move(shape: Shape, source: MovableModel, target: MovableModel) -> Shape | None:
    if isinstance(source, Wallet):
        return move_wallet_of(shape, source.pk, target.pk)
    return move_category_of(shape, source.pk, target.pk)


def _read_shape(row: Any, lines: Any) -> Shape:
    return Shape(
        row.type,
        row.amount or 0,
        row.wallet_id,
        row.to_wallet_id,
        tuple(
            Part(
                line.amount,
                line.category_id,
                line.category_type,
                line.wallet_id,
                line.memo,
            )
            for line in lines
        ),
    )


def _is_flat(shape: Shape) -> bool:
    """Return True if a shape needs no lines: a transfer, or one category."""
    if not shape.parts:
        return True
    first = shape.parts[0]
    return len(shape.parts) == 1 and (
        first.wallet_id is None or shape.type == EntryType.TRANSFER
    )


def _flatten(shape: Shape) -> dict[str, Any]:
    """Return the columns of the row; those of its only line, if it is flat."""
    values: dict[str, Any] = {
        "type": shape.type,
        "wallet_id": shape.wallet_id,
        "to_wallet_id": shape.to_wallet_id,
    }
    if shape.parts:
        values["amount"] = shape.amount
    if shape.parts and _is_flat(shape):
        (part,) = shape.parts
        is_income = part.category_type == CategoryType.INCOME
        values |= {
            "to_wallet_id": part.wallet_id,
            "category_id": part.category_id,
            "is_reversal": part.wallet_id is None
            and is_income != (shape.type == EntryType.INCOME),
        }
    return values


def _write_entry(entry: Entry, before: Shape, moved: Shape | None) -> None:
    stored = Entry.objects.filter(member_id=entry.member_id, pk=entry.pk)
    if moved is None:
        EntryTag.objects.filter(member_id=entry.member_id, entry_id=entry.pk).delete()
    if before.parts:
        stored.update(line_count=None)
        EntryLine.objects.filter(member_id=entry.member_id, entry_id=entry.pk).delete()
    if moved is None:
        stored.delete()
        return
    values = _flatten(moved)
    if moved.type != EntryType.INCOME:
        values["refund_of"] = None
    if moved.type != EntryType.EXPENSE:
        values["installment_months"] = None
        if before.type == EntryType.EXPENSE:
            refunds = Entry.objects.filter(member_id=entry.member_id)
            refunds.filter(refund_of=entry.pk).update(refund_of=None)
    if _is_flat(moved):
        stored.update(**values, line_count=0)
        return
    stored.update(**values)
    _insert_lines(EntryLine, "entry_id", entry, moved)
    stored.update(line_count=len(moved.parts))


def _insert_lines(model: type[Line], owner: str, row: Any, shape: Shape) -> None:
    model._default_manager.bulk_create(
        model(
            member_id=row.member_id,
            position=position,
            amount=part.amount,
            category_id=part.category_id,
            category_type=part.category_type,
            wallet_id=part.wallet_id,
            memo=part.memo,
            **{owner: row.pk},
        )
        for position, part in enumerate(shape.parts)
    )
