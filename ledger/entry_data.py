"""The values of entries, as requests give them and as they are stored."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Any

from ledger.lines import LineData, natural_category_type, read_lines
from ledger.models import Entry, EntryLine, Wallet
from ledger.models.base import CategoryType, EntryType


@dataclass(frozen=True, slots=True)
class EntryData:
    """The values of an entry, with category and tags by name.

    `amount` is in whole home-currency units; None to convert `original_amount`.
    `category_type` is None for the default: an expense for a refund, else that of the
    entry. Wallets and `refund_of` are rows of which only the id is known.
    """

    date: datetime.date
    type: str
    amount: int | None = None
    category: str | None = None
    wallet: Wallet | None = None
    memo: str = ""
    tags: tuple[str, ...] = ()
    currency: str | None = None
    original_amount: Decimal | None = None
    exchange_rate: Decimal | None = None
    installment_months: int | None = None
    to_wallet: Wallet | None = None
    category_type: str | None = None
    lines: tuple[LineData, ...] = ()
    refund_of: Entry | None = None
    time: datetime.time | None = None
    excluded: bool = False
    source: str = Entry.Source.MANUAL.value


# Fields that an entry and its data share; categories, tags and lines are rows there,
# values here.
SHARED_FIELDS = tuple(
    field.name
    for field in fields(EntryData)
    if field.name not in ("category", "tags", "category_type", "lines", "refund_of")
)
# Fields that an entry of another type or shape loses, unless the request gives them.
_LOST_BY_TRANSFERS = ("category", "currency", "original_amount", "exchange_rate")


def with_category_type(data: EntryData) -> EntryData:
    """Return the data with the types of categories that were left out."""
    default = natural_category_type(data.type)
    if data.refund_of is not None:
        default = CategoryType.EXPENSE.value
    type_ = data.category_type or default
    lines = tuple(
        line if line.category_type else replace(line, category_type=type_)
        for line in data.lines
    )
    return replace(data, category_type=type_, lines=lines)


def read_data(entry: Entry, lines: Sequence[EntryLine]) -> EntryData:
    """Return the values of a stored entry, without its tags."""
    original = None
    if entry.refund_of_id is not None:
        original = Entry(member_id=entry.member_id, id=entry.refund_of_id)
    return EntryData(
        category=entry.category.name if entry.category else None,
        category_type=entry.category_type,
        lines=read_lines(lines),
        refund_of=original,
        **{name: getattr(entry, name) for name in SHARED_FIELDS},
    )


def apply_changes(before: EntryData, changes: dict[str, Any]) -> EntryData:
    """Return the values after an update; what does not fit them any more is cleared."""
    data = replace(before, **changes)
    cleared: dict[str, Any] = {}
    if data.type != before.type:
        cleared["category_type"] = None
    if data.type != EntryType.INCOME:
        cleared["refund_of"] = None
    if data.type == EntryType.TRANSFER:
        cleared |= dict.fromkeys(_LOST_BY_TRANSFERS)
        cleared["installment_months"] = None
    if data.type != EntryType.TRANSFER or data.lines:
        cleared["to_wallet"] = None
    if data.lines:
        cleared["category"] = None
    kept = {name: value for name, value in cleared.items() if name not in changes}
    return with_category_type(replace(data, **kept))
