"""Operations and their rows, as clients see them."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from django.utils import timezone

from accounts.models import Member
from core.api.pagination import PageRequest
from core.db.rows import fetch_all
from core.errors import NotFoundError
from ledger.changes.kinds import list_kinds
from ledger.models import Operation, OperationRow
from ledger.models.operations import NOTIFICATION
from ledger.operations.undo import undoable_until

# A row has a name or a memo; both are as they were before the operation.
_ROWS = """
    SELECT kind, row_id AS id, action,
        coalesce(before -> 'row' ->> 'name', before -> 'row' ->> 'memo') AS name,
        (before -> 'row' ->> 'date')::date AS date,
        coalesce(before -> 'row' -> 'amount', before -> 'row' -> 'value')::bigint
            AS amount
    FROM account_operation_row
    WHERE member_id = %(member)s AND operation_id = %(operation)s
        AND kind = ANY(%(kinds)s)
    ORDER BY kind, row_id LIMIT %(limit)s OFFSET %(offset)s
"""


class StoredRow(NamedTuple):
    """A row of an operation, as it was before: its name, date and amount."""

    kind: str
    id: int
    action: str
    name: str | None
    date: date | None
    amount: int | None


def list_operations(
    member: Member, page: PageRequest
) -> tuple[int, Sequence[Operation]]:
    """Return the number of all operations, and one page of them, newest first."""
    rows = Operation.objects.owned_by(member).order_by("-id")
    return rows.count(), page.slice_rows(rows)


def get_operation(member: Member, operation_id: int) -> Operation:
    rows = Operation.objects.owned_by(member).filter(id=operation_id)
    operation: Operation | None = rows.first()
    if operation is None:
        raise NotFoundError
    return operation


def list_rows(
    member: Member, operation_id: int, page: PageRequest
) -> tuple[int, list[StoredRow]]:
    """Return the number of rows, and one page of them.

    Rows of paid kinds are left out for members to whom they are not open.
    """
    kinds = [kind.name.value for kind in list_kinds(is_paid=member.has_premium)]
    rows = OperationRow.objects.owned_by(member).exclude(kind=NOTIFICATION)
    count = rows.filter(operation_id=operation_id, kind__in=kinds).count()
    params: dict[str, Any] = {
        "member": member.pk,
        "operation": operation_id,
        "kinds": kinds,
        "limit": page.size,
        "offset": page.offset,
    }
    return count, fetch_all(_ROWS, params, StoredRow)


def describe_operation(operation: Operation) -> dict[str, Any]:
    until: datetime | None = undoable_until(operation)
    return {
        "id": operation.id,
        "kind": operation.kind,
        "at": timezone.localtime(operation.at),
        "by": operation.caller_id,
        "counts": operation.counts,
        "undoableUntil": until and timezone.localtime(until),
        "undone": operation.undone_by is not None,
    }
