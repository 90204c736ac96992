"""Copies of whole ledgers, from before they are replaced."""

import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.db import connection

from accounts.security.events import SecurityEvent, log_security_event
from ledger.account_deletion import REPLACED_BY_RESTORE, delete_ledger_for_restore
from ledger.base.ledger_write import LockedLedger
from ledger.base.operations import (
    forget_all_rows,
    stop_records,
    store_whole_operation,
)
from ledger.errors import ChangedSinceError, NotUndoableError
from ledger.models import (
    LedgerCopy,
    Operation,
    OperationKind,
    Position,
    RowAction,
    RowKind,
    Tombstone,
)
from ledger.operations.snapshots import TABLES, list_columns
from ledger.rollups.definitions import bulk_write

# Text of COPY shrinks to a fifth, at the speed of the disk.
LEVEL = 1
CHUNK_BYTES = 2**20
# A row comes after the rows that it refers to. Triggers make positions.
COPIED = tuple(
    model
    for model in reversed(REPLACED_BY_RESTORE)
    if model not in {Position, Tombstone}
)
_KIND_OF = {table.model: table.kind for table in TABLES}
# A restore keeps them.
_NOT_REPLACED = {RowKind.BUDGET_INCOME}


def copy_ledger(ledger: LockedLedger) -> None:
    """Keep the ledger as it is, in place of an earlier copy.

    No earlier operation can be undone after it.
    """
    forget_all_rows(ledger.member.pk)
    for model in COPIED:
        columns = list_columns(model)
        if data := _read_table(ledger, model, columns):
            LedgerCopy.objects.create(
                member=ledger.member,
                table_name=model._meta.db_table,
                columns=columns,
                data=data,
            )


def _read_table(ledger: LockedLedger, model: Any, columns: list[str]) -> bytes:
    """Return the compressed rows of the member; nothing if there are none."""
    names = ", ".join(columns)
    table = model._meta.db_table
    query = f"SELECT {names} FROM {table} WHERE member_id = {int(ledger.member.pk)}"  # noqa: S608 - constants
    compress = zlib.compressobj(LEVEL)
    parts, is_empty = [], True
    with (
        connection.wrap_database_errors,
        connection.cursor() as cursor,
        cursor.copy(f"COPY ({query}) TO STDOUT") as copy,
    ):
        for block in copy:
            is_empty = False
            parts.append(compress.compress(block))
    return b"" if is_empty else b"".join([*parts, compress.flush()])


def put_copy_back(
    ledger: LockedLedger, operation: Operation, *, force: bool
) -> tuple[int, int]:
    """Replace the ledger by its copy; return the rows written, and those deleted.

    Raises `ChangedSinceError` if something was written after the operation, unless
    `force`, and `NotUndoableError` if a table has changed with an upgrade.
    """
    stop_records()
    changed = _count_changed(ledger, operation)
    if changed and not force:
        raise ChangedSinceError(changed)
    copies = list(LedgerCopy.objects.owned_by(ledger.member))
    if any(not _fits(copy) for copy in copies):
        raise NotUndoableError
    before = count_rows(ledger)
    # The rows that are replaced now become the only copy of this ledger.
    copy_ledger(ledger)
    by_table = {copy.table_name: copy for copy in copies}
    with bulk_write(ledger):
        delete_ledger_for_restore(ledger)
        for model in COPIED:
            if copy := by_table.get(model._meta.db_table):
                _write_table(copy)
    after = count_rows(ledger)
    counts = {
        kind: {
            RowAction.DELETED.value: before[kind],
            RowAction.CREATED.value: after[kind],
        }
        for kind in sorted(before | after)
    }
    member_id = ledger.member.pk
    log_security_event(SecurityEvent.RESTORED, member_id)
    store_whole_operation(member_id, OperationKind.UNDO, member_id, counts)
    return after.total(), before.total()


def _fits(copy: LedgerCopy) -> bool:
    known = {model._meta.db_table: list_columns(model) for model in COPIED}
    return set(copy.columns) <= set(known.get(copy.table_name, ()))


def _write_table(copy: LedgerCopy) -> None:
    names = ", ".join(copy.columns)
    with (
        connection.wrap_database_errors,
        connection.cursor() as cursor,
        cursor.copy(f"COPY {copy.table_name} ({names}) FROM STDIN") as stream,
    ):
        for block in _decompress(bytes(copy.data)):
            stream.write(block)


def _decompress(data: bytes) -> Iterator[bytes]:
    decompress = zlib.decompressobj()
    block = decompress.decompress(data, CHUNK_BYTES)
    while block:
        yield block
        block = decompress.decompress(decompress.unconsumed_tail, CHUNK_BYTES)
    yield decompress.flush()


def count_rows(ledger: LockedLedger) -> Counter[str]:
    counts: Counter[str] = Counter()
    for model in COPIED:
        if kind := _KIND_OF.get(model):
            rows: Any = model._default_manager
            counts[kind.value] = rows.filter(member_id=ledger.member.pk).count()
    return +counts


def _count_changed(ledger: LockedLedger, operation: Operation) -> dict[str, int]:
    """Count the rows that were written or deleted after the operation, by kind."""
    counts: Counter[str] = Counter()
    member_id, since = ledger.member.pk, operation.id
    for table in TABLES:
        if table.kind not in _NOT_REPLACED:
            rows = table.model.objects.filter(member_id=member_id, version__gt=since)
            counts[table.kind.value] += rows.count()
    gone = Tombstone.objects.filter(member_id=member_id, version__gt=since)
    counts.update(gone.exclude(kind__in=_NOT_REPLACED).values_list("kind", flat=True))
    return dict(+counts)
