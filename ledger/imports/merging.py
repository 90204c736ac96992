"""Rows that are an entry of the ledger: it takes their date, time and key."""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from ledger.entries.writing import update_entry
from ledger.imports.commit_state import Commit
from ledger.imports.judging import JudgedRow, Reason
from ledger.models import Entry

# Entries whose day or time is another one; the rest stays as it is.
_MOVE = """
    UPDATE account_entry e
    SET date = v.date, time = coalesce(v.time, e.time), updated_at = %(now)s
    FROM unnest(%(ids)s::bigint[], %(dates)s::date[], %(times)s::time[])
        v (id, date, time)
    WHERE e.member_id = %(member)s AND e.id = v.id
        AND (e.date, e.time) IS DISTINCT FROM (v.date, coalesce(v.time, e.time))
"""


def merge_rows(commit: Commit, rows: Sequence[JudgedRow]) -> None:
    """Give each entry the day and time of its row, and confirm a pending one.

    Category, memo, tags and amount stay the member's. The second side of a transfer
    changes nothing: its day is that of the first. An entry that is gone is left out.
    """
    member = commit.ledger.member
    targets = {row.record.row: row.target or row.entry_id for row in rows}
    ids = {entry_id for entry_id in targets.values() if entry_id is not None}
    found = Entry.objects.owned_by(member).filter(pk__in=ids).order_by()
    pending = dict(found.values_list("pk", "pending"))
    moved: list[JudgedRow] = []
    for row in rows:
        entry_id = targets[row.record.row]
        if entry_id is None or entry_id not in pending:
            continue
        commit.entry_ids[row.record.row] = entry_id
        commit.counts["merged"] += 1
        if pending[entry_id]:
            _confirm(commit, row, entry_id)
        elif row.reason is not Reason.SIDE_OF_TRANSFER:
            moved.append(row)
    if moved:
        params: dict[str, Any] = {
            "member": member.pk,
            "now": commit.now,
            "ids": [targets[row.record.row] for row in moved],
            "dates": [row.record.date for row in moved],
            "times": [row.record.time for row in moved],
        }
        with connection.cursor() as cursor:
            cursor.execute(_MOVE, params)


def _confirm(commit: Commit, row: JudgedRow, entry_id: int) -> None:
    """Confirm what a notification has announced, with the amount that was booked."""
    record = row.record
    changes: dict[str, Any] = {"date": record.date}
    if record.time is not None:
        changes["time"] = record.time
    if record.amount is not None:
        changes["amount"] = record.amount
    update_entry.within(
        commit.ledger,
        entry_id,
        changes,
        commit.now,
        confirm=True,
        is_correction=False,
    )
