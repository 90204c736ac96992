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
from ledger.base.operations import keep_entries
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
    """A new entry, which has no id yet."""

    shape: EntryShape
    client_id: UUID | None


class Inserter:
    """Plans and writes entries that need no rule but those of their shape.

    It reads the names of the ledger once, and again when a name has made a row.
    """

    def __init__(self, ledger: LockedLedger) -> None:
        self.ledger = ledger
        self._made_names = -1
        self._names = Names({}, {})
        self._categories: dict[tuple[str, str], int] = {}
        self._tags: dict[str, int] = {}

    def _read_names(self) -> None:
        if self._made_names == self.ledger.made_names:
            return
        self._made_names = self.ledger.made_names
        member = self.ledger.member
        categories = Category.objects.owned_by(member).order_by().in_bulk()
        tags = Tag.objects.owned_by(member).order_by().in_bulk()
        self._names = Names(categories, tags)
        self._categories = {(row.type, row.name): pk for pk, row in categories.items()}
        self._tags = {row.name: pk for pk, row in tags.items()}

    @cached_property
    def _wallets(self) -> set[int]:
        rows = Wallet.objects.owned_by(self.ledger.member).order_by()
        return set(rows.values_list("pk", flat=True))

    def plan(
        self, shape: EntryShape, client_id: UUID | None = None
    ) -> PlannedEntry | None:
        """Return the entry; None if `create_entry` has to make it.

        That is for refunds, installments, unknown rates and unknown names. Raises the
        errors of `create_entry`.
        """
        self._read_names()
        sent = read_values(shape)
        if has_ids(sent):
            values = resolve_values(self.ledger, sent, shape.type, names=self._names)
            shape = replace(shape, **values)
        is_foreign = shape.currency not in (None, settings.HOME_CURRENCY)
        if (
            shape.refunded_ids
            or shape.installment_months is not None
            or shape.bill_month is not None
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
            return PlannedEntry(shape, client_id)
        return None

    def adopt(self, shape: EntryShape) -> PlannedEntry:
        """Return an entry whose names and wallets exist, with installments or not.

        A rate that is not given must be known. Raises the errors of `create_entry`.
        """
        self._read_names()
        shape = resolve_amounts(shape, rates=self.ledger.rates).with_category_types()
        shape.validate()
        return PlannedEntry(shape, None)

    def write(self, planned: Sequence[PlannedEntry], now: datetime) -> list[int]:
        """Write the entries in their order, and return their ids.

        Raises `IntegrityError` for more entries than a ledger holds.
        """
        member_id = self.ledger.member.pk
        ids = reserve_ids(Entry._meta.db_table, len(planned))
        entries = list(zip(ids, planned, strict=True))
        with keep_entries(member_id, created=ids), without_triggers():
            columns = list(self._make_row(*entries[0], now))
            # One by one: as a list they would take a kilobyte each.
            rows = (self._make_row(*entry, now) for entry in entries)
            copy_rows(Entry._meta.db_table, columns, ([*row.values()] for row in rows))
            if lines := [
                self._make_line(entry_id, number, line)
                for entry_id, entry in entries
                for number, line in enumerate(entry.shape.lines)
            ]:
                copy_rows(EntryLine._meta.db_table, list(_LINE_COLUMNS), lines)
            if tags := [
                (member_id, entry_id, self._tags[name], number)
                for entry_id, entry in entries
                for number, name in enumerate(entry.shape.tags or ())
            ]:
                columns = ["member_id", "entry_id", "tag_id", "position"]
                copy_rows(EntryTag._meta.db_table, columns, tags)
            add_entries(self.ledger, ids)
        return ids

    def _make_row(
        self, entry_id: int, entry: PlannedEntry, now: datetime
    ) -> dict[str, Any]:
        return {
            "member_id": self.ledger.member.pk,
            "id": entry_id,
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
