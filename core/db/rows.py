"""Rows of raw SQL, read by name into named tuples or dataclasses.

Statements are prepared, on a cursor of Django, so its query log, translated errors and
reconnects apply to them as to the ORM. Columns are matched with the fields of the row
class by name; a column without a field, or a field with neither a column nor a default,
is a `TypeError`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import starmap
from typing import TYPE_CHECKING, Any, TypeVar, cast

from django.db import connection

if TYPE_CHECKING:
    from core.db.postgresql.base import DatabaseWrapper

Row = TypeVar("Row")
Params = Sequence[Any] | Mapping[str, Any]


def fetch_all(sql: str, params: Params | None, row_class: type[Row]) -> list[Row]:
    """Run one statement and return all of its rows."""
    with prepared_cursor() as cursor:
        cursor.execute(sql, params)
        return list(build_rows(cursor, cursor.fetchall(), row_class))


def fetch_one(sql: str, params: Params | None, row_class: type[Row]) -> Row | None:
    """Run one statement and return its first row, or None when it has none."""
    with prepared_cursor() as cursor:
        cursor.execute(sql, params)
        row = cursor.fetchone()
        return row and next(build_rows(cursor, [row], row_class))


def prepared_cursor() -> AbstractContextManager[Any]:
    """Return a cursor of the backend for statements that are sent often."""
    cursor: AbstractContextManager[Any] = cast(
        "DatabaseWrapper", connection
    ).prepared_cursor()
    return cursor


def build_rows(
    cursor: Any, rows: Iterable[tuple[Any, ...]], row_class: type[Row]
) -> Iterator[Row]:
    """Turn rows that were fetched from the cursor into instances of the row class."""
    columns = tuple(column.name for column in cursor.description)
    # A NamedTuple or a dataclass: its fields in the order of declaration.
    attribute = "_fields" if issubclass(row_class, tuple) else "__dataclass_fields__"
    # Where the fields are declared in the order of the columns, the usual case, the
    # values need no names: building a row this way takes an eighth of the time.
    if columns == tuple(getattr(row_class, attribute, ())):
        return starmap(row_class, rows)
    return (row_class(**dict(zip(columns, row, strict=True))) for row in rows)
