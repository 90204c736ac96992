"""Moves of transfers, split entries and templates to another wallet or category.

They are moved one by one, by the rules of `ledger/shapes.py`. All functions are called
under `lock_ledger`.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

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
from ledger.ownership import MAX_ID
from ledger.shapes import Part, Shape, move_category_of, move_wallet_of


@dataclass(frozen=True)
class Tables:
    """The tables of the lines and tags of an owner, and their column for it."""

    lines: type[Line]
    tags: Any
    owner: str

    def lines_of(self, row: Any) -> Any:
        return self._rows_of(self.lines, row)

    def tags_of(self, row: Any) -> Any:
        return self._rows_of(self.tags, row)

    def _rows_of(self, model: Any, row: Any) -> Any:
        rows = model._default_manager.filter(
            member_id=row.member_id, **{self.owner: row.pk}
        )
        return rows.order_by("position")


# Entries that name the wallet or category elsewhere than a flat entry does.
_ENTRIES_OF_WALLET = """
SELECT entry_id FROM account_entry_line
WHERE member_id = %(member)s AND wallet_id = %(source)s
    AND entry_id > %(after)s AND entry_id <= %(until)s
UNION
SELECT id FROM account_entry
WHERE member_id = %(member)s AND wallet_id = %(source)s
    AND (line_count > 0 OR to_wallet_id IS NOT NULL)
    AND id > %(after)s AND id <= %(until)s
UNION
SELECT id FROM account_entry
WHERE member_id = %(member)s AND to_wallet_id = %(source)s
    AND id > %(after)s AND id <= %(until)s
"""
_ENTRIES_OF_CATEGORY = """
SELECT DISTINCT entry_id FROM account_entry_line
WHERE member_id = %(member)s AND category_id = %(source)s
    AND entry_id > %(after)s AND entry_id <= %(until)s
"""
# The same of all tables, each row with the name of its table.
_ALL_OF_WALLET = f"""
(SELECT 'account_entry', * FROM ({_ENTRIES_OF_WALLET}) entries LIMIT %(limit)s)
UNION ALL
SELECT 'account_quick_entry', t.id FROM account_quick_entry t
WHERE t.member_id = %(member)s AND (
    t.to_wallet_id IS NOT NULL AND %(source)s IN (t.wallet_id, t.to_wallet_id)
    OR EXISTS (
        SELECT FROM account_quick_entry_line l
        WHERE l.member_id = %(member)s AND l.quick_entry_id = t.id
            AND %(source)s IN (l.wallet_id, t.wallet_id)
    )
)
UNION ALL
SELECT 'account_recurring', t.id FROM account_recurring t
WHERE t.member_id = %(member)s AND (
    t.to_wallet_id IS NOT NULL AND %(source)s IN (t.wallet_id, t.to_wallet_id)
    OR EXISTS (
        SELECT FROM account_recurring_line l
        WHERE l.member_id = %(member)s AND l.rule_id = t.id
            AND %(source)s IN (l.wallet_id, t.wallet_id)
    )
)
"""  # noqa: S608 - of constants only
_ALL_OF_CATEGORY = f"""
(SELECT 'account_entry', * FROM ({_ENTRIES_OF_CATEGORY}) entries LIMIT %(limit)s)
UNION ALL
SELECT DISTINCT 'account_quick_entry', quick_entry_id FROM account_quick_entry_line
WHERE member_id = %(member)s AND category_id = %(source)s
UNION ALL
SELECT DISTINCT 'account_recurring', rule_id FROM account_recurring_line
WHERE member_id = %(member)s AND category_id = %(source)s
UNION ALL
SELECT 'account_merged_entry', entry_id FROM account_merged_entry
WHERE member_id = %(member)s AND %(source)s IN (
    (expense->>'category_id')::bigint, (income->>'category_id')::bigint
)
"""  # noqa: S608 - of constants only
_ENTRIES = Tables(EntryLine, EntryTag, "entry_id")
_TEMPLATES: dict[Any, Tables] = {
    QuickEntry: Tables(QuickEntryLine, QuickEntryTag, "quick_entry_id"),
    RecurringRule: Tables(RecurringLine, RecurringTag, "rule_id"),
}


def list_parted_ids(source: MovableModel, after: int, until: int) -> list[int]:
    """Return the transfers and split entries of a wallet or category.

    Those with ids in a range of which `after` is excluded, `until` included.
    """
    statement = _ENTRIES_OF_CATEGORY
    if isinstance(source, Wallet):
        statement = _ENTRIES_OF_WALLET
    params = {"member": source.member_id, "source": source.pk}
    with connection.cursor() as cursor:
        cursor.execute(statement, params | {"after": after, "until": until})
        return [row[0] for row in cursor.fetchall()]


def list_parted_rows(source: MovableModel, limit: int) -> dict[str, list[int]]:
    """Return what is moved one by one, as ids by table; at most `limit` entries."""
    statement = _ALL_OF_WALLET if isinstance(source, Wallet) else _ALL_OF_CATEGORY
    params = {"member": source.member_id, "source": source.pk, "limit": limit}
    parted: dict[str, list[int]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(statement, params | {"after": 0, "until": MAX_ID})
        for table, row_id in cursor.fetchall():
            parted[table].append(row_id)
    return parted


def move_parted_entries(
    source: MovableModel, target: MovableModel, ids: Sequence[int]
) -> int:
    """Move these transfers and split entries, with the triggers of totals."""
    if not ids:
        return 0
    rows = Entry.objects.filter(member_id=source.member_id, pk__in=ids).order_by("pk")
    for entry in rows:
        shape = _read_shape(entry, _ENTRIES)
        moved = _move(shape, source, target)
        if moved != [shape]:
            _write_entry(entry, shape, moved)
    return len(rows)


def move_templates(
    source: MovableModel, target: MovableModel, parted: dict[str, list[int]]
) -> None:
    """Move quick entries, recurring rules, and the halves of merged entries.

    Those of `parted` one by one; transfers without effect are deleted.
    """
    column = "wallet" if isinstance(source, Wallet) else "category"
    for model, tables in _TEMPLATES.items():
        rows: Any = model._default_manager.filter(member_id=source.member_id)
        ids = parted[model._meta.db_table]
        flat = rows.filter(**{column: source.pk}).exclude(pk__in=ids)
        flat.update(**{column: target})
        for row in rows.filter(pk__in=ids) if ids else ():
            _move_template(row, tables, source, target)
    if merged_ids := parted[MergedEntry._meta.db_table]:
        _move_category_of_merged(source, target, merged_ids)


def _move_template(
    row: Any, tables: Tables, source: MovableModel, target: MovableModel
) -> None:
    shape = _read_shape(row, tables)
    moved = _move(shape, source, target)
    if not moved:
        row.delete()
    elif moved != [shape]:
        _write_template(row, tables, moved)


def _move_category_of_merged(
    source: MovableModel, target: MovableModel, ids: Sequence[int]
) -> None:
    """Have the two halves of merged entries return to the target."""
    rows = MergedEntry.objects.filter(member_id=source.member_id, entry_id__in=ids)
    for merged in rows:
        for half in (merged.expense, merged.income):
            if half["category_id"] == source.pk:
                half["category_id"] = target.pk
        merged.save(update_fields=["expense", "income"])


def _move(shape: Shape, source: MovableModel, target: MovableModel) -> list[Shape]:
    if isinstance(source, Wallet):
        return move_wallet_of(shape, source.pk, target.pk)
    return move_category_of(shape, source.pk, target.pk)


def _read_shape(row: Any, tables: Tables) -> Shape:
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
            for line in tables.lines_of(row)
        ),
    )


def _read_columns(shape: Shape) -> dict[str, Any]:
    """Return the columns of the row; those of its only line, if it is flat."""
    values: dict[str, Any] = {
        "type": shape.type,
        "wallet_id": shape.wallet_id,
        "to_wallet_id": shape.to_wallet_id,
    }
    if shape.parts:
        values["amount"] = shape.amount
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


def _write_entry(entry: Entry, before: Shape, moved: Sequence[Shape]) -> None:
    stored = Entry.objects.filter(member_id=entry.member_id, pk=entry.pk)
    tags = list(_ENTRIES.tags_of(entry))
    if before.parts:
        stored.update(line_count=None)
        _ENTRIES.lines_of(entry).delete()
    if not moved:
        _ENTRIES.tags_of(entry).delete()
        stored.delete()
        return
    first, *others = moved
    if first.type != EntryType.EXPENSE and before.type == EntryType.EXPENSE:
        refunds = Entry.objects.filter(member_id=entry.member_id)
        refunds.filter(refund_of=entry.pk).update(refund_of=None)
    stored.update(**_read_entry_columns(first))
    _book(entry, first)
    for shape in others:
        values = {"currency": None, "original_amount": None, "exchange_rate": None}
        other = _copy(entry, values | {"line_count": None} | _read_entry_columns(shape))
        _copy_tags(tags, _ENTRIES, other)
        _book(other, shape)


def _read_entry_columns(shape: Shape) -> dict[str, Any]:
    """Return the columns of an entry, without those that do not fit its type."""
    values = _read_columns(shape)
    if shape.type != EntryType.INCOME:
        values["refund_of_id"] = None
    if shape.type != EntryType.EXPENSE:
        values["installment_months"] = None
    if shape.type == EntryType.TRANSFER:
        values |= {"currency": None, "original_amount": None, "exchange_rate": None}
    if shape.is_flat:
        values["line_count"] = 0
    return values


def _book(entry: Entry, shape: Shape) -> None:
    """Write the lines of an entry whose `line_count` is NULL, unless it is flat."""
    if not shape.is_flat:
        _insert_lines(entry, _ENTRIES, shape)
        stored = Entry.objects.filter(member_id=entry.member_id, pk=entry.pk)
        stored.update(line_count=len(shape.parts))


def _write_template(row: Any, tables: Tables, moved: Sequence[Shape]) -> None:
    first, *others = moved
    tags = list(tables.tags_of(row))
    tables.lines_of(row).delete()
    stored = type(row)._default_manager.filter(member_id=row.member_id, pk=row.pk)
    stored.update(**_read_columns(first))
    rows = [row]
    for shape in others:
        other = _copy(row, _read_columns(shape))
        _copy_tags(tags, tables, other)
        rows.append(other)
    for each, shape in zip(rows, moved, strict=True):
        if not shape.is_flat:
            _insert_lines(each, tables, shape)


def _copy(row: Any, values: dict[str, Any]) -> Any:
    """Insert a row like this one, but for these columns."""
    columns = {
        field.attname: getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if not (field.primary_key or field.generated)
    }
    return type(row)._default_manager.create(**columns | values)


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


def _insert_lines(row: Any, tables: Tables, shape: Shape) -> None:
    tables.lines._default_manager.bulk_create(
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
    )
