"""Transfers, split entries and templates that a wallet or category leaves."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from django.db import connection
from django.db.models import F, Q, Sum

from accounts.models import Member
from ledger.base.operations import pair_rows
from ledger.entry_shape import COLUMNS, EntryShape, LineShape
from ledger.models import (
    Entry,
    EntryLine,
    EntryTag,
    QuickEntry,
    QuickEntryLine,
    QuickEntryTag,
    RecurringLine,
    RecurringRule,
    RecurringTag,
    RowKind,
)
from ledger.models.base import EntryType
from ledger.models.lines import Line

Field = Literal["wallet", "category"]
_UPDATE = """
    UPDATE {table} stored SET {assignments}
    FROM jsonb_populate_recordset(NULL::{table}, %(rows)s::jsonb) new
    WHERE stored.member_id = %(member)s AND stored.id = new.id
"""


@dataclass(frozen=True)
class Tables:
    """Tables of entries or of one kind of template; `owner` names its key."""

    kind: RowKind
    model: Any
    lines: type[Line]
    tags: Any
    owner: str

    @cached_property
    def columns(self) -> list[str]:
        stored = {*COLUMNS.values(), "category_id", "is_reversal", "line_count"}
        columns = (field.attname for field in self.model._meta.concrete_fields)
        return [column for column in columns if column in stored]

    def list_ids(self, member: Member, field: Field, source: int) -> list[int]:
        """List rows that refer to `source`, without flat entries of one wallet."""
        rows = self.model.objects.owned_by(member).order_by()
        own = rows.filter(**{field: source})
        if self.model is Entry:
            own = own.exclude(line_count=0, to_wallet=None)
        ids = set(own.values_list("pk", flat=True))
        if field == "wallet":
            ids.update(rows.filter(to_wallet=source).values_list("pk", flat=True))
        lines = self.lines.objects.owned_by(member).filter(**{field: source})
        ids.update(lines.values_list(f"{self.owner}_id", flat=True))
        return sorted(ids)

    def rows_of(self, model: Any, member: Member, ids: Sequence[int]) -> Any:
        rows = model.objects.owned_by(member)
        return rows.filter(**{f"{self.owner}_id__in": ids}).order_by("position")

    def read(self, model: Any, member: Member, ids: Sequence[int]) -> dict[int, Any]:
        rows: dict[int, list[Any]] = defaultdict(list)
        for row in self.rows_of(model, member, ids) if ids else ():
            rows[getattr(row, f"{self.owner}_id")].append(row)
        return rows


SHAPED = (
    Tables(RowKind.ENTRY, Entry, EntryLine, EntryTag, "entry"),
    Tables(
        RowKind.QUICK_ENTRY,
        *(QuickEntry, QuickEntryLine, QuickEntryTag, "quick_entry"),
    ),
    Tables(RowKind.RECURRING, RecurringRule, RecurringLine, RecurringTag, "rule"),
)


@dataclass(frozen=True, slots=True)
class Change:
    row: Any
    after: list[EntryShape]


def list_changes(
    tables: Tables,
    member: Member,
    ids: Sequence[int],
    field: Field,
    source: int,
    target: int,
) -> list[Change]:
    if not ids:
        return []
    lines = tables.read(tables.lines, member, ids)
    rows = tables.model.objects.owned_by(member).filter(pk__in=ids).order_by("pk")
    return [
        Change(row, _shape_of(tables, row, lines[row.pk]).move(field, source, target))
        for row in rows
    ]


def _shape_of(tables: Tables, row: Any, lines: Sequence[Line]) -> EntryShape:
    values = {
        name: getattr(row, column)
        for name, column in COLUMNS.items()
        if column in tables.columns
    }
    return EntryShape(
        **values,
        category=row.category_id,
        category_type=row.category_type,
        lines=tuple(
            LineShape(
                line.amount,
                line.category_id,
                line.category_type,
                line.wallet_id,
                line.memo,
                getattr(line, "refund_of_id", None),
            )
            for line in lines
        ),
    )


def write_changes(
    tables: Tables, member: Member, changes: Sequence[Change]
) -> list[int]:
    """Store the changes in as many statements for one as for all; return the ids."""
    if not changes:
        return []
    tables.rows_of(tables.lines, member, [change.row.pk for change in changes]).delete()
    if removed := [change.row.pk for change in changes if not change.after]:
        tables.rows_of(tables.tags, member, removed).delete()
        tables.model.objects.owned_by(member).filter(pk__in=removed).delete()
    written = [(each.row, each.after[0]) for each in changes if each.after]
    _update(tables, member, written)
    written += _insert_copies(tables, member, changes)
    line_model: Any = tables.lines
    line_model.objects.bulk_create(
        line_model(
            member_id=member.pk,
            position=position,
            amount=line.amount,
            category_id=line.category,
            category_type=line.category_type,
            wallet_id=line.wallet,
            memo=line.memo,
            **{f"{tables.owner}_id": row.pk} | _refund_of(tables, line),
        )
        for row, shape in written
        for position, line in enumerate(shape.lines)
    )
    return [row.pk for row, _ in written]


def _refund_of(tables: Tables, line: LineShape) -> dict[str, Any]:
    """Return the column that lines of templates lack."""
    return {"refund_of_id": line.refund_of} if tables.model is Entry else {}


def _columns_of(tables: Tables, row: Any, shape: EntryShape) -> dict[str, Any]:
    values = shape.columns() | {
        "category_id": shape.category,
        "line_count": len(shape.lines),
    }
    if shape.lines:
        # The types of its lines count.
        values["is_reversal"] = row.is_reversal
    return {column: values[column] for column in tables.columns}


def _update(
    tables: Tables, member: Member, written: Sequence[tuple[Any, EntryShape]]
) -> None:
    statement = _UPDATE.format(
        table=tables.model._meta.db_table,
        assignments=", ".join(f"{each} = new.{each}" for each in tables.columns),
    )
    rows = [{"id": row.pk} | _columns_of(tables, row, shape) for row, shape in written]
    with connection.cursor() as cursor:
        cursor.execute(
            statement, {"member": member.pk, "rows": json.dumps(rows, default=str)}
        )


def _insert_copies(
    tables: Tables, member: Member, changes: Sequence[Change]
) -> list[tuple[Any, EntryShape]]:
    """Insert shapes that split off other rows, without their lines."""
    pairs = [(each.row, shape) for each in changes for shape in each.after[1:]]
    if not pairs:
        return []
    # A copy is another entry than the client made.
    fields = [
        field.attname
        for field in tables.model._meta.concrete_fields
        if not (field.primary_key or field.generated or field.name == "client_id")
    ]
    copies = tables.model.objects.bulk_create(
        tables.model(
            **{name: getattr(row, name) for name in fields}
            | _columns_of(tables, row, shape)
        )
        for row, shape in pairs
    )
    tags = tables.read(tables.tags, member, [row.pk for row, _ in pairs])
    tables.tags.objects.bulk_create(
        tables.tags(
            member_id=member.pk,
            tag_id=tag.tag_id,
            position=tag.position,
            **{f"{tables.owner}_id": copy.pk},
        )
        for (row, _), copy in zip(pairs, copies, strict=True)
        for tag in tags[row.pk]
    )
    of_copies = zip(copies, pairs, strict=True)
    pair_rows(tables.kind, {copy.pk: row.pk for copy, (row, _) in of_copies})
    return [(copy, shape) for (_, shape), copy in zip(pairs, copies, strict=True)]


def release_unfit_refunds(member: Member, changes: Sequence[Change]) -> None:
    """Clear `refund_of` of former expenses, and of expenses below their refunds."""
    release_refunds(
        member,
        {
            change.row.pk: change.after[0].amount or 0
            if change.after[0].type == EntryType.EXPENSE
            else 0
            for change in changes
            if change.row.type == EntryType.EXPENSE and change.after
        },
    )


def release_refunds(member: Member, amounts: Mapping[int, int]) -> None:
    """Clear `refund_of` where the refunds of an expense exceed its amount.

    `amounts` are by entry, 0 for one that is no expense any more.
    """
    refunds = Entry.objects.owned_by(member).filter(refund_of__in=amounts).order_by()
    lines = EntryLine.objects.owned_by(member).filter(refund_of__in=amounts).order_by()
    totals: Counter[int] = Counter()
    for rows, counted in ((refunds, Q(currency=None)), (lines, Q())):
        sums = rows.values_list("refund_of").annotate(
            total=Sum("amount", filter=counted, default=0)
        )
        totals.update(dict(sums))
    unfit = [pk for pk, total in totals.items() if not 0 < amounts[pk] >= total]
    released = lines.filter(refund_of__in=unfit)
    owners = list(released.values_list("entry_id", flat=True).distinct())
    for rows in (refunds, lines):
        rows.filter(refund_of__in=unfit).update(refund_of=None)
    # Lines are part of their entries.
    entries = Entry.objects.owned_by(member).filter(pk__in=owners)
    entries.update(version=F("version"))
