"""New entries that depend on no other, in a few statements for all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from django.conf import settings

from ledger.base.bulk_rows import copy_rows, reserve_ids
from ledger.base.ledger_write import LockedLedger
from ledger.entries.amounts import resolve_amounts
from ledger.entries.sent_ids import Names, has_ids, read_values, resolve_values
from ledger.entry_shape import EXPENSE, EntryShape, LineShape
from ledger.models import Category, Entry, EntryLine, EntryTag, Tag, Wallet
from ledger.rollups.definitions import add_entries, without_triggers

_LINE_COLUMNS = (
    *("member_id", "entry_id", "position", "amount", "category_id", "category_type"),
    *("wallet_id", "memo"),
)


@dataclass(frozen=True, slots=True)
class PlannedEntry:
    id: int
    shape: EntryShape
    client_id: UUID | None


class Inserter:
    """Plans and writes entries that need no rule but those of their shape.

    The names of the ledger are read once: make another one after any write that may
    have changed them.
    """

    def __init__(self, ledger: LockedLedger, max_count: int) -> None:
        self.ledger = ledger
        self._ids = iter(reserve_ids(Entry._meta.db_table, max_count))

    @cached_property
    def names(self) -> Names:
        member = self.ledger.member
        categories = Category.objects.owned_by(member).order_by()
        tags = Tag.objects.owned_by(member).order_by()
        return Names(categories.in_bulk(), tags.in_bulk())

    @cached_property
    def _categories(self) -> dict[tuple[str, str], int]:
        return {(row.type, row.name): row.pk for row in self.names.categories.values()}

    @cached_property
    def _tags(self) -> dict[str, int]:
        return {row.name: row.pk for row in self.names.tags.values()}

    @cached_property
    def _wallets(self) -> set[int]:
        rows = Wallet.objects.owned_by(self.ledger.member).order_by()
        return set(rows.values_list("pk", flat=True))

    def plan(
        self, shape: EntryShape, client_id: UUID | None = None
    ) -> PlannedEntry | None:
        """Return the entry with its id; None if `create_entry` has to make it.

        That is for refunds, installments, unknown rates and unknown names. Raises the
        errors of `create_entry`.
        """
        sent = read_values(shape)
        if has_ids(sent):
            values = resolve_values(self.ledger, sent, shape.type, names=self.names)
            shape = replace(shape, **values)
        is_foreign = shape.currency not in (None, settings.HOME_CURRENCY)
        if (
            shape.refunded_ids
            or shape.installment_months is not None
            or (is_foreign and shape.exchange_rate is None)
        ):
            return None
        shape = resolve_amounts(shape).with_category_types()
        shape.validate()
        wallets = {
            shape.wallet,
            shape.to_wallet,
            *(line.wallet for line in shape.lines),
        }
        if (
            wallets - {None} <= self._wallets
            and self._categories.keys() >= set(shape.category_names())
            and self._tags.keys() >= set(shape.tags or ())
        ):
            return PlannedEntry(next(self._ids), shape, client_id)
        return None

    def write(self, entries: Sequence[PlannedEntry], now: datetime) -> None:
        """Raise `IntegrityError` for more entries than a ledger holds."""
        member_id = self.ledger.member.pk
        with without_triggers():
            rows = [self._make_row(entry, now) for entry in entries]
            columns = list(rows[0])
            copy_rows(Entry._meta.db_table, columns, ([*row.values()] for row in rows))
            if lines := [
                self._make_line(entry.id, number, line)
                for entry in entries
                for number, line in enumerate(entry.shape.lines)
            ]:
                copy_rows(EntryLine._meta.db_table, list(_LINE_COLUMNS), lines)
            if tags := [
                (member_id, entry.id, self._tags[name], number)
                for entry in entries
                for number, name in enumerate(entry.shape.tags or ())
            ]:
                columns = ["member_id", "entry_id", "tag_id", "position"]
                copy_rows(EntryTag._meta.db_table, columns, tags)
            add_entries(self.ledger, [entry.id for entry in entries])

    def _make_row(self, entry: PlannedEntry, now: datetime) -> dict[str, Any]:
        return {
            "member_id": self.ledger.member.pk,
            "id": entry.id,
            "client_id": entry.client_id,
            "category_id": self._find_category(entry.shape),
            "line_count": len(entry.shape.lines),
            "pending": False,
            "created_at": now,
            "updated_at": now,
            **entry.shape.columns(),
        }

    def _make_line(
        self, entry_id: int, number: int, line: LineShape
    ) -> tuple[Any, ...]:
        return (
            *(self.ledger.member.pk, entry_id, number, line.amount),
            *(self._find_category(line), line.category_type or EXPENSE),
            *(line.wallet, line.memo),
        )

    def _find_category(self, part: EntryShape | LineShape) -> int | None:
        if part.category is None:
            return None
        return self._categories[part.category_type or EXPENSE, str(part.category)]
