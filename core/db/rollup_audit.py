"""Audit of rollups, which must equal their source rows.

It finds rows that were changed with triggers disabled.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from core.db.transactions import repeatable_read

# A missing row counts as zeros.
_DIFFERENCE = """
    SELECT {key}, {sums} FROM (
        SELECT {key}, {columns} FROM ({source}) source
        UNION ALL
        SELECT {key}, {negated} FROM {table} WHERE {scope}
    ) both_sides
    GROUP BY {key} HAVING {has_difference}
"""
_COUNT_DIFFERENCES = "SELECT count(*) FROM ({difference}) difference"
_DELETE = "DELETE FROM {table} WHERE {scope}"
# The index of the primary key grows at its end.
_INSERT = "INSERT INTO {table} ({columns}) {source} ORDER BY {key}"
_ADD = """
    INSERT INTO {table} AS stored ({columns}) {source}
    ON CONFLICT ({key}) DO UPDATE SET {assignments}
"""
_UPDATE = """
    UPDATE {table} stored SET {assignments} FROM ({source}) source
    WHERE {same_key} AND ({stored_columns}) IS DISTINCT FROM ({source_columns})
"""
_LOCK = "LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE"
ALL_ROWS = "true"


@dataclass(frozen=True, slots=True)
class Rollup:
    """Columns of a table, and the query that computes them from the source rows.

    `{scope}` of `source_query` is an SQL condition. Tables that hold more
    (`is_whole_table=False`) keep their rows.
    """

    table: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    source_query: str
    is_whole_table: bool = True

    def make_difference_query(self, scope: str = ALL_ROWS) -> str:
        return _DIFFERENCE.format(
            table=self.table,
            key=", ".join(self.key),
            columns=", ".join(self.columns),
            source=self.source_query.format(scope=scope),
            sums=", ".join(f"sum({each})::bigint AS {each}" for each in self.columns),
            negated=", ".join(f"-{each}" for each in self.columns),
            scope=scope,
            has_difference=" OR ".join(f"sum({each}) <> 0" for each in self.columns),
        )

    def make_addition_statement(self, source: str) -> str:
        return _ADD.format(
            table=self.table,
            columns=", ".join(self.key + self.columns),
            source=source,
            key=", ".join(self.key),
            assignments=", ".join(
                f"{each} = stored.{each} + excluded.{each}" for each in self.columns
            ),
        )

    def make_rebuild_statements(self, scope: str = ALL_ROWS) -> list[str]:
        source = self.source_query.format(scope=scope)
        if self.is_whole_table:
            columns = ", ".join(self.key + self.columns)
            return [
                _DELETE.format(table=self.table, scope=scope),
                _INSERT.format(
                    table=self.table,
                    columns=columns,
                    source=source,
                    key=", ".join(self.key),
                ),
            ]
        update = _UPDATE.format(
            table=self.table,
            source=source,
            assignments=", ".join(f"{each} = source.{each}" for each in self.columns),
            same_key=" AND ".join(
                f"stored.{each} = source.{each}" for each in self.key
            ),
            stored_columns=", ".join(f"stored.{each}" for each in self.columns),
            source_columns=", ".join(f"source.{each}" for each in self.columns),
        )
        return [update]


def count_drift(rollups: Sequence[Rollup]) -> dict[str, int]:
    drift = {}
    # One snapshot: concurrent writes do not show as drift.
    with repeatable_read(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        for rollup in rollups:
            difference = rollup.make_difference_query()
            cursor.execute(_COUNT_DIFFERENCES.format(difference=difference))
            drift[rollup.table] = int(cursor.fetchone()[0])
    return drift


def rebuild_rollups(
    rollups: Sequence[Rollup],
    locked_tables: Sequence[str],
    report: Callable[[str], Any] = str,
) -> None:
    """Recompute while writers of the locked tables wait."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(_LOCK.format(tables=", ".join(locked_tables)))
        for rollup in rollups:
            for statement in rollup.make_rebuild_statements():
                cursor.execute(statement)
            report(f"{rollup.table}: rebuilt")
