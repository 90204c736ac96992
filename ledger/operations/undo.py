"""Undo of an operation (spec 3.27)."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from psycopg.errors import ForeignKeyViolation

from core.db.planning import without_nested_loops
from core.errors import MissingItemError, NotFoundError
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.base.operations import (
    MANY_ROWS,
    forget_recording,
    make_room,
    pair_rows,
)
from ledger.base.quotas import MAX_ROWS, require_room
from ledger.errors import NotUndoableError
from ledger.import_keys.rows import follow_undo
from ledger.models import (
    CategoryRollup,
    Ledger,
    Operation,
    OperationKind,
    RowAction,
    RowKind,
    TagRollup,
    Valuation,
    Wallet,
    WalletMonthRollup,
    WalletRollup,
)
from ledger.models.base import OwnedModel
from ledger.operations.after_undo import (
    find_used,
    give_tags_back,
    list_changed_expenses,
    list_trade_days,
    release_lost_refunds,
    require_holdings,
    return_notifications,
    unlink_refunds,
)
from ledger.operations.copies import put_copy_back
from ledger.operations.references import (
    find_gone,
    find_taken,
    free_wallet_names,
    replace_gone,
)
from ledger.operations.snapshots import BY_KIND, TABLES, Snapshots, Table
from ledger.rollups.definitions import (
    add_entries,
    delete_rollups,
    without_triggers,
)
from ledger.rollups.time_limit import extend_statement_timeout
from ledger.taught_layouts.refusals import forget_refusals
from ledger.wallets.valuations import refresh_current_value

LIFETIME = timedelta(days=30)
LIFETIME_OF_COPY = timedelta(days=7)
MAX_SHOWN_KEPT = 100
# Savepoints for the rows of one kind: the ledger waits meanwhile.
MAX_ATTEMPTS = 300
_PLAN = """
    SELECT kept.row_id, kept.action, kept.partner_id, stored.version AS version,
        gone.version AS deleted_version
    FROM account_operation_row kept
    LEFT JOIN {table} stored
        ON stored.member_id = kept.member_id AND stored.id = kept.row_id
    LEFT JOIN account_tombstone gone
        ON gone.member_id = kept.member_id AND gone.kind = kept.kind
        AND gone.row_id = kept.row_id
    WHERE kept.member_id = %(member)s AND kept.operation_id = %(operation)s
        AND kept.kind = %(kind)s
    ORDER BY kept.row_id
"""

# Totals of rows that are removed.
_ROLLUPS: dict[str, tuple[str, Sequence[type[OwnedModel]]]] = {
    RowKind.WALLET: ("wallet_id", [WalletRollup, WalletMonthRollup]),
    RowKind.CATEGORY: ("category_id", [CategoryRollup]),
    RowKind.TAG: ("tag_id", [TagRollup]),
}


class Reason(StrEnum):
    """Why a row stays as it is."""

    CHANGED = "CHANGED"
    DELETED = "DELETED"
    IN_USE = "IN_USE"
    CONFLICT = "CONFLICT"
    REFERENCE_GONE = "REFERENCE_GONE"


class KeptRow(NamedTuple):
    kind: str
    id: int
    reason: Reason


class PlannedRow(NamedTuple):
    row_id: int
    action: str
    partner_id: int | None
    version: int | None
    deleted_version: int | None


@dataclass(slots=True)
class UndoResult:
    """Numbers of rows; `kept` are those that stay as they are."""

    restored: int = 0
    reverted: int = 0
    removed: int = 0
    kept: list[KeptRow] = field(default_factory=list)


def undoable_until(operation: Operation) -> Any:
    """Return a time, or None if the operation cannot be undone."""
    if not operation.is_kept or operation.undone_by is not None:
        return None
    until = operation.at + (LIFETIME_OF_COPY if operation.is_whole else LIFETIME)
    return until if until > timezone.now() else None


@ledger_write
def undo_operation(
    ledger: LockedLedger,
    operation_id: int,
    *,
    wallet_id: int | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> UndoResult:
    """Bring the rows of an operation back to what they were before it.

    Rows that were changed since are kept. `wallet_id` stands for wallets that are gone.
    Raises `NotUndoableError`, `ReferenceGoneError`, and `ChangedSinceError` for a
    restore after which something was written, unless `force`.
    """
    rows = Operation.objects.owned_by(ledger.member)
    operation: Operation | None = rows.filter(id=operation_id).first()
    if operation is None:
        raise NotFoundError
    if undoable_until(operation) is None:
        raise NotUndoableError
    _require_wallet(ledger, wallet_id)
    extend_statement_timeout()
    with transaction.atomic():
        if operation.is_whole:
            counts = put_copy_back(ledger, operation, force=force)
            result = UndoResult(restored=counts[0], removed=counts[1])
        else:
            result = _Undo(ledger, operation, wallet_id).run()
        is_done = bool(result.restored or result.reverted or result.removed)
        if is_done:
            revision = Ledger.objects.values_list("revision", flat=True)
            undone_by = revision.get(member_id=ledger.member.pk)
            stored = Operation.objects.owned_by(ledger.member)
            stored.filter(id=operation.id).update(undone_by=undone_by)
        if dry_run or not is_done:
            transaction.set_rollback(True)
            forget_recording()
    return result


@ledger_write(lock_timeout=False, is_recorded=False)
def make_room_in(ledger: LockedLedger) -> None:
    """Let the oldest operations of a ledger beyond its limit lose their undo."""
    make_room(ledger.member.pk)


def _require_wallet(ledger: LockedLedger, wallet_id: int | None) -> None:
    wallets = Wallet.objects.owned_by(ledger.member)
    if wallet_id is not None and not wallets.filter(pk=wallet_id).exists():
        raise MissingItemError("walletId")


class _Attempts:
    """Writes of units in savepoints, halved where one of them does not fit."""

    def __init__(self, write: Callable[[Sequence[int]], None]) -> None:
        self._write = write
        self._left = MAX_ATTEMPTS
        # The last failure was a row that another row refers to.
        self.lacks_reference = False

    def run(self, units: Sequence[list[int]]) -> Sequence[list[int]]:
        """Return the units that cannot be written, or were not tried any more."""
        if not units or self._left <= 0:
            return units
        self._left -= 1
        try:
            with transaction.atomic():
                self._write([row_id for unit in units for row_id in unit])
        except IntegrityError as error:
            self.lacks_reference = isinstance(error.__cause__, ForeignKeyViolation)
            if len(units) == 1:
                return units
            middle = len(units) // 2
            return [*self.run(units[:middle]), *self.run(units[middle:])]
        return []


class _Undo:
    """Rows by kind: those to revert, to restore and to remove."""

    def __init__(
        self, ledger: LockedLedger, operation: Operation, wallet_id: int | None
    ) -> None:
        self.ledger, self.operation, self.wallet_id = ledger, operation, wallet_id
        self.reverted: dict[str, set[int]] = defaultdict(set)
        self.restored: dict[str, set[int]] = defaultdict(set)
        self.removed: dict[str, set[int]] = defaultdict(set)
        self.kept: dict[tuple[str, int], Reason] = {}
        self.partners: dict[tuple[str, int], int] = {}
        self.valued_wallets: set[int] = set()
        self.changed_expenses = list_changed_expenses(ledger, operation.id)
        self.snapshots = Snapshots(ledger, operation.id, {})

    def run(self) -> UndoResult:
        tables = [table for table in TABLES if table.kind in self.operation.counts]
        for table in tables:
            self._plan(table)
        self._keep_partners()
        self._find_references()
        self._require_room()
        with without_triggers():
            self._write(tables)
        self._finish()
        return UndoResult(
            sum(map(len, self.restored.values())),
            sum(map(len, self.reverted.values())),
            sum(map(len, self.removed.values())),
            [KeptRow(*row, reason) for row, reason in sorted(self.kept.items())],
        )

    def _plan(self, table: Table) -> None:
        params: dict[str, Any] = {
            "member": self.ledger.member.pk,
            "operation": self.operation.id,
            "kind": table.kind.value,
        }
        # Its rows may have been written a moment ago, as those of an import.
        is_large = self.operation.row_count >= MANY_ROWS
        joins = without_nested_loops() if is_large else nullcontext()
        with joins, connection.cursor() as cursor:
            cursor.execute(_PLAN.format(table=table.name), params)
            rows = [PlannedRow(*row) for row in cursor.fetchall()]
        for row in rows:
            self._judge(table.kind.value, row)

    def _judge(self, kind: str, row: PlannedRow) -> None:
        if row.partner_id is not None:
            self.partners[kind, row.row_id] = row.partner_id
        key = kind, row.row_id
        if row.version is not None and row.version > self.operation.id:
            self.kept[key] = Reason.CHANGED
        elif row.action == RowAction.DELETED:
            if row.deleted_version == self.operation.id:
                self.restored[kind].add(row.row_id)
            else:
                self.kept[key] = Reason.DELETED
        elif row.version is None:
            self.kept[key] = Reason.DELETED
        elif row.action == RowAction.CREATED:
            self.removed[kind].add(row.row_id)
        else:
            self.reverted[kind].add(row.row_id)

    def _keep(self, kind: str, row_id: int, reason: Reason) -> None:
        for rows in (self.reverted, self.restored, self.removed):
            rows[kind].discard(row_id)
        self.kept.setdefault((kind, row_id), reason)

    def _keep_partners(self) -> None:
        """Keep all rows of which one alone would count twice, or not at all."""
        for kind in {kind for kind, _ in self.partners}:
            for group in self._list_groups(kind):
                if any((kind, row_id) in self.kept for row_id in group):
                    for row_id in group:
                        self._keep(kind, row_id, Reason.CHANGED)

    def _list_groups(self, kind: str) -> list[list[int]]:
        groups: dict[int, list[int]] = {}
        for (kind_of_row, row_id), partner_id in self.partners.items():
            if kind_of_row == kind:
                groups.setdefault(partner_id, [partner_id]).append(row_id)
        return list(groups.values())

    def _find_references(self) -> None:
        if names := self.restored.get(RowKind.WALLET.value):
            free_wallet_names(self.ledger, self.operation.id, names)
        taken: dict[str, dict[int, int]] = {}
        for named in (RowKind.CATEGORY, RowKind.TAG):
            ids = self.restored.get(named.value, set())
            taken[named.value] = find_taken(self.ledger, self.operation.id, named, ids)
            for row_id in taken[named.value]:
                self._keep(named.value, row_id, Reason.CONFLICT)
        written = {
            kind: self.reverted.get(kind, set()) | self.restored.get(kind, set())
            for kind in BY_KIND
            if self.reverted.get(kind) or self.restored.get(kind)
        }
        gone = find_gone(self.ledger, self.operation.id, written, self.restored)
        replaced = dict(replace_gone(self.ledger, gone, self.wallet_id))
        for kind, by_id in taken.items():
            replaced[kind] = {**replaced[kind], **by_id}
        self.snapshots = Snapshots(self.ledger, self.operation.id, replaced)

    def _require_room(self) -> None:
        for table in TABLES:
            count = len(self.restored.get(table.kind.value, ()))
            if count and table.model in MAX_ROWS:
                require_room(self.ledger, table.model, count)

    def _write(self, tables: Sequence[Table]) -> None:
        kind = RowKind.ENTRY.value
        self._note_valued_wallets()
        touched = self.reverted[kind] | self.removed[kind]
        restored = set(self.restored[kind])
        add_entries(self.ledger, sorted(touched), sign=-1)
        for table in tables:
            self._write_rows(table)
        for table in reversed(tables):
            self._remove_rows(table)
        # Those that could not be written count as before.
        there = (touched - self.removed[kind]) | (restored & self.restored[kind])
        add_entries(self.ledger, sorted(there))

    def _write_rows(self, table: Table) -> None:
        kind = table.kind.value

        def write(ids: Sequence[int]) -> None:
            reverted = [each for each in ids if each in self.reverted[kind]]
            deleted = [each for each in ids if each in self.restored[kind]]
            self.snapshots.write(table, reverted, deleted)
            if table.kind == RowKind.TRADE:
                require_holdings(self.ledger, list_trade_days(self.ledger, ids))
            # A group is written as a whole.
            if created := [each for each in ids if each in self.removed[kind]]:
                self._delete(table, created)

        units = [
            [row_id for row_id in group if (kind, row_id) not in self.kept]
            for group in self._list_groups(kind)
        ]
        grouped = {row_id for unit in units for row_id in unit}
        alone = (self.reverted[kind] | self.restored[kind]) - grouped
        units = [*filter(None, units), *([row_id] for row_id in sorted(alone))]
        self._write_units(kind, units, write, Reason.CONFLICT)

    def _remove_rows(self, table: Table) -> None:
        kind = table.kind.value
        for row_id in find_used(self.ledger, table, self.removed[kind]):
            self._keep(kind, row_id, Reason.IN_USE)
        grouped = {each for group in self._list_groups(kind) for each in group}
        units = [[row_id] for row_id in sorted(self.removed[kind] - grouped)]

        def delete(ids: Sequence[int]) -> None:
            self._delete(table, ids)

        self._write_units(kind, units, delete, Reason.IN_USE)
        if kind in _ROLLUPS:
            column, rollups = _ROLLUPS[kind]
            for row_id in self.removed[kind]:
                delete_rollups(self.ledger, rollups, **{column: row_id})

    def _delete(self, table: Table, ids: Sequence[int]) -> None:
        days = []
        if table.kind == RowKind.ENTRY:
            unlink_refunds(self.ledger, ids)
        if table.kind == RowKind.TRADE:
            days = list_trade_days(self.ledger, ids)
        self.snapshots.delete(table, ids)
        require_holdings(self.ledger, days)

    def _write_units(
        self,
        kind: str,
        units: Sequence[list[int]],
        write: Callable[[Sequence[int]], None],
        reason: Reason,
    ) -> None:
        """Write all units; of those that cannot be written, keep the rows.

        A unit may need another one: those that have failed are tried again.
        """
        attempts = _Attempts(write)
        failed = attempts.run(units)
        while failed and len(failed) < len(units):
            units, failed = failed, attempts.run(failed)
        for unit in failed:
            is_gone = reason == Reason.CONFLICT and attempts.lacks_reference
            for row_id in unit:
                self._keep(kind, row_id, Reason.REFERENCE_GONE if is_gone else reason)

    def _note_valued_wallets(self) -> None:
        kind = RowKind.VALUATION.value
        ids = self.reverted[kind] | self.restored[kind] | self.removed[kind]
        if ids:
            rows = Valuation.objects.owned_by(self.ledger.member).filter(id__in=ids)
            wallets = rows.order_by().values_list("wallet_id", flat=True)
            self.valued_wallets.update(wallets)

    def _finish(self) -> None:
        """Do what follows from rows that are there again."""
        kind = RowKind.ENTRY.value
        entries = self.reverted[kind] | self.restored[kind]
        if tags := self.restored.get(RowKind.TAG.value):
            give_tags_back(self.ledger, self.operation.id, tags)
        if entries:
            release_lost_refunds(self.ledger, entries, self.changed_expenses)
            return_notifications(self.ledger, self.operation.id, entries)
            forget_refusals(self.ledger, entries)
        taken_back = entries | self.removed[kind]
        if self.operation.kind in (OperationKind.IMPORT, OperationKind.UNDO):
            follow_undo(self.ledger, self.operation.id, taken_back)
        self._note_valued_wallets()
        for wallet_id in sorted(self.valued_wallets):
            refresh_current_value(self.ledger, wallet_id)
        for (kind_of_row, row_id), partner_id in self.partners.items():
            pair_rows(RowKind(kind_of_row), {row_id: partner_id})
