"""Lists of banks and card issuers, each described by the names of its columns.

A bank is a few lines: a `LayoutSource` with its layouts (docs/import.md). Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ledger.imports.records import (
    ColumnMapping,
    FileReading,
    ReadContext,
    Table,
)
from ledger.imports.sources.rows import (
    Columns,
    TableReader,
    find_columns,
    note_other_tables,
    other_source,
)


class Layout(Protocol):
    """One kind of list of a bank or a card issuer."""

    @property
    def marks(self) -> Sequence[str]:
        """Names that all stand in the header; the first one is that of the date."""

    @property
    def header_rows(self) -> int:
        """Rows of names, 1 or 2."""

    def make_reader(
        self, context: ReadContext, institution: str, found: Sequence["Found"]
    ) -> TableReader: ...


@dataclass(frozen=True, slots=True)
class Found:
    """A table with its columns."""

    table: Table
    columns: Columns


@dataclass(slots=True)
class LayoutSource:
    """A source whose files have one of some layouts, the more special ones first."""

    name: str
    institution: str
    layouts: tuple[Layout, ...]

    def recognizes(self, tables: Sequence[Table]) -> bool:
        return any(self._find(tables, layout) for layout in self.layouts)

    def read(
        self,
        tables: Sequence[Table],
        mapping: ColumnMapping | None,
        context: ReadContext,
    ) -> FileReading:
        """Read all tables with a known header; the columns need no mapping.

        Raises `UnreadableFileError` for a file of another source.
        """
        del mapping
        rest = list(tables)
        readers: list[TableReader] = []
        row_count = 0
        for layout in self.layouts:
            found = self._find(rest, layout)
            if not found:
                continue
            reader = layout.make_reader(context, self.institution, found)
            reader.start_after(row_count)
            for each in found:
                reader.read_table(each.table, each.columns)
                row_count += len(each.table.rows)
            done = {id(each.table) for each in found}
            rest = [table for table in rest if id(table) not in done]
            readers.append(reader)
        if not readers:
            raise other_source()
        note_other_tables(readers[0], rest)
        return _merge([reader.make_reading(self.name) for reader in readers])

    def _find(self, tables: Sequence[Table], layout: Layout) -> list[Found]:
        found = []
        for table in tables:
            columns = find_columns(table, layout.marks, layout.header_rows)
            if columns is not None:
                found.append(Found(table, columns))
        return found


def _merge(readings: Sequence[FileReading]) -> FileReading:
    """Return readings of several layouts of a file as one."""
    first, *others = readings
    passed_over = dict(first.passed_over)
    for other in others:
        first.records += other.records
        first.balances += other.balances
        first.left_out += [
            each for each in other.left_out if each not in first.left_out
        ]
        for reason, count in other.passed_over.items():
            passed_over[reason] = passed_over.get(reason, 0) + count
    first.passed_over = passed_over
    return first
