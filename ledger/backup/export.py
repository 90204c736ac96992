"""Writes a member's ledger as a workbook, with names and texts as in the API.

All sheets show the same moment.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from typing import IO, Any

from django.conf import settings
from django.db import connection, transaction

from accounts.models import Member
from accounts.security.events import SecurityEvent, log_security_event
from core.db.planning import without_nested_loops
from core.db.transactions import repeatable_read, retry_on_conflict
from ledger.backup.columns import SHEETS
from ledger.backup.schema import Sheet
from ledger.backup.xlsx import WorkbookWriter
from ledger.base.encryption import (
    DecryptionError,
    account_number_associated_data,
    decrypt,
)

# Rows per batch: memory stays constant.
BATCH_SIZE = 2_000

ExportProgressCallback = Callable[[str, int], object]


def write_backup(
    member: Member,
    file: IO[bytes],
    report: ExportProgressCallback = lambda sheet, rows: None,
    *,
    is_by_staff: bool = False,
) -> dict[str, int]:
    """Write the workbook and return the number of rows of each sheet.

    `report` is called with the name of the sheet and its rows so far. The member's
    security log has an entry, also if the export fails half-way.
    """
    # The log comes first, and by itself: the export only reads.
    log_export(member, is_by_staff=is_by_staff)
    counts: dict[str, int] = {}
    with (
        repeatable_read(),
        without_nested_loops(),
        WorkbookWriter(file, [s.name for s in SHEETS]) as workbook,
    ):
        for sheet in SHEETS:
            counts[sheet.name] = 0
            with workbook.open_sheet(sheet.name) as rows:
                rows.write([sheet.headers])
                for batch in _fetch_batches(member, sheet):
                    rows.write(batch)
                    counts[sheet.name] += len(batch)
                    report(sheet.name, counts[sheet.name])
    return counts


@retry_on_conflict
def log_export(member: Member, *, is_by_staff: bool = False) -> None:
    """Write the export into the member's security log (spec 2.17)."""
    with transaction.atomic():
        log_security_event(SecurityEvent.EXPORTED, member.pk, is_by_staff=is_by_staff)


def backup_filename(day: date) -> str:
    return f"household-ledger-{day.isoformat()}.xlsx"


def _fetch_batches(member: Member, sheet: Sheet[Any]) -> Iterator[list[Sequence[Any]]]:
    columns = sheet.columns
    values = ", ".join(column.select or f"r.{column.name}" for column in columns)
    has_encrypted_columns = any(column.is_encrypted for column in columns)
    with connection.chunked_cursor() as cursor:
        cursor.execute(
            f"SELECT {values} FROM {sheet.rows or sheet.table} r {sheet.joins}"  # noqa: S608 - constants
            f" WHERE r.member_id = %(member)s ORDER BY {sheet.order_by}",
            {"member": member.pk},
        )
        while batch := cursor.fetchmany(BATCH_SIZE):
            if has_encrypted_columns:
                batch = [
                    [
                        decrypt_number(member, value) if column.is_encrypted else value
                        for column, value in zip(columns, row, strict=True)
                    ]
                    for row in batch
                ]
            yield batch


def decrypt_number(member: Member, stored: str) -> str | None:
    """Return a stored account number; None if no key decrypts it."""
    keys = settings.ACCOUNT_NUMBER_KEYS
    try:
        return decrypt(stored, keys, account_number_associated_data(member.pk))
    except DecryptionError:
        return None
