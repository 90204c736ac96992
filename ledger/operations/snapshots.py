"""Rows as they were before an operation, written back.

The database does it: a row and its parts are JSON in `account_operation_row`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import orjson
from django.db import IntegrityError, connection

from ledger.base.bulk_rows import format_ids
from ledger.base.ledger_write import LockedLedger
from ledger.base.operations import keep_entries
from ledger.models import (
    Budget,
    BudgetIncome,
    Card,
    CardBill,
    CardPayment,
    Category,
    DismissedTransfer,
    Entry,
    EntryLine,
    EntryTag,
    MergedEntry,
    Occurrence,
    QuickEntry,
    QuickEntryLine,
    QuickEntryTag,
    RecurringLine,
    RecurringRule,
    RecurringTag,
    RowKind,
    Stock,
    Tag,
    Trade,
    Valuation,
    Wallet,
)


@dataclass(frozen=True, slots=True)
class Part:
    """A table of parts of a row, by the name that they have in a snapshot."""

    name: str
    model: Any
    owner: str
    # Only a deletion loses them.
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    kind: RowKind
    model: Any
    parts: tuple[Part, ...] = ()

    @property
    def name(self) -> str:
        return str(self.model._meta.db_table)


# Rows come after the rows that they refer to.
TABLES = (
    Table(
        RowKind.WALLET,
        Wallet,
        (Part("cardPayments", CardPayment, "wallet_id", is_lost=True),),
    ),
    Table(RowKind.CATEGORY, Category),
    Table(RowKind.TAG, Tag),
    Table(RowKind.STOCK, Stock),
    Table(
        RowKind.ENTRY,
        Entry,
        (
            Part("lines", EntryLine, "entry_id"),
            Part("tags", EntryTag, "entry_id"),
            Part("merged", MergedEntry, "entry_id"),
            Part("dismissed", DismissedTransfer, "", is_lost=True),
        ),
    ),
    Table(
        RowKind.QUICK_ENTRY,
        QuickEntry,
        (
            Part("lines", QuickEntryLine, "quick_entry_id"),
            Part("tags", QuickEntryTag, "quick_entry_id"),
        ),
    ),
    Table(
        RowKind.RECURRING,
        RecurringRule,
        (
            Part("lines", RecurringLine, "rule_id"),
            Part("tags", RecurringTag, "rule_id"),
            Part("occurrences", Occurrence, "rule_id", is_lost=True),
        ),
    ),
    Table(RowKind.BUDGET, Budget),
    Table(RowKind.BUDGET_INCOME, BudgetIncome),
    Table(RowKind.TRADE, Trade),
    Table(RowKind.VALUATION, Valuation),
    Table(RowKind.CARD, Card),
    Table(RowKind.BILL, CardBill),
)
BY_KIND: Mapping[str, Table] = {table.kind.value: table for table in TABLES}
# Columns whose row may be gone, and what it is.
_REFERENCES = {
    "category_id": "category",
    "parent_id": "category",
    "wallet_id": "wallet",
    "to_wallet_id": "wallet",
    "pay_from_wallet_id": "wallet",
    "tag_id": "tag",
    "refund_of_id": "refund",
}
_KEPT = """
    kept.member_id = %(member)s AND kept.operation_id = %(operation)s
    AND kept.kind = %(kind)s AND kept.row_id = ANY(%(ids)s::bigint[])
"""
_FROM_ROWS = """
    FROM account_operation_row kept
    CROSS JOIN LATERAL jsonb_populate_record(NULL::{table}, kept.before -> 'row') new
"""
_REVERT = f"""
    UPDATE {{table}} stored SET {{assignments}}
    {_FROM_ROWS}
    WHERE {_KEPT} AND stored.member_id = kept.member_id AND stored.id = kept.row_id
"""  # noqa: S608 - constants
_INSERT = f"""
    INSERT INTO {{table}} ({{columns}}) SELECT {{values}}
    {_FROM_ROWS}
    WHERE {_KEPT}
"""
# Two tags may have become one.
_INSERT_PARTS = f"""
    INSERT INTO {{table}} ({{columns}}) SELECT {{values}}
    FROM account_operation_row kept CROSS JOIN LATERAL
        jsonb_populate_recordset(NULL::{{table}}, kept.before -> '{{part}}') new
    WHERE {_KEPT} {{condition}}
    ON CONFLICT DO NOTHING
"""  # noqa: S608 - constants
_BOTH_ARE_THERE = """
    AND EXISTS (
        SELECT FROM account_entry e
        WHERE e.member_id = %(member)s AND e.id = new.expense_id
    ) AND EXISTS (
        SELECT FROM account_entry e
        WHERE e.member_id = %(member)s AND e.id = new.income_id
    )
"""
_DELETE_PARTS = """
    DELETE FROM {table}
    WHERE member_id = %(member)s AND {owner} = ANY(%(ids)s::bigint[])
"""
_DELETE = """
    DELETE FROM {table}
    WHERE member_id = %(member)s AND id = ANY(%(ids)s::bigint[])
"""
_FORGET_DELETION = """
    DELETE FROM account_tombstone
    WHERE member_id = %(member)s AND kind = %(kind)s
        AND row_id = ANY(%(ids)s::bigint[])
"""
# No constraint sees what another wallet in the place of one that is gone may break.
_UNFIT = """
    SELECT 1 FROM {table} r
    WHERE r.member_id = %(member)s AND r.id = ANY(%(ids)s::bigint[]) AND (
        r.to_wallet_id = r.wallet_id
        OR EXISTS (
            SELECT FROM {lines} l
            WHERE l.member_id = %(member)s AND l.{owner} = r.id
                AND l.wallet_id = r.wallet_id
        )
    ) LIMIT 1
"""
_PARENT_OF = """(
    SELECT p.parent_id FROM account_category p
    WHERE p.member_id = %(member)s AND p.id = {id}
)"""
_FIRST_NAMES = f"""
    SELECT array(SELECT jsonb_object_keys(kept.before -> 'row'))
    FROM account_operation_row kept
    WHERE {_KEPT} LIMIT 1
"""  # noqa: S608 - constants

# By kind of reference: the id that takes the place of a former id, or null.
Replacements = Mapping[str, Mapping[int, int | None]]


class UnfitRowError(IntegrityError):
    """A row that no constraint refuses."""


class Snapshots:
    """The rows that one operation has kept.

    `replacements` stand for rows that are gone.
    """

    def __init__(
        self, ledger: LockedLedger, operation_id: int, replacements: Replacements
    ) -> None:
        self._replaces_wallets = bool(replacements.get("wallet"))
        self._member_id = ledger.member.pk
        self._params: dict[str, Any] = {
            "member": ledger.member.pk,
            "operation": operation_id,
        }
        for name in set(_REFERENCES.values()):
            by_id = replacements.get(name, {})
            texts = {str(row_id): new for row_id, new in by_id.items()}
            self._params[name] = orjson.dumps(texts).decode()

    def execute(self, sql: str, ids: Iterable[int], **params: Any) -> list[Any]:
        params = self._params | params | {"ids": format_ids(ids)}
        with connection.cursor() as cursor:
            cursor.execute(sql, params)
            return cursor.fetchall() if cursor.description else []

    def write(
        self, table: Table, reverted: Sequence[int], deleted: Sequence[int]
    ) -> None:
        """Write rows that were changed, and rows that were deleted, with their parts.

        Raises `IntegrityError` for a row that does not fit any more.
        """
        if table.model is not Entry:
            self._write(table, reverted, deleted)
            return
        with keep_entries(self._member_id, changed=reverted, created=deleted):
            self._write(table, reverted, deleted)

    def _write(
        self, table: Table, reverted: Sequence[int], deleted: Sequence[int]
    ) -> None:
        kind = table.kind.value
        names = self._list_names(table, [*reverted, *deleted])
        if reverted:
            self._delete_parts(table, reverted)
            columns = [name for name in names if name not in {"id", "member_id"}]
            assignments = ", ".join(
                f"{name} = {_value_of(table.model, name)}" for name in columns
            )
            sql = _REVERT.format(table=table.name, assignments=assignments)
            self.execute(sql, reverted, kind=kind)
        if deleted:
            sql = _INSERT.format(
                table=table.name,
                columns=", ".join(names),
                values=", ".join(_value_of(table.model, name) for name in names),
            )
            self.execute(sql, deleted, kind=kind)
            self.execute(_FORGET_DELETION, deleted, kind=kind)
        for part in table.parts:
            ids = deleted if part.is_lost else [*reverted, *deleted]
            if ids:
                self._insert_parts(part, ids, kind)
        if self._replaces_wallets and table.parts:
            self._require_fit(table, [*reverted, *deleted])

    def _require_fit(self, table: Table, ids: Sequence[int]) -> None:
        lines = table.parts[0]
        sql = _UNFIT.format(
            table=table.name,
            lines=lines.model._meta.db_table,
            owner=lines.owner,
        )
        if self.execute(sql, ids):
            raise UnfitRowError

    def _insert_parts(self, part: Part, ids: Sequence[int], kind: str) -> None:
        names = list_columns(part.model)
        sql = _INSERT_PARTS.format(
            table=part.model._meta.db_table,
            columns=", ".join(names),
            values=", ".join(_value_of(part.model, name) for name in names),
            part=part.name,
            condition=_BOTH_ARE_THERE if part.model is DismissedTransfer else "",
        )
        self.execute(sql, ids, kind=kind)

    def _list_names(self, table: Table, ids: Sequence[int]) -> list[str]:
        """Return the columns to write.

        A required column that is newer than the operation gets its default.
        """
        ((kept,),) = self.execute(_FIRST_NAMES, ids, kind=table.kind.value)
        optional = _list_optional_columns(table.model)
        names = list_columns(table.model)
        return [name for name in names if name in optional or name in kept]

    def _delete_parts(self, table: Table, ids: Sequence[int]) -> None:
        for part in table.parts:
            if not part.is_lost:
                sql = _DELETE_PARTS.format(
                    table=part.model._meta.db_table, owner=part.owner
                )
                self.execute(sql, ids)

    def delete(self, table: Table, ids: Sequence[int]) -> None:
        """Delete rows with their parts; raise `IntegrityError` if one is in use."""
        if table.model is not Entry:
            self._delete(table, ids)
            return
        with keep_entries(self._member_id, deleted=ids):
            self._delete(table, ids)

    def _delete(self, table: Table, ids: Sequence[int]) -> None:
        self._delete_parts(table, ids)
        self.execute(_DELETE.format(table=table.name), ids)


@cache
def list_columns(model: Any) -> list[str]:
    """Return the columns that are written: no generated ones, and no version."""
    fields = model._meta.concrete_fields
    return [
        field.column
        for field in fields
        if not field.generated and field.column != "version"
    ]


@cache
def _list_optional_columns(model: Any) -> set[str]:
    return {field.column for field in model._meta.concrete_fields if field.null}


def _value_of(model: Any, column: str) -> str:
    # A value belongs to its own wallet alone.
    name = None if model is Valuation else _REFERENCES.get(column)
    if model is Entry and column == "installment_months":
        # Only cards have them, as when a merge is taken apart.
        wallet = _value_of(model, "wallet_id")
        return (
            f"CASE WHEN new.{column} IS NOT NULL AND EXISTS ("
            f"SELECT FROM account w WHERE w.member_id = %(member)s AND w.id = {wallet}"
            f" AND w.kind = 'CARD') THEN new.{column} END"
        )
    if name is None:
        return f"new.{column}"
    value = (
        f"CASE WHEN %({name})s::jsonb ? new.{column}::text"
        f" THEN (%({name})s::jsonb ->> new.{column}::text)::bigint"
        f" ELSE new.{column} END"
    )
    if column != "parent_id":
        return value
    # The major category may have become a minor one.
    return f"coalesce({_PARENT_OF.format(id=value)}, {value})"
