"""Several writes of entries as one request (spec 3.25)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import IntegrityError, transaction
from rest_framework import status

from core.api.preconditions import VersionConflictError
from core.errors import (
    DomainError,
    FieldError,
    NotFoundError,
    ProviderUnavailableError,
)
from ledger.base.ledger_write import (
    LockedLedger,
    ledger_write,
    raise_on_full_ledger,
)
from ledger.bulk.insertion import Inserter, PlannedEntry
from ledger.entries.listing import get_entry_row
from ledger.entries.writing import create_entry as create_single_entry
from ledger.entries.writing import (
    create_entry_once,
    delete_entry,
    find_by_client_id,
    update_entry,
)
from ledger.entry_shape import EntryShape
from ledger.errors import DeletedError
from ledger.models import DeletedClientId, Entry

MAX_OPERATIONS = 500
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


@ledger_write
def run_batch(
    ledger: LockedLedger,
    operations: Sequence[Operation],
    now: datetime,
    *,
    is_atomic: bool,
) -> list[Outcome]:
    """Do the operations in their order, under one lock.

    Raises the error of the first one that fails, named by its number, if the batch
    `is_atomic`; otherwise an error is its outcome.
    """
    return _Batch(ledger, operations, now, is_atomic=is_atomic).run()


class _Batch:
    """Creations of plain entries wait to be written together before the next operation.

    Their outcomes are known before.
    """

    def __init__(
        self,
        ledger: LockedLedger,
        operations: Sequence[Operation],
        now: datetime,
        *,
        is_atomic: bool,
    ) -> None:
        self.ledger, self.operations, self.now = ledger, operations, now
        self.is_atomic = is_atomic
        self.outcomes: list[Outcome] = []
        # By the number of their operation.
        self._waiting: dict[int, PlannedEntry] = {}
        self._inserter: Inserter | None = None
        self._client_ids = {
            each.client_id for each in operations if each.client_id is not None
        }
        self._known: dict[UUID, int] = {}
        self._deleted: set[UUID] = set()
        self._has_conditions = any(each.if_version is not None for each in operations)
        # Versions that the rows had before the batch.
        self._first_versions: dict[int, int] = {}

    def run(self) -> list[Outcome]:
        self.ledger.rates.require(_list_rates(self.operations))
        self._read_client_ids()
        for number, operation in enumerate(self.operations):
            self.outcomes.append(self._attempt(number, operation))
        self._write_waiting()
        self._read_versions()
        return self.outcomes

    def _attempt(self, number: int, operation: Operation) -> Outcome:
        try:
            if operation.error is not None:
                raise operation.error
            if operation.op is Op.CREATE:
                return self._create(number, operation)
            self._write_waiting()
            if self.is_atomic:
                return self._change(operation)
            with transaction.atomic():
                return self._change(operation)
        except DomainError as error:
            if self.is_atomic:
                raise name_operation(number, operation, error) from error
            return Outcome(
                error.status,
                operation.id,
                operation.client_id,
                error=error,
            )

    def _create(self, number: int, operation: Operation) -> Outcome:
        client_id = operation.client_id
        if client_id in self._known:
            entry_id = self._known[client_id]
            return Outcome(status.HTTP_200_OK, entry_id, client_id)
        if client_id in self._deleted:
            raise DeletedError
        if self._inserter is None:
            left = len(self.operations) - number
            self._inserter = Inserter(self.ledger, left)
        shape = EntryShape(**{"excluded": None} | operation.values)
        planned = self._inserter.plan(shape, client_id)
        if planned is None:
            self._write_waiting()
            return self._create_single(shape, client_id)
        self._waiting[number] = planned
        return self._created(planned.id, client_id)

    def _created(self, entry_id: int, client_id: UUID | None) -> Outcome:
        if client_id is not None:
            self._known[client_id] = entry_id
        return Outcome(status.HTTP_201_CREATED, entry_id, client_id)

    def _create_single(self, shape: EntryShape, client_id: UUID | None) -> Outcome:
        # It may add names.
        self._inserter = None
        with raise_on_full_ledger(), transaction.atomic():
            if client_id is None:
                entry_id = create_single_entry.within(self.ledger, shape, self.now)
            else:
                sent = create_entry_once.within(self.ledger, shape, self.now, client_id)
                entry_id = sent.id
        return self._created(entry_id, client_id)

    def _write_waiting(self) -> None:
        waiting, self._waiting = self._waiting, {}
        if not waiting or self._inserter is None:
            return
        try:
            with transaction.atomic():
                self._inserter.write(list(waiting.values()), self.now)
        except IntegrityError:
            # The ledger is full: each for itself, as far as there is room.
            for number, planned in waiting.items():
                if planned.client_id is not None:
                    del self._known[planned.client_id]
                self.outcomes[number] = self._create_instead(number, planned)

    def _create_instead(self, number: int, planned: PlannedEntry) -> Outcome:
        try:
            return self._create_single(planned.shape, planned.client_id)
        except DomainError as error:
            operation = self.operations[number]
            if self.is_atomic:
                raise name_operation(number, operation, error) from error
            return Outcome(error.status, None, operation.client_id, error=error)

    def _change(self, operation: Operation) -> Outcome:
        entry_id = self._find(operation)
        self._check_version(entry_id, operation.if_version)
        # It may add names, too.
        self._inserter = None
        if operation.op is Op.DELETE:
            delete_entry.within(self.ledger, entry_id)
            # Its client id is used up.
            self._read_client_ids()
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

    def _find(self, operation: Operation) -> int:
        if operation.id is not None:
            return operation.id
        entry_id: int | None = None
        if operation.client_id is not None:
            entry_id = find_by_client_id(self.ledger, operation.client_id)
        if entry_id is None:
            raise NotFoundError
        return entry_id

    def _check_version(self, entry_id: int, if_version: int | None) -> None:
        """Raise `VersionConflictError` unless the row had the version before."""
        if not self._has_conditions:
            return
        row = get_entry_row(self.ledger.member, entry_id)
        first = self._first_versions.setdefault(entry_id, row.version)
        # What the batch itself has written is no conflict.
        if if_version not in (None, first):
            raise VersionConflictError(orjson.Fragment(row.entry))

    def _read_client_ids(self) -> None:
        if not self._client_ids:
            return
        member, ids = self.ledger.member, self._client_ids
        entries = Entry.objects.owned_by(member).filter(client_id__in=ids)
        self._known = dict(entries.values_list("client_id", "pk"))
        deleted = DeletedClientId.objects.owned_by(member).filter(client_id__in=ids)
        self._deleted = set(deleted.values_list("client_id", flat=True))

    def _read_versions(self) -> None:
        ids = [each.id for each in self.outcomes if each.error is None]
        rows = Entry.objects.owned_by(self.ledger.member).filter(pk__in=ids)
        stored = {
            pk: (version, client_id)
            for pk, version, client_id in rows.values_list("pk", "version", "client_id")
        }
        for outcome in self.outcomes:
            if outcome.error is None and outcome.id in stored:
                outcome.version, outcome.client_id = stored[outcome.id]


def _list_rates(operations: Sequence[Operation]) -> set[tuple[str, date]]:
    """Return the currencies and days of new entries without a rate."""
    pairs = set()
    for each in operations:
        currency, day = each.values.get("currency"), each.values.get("date")
        if (
            each.op is Op.CREATE
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
