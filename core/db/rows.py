"""Rows of raw SQL, read by name into named tuples or dataclasses.

A column without a field, or a required field without a column, is a `TypeError`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import starmap
from typing import TYPE_CHECKING, Any, TypeVar, cast

import orjson
from django.db import connection

if TYPE_CHECKING:
    from core.db.postgresql.base import DatabaseWrapper

Row = TypeVar("Row")
Params = Sequence[Any] | Mapping[str, Any]


def fetch_all(sql: str, params: Params | None, row_class: type[Row]) -> list[Row]:
    with prepared_cursor() as cursor:
        cursor.execute(sql, params)
        return list(build_rows(cursor, cursor.fetchall(), row_class))


def fetch_one(sql: str, params: Params | None, row_class: type[Row]) -> Row | None:
    with prepared_cursor() as cursor:
        cursor.execute(sql, params)
        row = cursor.fetchone()
        return row and next(build_rows(cursor, [row], row_class))


def fetch_parts(
    queries: Mapping[str, str], params: Mapping[str, Any]
) -> dict[str, list[dict[str, Any]]]:
    """Run several queries as one statement, which reads one snapshot.

    Rows are JSON objects by column: dates are texts.
    """
    parts = ", ".join(
        f"(SELECT coalesce(json_agg(r), '[]')::text FROM ({query}) r) AS {name}"  # noqa: S608 - of constants only
        for name, query in queries.items()
    )
    with prepared_cursor() as cursor:
        cursor.execute(f"SELECT * FROM {parts}", params)  # noqa: S608 - of constants only
        texts = cursor.fetchone()
    return dict(zip(queries, map(orjson.loads, texts), strict=True))


def prepared_cursor() -> AbstractContextManager[Any]:
    cursor: AbstractContextManager[Any] = cast(
        "DatabaseWrapper", connection
    ).prepared_cursor()
    return cursor


def build_rows(
    cursor: Any, rows: Iterable[tuple[Any, ...]], row_class: type[Row]
) -> Iterator[Row]:
    columns = tuple(column.name for column in cursor.description)
    attribute = "_fields" if issubclass(row_class, tuple) else "__dataclass_fields__"
    # Positional arguments take an eighth of the time.
    if columns == tuple(getattr(row_class, attribute, ())):
        return starmap(row_class, rows)
    return (row_class(**dict(zip(columns, row, strict=True))) for row in rows)
