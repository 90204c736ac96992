"""Moves of transfers, split entries and templates to another wallet or category.

Each is moved by the rules of `ledger/shapes.py`, and the triggers keep the totals of
each. All functions are called under `lock_ledger`.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, Sum

from ledger.models import (
    Entry,
    EntryLine,
    EntryTag,
    MergedEntry,
    QuickEntry,
    QuickEntryLine,
    QuickEntryTag,
    RecurringLine,
    RecurringRule,
    RecurringTag,
    Wallet,
)
from ledger.models.base import CategoryType, EntryType, MovableModel
from ledger.models.lines import Line
from ledger.shapes import Part, Shape, move_category_of, move_wallet_of


@dataclass(frozen=True)
class Tables:
    """The tables of the lines and tags of an owner, and their column for it."""

    lines: type[Line]
    tags: Any
    owner: str

    def read_lines(self, member_id: int, ids: Sequence[int]) -> dict[int, list[Any]]:
        return self._read(self.lines, member_id, ids)

    def read_tags(self, member_id: int, ids: Sequence[int]) -> dict[int, list[Any]]:
        return self._read(self.tags, member_id, ids)

    def rows_of(self, model: Any, member_id: int, ids: Sequence[int]) -> Any:
        owners = {f"{self.owner}__in": ids}
        return model._default_manager.filter(member_id=member_id, **owners)

    def _read(
        self, model: Any, member_id: int, ids: Sequence[int]
    ) -> dict[int, list[Any]]:
        """Return the rows of these owners, in their order, by owner."""
        rows: dict[int, list[Any]] = defaultdict(list)
        for row in self.rows_of(model, member_id, ids).order_by("position"):
            rows[getattr(row, self.owner)].append(row)
        return rows


@dataclass(frozen=True, slots=True)
class _Change:
    """A row, its shape, and the shapes that a move leaves of it."""

    row: Any
    before: Shape
    after: list[Shape]


_ENTRIES = Tables(EntryLine, EntryTag, "entry_id")
_TEMPLATES: dict[Any, Tables] = {
    QuickEntry: Tables(QuickEntryLine, QuickEntryTag, "quick_entry_id"),
    RecurringRule: Tables(RecurringLine, RecurringTag, "rule_id"),
}
# What a move may change of an entry.
_WRITTEN_FIELDS = (
    *("type", "is_reversal", "amount", "category", "wallet", "to_wallet", "line_count"),
    *("memo", "refund_of", "installment_months"),
    *("currency", "original_amount", "exchange_rate"),
)
# Each is a condition for each column of the statement.
_UPDATED_AT_ONCE = 50


def move_parted_entries(
    source: MovableModel, target: MovableModel, ids: Sequence[int]
) -> int:
    """Move these transfers and split entries, with the triggers of totals."""
    if not ids:
        return 0
    rows = Entry.objects.filter(member_id=source.member_id, pk__in=ids).order_by("pk")
    changes = _list_changes(list(rows), _ENTRIES, source, target)
    if changes:
        _write_entries(source.member_id, changes)
    return len(rows)


def move_templates(
    source: MovableModel, target: MovableModel, parted: dict[str, list[int]]
) -> None:
    """Move quick entries, recurring rules, and what was merged.

    Those of `parted` one by one; transfers without effect are deleted.
    """
    column = "wallet" if isinstance(source, Wallet) else "category"
    for model, tables in _TEMPLATES.items():
        rows: Any = model._default_manager.filter(member_id=source.member_id)
        ids = parted[model._meta.db_table]
        flat = rows.filter(**{column: source.pk}).exclude(pk__in=ids)
        flat.update(**{column: target})
        templates = list(rows.filter(pk__in=ids)) if ids else []
        for change in _list_changes(templates, tables, source, target):
            _write_template(change, tables)
    if merged_ids := parted[MergedEntry._meta.db_table]:
        merged = MergedEntry.objects.filter(
            member_id=source.member_id, entry__in=merged_ids, category=source.pk
        )
        merged.update(category=target)


def _move(shape: Shape, source: MovableModel, target: MovableModel) -> list[Shape]:
    if isinstance(source, Wallet):
        return move_wallet_of(shape, source.pk, target.pk)
    return move_category_of(shape, source.pk, target.pk)


def _list_changes(
    rows: Sequence[Any], tables: Tables, source: MovableModel, target: MovableModel
) -> list[_Change]:
    """Return what changes of the rows, without those that stay as they are."""
    lines = tables.read_lines(source.member_id, [row.pk for row in rows])
    changes = []
    for row in rows:
        before = _read_shape(row, lines[row.pk])
        after = _move(before, source, target)
        if after != [before]:
            changes.append(_Change(row, before, after))
    return changes


def _read_shape(row: Any, lines: Sequence[Line]) -> Shape:
    parts = (
        Part(
            line.amount,
            line.category_id,
            line.category_type,
            line.wallet_id,
            (line.memo,) if line.memo else (),
        )
        for line in lines
    )
    return Shape(
        row.type,
        row.amount or 0,
        row.wallet_id,
        row.to_wallet_id,
        tuple(parts),
        row.memo,
    )


def _read_columns(shape: Shape) -> dict[str, Any]:
    """Return the columns of the row; those of its only line, if it is flat."""
    values: dict[str, Any] = {
        "type": shape.type,
        "wallet_id": shape.wallet_id,
        "to_wallet_id": shape.to_wallet_id,
    }
    if shape.parts:
        values |= {"amount": shape.amount, "memo": shape.memo}
    if shape.parts and shape.is_flat:
        (part,) = shape.parts
        is_income = part.category_type == CategoryType.INCOME
        values |= {
            "to_wallet_id": part.wallet_id,
            "category_id": part.category_id,
            "is_reversal": part.wallet_id is None
            and is_income != (shape.type == EntryType.INCOME),
        }
    return values


def _write_entries(member_id: int, changes: Sequence[_Change]) -> None:
    """Write the changes of entries, in as many statements for one as for all."""
    entries = Entry.objects.filter(member_id=member_id)
    split_ids = [change.row.pk for change in changes if change.before.parts]
    entries.filter(pk__in=split_ids).update(line_count=None)
    _ENTRIES.rows_of(EntryLine, member_id, split_ids).delete()
    removed_ids = [change.row.pk for change in changes if not change.after]
    _ENTRIES.rows_of(EntryTag, member_id, removed_ids).delete()
    entries.filter(pk__in=removed_ids).delete()
    original_ids = _list_unfit_originals(entries, changes)
    entries.filter(refund_of__in=original_ids).update(refund_of=None)

    copies = _copy_entries(member_id, changes)
    kept = []
    for change in changes:
        if change.after:
            values = {"line_count": None} | _read_entry_columns(change.after[0])
            for name, value in values.items():
                setattr(change.row, name, value)
            kept.append((change.row, change.after[0]))
    entries.bulk_update(
        [row for row, _ in kept], _WRITTEN_FIELDS, batch_size=_UPDATED_AT_ONCE
    )
    _book([*kept, *copies])


def _list_unfit_originals(entries: Any, changes: Sequence[_Change]) -> list[int]:
    """Return the expenses that are none any more, or less than their refunds."""
    amounts = {
        change.row.pk: change.after[0].amount
        if change.after[0].type == EntryType.EXPENSE
        else 0
        for change in changes
        if change.before.type == EntryType.EXPENSE and change.after
    }
    refunds = entries.filter(refund_of__in=amounts).order_by()
    sums = refunds.values_list("refund_of").annotate(
        total=Sum("amount", filter=Q(currency=None), default=0)
    )
    return [pk for pk, total in sums if total > amounts[pk] or not amounts[pk]]


def _copy_entries(
    member_id: int, changes: Sequence[_Change]
) -> list[tuple[Entry, Shape]]:
    """Insert the entries that split off others, with their tags and without lines."""
    pairs = [(change.row, shape) for change in changes for shape in change.after[1:]]
    if not pairs:
        return []
    tags = _ENTRIES.read_tags(member_id, [row.pk for row, _ in pairs])
    values = {"currency": None, "original_amount": None, "exchange_rate": None}
    copies = Entry.objects.bulk_create(
        _copy(row, values | {"line_count": None} | _read_entry_columns(shape))
        for row, shape in pairs
    )
    for (row, _), other in zip(pairs, copies, strict=True):
        _copy_tags(tags[row.pk], _ENTRIES, other)
    return [(other, shape) for (_, shape), other in zip(pairs, copies, strict=True)]


def _read_entry_columns(shape: Shape) -> dict[str, Any]:
    """Return the columns of an entry, without those that do not fit its type."""
    values = _read_columns(shape)
    # A refund is booked on a category.
    is_booked = any(part.wallet_id is None for part in shape.parts)
    if shape.type != EntryType.INCOME or (shape.parts and not is_booked):
        values["refund_of_id"] = None
    if shape.type != EntryType.EXPENSE:
        values["installment_months"] = None
    if shape.type == EntryType.TRANSFER:
        values |= {"currency": None, "original_amount": None, "exchange_rate": None}
    if shape.is_flat:
        values["line_count"] = 0
    return values


def _book(entries: Sequence[tuple[Entry, Shape]]) -> None:
    """Write the lines of entries whose `line_count` is NULL; none of flat ones."""
    split = [(entry, shape) for entry, shape in entries if not shape.is_flat]
    EntryLine.objects.bulk_create(
        line for each in split for line in _make_lines(*each, _ENTRIES)
    )
    by_count: dict[int, list[Entry]] = defaultdict(list)
    for entry, shape in split:
        by_count[len(shape.parts)].append(entry)
    for count, rows in by_count.items():
        stored = Entry.objects.filter(
            member_id=rows[0].member_id, pk__in=[row.pk for row in rows]
        )
        stored.update(line_count=count)


def _write_template(change: _Change, tables: Tables) -> None:
    row, member_id = change.row, change.row.member_id
    if not change.after:
        row.delete()
        return
    first, *others = change.after
    tags = tables.read_tags(member_id, [row.pk])[row.pk]
    tables.rows_of(tables.lines, member_id, [row.pk]).delete()
    stored = type(row)._default_manager.filter(member_id=member_id, pk=row.pk)
    stored.update(**_read_columns(first))
    rows = [row]
    for shape in others:
        other = _copy(row, _read_columns(shape))
        other.save(force_insert=True)
        _copy_tags(tags, tables, other)
        rows.append(other)
    for each, shape in zip(rows, change.after, strict=True):
        if not shape.is_flat:
            lines = _make_lines(each, shape, tables)
            tables.lines._default_manager.bulk_create(lines)


def _copy(row: Any, values: dict[str, Any]) -> Any:
    """Return an unsaved row like this one, but for these columns."""
    columns = {
        field.attname: getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if not (field.primary_key or field.generated)
    }
    return type(row)(**columns | values)


def _copy_tags(tags: Sequence[Any], tables: Tables, other: Any) -> None:
    tables.tags._default_manager.bulk_create(
        tables.tags(
            member_id=other.member_id,
            tag_id=tag.tag_id,
            position=tag.position,
            **{tables.owner: other.pk},
        )
        for tag in tags
    )


def _make_lines(row: Any, shape: Shape, tables: Tables) -> list[Any]:
    """Return unsaved lines."""
    return [
        tables.lines(
            member_id=row.member_id,
            position=position,
            amount=part.amount,
            category_id=part.category_id,
            category_type=part.category_type,
            wallet_id=part.wallet_id,
            memo=part.memo,
            **{tables.owner: row.pk},
        )
        for position, part in enumerate(shape.parts)
    ]
