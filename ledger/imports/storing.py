"""Imports as they are stored, until they are committed or expire."""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import orjson
from django.db.models import Sum
from django.utils.translation import gettext

from accounts.models import Member
from core.errors import DuplicateError, LimitReachedError, NotFoundError
from ledger.base.bulk_rows import copy_rows
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.errors import ChangedSinceError
from ledger.imports.choices import Choices, merge, read_mapping
from ledger.imports.describing import describe_reading
from ledger.imports.interpreting import Interpretation, interpret
from ledger.imports.judging import JudgedRow, Reason
from ledger.imports.preparing import RowChoice
from ledger.imports.record_json import dump_record
from ledger.imports.records import BadRow, ColumnMapping, Table
from ledger.imports.tables import header_key
from ledger.models import (
    Import,
    ImportAction,
    ImportMapping,
    ImportRow,
    ImportStatus,
)
from ledger.models.imports import DIGEST_BYTES

LIFETIME = timedelta(days=7)
MAX_OPEN = 2
MAX_STORED_BYTES = 40 * 2**20
MAX_MAPPINGS = 100
_ROW_COLUMNS = (
    *("member_id", "import_id", "row", "status", "action", "chosen", "edits"),
    *("record", "learned", "errors", "reason", "entry_id", "other_row"),
)


def create_import(
    member: Member,
    tables: Sequence[Table],
    choices: Choices,
    now: datetime,
    today: date,
) -> Import:
    """Store a file that was read; the ledger stays as it is.

    Columns of an earlier file with the same header are used again. Raises
    `LimitReachedError` with two open imports, or 40 MB of them.
    """
    interpretation = interpret(member, tables, choices, {}, today)
    guessed = interpretation.reading.mapping
    if guessed is not None:
        known = find_mapping(member, [column.name for column in guessed.columns])
        if known is not None:
            # The rows above the header may be more this time.
            known = replace(known, header_row=guessed.header_row)
        if known not in (None, guessed):
            choices = replace(choices, mapping=known)
            interpretation = interpret(member, tables, choices, {}, today)
    data = pack_tables(tables)
    return _store_new(member, interpretation, choices, data, now)


@ledger_write(is_recorded=False)
def _store_new(
    ledger: LockedLedger,
    interpretation: Interpretation,
    choices: Choices,
    data: bytes,
    now: datetime,
) -> Import:
    stored = Import.objects.owned_by(ledger.member).filter(
        committed_at=None, created_at__gt=now - LIFETIME
    )
    if stored.count() >= MAX_OPEN:
        detail = gettext("Commit or delete one of the {limit} open imports first.")
        raise LimitReachedError(detail.format(limit=MAX_OPEN))
    total = stored.aggregate(total=Sum("stored_bytes"))["total"] or 0
    if total + len(data) > MAX_STORED_BYTES:
        raise LimitReachedError(gettext("The open imports are too large together."))
    row = Import.objects.create(
        member=ledger.member,
        source=interpretation.reading.source,
        header_digest=_header_of(interpretation),
        tables=data,
        stored_bytes=len(data),
        choices=choices.as_json(),
        description=describe_reading(interpretation, choices),
        created_at=now,
    )
    _write_rows(row, interpretation, {})
    return row


def change_import(
    member: Member,
    import_id: int,
    changes: Mapping[str, Any],
    now: datetime,
    today: date,
) -> Import:
    """Read the file again by changed columns, wallets or categories.

    Choices of rows stay with the numbers of their rows. Raises `NotFoundError`,
    `DuplicateError` for a committed import, and `ChangedSinceError` if another request
    has changed it meanwhile.
    """
    row = get_open_import(member, import_id, now)
    choices = merge(Choices.from_json(row.choices), changes)
    row_choices = load_row_choices(row)
    interpretation = interpret(member, unpack_tables(row), choices, row_choices, today)
    return _store_reading(
        *(member, row.id, row.reading, interpretation, choices, now),
        has_new_columns="mapping" in changes,
    )


@ledger_write(is_recorded=False)
def _store_reading(
    ledger: LockedLedger,
    import_id: int,
    reading: int,
    interpretation: Interpretation,
    choices: Choices,
    now: datetime,
    *,
    has_new_columns: bool,
) -> Import:
    row = get_open_import(ledger.member, import_id, now)
    if row.reading != reading:
        raise ChangedSinceError({"import": 1})
    row_choices = load_row_choices(row)
    row.source = interpretation.reading.source
    row.header_digest = _header_of(interpretation)
    row.choices = choices.as_json()
    row.description = describe_reading(interpretation, choices)
    row.reading += 1
    row.save()
    rows = ImportRow.objects.owned_by(ledger.member).filter(import_id=row.id)
    rows._raw_delete(rows.db)
    _write_rows(row, interpretation, row_choices)
    if has_new_columns:
        remember_mapping(ledger, row, now)
    return row


def get_import(member: Member, import_id: int, now: datetime) -> Import:
    """Return an import that has not expired; raise `NotFoundError`."""
    rows = Import.objects.owned_by(member).filter(created_at__gt=now - LIFETIME)
    found: Import | None = rows.filter(id=import_id).defer("tables").first()
    if found is None:
        raise NotFoundError
    return found


def get_open_import(member: Member, import_id: int, now: datetime) -> Import:
    """Return an import that is not committed; raise `DuplicateError` for another."""
    found = get_import(member, import_id, now)
    if found.committed_at is not None:
        raise DuplicateError(gettext("The import was committed already."))
    return found


def list_imports(member: Member, now: datetime) -> list[Import]:
    rows = Import.objects.owned_by(member).filter(created_at__gt=now - LIFETIME)
    return list(rows.defer("tables"))


@ledger_write(is_recorded=False)
def delete_import(ledger: LockedLedger, import_id: int, now: datetime) -> None:
    """Delete the record and the rows, never entries or keys."""
    row = get_import(ledger.member, import_id, now)
    rows = Import.objects.owned_by(ledger.member).filter(id=row.id)
    rows._raw_delete(rows.db)


def load_row_choices(row: Import) -> dict[int, RowChoice]:
    rows = ImportRow.objects.filter(member_id=row.member_id, import_id=row.id)
    rows = rows.exclude(chosen=None, edits=None)
    return {
        number: RowChoice(chosen and ImportAction(chosen), edits or {})
        for number, chosen, edits in rows.values_list("row", "chosen", "edits")
    }


def find_mapping(member: Member, headers: Sequence[str]) -> ColumnMapping | None:
    """Return the columns by which a file with this header was last read, or None."""
    rows = ImportMapping.objects.owned_by(member)
    rows = rows.filter(header_digest=make_header_digest(headers))
    stored = rows.values_list("mapping", flat=True).first()
    return read_mapping(stored) if stored else None


def remember_mapping(ledger: LockedLedger, row: Import, now: datetime) -> None:
    """Read the next file with this header by the same columns.

    A guess may differ from file to file, and with it the keys of the rows.
    """
    description = row.description
    if row.header_digest is None or not description["mapping"]:
        return
    fields = {each["column"]: each["field"] for each in description["mapping"]}
    columns = [
        each | {"field": fields.get(each["column"])} for each in description["columns"]
    ]
    mapping = {
        "header_row": description["headerRow"],
        "columns": columns,
        "date_order": description["dateOrder"],
    }
    rows = ImportMapping.objects.owned_by(ledger.member)
    rows.update_or_create(
        member=ledger.member,
        header_digest=bytes(row.header_digest),
        defaults={"mapping": mapping, "used_at": now},
    )
    if oldest := list(rows.order_by("-used_at")[MAX_MAPPINGS:]):
        digests = [each.header_digest for each in oldest]
        rows.filter(header_digest__in=digests).delete()


def pack_tables(tables: Iterable[Table]) -> bytes:
    content = [(table.kind, table.name, table.rows) for table in tables]
    return zlib.compress(orjson.dumps(content), 1)


def unpack_tables(row: Import) -> list[Table]:
    """Return the cells of the file.

    Raises `NotFoundError` or `DuplicateError` if the import was deleted or committed
    after it was read.
    """
    stored = Import.objects.filter(member_id=row.member_id, id=row.id)
    found = stored.values_list("tables").first()
    if found is None:
        raise NotFoundError
    if found[0] is None:
        raise DuplicateError(gettext("The import was committed already."))
    return [Table(*each) for each in orjson.loads(zlib.decompress(bytes(found[0])))]


def _header_of(interpretation: Interpretation) -> bytes | None:
    mapping = interpretation.reading.mapping
    if mapping is None:
        return None
    return make_header_digest([column.name for column in mapping.columns])


def make_header_digest(headers: Sequence[str]) -> bytes:
    return bytes.fromhex(header_key(headers))[:DIGEST_BYTES]


def _write_rows(
    row: Import, interpretation: Interpretation, row_choices: Mapping[int, RowChoice]
) -> None:
    copy_rows(
        ImportRow._meta.db_table,
        list(_ROW_COLUMNS),
        _list_values(row, interpretation, row_choices),
    )


def _list_values(
    row: Import, interpretation: Interpretation, row_choices: Mapping[int, RowChoice]
) -> Iterator[Sequence[Any]]:
    owner = row.member_id, row.id
    for judged in interpretation.rows:
        choice = row_choices.get(judged.record.row, RowChoice())
        yield (*owner, *_describe(judged, choice, interpretation.learned))
    for bad in interpretation.prepared.bad:
        yield (*owner, *_describe_bad(bad))


def _describe(
    judged: JudgedRow, choice: RowChoice, learned: Mapping[int, str]
) -> Sequence[Any]:
    number = judged.record.row
    other = judged.other_row
    return (
        *(number, judged.status, judged.default_action, choice.action),
        _dump(dict(choice.edits)) if choice.edits else None,
        *(_dump(dump_record(judged.record)), learned.get(number), None),
        *(judged.reason, judged.entry_id, other and other.record.row),
    )


def _describe_bad(bad: BadRow) -> Sequence[Any]:
    errors = [{"field": each.field, "message": each.message} for each in bad.errors]
    content = {"errors": errors, "cells": bad.cells}
    return (
        *(bad.row, ImportStatus.INVALID, ImportAction.SKIP, None, None, None, None),
        *(_dump(content), Reason.UNREADABLE, None, None),
    )


def _dump(value: Any) -> str:
    return orjson.dumps(value).decode()
