"""What a move of a wallet or category leaves of a transfer or split entry.

A part for the wallet that the entry is then paid from goes: it has no effect any more.
Lines for one category become one line. What has one line left is flat: booked on its
category, or a transfer. Where lines of both signs cancel out, two entries are left, one
in each direction, since an entry has an amount above 0. No other effect changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ledger.models.base import MAX_MEMO_LENGTH, EntryType
from ledger.models.lines import MIN_LINES


@dataclass(frozen=True, slots=True)
class Part:
    """A line by ids."""

    amount: int
    category_id: int | None
    category_type: str
    wallet_id: int | None
    memo: str


@dataclass(frozen=True, slots=True)
class Shape:
    """What a move may change of an entry or template.

    `to_wallet_id` is that of a flat transfer, and `parts` are the lines of a split one.
    After a move there may be a single part, of what has become flat.
    """

    type: str
    amount: int
    wallet_id: int | None
    to_wallet_id: int | None
    parts: tuple[Part, ...] = ()

    @property
    def is_flat(self) -> bool:
        return len(self.parts) < MIN_LINES


def move_wallet_of(shape: Shape, source: int, target: int) -> list[Shape]:
    """Return what is left after a move: nothing, one or two shapes."""
    wallet_id = target if shape.wallet_id == source else shape.wallet_id
    to_wallet_id = target if shape.to_wallet_id == source else shape.to_wallet_id
    if to_wallet_id is not None and to_wallet_id == wallet_id:
        return []
    parts = [
        replace(part, wallet_id=target) if part.wallet_id == source else part
        for part in shape.parts
    ]
    left = [
        part for part in parts if part.wallet_id is None or part.wallet_id != wallet_id
    ]
    moved = replace(shape, wallet_id=wallet_id, to_wallet_id=to_wallet_id)
    return _rebuild(moved, left) if shape.parts else [moved]


def move_category_of(shape: Shape, source: int, target: int) -> list[Shape]:
    """Return what is left after a move: nothing, one or two shapes."""
    merged: list[Part] = []
    for part in shape.parts:
        if part.category_id == source:
            part = replace(part, category_id=target)
        same = next(
            (n for n, each in enumerate(merged) if each.category_id == target), None
        )
        if part.category_id != target or same is None:
            merged.append(part)
            continue
        first = merged[same]
        memos = dict.fromkeys(memo for memo in (first.memo, part.memo) if memo)
        merged[same] = replace(
            first,
            amount=first.amount + part.amount,
            memo=", ".join(memos)[:MAX_MEMO_LENGTH],
        )
    left = [part for part in merged if part.amount]
    return _rebuild(shape, left) if shape.parts else [shape]


def _rebuild(shape: Shape, parts: Sequence[Part]) -> list[Shape]:
    """Return the shapes of these parts, with types and amounts that fit them."""
    amount = sum(part.amount for part in parts)
    if not parts:
        return []
    if amount == 0:
        added = [part for part in parts if part.amount > 0]
        taken = [part for part in parts if part.amount < 0]
        return [*_rebuild(shape, added), *_rebuild(shape, taken)]
    type_, wallet_id = shape.type, shape.wallet_id
    if amount < 0:
        amount = -amount
        parts = [replace(part, amount=-part.amount) for part in parts]
        is_income = shape.type == EntryType.INCOME
        type_ = (EntryType.EXPENSE if is_income else EntryType.INCOME).value
    moves_money = any(part.wallet_id is not None for part in parts)
    if len(parts) == 1 and moves_money:
        (part,) = parts
        if type_ == EntryType.INCOME:
            parts, wallet_id = [replace(part, wallet_id=wallet_id)], part.wallet_id
        type_ = EntryType.TRANSFER.value
    elif type_ == EntryType.TRANSFER and not moves_money:
        type_ = EntryType.EXPENSE.value
    return [Shape(type_, amount, wallet_id, None, tuple(parts))]
