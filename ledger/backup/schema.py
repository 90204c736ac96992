"""Declarations for the sheets of a backup: row classes, columns, sheets."""

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar, dataclass_transform, overload

from django.db import connection, models

from core.api.serializers import to_camel_case
from ledger.backup.cell_parsers import (
    CellParser,
    decimal_parser,
    integer_parser,
    parse_boolean,
    text_parser,
)

T = TypeVar("T")
DefaultT = TypeVar("DefaultT")
RowT = TypeVar("RowT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a sheet, made from the declaration of a field.

    `name` is the field of the row class and, without `select`, the column of the
    database. An empty cell becomes `default`, or is an error if the column is required.
    """

    name: str
    parse: CellParser[Any]
    default: Any
    is_required: bool
    # Replaces `default` if the sheet lacks the column.
    absent_default: Any
    # SQL for a value of another table.
    select: str | None
    is_encrypted: bool
    # Each text is parsed once.
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
    # Required fields have a default as well: they may follow optional ones. mypy and
    # the database reject a row without them.
    return field(default=metadata["default"], metadata=metadata)


@dataclass_transform(kw_only_default=True, field_specifiers=(column,))
def row_class(cls: type[RowT]) -> type[RowT]:
    """Make a dataclass of a class whose fields are declared by `column`.

    Rows are created by keyword, but by position in the hot loop of validation.
    """
    return dataclass(slots=True)(cls)


def stored_columns(
    model: type[models.Model], names: Iterable[str]
) -> Callable[[type[RowT]], type[RowT]]:
    """Add optional columns for further fields of a model."""

    def add(cls: type[RowT]) -> type[RowT]:
        for name in names:
            if name not in cls.__annotations__:
                stored: Any = model._meta.get_field(name)
                default = stored.get_default()
                cls.__annotations__[name] = Any
                setattr(cls, name, column(_choose_parser(stored), default=default))
        return cls

    return add


def _choose_parser(stored: Any) -> CellParser[Any]:
    if isinstance(stored, models.BooleanField):
        return parse_boolean
    if isinstance(stored, models.DecimalField):
        return decimal_parser(stored.max_digits, stored.decimal_places)
    if isinstance(stored, models.IntegerField):
        lowest, highest = connection.ops.integer_field_range(stored.get_internal_type())
        return integer_parser(lowest, highest)
    if isinstance(stored, models.CharField):
        return text_parser(stored.max_length or 0)
    raise TypeError(f"{stored} needs a column of its own.")


@dataclass(frozen=True)
class Sheet(Generic[RowT]):
    """`joins`, `order_by` and `select` of a column are SQL; `r` is the row."""

    attribute: str
    row_class: type[RowT]
    model: type[models.Model]
    order_by: str
    joins: str = ""
    # SQL in place of the table, for rows of several tables.
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
