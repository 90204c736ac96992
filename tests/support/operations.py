"""Recorded operations, and a ledger before and after them."""

from types import SimpleNamespace
from typing import Any

from django.db import connection

from accounts.models import Member
from ledger.account_deletion import REPLACED_BY_RESTORE
from ledger.base.operations import record
from ledger.entries.writing import delete_entry
from ledger.models import (
    BudgetIncome,
    ImportKey,
    Notification,
    OperationKind,
    Position,
    Tombstone,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_entry
from tests.support.rollups import assert_rollups_are_right

OPERATIONS = "/api/account/operations"
# They say when and how often rows were written.
STAMPS = {"version"}
TABLES = tuple(
    model
    for model in (*REPLACED_BY_RESTORE, BudgetIncome, Notification)
    # A freed key lets its row come again.
    if model not in {Position, Tombstone, ImportKey}
)
_HELD = """
    SELECT stock_id, quantity, trade_count FROM invest_position
    WHERE member_id = %s AND trade_count > 0 ORDER BY stock_id
"""


class Phone(JSONClient):
    """Requests that are transactions of their own, as operations are concerned."""

    def request(self, **request: Any) -> Any:
        begin_transaction()
        try:
            return super().request(**request)
        finally:
            begin_transaction()

    def undo(self, operation_id: Any, **body: Any) -> Any:
        answer = self.send("POST", f"{OPERATIONS}/{operation_id}/undo", body)
        assert answer.status_code == 200, answer.content
        number = answer.data["operationId"]
        assert answer.headers.get("Operation-Id") == (number and str(number))
        assert_rollups_are_right()
        return answer.data


def begin_transaction() -> None:
    """Let what follows in the transaction of the test be one of its own."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ledger.revision = ''")
        cursor.execute("SET LOCAL ledger.records = 'off'")


def delete_recorded(member: Member, entry_id: int) -> int:
    """Delete an entry as a request does; return the operation."""
    begin_transaction()
    with record(OperationKind.DELETE, member.pk) as recording:
        delete_entry(member, entry_id)
    begin_transaction()
    assert recording.operation_id
    return recording.operation_id


def make_operation(member: Member) -> Any:
    """Return an operation that can be undone, with its id as `pk`."""
    operation_id = delete_recorded(member, make_entry(member).pk)
    return SimpleNamespace(pk=operation_id)


def dump_ledger(member: Member) -> dict[str, list[Any]]:
    """Return all rows of a ledger with their ids, but for their versions."""
    rows: dict[str, list[Any]] = {}
    for model in TABLES:
        columns = [
            field.column
            for field in model._meta.concrete_fields
            if field.column and field.column not in STAMPS
        ]
        names = ", ".join(columns)
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT to_json(r)::text FROM (SELECT {names}"
                f" FROM {model._meta.db_table} WHERE member_id = %s) r ORDER BY 1",
                [member.pk],
            )
            rows[model.__name__] = [text for (text,) in cursor.fetchall()]
    with connection.cursor() as cursor:
        cursor.execute(_HELD, [member.pk])
        rows["held"] = cursor.fetchall()
    return rows
