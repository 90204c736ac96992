"""Shapes as rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F

from ledger.base.ledger_write import LockedLedger
from ledger.entry_shape import COLUMNS, EXPENSE, EntryShape, LineShape
from ledger.errors import MissingWalletError
from ledger.models import (
    Category,
    Entry,
    EntryLine,
    EntryTag,
    QuickEntryLine,
    QuickEntryTag,
    RecurringLine,
    RecurringTag,
    Tag,
    Wallet,
)
from ledger.models.lines import Line


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables of lines and tags of a kind of row, and their column for its id."""

    lines: type[Line]
    tags: Any
    owner: str

    def list_lines(self, row: Any) -> list[Any]:
        lines = self._rows_of(self.lines, row)
        return list(lines.select_related("category", "wallet").order_by("position"))

    def replace_lines(self, row: Any, lines: Sequence[Line]) -> None:
        self._rows_of(self.lines, row).delete()
        for line in lines:
            setattr(line, self.owner, row.pk)
        self.lines._default_manager.bulk_create(lines)

    def replace_tags(self, row: Any, tags: Sequence[Tag]) -> None:
        self._rows_of(self.tags, row).delete()
        self.tags.objects.bulk_create(
            self.tags(
                member_id=row.member_id,
                tag_id=tag.pk,
                position=position,
                **{self.owner: row.pk},
            )
            for position, tag in enumerate(tags)
        )

    def list_tags(self, row: Any) -> list[tuple[int, str]]:
        links = self._rows_of(self.tags, row).order_by("position")
        return list(links.values_list("tag_id", "tag__name"))

    def list_tag_names(self, row: Any) -> tuple[str, ...]:
        links = self._rows_of(self.tags, row).order_by("position")
        return tuple(links.values_list("tag__name", flat=True))

    def delete_tags(self, row: Any) -> None:
        self._rows_of(self.tags, row).delete()

    def _rows_of(self, model: Any, row: Any) -> Any:
        owner = {self.owner: row.pk}
        return model._default_manager.filter(member_id=row.member_id, **owner)


Categories = dict[tuple[str, str], Category]
OF_ENTRIES = Tables(EntryLine, EntryTag, "entry_id")
OF_QUICK_ENTRIES = Tables(QuickEntryLine, QuickEntryTag, "quick_entry_id")
OF_RULES = Tables(RecurringLine, RecurringTag, "rule_id")


def read_shape(row: Any, lines: Sequence[Line] = ()) -> EntryShape:
    """Return the shape of a stored row without tags, with categories by name."""
    return EntryShape(
        category=row.category.name if row.category_id else None,
        category_type=row.category_type,
        lines=tuple(
            LineShape(
                line.amount,
                line.category.name if line.category else None,
                line.category_type,
                line.wallet_id,
                line.memo,
                # Lines of templates have none.
                getattr(line, "refund_of_id", None),
            )
            for line in lines
        ),
        **{
            name: getattr(row, column)
            for name, column in COLUMNS.items()
            if hasattr(row, column)
        },
    )


def read_entry(entry: Entry) -> EntryShape:
    return read_shape(entry, OF_ENTRIES.list_lines(entry) if entry.line_count else ())


def assign_shape(row: Any, shape: EntryShape, categories: Categories) -> None:
    for column, value in shape.columns().items():
        if hasattr(row, column):
            setattr(row, column, value)
    row.category = _find_category(shape, categories)


def _find_category(
    part: EntryShape | LineShape, categories: Categories
) -> Category | None:
    if part.category is None:
        return None
    return categories[part.category_type or EXPENSE, str(part.category)]


def make_lines(
    ledger: LockedLedger, shape: EntryShape, categories: Categories, model: type[Line]
) -> list[Any]:
    """Return unsaved lines; raise `MissingWalletError`."""
    wallet_ids = {line.wallet for line in shape.lines if line.wallet is not None}
    known_ids: set[Any] = set()
    if wallet_ids:
        wallets = Wallet.objects.owned_by(ledger.member).filter(pk__in=wallet_ids)
        known_ids = set(wallets.values_list("pk", flat=True))
    for number, line in enumerate(shape.lines):
        if line.wallet is not None and line.wallet not in known_ids:
            name = f"lines.{number}.walletId"
            raise MissingWalletError(name)
    has_refunds = model is EntryLine
    return [
        model(
            member=ledger.member,
            position=number,
            amount=line.amount,
            category=categories.get(
                (line.category_type or EXPENSE, str(line.category))
            ),
            category_type=line.category_type or EXPENSE,
            wallet_id=line.wallet,
            memo=line.memo,
            **({"refund_of_id": line.refund_of} if has_refunds else {}),
        )
        for number, line in enumerate(shape.lines)
    ]


def insert_lines(entry: Entry, lines: Sequence[EntryLine]) -> None:
    """Write the lines of an entry whose `line_count` is NULL, and count it."""
    OF_ENTRIES.replace_lines(entry, lines)
    entry.line_count = len(lines)
    stored = Entry.objects.filter(member_id=entry.member_id, pk=entry.pk)
    stored.update(line_count=entry.line_count)


def stamp(ledger: LockedLedger, entry_ids: Sequence[int]) -> None:
    """Give entries a new version, whose lines alone have changed."""
    if entry_ids:
        rows = Entry.objects.owned_by(ledger.member).filter(pk__in=entry_ids)
        # The trigger puts the revision in its place.
        rows.update(version=F("version"))


def delete_lines(entry: Entry) -> None:
    """Take a split entry off the totals and delete its lines."""
    if entry.line_count:
        entry.line_count = None
        stored = Entry.objects.filter(member_id=entry.member_id, pk=entry.pk)
        stored.update(line_count=None)
        OF_ENTRIES.replace_lines(entry, ())
