"""Undo of an operation (spec 3.27)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from psycopg.errors import ForeignKeyViolation

from core.errors import MissingItemError, NotFoundError
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.base.operations import forget_recording, make_room, pair_entries
from ledger.base.quotas import MAX_ROWS, require_room
from ledger.errors import NotUndoableError
from ledger.models import (
    CategoryRollup,
    Ledger,
    Operation,
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
from ledger.wallets.valuations import refresh_current_value

LIFETIME = timedelta(days=30)
LIFETIME_OF_COPY = timedelta(days=7)
MAX_SHOWN_KEPT = 100
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

# A row that was changed since, and brought back to what it was by the undo of that, is
# as the operation has left it: its snapshot has the version that it had.
_AS_LEFT = """
    WITH RECURSIVE state AS (
        SELECT row_id, version
        FROM unnest(%(ids)s::bigint[], %(versions)s::bigint[]) r (row_id, version)
        UNION ALL
        SELECT state.row_id, (kept.before -> 'row' ->> 'version')::bigint
        FROM state
        JOIN account_operation undone
            ON undone.member_id = %(member)s AND undone.undone_by = state.version
        JOIN account_operation_row kept
            ON kept.member_id = %(member)s AND kept.operation_id = undone.id
            AND kept.kind = %(kind)s AND kept.row_id = state.row_id
            AND kept.before IS NOT NULL
        WHERE state.version > %(operation)s
    )
    SELECT row_id FROM state WHERE version <= %(operation)s
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
        if result.restored or result.reverted or result.removed:
            revision = Ledger.objects.values_list("revision", flat=True)
            undone_by = revision.get(member_id=ledger.member.pk)
            stored = Operation.objects.owned_by(ledger.member)
            stored.filter(id=operation.id).update(undone_by=undone_by)
        if dry_run:
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
        self.partners: dict[int, int] = {}
        self.valued_wallets: set[int] = set()
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
        with connection.cursor() as cursor:
            cursor.execute(_PLAN.format(table=table.name), params)
            rows = [PlannedRow(*row) for row in cursor.fetchall()]
        newer = {
            row.row_id: row.version
            for row in rows
            if row.version is not None and row.version > self.operation.id
        }
        as_left: set[int] = set()
        if newer:
            found = self.snapshots.execute(
                _AS_LEFT, newer, kind=table.kind.value, versions=list(newer.values())
            )
            as_left = {row_id for (row_id,) in found}
        for row in rows:
            is_changed = row.row_id in newer and row.row_id not in as_left
            self._judge(table.kind.value, row, is_changed=is_changed)

    def _judge(self, kind: str, row: PlannedRow, *, is_changed: bool) -> None:
        if row.partner_id is not None:
            self.partners[row.row_id] = row.partner_id
        key = kind, row.row_id
        if is_changed:
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
        """Keep all entries of which one alone would count twice, or not at all."""
        kind = RowKind.ENTRY.value
        for group in self._list_groups():
            reasons = [self.kept.get((kind, row_id)) for row_id in group]
            reason = next(filter(None, reasons), None)
            for row_id in group if reason else ():
                self._keep(kind, row_id, Reason.CHANGED)

    def _list_groups(self) -> list[list[int]]:
        groups: dict[int, list[int]] = {}
        for row_id, partner_id in self.partners.items():
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
                require_holdings(self.ledger, ids)

        ids = self.reverted[kind] | self.restored[kind]
        self._try(kind, self._list_units(kind, ids), write, Reason.CONFLICT)

    def _remove_rows(self, table: Table) -> None:
        kind = table.kind.value
        for row_id in find_used(self.ledger, table, self.removed[kind]):
            self._keep(kind, row_id, Reason.IN_USE)

        def remove(ids: Sequence[int]) -> None:
            if table.kind == RowKind.ENTRY:
                unlink_refunds(self.ledger, ids)
            self.snapshots.delete(table, ids)

        units = self._list_units(kind, self.removed[kind])
        self._try(kind, units, remove, Reason.IN_USE)
        if kind in _ROLLUPS:
            column, rollups = _ROLLUPS[kind]
            for row_id in self.removed[kind]:
                delete_rollups(self.ledger, rollups, **{column: row_id})

    def _list_units(self, kind: str, ids: Iterable[int]) -> list[list[int]]:
        """Return the rows that are written together or not at all."""
        left = set(ids)
        units = []
        for group in self._list_groups() if kind == RowKind.ENTRY else ():
            if unit := [row_id for row_id in group if row_id in left]:
                units.append(unit)
                left.difference_update(unit)
        return units + [[row_id] for row_id in sorted(left)]

    def _try(
        self,
        kind: str,
        units: Sequence[list[int]],
        write: Callable[[Sequence[int]], None],
        reason: Reason,
    ) -> None:
        """Write all units; of those that cannot be written, keep the rows."""
        if not units:
            return
        try:
            with transaction.atomic():
                write([row_id for unit in units for row_id in unit])
        except IntegrityError as error:
            if len(units) > 1:
                middle = len(units) // 2
                self._try(kind, units[:middle], write, reason)
                self._try(kind, units[middle:], write, reason)
                return
            is_gone = isinstance(error.__cause__, ForeignKeyViolation)
            if reason == Reason.CONFLICT and is_gone:
                reason = Reason.REFERENCE_GONE
            if kind == RowKind.ENTRY and len(units[0]) > 1:
                raise NotUndoableError from error
            for row_id in units[0]:
                self._keep(kind, row_id, reason)

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
            release_lost_refunds(self.ledger, entries)
        self._note_valued_wallets()
        for wallet_id in sorted(self.valued_wallets):
            refresh_current_value(self.ledger, wallet_id)
        if not self.kept:
            return_notifications(self.ledger, self.operation.id)
        pair_entries(self.partners)
