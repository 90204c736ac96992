"""Audit of rollups: stored counters and totals that must equal their source rows.

Triggers keep them right. The audit is for operators who want to verify that, or who
changed rows with the triggers disabled.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection, transaction

from core.db.transactions import repeatable_read

# Rows that are stored and not computed, or computed and not stored.
_COUNT_DRIFT = """
    SELECT count(DISTINCT ({key})) FROM (
        (({stored}) EXCEPT ({source})) UNION ALL (({source}) EXCEPT ({stored}))
    ) drift
"""
_DELETE = "DELETE FROM {table} WHERE {scope}"
_INSERT = "INSERT INTO {table} ({columns}) {source}"
_UPDATE = """
    UPDATE {table} stored SET {assignments} FROM ({source}) source
    WHERE {same_key} AND ({stored_columns}) IS DISTINCT FROM ({source_columns})
"""
_SELECT = "SELECT {columns} FROM {table} WHERE {condition} AND {scope}"
_LOCK = "LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE"
# The scope of a statement about all rows.
ALL_ROWS = "true"


@dataclass(frozen=True, slots=True)
class Rollup:
    """Columns of a table, and the query that computes them from the source rows.

    `source_query` returns the key and the columns, by their names and in this order. It
    may have a placeholder `{scope}` for an SQL condition that restricts both its rows
    and those of the table, such as those of one member. A table that holds nothing else
    is refilled when it is rebuilt; of others (`is_whole_table=False`) only the columns
    of wrong rows are updated.
    """

    table: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    source_query: str
    # Stored rows that are compared, such as those that are not zero.
    condition: str = "true"
    is_whole_table: bool = True

    def make_drift_query(self, scope: str = ALL_ROWS) -> str:
        """Return the statement that counts the keys with wrong or missing rows."""
        stored = _SELECT.format(
            columns=", ".join(self.key + self.columns),
            table=self.table,
            condition=self.condition,
            scope=scope,
        )
        source = self.source_query.format(scope=scope)
        return _COUNT_DRIFT.format(
            key=", ".join(self.key), stored=stored, source=source
        )

    def make_rebuild_statements(self, scope: str = ALL_ROWS) -> list[str]:
        """Return the statements that make the rows equal to their source."""
        source = self.source_query.format(scope=scope)
        if self.is_whole_table:
            columns = ", ".join(self.key + self.columns)
            return [
                _DELETE.format(table=self.table, scope=scope),
                _INSERT.format(table=self.table, columns=columns, source=source),
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
    """Return the number of wrong rows by table, 0 where the stored values are right."""
    drift = {}
    # One snapshot, so that concurrent writes do not show as drift.
    with repeatable_read(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        for rollup in rollups:
            cursor.execute(rollup.make_drift_query())
            drift[rollup.table] = int(cursor.fetchone()[0])
    return drift


def rebuild_rollups(
    rollups: Sequence[Rollup],
    locked_tables: Sequence[str],
    report: Callable[[str], Any] = str,
) -> None:
    """Compute all rollups again from their source rows.

    Writers of the locked tables wait until the end. Calls `report` with a line for each
    table.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(_LOCK.format(tables=", ".join(locked_tables)))
        for rollup in rollups:
            for statement in rollup.make_rebuild_statements():
                cursor.execute(statement)
            report(f"{rollup.table}: rebuilt")


class RollupAuditCommand(BaseCommand):
    """Base of the commands that check rollups, and rebuild them with `--repair`."""

    rollups: Sequence[Rollup]
    locked_tables: Sequence[str] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--repair", action="store_true", help="rebuild them first")

    def repair(self) -> None:
        """Rebuild the rollups, with progress on the standard error."""
        rebuild_rollups(self.rollups, self.locked_tables, self.stderr.write)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["repair"]:
            before = count_drift(self.rollups)
            self.repair()
            for table, count in before.items():
                self.stdout.write(f"{table}: {count} repaired")
        drift = count_drift(self.rollups)
        for table, count in drift.items():
            self.stdout.write(f"{table}: {count} differ")
        if any(drift.values()):
            raise CommandError("Stored values differ from their rows; see --repair.")
