"""Entries that rows become. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ledger.entry_shape import (
    EXPENSE,
    MAX_MEMO_LENGTH,
    MAX_TAGS_PER_ENTRY,
    TRANSFER,
    EntryShape,
    LineShape,
)
from ledger.imports.choices import CategoryName, Choices, category_of
from ledger.imports.judging import JudgedRow, Reason, entry_type
from ledger.imports.keys import WalletRef
from ledger.imports.records import Direction, Record, RecordKind
from ledger.models.base import MAX_NAME_LENGTH
from ledger.models.entries import EntrySource
from ledger.models.wallets import Wallet

_CARDS = frozenset({Wallet.Kind.CARD.value})


@dataclass(frozen=True, slots=True)
class Places:
    """Ids of wallets by their name in the file, and the kinds of all wallets by id."""

    wallet_ids: Mapping[str, int]
    kinds: Mapping[int, str]
    file_wallets: Mapping[str, WalletRef] = field(default_factory=dict)

    def find(self, ref: WalletRef) -> int | None:
        return self.wallet_ids[ref] if isinstance(ref, str) else ref


def make_shape(
    row: JudgedRow,
    places: Places,
    choices: Choices,
    *,
    learned: str | None,
    edits: Mapping[str, Any],
) -> EntryShape:
    """Return the entry of a row that is imported."""
    record = row.record
    wallet, other = places.find(row.wallet), places.find(row.other)
    memo = edits.get("memo", record.memo or record.text)[:MAX_MEMO_LENGTH]
    shared: dict[str, Any] = {
        "date": record.date,
        "time": record.time,
        "amount": record.amount,
        "memo": memo,
        "tags": clean_tags(record.tags),
        "source": EntrySource.IMPORT.value,
    }
    if is_transfer(row) and wallet is not None and other is not None:
        is_out = record.direction is Direction.OUT
        source, target = (wallet, other) if is_out else (other, wallet)
        return EntryShape(type=TRANSFER, wallet=source, to_wallet=target, **shared)
    type_ = entry_type(record)
    months = record.months
    if type_ != EXPENSE or wallet is None or places.kinds.get(wallet) not in _CARDS:
        months = None
    shape = EntryShape(
        type=type_,
        wallet=wallet,
        category=_choose_category(record, choices, learned, edits),
        category_type=EXPENSE if is_refund(record) else None,
        currency=record.currency,
        original_amount=record.original_amount,
        exchange_rate=record.exchange_rate,
        installment_months=months if months and 2 <= months <= 24 else None,
        # Money between the member's wallets is no income and no expense.
        excluded=record.kind in (RecordKind.TRANSFER, RecordKind.OPENING),
        refund_of=row.entry_id if row.reason is Reason.CAME_BACK else None,
        **shared,
    )
    return _split(shape, record, places, choices) if record.lines else shape


def is_transfer(row: JudgedRow) -> bool:
    """Return whether the row moves money between two wallets, if both are known."""
    if row.reason in (Reason.TWO_ROWS, Reason.BOTH_WALLETS):
        return True
    return row.reason is Reason.NO_OTHER_SIDE and row.other is not None


def is_refund(record: Record) -> bool:
    is_back = record.kind in (RecordKind.REFUND, RecordKind.CANCELLATION)
    return is_back and record.direction is Direction.IN


def category_type_of(record: Record) -> str:
    return EXPENSE if is_refund(record) else entry_type(record)


def clean_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    names = dict.fromkeys(tag.strip()[:MAX_NAME_LENGTH] for tag in tags)
    return tuple(name for name in names if name)[:MAX_TAGS_PER_ENTRY]


def _choose_category(
    record: Record,
    choices: Choices,
    learned: str | None,
    edits: Mapping[str, Any],
) -> str | None:
    if record.lines or record.kind in (RecordKind.TRANSFER, RecordKind.OPENING):
        return None
    if "category" in edits:
        category: str | None = edits["category"]
        return category
    named = category_of(record, record.category, record.minor_category)
    return learned if named is None else chosen_category(named, choices)


def chosen_category(named: CategoryName, choices: Choices) -> str | None:
    """Return the name in the ledger; None where the member wants none."""
    return choices.categories.get(named, named.name)


def _split(
    shape: EntryShape, record: Record, places: Places, choices: Choices
) -> EntryShape:
    lines = []
    for line in record.lines:
        named = category_of(record, line.category, line.minor_category)
        ref = None if line.wallet is None else places.file_wallets[line.wallet]
        wallet = places.find(ref)
        is_own = wallet is None or wallet == shape.wallet
        category = named and chosen_category(named, choices)
        lines.append(
            LineShape(
                line.amount,
                category=category if is_own else None,
                wallet=None if is_own else wallet,
                memo=line.memo[:MAX_MEMO_LENGTH],
            )
        )
    split = EntryShape(
        type=shape.type,
        amount=shape.amount,
        category_type=shape.category_type,
        wallet=shape.wallet,
        lines=tuple(lines),
        memo=shape.memo,
        tags=shape.tags,
        date=shape.date,
        time=shape.time,
        currency=shape.currency,
        original_amount=shape.original_amount,
        exchange_rate=shape.exchange_rate,
        excluded=shape.excluded,
        source=shape.source,
    )
    return split.flatten() if len(split.lines) == 1 else split
