"""The same change of many entries (spec 3.25)."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from itertools import starmap
from typing import Any, Final, NamedTuple

from django.db import connection, transaction
from django.utils.translation import gettext

from core.errors import (
    DomainError,
    InvalidFieldError,
    MissingItemError,
    NotFoundError,
)
from ledger.base.bulk_rows import copy_rows, format_ids
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.base.operations import keep_entries
from ledger.categories.categories import get_or_create_categories
from ledger.entries.listing import EntryFilter, list_entry_ids
from ledger.entries.sent_ids import MISMATCH
from ledger.entries.writing import update_entry
from ledger.entry_shape import MAX_TAGS_PER_ENTRY, TRANSFER, is_reversal
from ledger.models import Category, EntryTag, Tag, Wallet
from ledger.rollups.definitions import add_entries, without_triggers
from ledger.tags.tags import get_or_create_tags
from ledger.taught_layouts.learning import settle_names

MAX_ENTRIES_OF_CHANGE = 10_000
# Each takes as long as a request, and other writers wait.
MAX_ENTRIES_ALONE = 500
MAX_SHOWN_REFUSALS = 100
SPLIT: Final = "SPLIT"
INVALID: Final = DomainError.code
_READ = """
    SELECT id, date, type, category_id, category_type, wallet_id, to_wallet_id,
        line_count, memo, excluded, installment_months, refund_of_id, amount
    FROM account_entry WHERE member_id = %(member)s AND id = ANY(%(ids)s::bigint[])
    ORDER BY id
"""
_UPDATE = """
    UPDATE account_entry SET {assignments}, updated_at = %(now)s
    WHERE member_id = %(member)s AND id = ANY(%(ids)s::bigint[])
"""
_REFUNDED = """
    SELECT refund_of_id FROM account_entry
    WHERE member_id = %(member)s AND refund_of_id = ANY(%(ids)s::bigint[])
    UNION
    SELECT refund_of_id FROM account_entry_line
    WHERE member_id = %(member)s AND refund_of_id = ANY(%(ids)s::bigint[])
"""
_WITH_LINES = """
    SELECT DISTINCT entry_id FROM account_entry_line
    WHERE member_id = %(member)s AND entry_id = ANY(%(ids)s::bigint[]) AND {condition}
"""
_TAGS = """
    SELECT entry_id, tag_id FROM account_entry_tag
    WHERE member_id = %(member)s AND entry_id = ANY(%(ids)s::bigint[])
    ORDER BY entry_id, position
"""
_DELETE_TAGS = """
    DELETE FROM account_entry_tag
    WHERE member_id = %(member)s AND entry_id = ANY(%(ids)s::bigint[])
"""
# The totals that a new value changes.
_TOTALS = {
    "category": {"account_category_total", "account_memo_total"},
    "date": {
        *("account_day_total", "account_wallet_month_total"),
        *("account_category_total", "account_tag_total"),
    },
    "excluded": {
        *("account_day_total", "account_wallet_month_total"),
        *("account_category_total", "account_memo_total", "account_tag_total"),
    },
    "memo": {"account_memo_total"},
    "tags": {"account_tag_total"},
    "wallet": {
        *("account_day_total", "account_wallet_month_total", "account_wallet_total"),
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """`values` are validated fields of an entry by name, a category by name or id."""

    values: Mapping[str, Any]
    add_tags: Sequence[str] = ()
    remove_tags: Sequence[str] = ()


@dataclass(slots=True)
class BulkChange:
    """How many entries were changed; `refused` are the first ones, with a code."""

    matched: int = 0
    changed: int = 0
    unchanged: int = 0
    refused_count: int = 0
    refused: list[tuple[int, str]] = field(default_factory=list)


class StoredEntry(NamedTuple):
    id: int
    date: date
    type: str
    category_id: int | None
    category_type: str
    wallet_id: int | None
    to_wallet_id: int | None
    line_count: int
    memo: str
    excluded: bool
    installment_months: int | None
    refund_of_id: int | None
    amount: int


@ledger_write
def change_entries(
    ledger: LockedLedger,
    chosen: Sequence[int] | EntryFilter,
    change: Change,
    now: datetime,
    *,
    dry_run: bool = False,
) -> BulkChange:
    """Change entries as a PATCH of each would, together where no rule reads others.

    An entry that cannot have the values stays as it is. Raises `InvalidFieldError` for
    an unknown id, or if a filter matches too many. Taught layouts learn nothing from
    it.
    """
    if isinstance(chosen, EntryFilter):
        field, ids = "filter", _list_matching(ledger, chosen)
    else:
        field, ids = "ids", list(chosen)
    write = _BulkWrite(ledger, ids, change, now, field=field)
    if not dry_run:
        return write.run()
    with transaction.atomic():
        result = write.run()
        transaction.set_rollback(True)
    return result


def _list_matching(ledger: LockedLedger, filters: EntryFilter) -> list[int]:
    limit = MAX_ENTRIES_OF_CHANGE
    try:
        ids = list_entry_ids(ledger.member, filters, limit + 1)
    except NotFoundError:
        raise MissingItemError("filter") from None
    if len(ids) > limit:
        text = gettext("At most {limit} entries can be changed at once.")
        raise InvalidFieldError("filter", text.format(limit=limit), "limit")
    return ids


class _BulkWrite:
    def __init__(
        self,
        ledger: LockedLedger,
        ids: Sequence[int],
        change: Change,
        now: datetime,
        *,
        field: str,
    ) -> None:
        self.ledger, self.change, self.now = ledger, change, now
        # Names the choice of the entries in an error.
        self.field = field
        self.entries = self._read(ids)
        self.ids = [entry.id for entry in self.entries]
        self.result = BulkChange(matched=len(self.entries))
        self.values = dict(change.values)

    def _execute(self, sql: str, ids: Collection[int], **values: Any) -> list[Any]:
        params: dict[str, Any] = {"member": self.ledger.member.pk, **values}
        with connection.cursor() as cursor:
            cursor.execute(sql, params | {"ids": format_ids(ids)})
            return cursor.fetchall() if cursor.description else []

    def _read(self, ids: Sequence[int]) -> list[StoredEntry]:
        found = list(starmap(StoredEntry, self._execute(_READ, ids)))
        known = {entry.id for entry in found}
        for number, entry_id in enumerate(ids):
            if entry_id not in known:
                name = f"ids.{number}"
                raise MissingItemError(name)
        return found

    def run(self) -> BulkChange:
        self._check_category()
        changed: list[StoredEntry] = []
        alone: list[StoredEntry] = []
        for entry in self.entries:
            if code := self._find_refusal(entry):
                self._refuse(entry.id, code)
            elif not self._differs(entry):
                self.result.unchanged += 1
            elif self._needs_rules(entry):
                alone.append(entry)
            else:
                changed.append(entry)
        if changed:
            self._write(changed)
        self.result.changed += len(changed)
        if len(alone) > MAX_ENTRIES_ALONE:
            text = gettext("At most {limit} refunds and refunded entries at once.")
            text = text.format(limit=MAX_ENTRIES_ALONE)
            raise InvalidFieldError(self.field, text, "limit")
        for entry in alone:
            self._write_alone(entry)
        return self.result

    def _refuse(self, entry_id: int, code: str) -> None:
        self.result.refused_count += 1
        if len(self.result.refused) < MAX_SHOWN_REFUSALS:
            self.result.refused.append((entry_id, code))

    def _check_category(self) -> None:
        """Raise `InvalidFieldError` for an unknown id, or one of another name."""
        category_id = self.values.get("category_id")
        if category_id is None:
            return
        row = self._sent_category
        if row is None:
            raise MissingItemError("set.categoryId")
        if self.values.get("category") not in (None, row.name):
            text = gettext("Is not the id of `category`.")
            raise InvalidFieldError("set.categoryId", text, MISMATCH)

    @cached_property
    def _sent_category(self) -> Category | None:
        rows = Category.objects.owned_by(self.ledger.member)
        return rows.filter(pk=self.values["category_id"]).first()

    @cached_property
    def _has_category(self) -> bool:
        return bool(self.values.keys() & {"category", "category_id"})

    @cached_property
    def _names_category(self) -> bool:
        sent = (self.values.get("category"), self.values.get("category_id"))
        return sent != (None, None)

    def _find_category(self, category_type: str) -> int | None:
        """Return the id for an entry; a new category is made once."""
        if self.values.get("category_id") is not None:
            return int(self.values["category_id"])
        name = self.values.get("category")
        if name is None:
            return None
        if category_type not in self._named_categories:
            key = category_type, name
            row = get_or_create_categories(self.ledger, [key])[key]
            self._named_categories[category_type] = row.pk
        return self._named_categories[category_type]

    @cached_property
    def _named_categories(self) -> dict[str, int]:
        return {}

    @cached_property
    def _refunded(self) -> set[int]:
        """Return the expenses that come back."""
        return {expense_id for (expense_id,) in self._execute(_REFUNDED, self.ids)}

    @cached_property
    def _with_refund_lines(self) -> set[int]:
        return self._find_by_lines("refund_of_id IS NOT NULL")

    @cached_property
    def _against_wallet(self) -> set[int]:
        """Return split entries whose lines do not let them have the new wallet."""
        wallet_id = self.values["wallet"]
        if wallet_id is None:
            return self._find_by_lines("wallet_id IS NOT NULL")
        return self._find_by_lines("wallet_id = %(wallet)s", wallet=wallet_id)

    def _find_by_lines(self, condition: str, **values: Any) -> set[int]:
        sql = _WITH_LINES.format(condition=condition)
        return {entry_id for (entry_id,) in self._execute(sql, self.ids, **values)}

    @cached_property
    def _is_card(self) -> bool:
        rows = Wallet.objects.owned_by(self.ledger.member)
        return rows.filter(pk=self.values["wallet"], kind=Wallet.Kind.CARD).exists()

    @cached_property
    def _tags(self) -> dict[int, list[int]]:
        tags: dict[int, list[int]] = defaultdict(list)
        for entry_id, tag_id in self._execute(_TAGS, self.ids):
            tags[entry_id].append(tag_id)
        return tags

    @cached_property
    def _added_tags(self) -> list[int]:
        return [tag.pk for tag in get_or_create_tags(self.ledger, self.change.add_tags)]

    @cached_property
    def _removed_tags(self) -> set[int]:
        names = self.change.remove_tags
        rows = Tag.objects.owned_by(self.ledger.member).filter(name__in=names)
        return set(rows.values_list("pk", flat=True)) if names else set()

    @cached_property
    def _has_tags(self) -> bool:
        return bool(self.change.add_tags or self.change.remove_tags)

    def _find_tags(self, entry_id: int) -> list[int]:
        kept = [tag for tag in self._tags[entry_id] if tag not in self._removed_tags]
        return [*kept, *(tag for tag in self._added_tags if tag not in kept)]

    def _find_refusal(self, entry: StoredEntry) -> str | None:
        if self._names_category and entry.line_count:
            return SPLIT
        if self._names_category and entry.type == TRANSFER:
            return INVALID
        if "wallet" in self.values and not self._fits_wallet(entry):
            return INVALID
        has_room = (
            not self._has_tags or len(self._find_tags(entry.id)) <= MAX_TAGS_PER_ENTRY
        )
        return None if has_room else INVALID

    def _fits_wallet(self, entry: StoredEntry) -> bool:
        wallet_id = self.values["wallet"]
        if entry.installment_months is not None and not (wallet_id and self._is_card):
            return False
        if entry.type == TRANSFER and wallet_id in (None, entry.to_wallet_id):
            return False
        return not (entry.line_count and entry.id in self._against_wallet)

    def _needs_rules(self, entry: StoredEntry) -> bool:
        """Return True if other entries decide, or have to follow."""
        names = self.values.keys()
        is_dated = "date" in names and entry.date != self.values["date"]
        if is_dated and not entry.amount:
            # A rate of the new day may be known.
            return True
        if not (is_dated or self._has_category or self._has_tags):
            return False
        is_refund = entry.refund_of_id is not None or (
            entry.line_count > 0 and entry.id in self._with_refund_lines
        )
        if is_refund:
            return is_dated or self._has_category
        return entry.id in self._refunded

    def _differs(self, entry: StoredEntry) -> bool:
        values = self.values
        stored = {
            "date": entry.date,
            "wallet": entry.wallet_id,
            "memo": entry.memo,
            "excluded": entry.excluded,
        }
        if any(values[name] != stored[name] for name in values.keys() & stored.keys()):
            return True
        if self._has_category and (
            self._find_category(entry.category_type) != entry.category_id
        ):
            return True
        return self._has_tags and self._find_tags(entry.id) != self._tags[entry.id]

    def _write(self, changed: Sequence[StoredEntry]) -> None:
        ids = [entry.id for entry in changed]
        columns = {"date": "date", "wallet": "wallet_id"} | {
            name: name for name in ("memo", "excluded")
        }
        assignments = {
            column: self.values[name]
            for name, column in columns.items()
            if name in self.values
        }
        names = {name for name in columns if name in self.values}
        names |= {"category"} if self._has_category else set()
        names |= {"tags"} if self._has_tags else set()
        tables = set().union(*(_TOTALS[name] for name in names))
        if any(self._find_type(entry) != entry.category_type for entry in changed):
            # A part of an income becomes one of an expense, or the other way.
            tables = set().union(*_TOTALS.values())
        with keep_entries(self.ledger.member.pk, changed=ids), without_triggers():
            add_entries(self.ledger, ids, sign=-1, tables=tables)
            if self._has_category:
                for (category_id, reverses), of_place in self._group_by_place(
                    changed
                ).items():
                    place = {"category_id": category_id, "is_reversal": reverses}
                    self._update(of_place, assignments | place)
            else:
                self._update(ids, assignments)
            if self._has_tags:
                self._replace_tags(ids)
            add_entries(self.ledger, ids, tables=tables)
        if "memo" in self.values:
            settle_names(self.ledger, ids, self.now)

    def _find_type(self, entry: StoredEntry) -> str:
        """Return the type of the category that the entry gets, or has."""
        if self.values.get("category_id") is not None and self._sent_category:
            return str(self._sent_category.type)
        return entry.category_type

    def _group_by_place(
        self, entries: Sequence[StoredEntry]
    ) -> dict[tuple[int | None, bool], list[int]]:
        """Return the entries by category, and whether they go against its type."""
        groups: dict[tuple[int | None, bool], list[int]] = defaultdict(list)
        for entry in entries:
            category_type = self._find_type(entry)
            category_id = self._find_category(entry.category_type)
            key = category_id, is_reversal(entry.type, category_type)
            groups[key].append(entry.id)
        return groups

    def _update(self, ids: Collection[int], assignments: Mapping[str, Any]) -> None:
        texts = [f"{column} = %({column})s" for column in assignments]
        # The trigger gives each a new version, also for its tags alone.
        statement = _UPDATE.format(assignments=", ".join(texts or ["id = id"]))
        self._execute(statement, ids, now=self.now, **assignments)

    def _replace_tags(self, ids: Sequence[int]) -> None:
        self._execute(_DELETE_TAGS, ids)
        copy_rows(
            EntryTag._meta.db_table,
            ["member_id", "entry_id", "tag_id", "position"],
            (
                (self.ledger.member.pk, entry_id, tag_id, position)
                for entry_id in ids
                for position, tag_id in enumerate(self._find_tags(entry_id))
            ),
        )

    def _write_alone(self, entry: StoredEntry) -> None:
        changes = {name: v for name, v in self.values.items() if name != "category_id"}
        if self.values.get("category_id") is not None and self._sent_category:
            changes["category"] = self._sent_category.name
            changes["category_type"] = self._sent_category.type
        elif "category_id" in self.values and not self._names_category:
            changes["category"] = None
        if self._has_tags:
            tags = Tag.objects.owned_by(self.ledger.member).in_bulk(
                self._find_tags(entry.id)
            )
            names = (tags[tag_id].name for tag_id in self._find_tags(entry.id))
            changes["tags"] = tuple(names)
        try:
            with transaction.atomic():
                update_entry.within(
                    self.ledger,
                    entry.id,
                    changes,
                    self.now,
                    is_partial=True,
                    is_correction=False,
                )
        except DomainError as error:
            self._refuse(entry.id, error.code)
        else:
            self.result.changed += 1
