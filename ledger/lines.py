"""The shape of entries and templates: one category, another wallet, or lines.

See spec 3.4. What is checked here for clients, the database enforces too.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.utils.translation import gettext

from accounts.models import Member
from core.errors import InvalidFieldError
from ledger.categories import get_or_create_category
from ledger.errors import LinesMismatchError
from ledger.models import Category, Entry, EntryLine, Wallet
from ledger.models.base import CategoryType, EntryType
from ledger.models.lines import Line
from ledger.moves import raise_if_moving


@dataclass(frozen=True, slots=True)
class LineData:
    """The values of a line, with its category by name.

    `category_type` is None for the default, that of the entry.
    """

    amount: int
    category: str | None = None
    category_type: str | None = None
    wallet: Wallet | None = None
    memo: str = ""


class Keyed(Protocol):
    """A wallet, or an object with the id of one."""

    @property
    def pk(self) -> Any: ...


class ShapedLine(Protocol):
    @property
    def amount(self) -> int: ...
    @property
    def category(self) -> str | None: ...
    @property
    def wallet(self) -> Keyed | None: ...


class Shaped(Protocol):
    """The fields that an entry and a template have in common."""

    @property
    def type(self) -> str: ...
    @property
    def category(self) -> str | None: ...
    @property
    def category_type(self) -> str | None: ...
    @property
    def wallet(self) -> Keyed | None: ...
    @property
    def to_wallet(self) -> Keyed | None: ...
    @property
    def lines(self) -> Sequence[ShapedLine]: ...
    @property
    def amount(self) -> int | None: ...


def natural_category_type(entry_type: str) -> str:
    """Return the type of categories that an entry has by default."""
    if entry_type == EntryType.INCOME:
        return CategoryType.INCOME.value
    return CategoryType.EXPENSE.value


def is_reversal(entry_type: str, category_type: str | None) -> bool:
    """Return True if an entry is booked on a category of the other type."""
    return category_type not in (None, natural_category_type(entry_type))


def validate_shape(data: Shaped) -> None:
    """Raise an error of a field unless wallets, category and lines fit together."""
    if data.type == EntryType.TRANSFER:
        if data.wallet is None:
            raise InvalidFieldError(
                "walletId", gettext("Required for a transfer."), "required"
            )
        if data.category is not None:
            raise InvalidFieldError(
                "category", gettext("A transfer has no category but in its lines.")
            )
        if data.to_wallet is None and not data.lines:
            raise InvalidFieldError(
                "toWalletId", gettext("Required for a transfer."), "required"
            )
    elif data.to_wallet is not None:
        raise InvalidFieldError("toWalletId", gettext("Only allowed for transfers."))
    if data.to_wallet is not None and data.wallet is not None:
        if data.lines:
            raise InvalidFieldError(
                "toWalletId", gettext("The lines of the entry name its wallets.")
            )
        if data.to_wallet.pk == data.wallet.pk:
            raise InvalidFieldError("toWalletId", gettext("Must be another wallet."))
    if data.lines:
        _validate_lines(data)


def _validate_lines(data: Shaped) -> None:
    if data.category is not None:
        raise InvalidFieldError(
            "category", gettext("The lines of the entry name its categories.")
        )
    own_id = data.wallet.pk if data.wallet is not None else None
    for number, line in enumerate(data.lines):
        if line.wallet is None:
            continue
        field = f"lines.{number}.walletId"
        if line.category is not None:
            raise InvalidFieldError(
                field,
                gettext("A line has a category or a wallet, not both."),
            )
        if own_id is None:
            raise InvalidFieldError(
                "walletId", gettext("Required with lines of wallets."), "required"
            )
        if line.wallet.pk == own_id:
            raise InvalidFieldError(field, gettext("Must be another wallet."))
    is_transfer = data.type == EntryType.TRANSFER
    if is_transfer and all(line.wallet is None for line in data.lines):
        raise InvalidFieldError(
            "lines", gettext("A transfer needs a line with a wallet.")
        )
    if sum(line.amount for line in data.lines) != data.amount:
        raise LinesMismatchError


def make_lines(
    member: Member, entry_type: str, lines: Sequence[LineData], model: type[Line]
) -> list[Any]:
    """Return unsaved rows, without their owner, creating new categories on the way.

    Call under `lock_ledger`. Raises `InvalidFieldError` for wallets that do not exist,
    and `MovingError` for wallets and categories that are moving.
    """
    ids = {line.wallet.pk for line in lines if line.wallet is not None}
    wallets = Wallet.objects.owned_by(member).in_bulk(ids) if ids else {}
    raise_if_moving(*wallets.values())
    categories = _find_categories(member, lines)
    rows = []
    for number, line in enumerate(lines):
        field = f"lines.{number}.walletId"
        if line.wallet is not None and line.wallet.pk not in wallets:
            raise InvalidFieldError(
                field,
                gettext("Wallet not found."),
                "does_not_exist",
            )
        type_ = line.category_type or natural_category_type(entry_type)
        key = (type_, line.category)
        if key not in categories:
            categories[key] = get_or_create_category(member, *key)
        raise_if_moving(categories[key])
        rows.append(
            model(
                member=member,
                position=number,
                amount=line.amount,
                category=categories[key],
                category_type=type_,
                wallet=line.wallet and wallets[line.wallet.pk],
                memo=line.memo,
            )
        )
    return rows


def _find_categories(
    member: Member, lines: Sequence[LineData]
) -> dict[tuple[str, str | None], Category | None]:
    """Return the categories with the names of lines, by type and name."""
    names = {line.category for line in lines if line.category is not None}
    rows = Category.objects.owned_by(member).filter(name__in=names) if names else ()
    return {(row.type, row.name): row for row in rows}


def read_lines(rows: Sequence[Line]) -> tuple[LineData, ...]:
    """Return the values of stored lines."""
    return tuple(
        LineData(
            row.amount,
            row.category.name if row.category else None,
            row.category_type,
            row.wallet,
            row.memo,
        )
        for row in rows
    )


def list_lines(entry: Entry) -> list[EntryLine]:
    """Return the lines of an entry with their wallets and categories."""
    if not entry.line_count:
        return []
    rows = EntryLine.objects.filter(member_id=entry.member_id, entry_id=entry.pk)
    return list(rows.select_related("category", "wallet").order_by("position"))


def dump_lines(lines: Sequence[LineData]) -> str:
    """Return lines as `account_create_entry` reads them."""
    return json.dumps(
        [
            {
                "amount": line.amount,
                "category": line.category,
                "category_type": line.category_type,
                "wallet": line.wallet and line.wallet.pk,
                "memo": line.memo,
            }
            for line in lines
        ]
    )


def book_lines(entry: Entry, rows: Sequence[EntryLine]) -> None:
    """Write the lines of an entry whose `line_count` is NULL, and count it."""
    for row in rows:
        row.entry_id = entry.pk
    EntryLine.objects.bulk_create(rows)
    entry.line_count = len(rows)
    stored = Entry.objects.filter(member_id=entry.member_id, pk=entry.pk)
    stored.update(line_count=entry.line_count)


def unbook_lines(entry: Entry) -> None:
    """Take a split entry off the totals and delete its lines."""
    if not entry.line_count:
        return
    stored = Entry.objects.filter(member_id=entry.member_id, pk=entry.pk)
    stored.update(line_count=None)
    entry.line_count = None
    EntryLine.objects.filter(member_id=entry.member_id, entry_id=entry.pk).delete()
