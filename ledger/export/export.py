"""Exports a member's ledger in open formats (spec 3.28).

All rows show the same moment. The file is written as a whole before it is sent: an
error is an answer, and never a file that ends early.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import IO

from core.db.planning import without_nested_loops
from core.db.transactions import repeatable_read
from ledger.backup.export import log_export
from ledger.export.journals.journal import write_beancount, write_hledger
from ledger.export.json_file import write_json
from ledger.export.scope import Export
from ledger.export.sheets import write_csv, write_xlsx

TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class ExportFormat:
    content_type: str
    extension: str
    write: Callable[[Export, IO[bytes]], None]
    # A part of it could not be read in again.
    is_always_whole: bool = False

    @property
    def media_type(self) -> str:
        return self.content_type.partition(";")[0]


FORMATS: Mapping[str, ExportFormat] = {
    "csv": ExportFormat("text/csv; charset=utf-8", "csv", write_csv),
    "json": ExportFormat("application/json", "json", write_json, is_always_whole=True),
    "xlsx": ExportFormat(
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "xlsx",
        write_xlsx,
    ),
    "beancount": ExportFormat(TEXT, "beancount", write_beancount),
    "hledger": ExportFormat(TEXT, "journal", write_hledger),
}


def write_export(format_name: str, export: Export, file: IO[bytes]) -> None:
    """Write the file; the member's security log has an entry, also if it fails."""
    # The log comes first, and by itself: the export only reads.
    log_export(export.member)
    with repeatable_read(), without_nested_loops():
        FORMATS[format_name].write(export, file)


def export_filename(format_name: str, day: date) -> str:
    extension = FORMATS[format_name].extension
    return f"household-ledger-export-{day.isoformat()}.{extension}"
