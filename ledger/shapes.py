"""The shape of a transfer or split entry after a move of a wallet or category.

A part for the wallet that the entry is then paid from goes: it has no effect any more.
Lines for one category become one line. What has one line left is flat: booked on its
category, or a transfer. Where lines of both signs cancel out, two entries are left, one
in each direction, since an entry has an amount above 0. No amount becomes larger than
one may be: lines that are too large together stay apart, and so do entries. No other
effect changes, and the memo of the entry takes those of the lines that it loses.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from core.api.fields import MAX_AMOUNT
from ledger.models.base import MAX_MEMO_LENGTH, EntryType
from ledger.models.lines import MIN_LINES


@dataclass(frozen=True, slots=True)
class Part:
    """A line by ids, with its memo; with those of all lines that became this one."""

    amount: int
    category_id: int | None
    category_type: str
    wallet_id: int | None
    memos: tuple[str, ...] = ()

    @property
    def memo(self) -> str:
        return join_memos("", self.memos)


@dataclass(frozen=True, slots=True)
class Shape:
    """The parts of an entry or template that a move may change.

    `to_wallet_id` is that of a flat transfer, and `parts` are the lines of a split one.
    After a move there may be a single part, of what has become flat.
    """

    type: str
    amount: int
    wallet_id: int | None
    to_wallet_id: int | None
    parts: tuple[Part, ...] = ()
    memo: str = ""

    @property
    def is_flat(self) -> bool:
        return len(self.parts) < MIN_LINES


def join_memos(memo: str, others: Iterable[str]) -> str:
    """Return a memo with the others that are not in it, as far as they fit."""
    for other in others:
        if other not in memo:
            memo = f"{memo}, {other}" if memo else other
    return memo[:MAX_MEMO_LENGTH]


def move_wallet_of(shape: Shape, source: int, target: int) -> list[Shape]:
    """Return the shapes that are left after a move; none if it has no effect."""
    wallet_id = target if shape.wallet_id == source else shape.wallet_id
    to_wallet_id = target if shape.to_wallet_id == source else shape.to_wallet_id
    if to_wallet_id is not None and to_wallet_id == wallet_id:
        return []
    moved = replace(shape, wallet_id=wallet_id, to_wallet_id=to_wallet_id)
    if not shape.parts:
        return [moved]
    left: list[Part] = []
    dropped: list[Part] = []
    for part in shape.parts:
        if part.wallet_id == source:
            part = replace(part, wallet_id=target)
        is_own = part.wallet_id is not None and part.wallet_id == wallet_id
        (dropped if is_own else left).append(part)
    return _rebuild(moved, left, dropped)


def move_category_of(shape: Shape, source: int, target: int) -> list[Shape]:
    """Return the shapes that are left after a move; none if it has no effect."""
    if not shape.parts:
        return [shape]
    merged: list[Part] = []
    for part in shape.parts:
        if part.category_id == source:
            part = replace(part, category_id=target)
        same = _find_mergeable(merged, part) if part.category_id == target else None
        if same is None:
            merged.append(part)
            continue
        first = merged[same]
        merged[same] = replace(
            first,
            amount=first.amount + part.amount,
            memos=tuple(dict.fromkeys(first.memos + part.memos)),
        )
    left = [part for part in merged if part.amount]
    dropped = [part for part in merged if not part.amount]
    return _rebuild(shape, left, dropped)


def _find_mergeable(parts: Sequence[Part], added: Part) -> int | None:
    """Return the first place of a part that this one fits into."""
    for place, part in enumerate(parts):
        is_same = part.category_id == added.category_id
        if is_same and abs(part.amount + added.amount) <= MAX_AMOUNT:
            return place
    return None


def _rebuild(
    shape: Shape, parts: Sequence[Part], dropped: Sequence[Part]
) -> list[Shape]:
    """Return the shapes of these parts, with the memos of those that went."""
    memos = (memo for part in dropped for memo in part.memos)
    kept = replace(shape, memo=join_memos(shape.memo, memos))
    return [_make_shape(kept, group) for group in _group(parts)]


def _group(parts: Sequence[Part]) -> list[list[Part]]:
    """Return the parts in as many groups as it takes for amounts that are allowed."""
    amount = sum(part.amount for part in parts)
    if not parts:
        return []
    if 0 < abs(amount) <= MAX_AMOUNT:
        return [list(parts)]
    if amount == 0:
        added = [part for part in parts if part.amount > 0]
        taken = [part for part in parts if part.amount < 0]
        return [*_group(added), *_group(taken)]
    # As many as fit, then the others.
    size = amount = 0
    for part in parts:
        amount += part.amount
        if abs(amount) > MAX_AMOUNT:
            break
        size += 1
    return [*_group(parts[:size]), *_group(parts[size:])]


def _make_shape(shape: Shape, parts: Sequence[Part]) -> Shape:
    """Return the shape of these parts, with the type and amount that fit them."""
    amount = sum(part.amount for part in parts)
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
    memo = shape.memo
    if len(parts) < MIN_LINES:
        memo = join_memos(memo, parts[0].memos)
    return Shape(type_, amount, wallet_id, None, tuple(parts), memo)
