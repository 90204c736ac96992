"""Many rows of a table at once."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection


def reserve_ids(table: str, count: int) -> list[int]:
    """Return new ids of a table, ascending."""
    with connection.cursor() as cursor:
        # The CTE is materialized: the sequence is looked up once, not for each id.
        cursor.execute(
            "WITH source AS MATERIALIZED"
            " (SELECT pg_get_serial_sequence(%s, 'id')::regclass AS name)"
            " SELECT array_agg(nextval(name)) FROM source, generate_series(1, %s)",
            [table, count],
        )
        ids: list[int] = cursor.fetchone()[0] or []
        return ids


def copy_rows(table: str, columns: list[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows by COPY; table and columns are constants, never user text.

    Raises Django's database errors, so that a conflict is retried as elsewhere.
    """
    with (
        # Django wraps the errors of `execute`, not of `copy`.
        connection.wrap_database_errors,
        connection.cursor() as cursor,
        cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row(row)


def format_ids(ids: Iterable[int]) -> str:
    """Return many ids as one parameter, `%s::bigint[]`, which is adapted at once."""
    return "{" + ",".join(map(str, ids)) + "}"
