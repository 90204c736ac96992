"""Recorded operations: what one request changes is kept, so that it can be undone.

Triggers keep the rows while `ledger.records` is on (`ledger/sql/operations.sql`).
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.db import connection

from core.db.rows import prepared_cursor
from ledger.base.bulk_rows import format_ids
from ledger.models import LedgerCopy, Operation, OperationKind, OperationRow, RowKind
from ledger.models.operations import NOTIFICATION

RECORDS = "ledger.records"
# An operation of more rows cannot be undone.
MAX_ROWS = 200_000
# Of one ledger; the oldest operations lose theirs first.
MAX_KEPT_ROWS = 500_000
# Smaller operations leave the limit to the next larger one, and to the daily purge.
MANY_ROWS = 1_000
# Names of categories and tags, which a later undo may need.
_ALWAYS_KEPT = (RowKind.CATEGORY, RowKind.TAG)
# If the transaction has changed nothing, its revision belongs to an earlier operation.
_STORE = """
    WITH revised AS (
        SELECT revision FROM account_ledger WHERE member_id = %(member)s
    ), by_action AS (
        SELECT kind, action, count(*) AS row_count
        FROM account_operation_row
        WHERE member_id = %(member)s AND operation_id = (SELECT revision FROM revised)
            AND kind <> %(notification)s
        GROUP BY kind, action
    ), stored AS (
        INSERT INTO account_operation
            (member_id, id, kind, caller_id, counts, row_count)
        SELECT %(member)s, (SELECT revision FROM revised), %(kind)s, %(caller)s,
            jsonb_object_agg(kind, actions), sum(row_count)
        FROM (
            SELECT kind, jsonb_object_agg(action, row_count) AS actions,
                sum(row_count) AS row_count
            FROM by_action GROUP BY kind
        ) by_kind
        HAVING count(*) > 0
        ON CONFLICT (member_id, id) DO NOTHING
        RETURNING id, row_count
    ), paired AS (
        UPDATE account_operation_row kept SET partner_id = pair.partner_id
        FROM (
            SELECT * FROM unnest(
                %(kinds)s::text[], %(rows)s::bigint[], %(partners)s::bigint[]
            )
        ) pair (kind, row_id, partner_id)
        WHERE kept.member_id = %(member)s AND kept.kind = pair.kind
            AND kept.row_id = pair.row_id
            AND kept.operation_id = (SELECT id FROM stored)
    )
    SELECT id, row_count FROM stored
"""
# Citus returns a column of INSERT … SELECT only by an alias.
_STORE_WHOLE = """
    INSERT INTO account_operation AS stored
        (member_id, id, kind, caller_id, counts, row_count, is_whole)
    SELECT member_id, revision, %(kind)s, %(caller)s, %(counts)s, %(rows)s, true
    FROM account_ledger WHERE member_id = %(member)s
    RETURNING stored.id
"""
# Statements for many entries at once. The revision is drawn where the row of the ledger
# is, which is a worker on Citus, so that the triggers see it.
_OWN = """(
        SELECT member_id, account_draw_revision(member_id) AS revision
        FROM account_ledger WHERE member_id = %(member)s
    ) own"""
_KEEP_ENTRIES = f"""
    INSERT INTO account_operation_row
        (member_id, operation_id, kind, row_id, action, before)
    SELECT own.member_id, own.revision, 'entry', entry.id, 'changed', entry.before
    FROM {_OWN}
    CROSS JOIN LATERAL
        account_entry_snapshots(own.member_id, %(ids)s::bigint[]) entry
    ON CONFLICT DO NOTHING
"""  # noqa: S608 - constants
# A row that was kept before stays as it was then, with what is lost now.
_KEEP_DELETED_ENTRIES = f"""
    INSERT INTO account_operation_row
        (member_id, operation_id, kind, row_id, action, before)
    SELECT own.member_id, own.revision, 'entry', entry.id, 'deleted',
        entry.before || account_lost_parts(own.member_id, 'entry', entry.id)
    FROM {_OWN}
    CROSS JOIN LATERAL
        account_entry_snapshots(own.member_id, %(ids)s::bigint[]) entry
    ON CONFLICT (member_id, operation_id, kind, row_id) DO UPDATE
    SET action = 'deleted', before = account_operation_row.before
        || (excluded.before - '{{row,lines,tags,merged}}'::text[])
    WHERE account_operation_row.action <> 'created'
"""  # noqa: S608 - constants
_NOTE_NEW_ENTRIES = f"""
    INSERT INTO account_operation_row
        (member_id, operation_id, kind, row_id, action)
    SELECT own.member_id, own.revision, 'entry', id, 'created'
    FROM {_OWN} CROSS JOIN unnest(%(ids)s::bigint[]) id
    ON CONFLICT (member_id, operation_id, kind, row_id) DO UPDATE
    SET action = 'changed'
"""  # noqa: S608 - constants
# The newest ones that fit stay.
_MAKE_ROOM = """
    SELECT id FROM (
        SELECT id, sum(row_count) OVER (ORDER BY id DESC) AS total
        FROM account_operation
        WHERE member_id = %(member)s AND is_kept AND NOT is_whole
    ) kept
    WHERE total > %(limit)s
"""


@dataclass(slots=True)
class Recording:
    """`operation_id` is set once rows were changed."""

    kind: OperationKind
    caller_id: int
    operation_id: int | None = None
    # Rows that are undone together, by kind and id.
    partners: dict[tuple[str, int], int] = field(default_factory=dict)

    def restart(self) -> None:
        """Forget an attempt that has failed."""
        self.operation_id = None
        self.partners.clear()


_recording: ContextVar[Recording | None] = ContextVar("recording", default=None)


@contextmanager
def record(kind: OperationKind, caller_id: int) -> Iterator[Recording]:
    """Let a write in the block be an operation."""
    recording = Recording(kind, caller_id)
    token = _recording.set(recording)
    try:
        yield recording
    finally:
        _recording.reset(token)


def find_recording() -> Recording | None:
    return _recording.get()


def forget_recording() -> None:
    """Let nothing be stored: the writes are rolled back."""
    recording = find_recording()
    if recording is not None:
        recording.restart()


def start_records() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL {RECORDS} = 'on'")


def stop_records() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL {RECORDS} = 'off'")


@contextmanager
def keep_entries(
    member_id: int,
    *,
    changed: Collection[int] = (),
    created: Collection[int] = (),
    deleted: Collection[int] = (),
) -> Iterator[None]:
    """Record many entries together, which the block changes, creates or deletes.

    It changes nothing else. Without a recording nothing is kept.
    """
    if find_recording() is None:
        yield
        return
    with connection.cursor() as cursor:
        for statement, ids in (
            (_KEEP_ENTRIES, changed),
            (_NOTE_NEW_ENTRIES, created),
            (_KEEP_DELETED_ENTRIES, deleted),
        ):
            if ids:
                params: Any = {"member": member_id, "ids": format_ids(ids)}
                cursor.execute(statement, params)
    stop_records()
    yield
    start_records()


def store_operation(member_id: int, recording: Recording) -> None:
    """Store the operation whose rows the transaction has changed, if it has any."""
    params = {
        "member": member_id,
        "kind": recording.kind,
        "caller": recording.caller_id,
        "notification": NOTIFICATION,
        "kinds": [kind for kind, _ in recording.partners],
        "rows": [row_id for _, row_id in recording.partners],
        "partners": list(recording.partners.values()),
    }
    with prepared_cursor() as cursor:
        cursor.execute(_STORE, params)
        stored = cursor.fetchone()
    if stored is None:
        return
    recording.operation_id, row_count = stored
    if row_count > MAX_ROWS:
        forget_rows(member_id, [stored[0]])
    elif row_count >= MANY_ROWS:
        make_room(member_id)


def store_whole_operation(
    member_id: int,
    kind: OperationKind,
    caller_id: int | None,
    counts: Mapping[str, Any],
) -> int:
    """Store an operation that has replaced the ledger, after `copy_ledger`."""
    actions = [action for by_action in counts.values() for action in by_action.items()]
    params = {
        "member": member_id,
        "kind": kind,
        "caller": caller_id,
        "counts": orjson.dumps(counts).decode(),
        "rows": sum(count for _, count in actions),
    }
    with connection.cursor() as cursor:
        cursor.execute(_STORE_WHOLE, params)
        operation_id: int = cursor.fetchone()[0]
    recording = find_recording()
    if recording is not None:
        recording.operation_id = operation_id
    return operation_id


def pair_rows(kind: RowKind, partners: Mapping[int, int]) -> None:
    """Name the row without which another one of the operation is not undone."""
    recording = find_recording()
    if recording is not None:
        for row_id, partner_id in partners.items():
            recording.partners[kind.value, row_id] = partner_id


def make_room(member_id: int) -> None:
    """Let the oldest operations of a ledger beyond its limit lose their undo."""
    params = {"member": member_id, "limit": MAX_KEPT_ROWS}
    with connection.cursor() as cursor:
        cursor.execute(_MAKE_ROOM, params)
        ids = [operation_id for (operation_id,) in cursor.fetchall()]
    if ids:
        forget_rows(member_id, ids)


def forget_rows(member_id: int, operation_ids: list[int]) -> None:
    rows = OperationRow.objects.filter(
        member_id=member_id, operation_id__in=operation_ids
    ).exclude(kind__in=_ALWAYS_KEPT)
    rows._raw_delete(rows.db)
    operations = Operation.objects.filter(member_id=member_id, id__in=operation_ids)
    operations.update(is_kept=False)


def forget_all_rows(member_id: int) -> None:
    """Let no operation be undone: the rows that they refer to are replaced."""
    models: tuple[Any, ...] = (OperationRow, LedgerCopy)
    for model in models:
        rows = model.objects.filter(member_id=member_id)
        rows._raw_delete(rows.db)
    operations = Operation.objects.filter(member_id=member_id, is_kept=True)
    operations.update(is_kept=False)
