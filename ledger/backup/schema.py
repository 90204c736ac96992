"""Declarations for the sheets of a backup: row classes, columns, sheets.

A row class declares one column for each of its fields. The same declaration serves
parsing, validation, export and restore, and mypy checks that what a column's parser
returns fits the type of the field.
"""

import dataclasses
from dataclasses import MISSING, dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar, dataclass_transform, overload

from django.db import models

from core.api.serializers import to_camel_case
from ledger.backup.cell_parsers import CellParser

T = TypeVar("T")
DefaultT = TypeVar("DefaultT")
RowT = TypeVar("RowT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a sheet, made from the declaration of a field.

    `name` is the field of the row class and, without `select`, also the column of the
    database that stores it. An empty cell becomes `default`, or is an error if the
    column is required.
    """

    name: str
    parse: CellParser[Any]
    default: Any
    is_required: bool
    # Replaces `default` where a sheet lacks the column, or a JSON object the field.
    absent_default: Any
    # SQL for a value that another table stores.
    select: str | None
    # Text is encrypted in the database and plain in a backup.
    is_encrypted: bool
    # The same texts recur from row to row, so that each is parsed once.
    has_recurring_texts: bool

    @property
    def header(self) -> str:
        return to_camel_case(self.name)


@overload
def column(
    parse: CellParser[T], *, select: str | None = None, has_recurring_texts: bool = True
) -> T: ...


@overload
def column(
    parse: CellParser[T],
    *,
    default: DefaultT,
    absent_default: Any = None,
    select: str | None = None,
    is_encrypted: bool = False,
    has_recurring_texts: bool = True,
) -> T | DefaultT: ...


def column(
    parse: CellParser[Any],
    *,
    default: Any = MISSING,
    absent_default: Any = None,
    select: str | None = None,
    is_encrypted: bool = False,
    has_recurring_texts: bool = True,
) -> Any:
    """Declare a column and its field; see `Column` for the options.

    A column without a default is required.
    """
    is_required = default is MISSING
    metadata = {
        "parse": parse,
        "default": None if is_required else default,
        "is_required": is_required,
        "absent_default": default if absent_default is None else absent_default,
        "select": select,
        "is_encrypted": is_encrypted,
        "has_recurring_texts": has_recurring_texts,
    }
    # Required fields have a default as well, so that they may follow optional ones in
    # the order of the columns. mypy rejects a row without them, as does the database.
    return field(default=metadata["default"], metadata=metadata)


@dataclass_transform(kw_only_default=True, field_specifiers=(column,))
def row_class(cls: type[RowT]) -> type[RowT]:
    """Make a dataclass of a class whose fields are declared by `column`.

    Rows are created by keyword; only the validation of files, which creates very many,
    passes the values in the order of the columns.
    """
    return dataclass(slots=True)(cls)


@dataclass(frozen=True)
class Sheet(Generic[RowT]):
    """A sheet: its rows, the table that stores them, and their order in a backup.

    `joins` and `order_by` are SQL, as is `select` of a column; `r` is the row.
    """

    # The attribute of `Backup` that holds the rows.
    attribute: str
    row_class: type[RowT]
    model: type[models.Model]
    order_by: str
    joins: str = ""
    # SQL in place of the table, of rows that several tables store.
    rows: str = ""

    @property
    def name(self) -> str:
        return to_camel_case(self.attribute)

    @property
    def table(self) -> str:
        return self.model._meta.db_table

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        cls: Any = self.row_class
        return tuple(
            Column(name=declared.name, **declared.metadata)
            for declared in dataclasses.fields(cls)
        )

    @property
    def headers(self) -> list[str]:
        return [column.header for column in self.columns]
