"""Several writes of entries as one request (spec 3.25)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from rest_framework import status

from accounts.models import Member
from core.api.preconditions import VersionConflictError
from core.errors import (
    DomainError,
    FieldError,
    NotFoundError,
    ProviderUnavailableError,
)
from ledger.base.bulk_rows import format_ids
from ledger.base.ledger_write import (
    LockedLedger,
    ledger_write,
    raise_on_full_ledger,
)
from ledger.bulk.insertion import Inserter, PlannedEntry
from ledger.entries.listing import get_entry_row
from ledger.entries.writing import create_entry, delete_entry, update_entry
from ledger.entry_shape import EntryShape
from ledger.errors import DeletedError
from ledger.models import DeletedClientId, Entry

MAX_OPERATIONS = 500
_LAST_VERSIONS = """
    SELECT id, version, client_id FROM account_entry
    WHERE member_id = %(member)s AND id = ANY(%(ids)s::bigint[])
"""
MAX_SHOWN_ERRORS = 100


class Op(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    CONFIRM = "confirm"


@dataclass(frozen=True, slots=True)
class Operation:
    """A write of one entry, by its id or its client id.

    `values` are the validated fields of the entry, or `error` says why they are not.
    """

    op: Op
    id: int | None = None
    client_id: UUID | None = None
    if_version: int | None = None
    values: dict[str, Any] = field(default_factory=dict)
    error: DomainError | None = None


@dataclass(slots=True)
class Outcome:
    """What the single request would have answered."""

    status: int
    id: int | None = None
    client_id: UUID | None = None
    version: int | None = None
    error: DomainError | None = None


def run_batch(
    member: Member,
    operations: Sequence[Operation],
    now: datetime,
    *,
    is_atomic: bool,
) -> list[Outcome]:
    """Do the operations in their order, under one lock.

    Raises the error of the first one that fails, named by its number, if the batch
    `is_atomic`; otherwise an error is its outcome.
    """
    write = _write_all if is_atomic else _write_each
    return write(member, operations, now)


@ledger_write
def _write_all(
    ledger: LockedLedger, operations: Sequence[Operation], now: datetime
) -> list[Outcome]:
    return _write(ledger, operations, now, is_atomic=True)


# Without a rate only the operations that need it fail.
@ledger_write(can_wait_for_rates=False)
def _write_each(
    ledger: LockedLedger, operations: Sequence[Operation], now: datetime
) -> list[Outcome]:
    return _write(ledger, operations, now, is_atomic=False)


def _write(
    ledger: LockedLedger,
    operations: Sequence[Operation],
    now: datetime,
    *,
    is_atomic: bool,
) -> list[Outcome]:
    try:
        with transaction.atomic():
            return _Batch(ledger, operations, now, is_atomic=is_atomic).run()
    except IntegrityError:
        # The ledger is full: one by one, as far as there is room.
        batch = _Batch(ledger, operations, now, is_atomic=is_atomic, is_one_by_one=True)
        return batch.run()


class _Batch:
    """New plain entries wait to be written together before the next operation."""

    def __init__(
        self,
        ledger: LockedLedger,
        operations: Sequence[Operation],
        now: datetime,
        *,
        is_atomic: bool,
        is_one_by_one: bool = False,
    ) -> None:
        self.ledger, self.operations, self.now = ledger, operations, now
        self.is_atomic, self.is_one_by_one = is_atomic, is_one_by_one
        self.outcomes: list[Outcome] = []
        self._inserter = Inserter(ledger)
        self._waiting: list[PlannedEntry] = []
        self._waiting_ids: set[UUID] = set()
        # Of all client ids that the operations name.
        self._known: dict[UUID, int] = {}
        self._deleted: set[UUID] = set()
        # Versions that the rows had before the batch.
        self._versions: dict[int, int] = {}

    def run(self) -> list[Outcome]:
        self._read_client_ids()
        self._read_first_versions()
        used = self._known.keys() | self._deleted
        self.ledger.rates.require(_list_rates(self.operations, used))
        for number, operation in enumerate(self.operations):
            self.outcomes.append(self._attempt(number, operation))
        self._write_waiting()
        self._read_last_versions()
        return self.outcomes

    def _attempt(self, number: int, operation: Operation) -> Outcome:
        try:
            if operation.op is Op.CREATE and (outcome := self._plan(operation)):
                return outcome
            self._write_waiting()
            if self.is_atomic:
                return self._do(operation)
            with transaction.atomic():
                return self._do(operation)
        except DomainError as error:
            if self.is_atomic:
                raise name_operation(number, operation, error) from error
            return Outcome(error.status, operation.id, operation.client_id, error=error)

    def _plan(self, operation: Operation) -> Outcome | None:
        """Return None for a new entry that is written alone."""
        client_id = operation.client_id
        if client_id in self._waiting_ids:
            self._write_waiting()
        if client_id in self._known:
            entry_id = self._known[client_id]
            return Outcome(status.HTTP_200_OK, entry_id, client_id)
        if client_id in self._deleted:
            raise DeletedError
        if operation.error is not None:
            raise operation.error
        if self.is_one_by_one:
            return None
        planned = self._inserter.plan(_make_shape(operation), client_id)
        if planned is None:
            return None
        self._waiting.append(planned)
        if client_id is not None:
            self._waiting_ids.add(client_id)
        return Outcome(status.HTTP_201_CREATED, None, client_id)

    def _do(self, operation: Operation) -> Outcome:
        if operation.op is Op.CREATE:
            return self._create(operation)
        entry_id = self._find(operation)
        self._check_version(entry_id, operation)
        if operation.op is Op.DELETE:
            delete_entry.within(self.ledger, entry_id)
            self._forget(entry_id)
            return Outcome(status.HTTP_204_NO_CONTENT, entry_id, operation.client_id)
        update_entry.within(
            self.ledger,
            entry_id,
            operation.values,
            self.now,
            is_partial=True,
            confirm=operation.op is Op.CONFIRM,
        )
        return Outcome(status.HTTP_200_OK, entry_id, operation.client_id)

    def _create(self, operation: Operation) -> Outcome:
        shape, client_id = _make_shape(operation), operation.client_id
        with raise_on_full_ledger(), transaction.atomic():
            entry_id = create_entry.within(self.ledger, shape, self.now, client_id)
        if client_id is not None:
            self._known[client_id] = entry_id
        return Outcome(status.HTTP_201_CREATED, entry_id, client_id)

    def _write_waiting(self) -> None:
        """Write what waits, and note the ids in its outcomes."""
        waiting, self._waiting = self._waiting, []
        self._waiting_ids.clear()
        if not waiting:
            return
        ids = self._inserter.write(waiting, self.now)
        created = (
            each
            for each in self.outcomes
            if each.id is None and each.status == status.HTTP_201_CREATED
        )
        for entry_id, outcome in zip(ids, created, strict=True):
            outcome.id = entry_id
            if outcome.client_id is not None:
                self._known[outcome.client_id] = entry_id

    def _find(self, operation: Operation) -> int:
        """Raise `NotFoundError` or `DeletedError` for an unknown client id."""
        if operation.id is not None:
            return operation.id
        client_id = operation.client_id
        if client_id in self._deleted:
            raise DeletedError
        if client_id not in self._known:
            raise NotFoundError
        return self._known[client_id]

    def _check_version(self, entry_id: int, operation: Operation) -> None:
        """Raise as `If-Match` does; what the batch has written is no conflict.

        An entry that is not valid is refused afterwards, as in a single request.
        """
        wanted = operation.if_version
        if wanted is not None and wanted != self._versions.get(entry_id):
            row = get_entry_row(self.ledger.member, entry_id)
            # The batch itself has made the others.
            if entry_id in self._versions or wanted != row.version:
                raise VersionConflictError(orjson.Fragment(row.entry))
        if operation.error is not None:
            get_entry_row(self.ledger.member, entry_id)
            raise operation.error

    def _forget(self, entry_id: int) -> None:
        """Note that the client id of a deleted entry is used up."""
        gone = {each for each, known in self._known.items() if known == entry_id}
        self._deleted |= gone
        for client_id in gone:
            del self._known[client_id]

    def _read_client_ids(self) -> None:
        ids = {each.client_id for each in self.operations} - {None}
        if not ids:
            return
        entries = Entry.objects.owned_by(self.ledger.member).filter(client_id__in=ids)
        self._known = dict(entries.values_list("client_id", "pk"))
        deleted = DeletedClientId.objects.owned_by(self.ledger.member)
        found = deleted.filter(client_id__in=ids - self._known.keys())
        self._deleted = set(found.values_list("client_id", flat=True))

    def _read_first_versions(self) -> None:
        conditional = [each for each in self.operations if each.if_version is not None]
        ids = {
            self._known.get(each.client_id) if each.client_id else each.id
            for each in conditional
        }
        if conditional:
            rows = Entry.objects.owned_by(self.ledger.member).filter(pk__in=ids)
            self._versions = dict(rows.values_list("pk", "version"))

    def _read_last_versions(self) -> None:
        ids = [each.id for each in self.outcomes if each.error is None and each.id]
        params: dict[str, Any] = {
            "member": self.ledger.member.pk,
            "ids": format_ids(ids),
        }
        with connection.cursor() as cursor:
            cursor.execute(_LAST_VERSIONS, params)
            stored = {pk: values for pk, *values in cursor.fetchall()}
        for outcome in self.outcomes:
            if outcome.error is None and outcome.id in stored:
                outcome.version, outcome.client_id = stored[outcome.id]


def _make_shape(operation: Operation) -> EntryShape:
    return EntryShape(**{"excluded": None} | operation.values)


def _list_rates(
    operations: Sequence[Operation], used: Collection[UUID]
) -> set[tuple[str, date]]:
    """Return the currencies and days of new entries without a rate.

    Client ids that are `used` make no entry.
    """
    pairs = set()
    for each in operations:
        currency, day = each.values.get("currency"), each.values.get("date")
        if (
            each.op is Op.CREATE
            and each.client_id not in used
            and currency not in (None, settings.HOME_CURRENCY)
            and day is not None
            and each.values.get("exchange_rate") is None
            and not each.values.get("refund_of")
        ):
            pairs.add((currency, day))
    return pairs


def raise_invalid_operations(operations: Sequence[Operation]) -> None:
    """Raise `DomainError` with the errors of all entries that are not valid."""
    errors = [
        error
        for number, each in enumerate(operations)
        if each.error is not None
        for error in name_operation(number, each, each.error).errors
    ]
    if errors:
        raise DomainError(errors=tuple(errors[:MAX_SHOWN_ERRORS]))


def name_operation(
    number: int, operation: Operation, error: DomainError
) -> DomainError:
    """Return the error of a whole batch for that of one operation (spec 3.25)."""
    if isinstance(error, ProviderUnavailableError):
        return error
    prefix = f"operations.{number}"
    if error.errors:
        errors = tuple(
            replace(each, field=f"{prefix}.{each.field}") for each in error.errors
        )
        return DomainError(errors=errors)
    name = prefix
    if isinstance(error, NotFoundError):
        name += ".id" if operation.id is not None else ".clientId"
    return DomainError(errors=(FieldError(name, error.detail, error.code),))
