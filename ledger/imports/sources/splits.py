"""Entries that a file has in several rows: the parts become lines. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal

from ledger.currencies.codes import EXACT
from ledger.imports.records import (
    BadRow,
    Direction,
    Record,
    RecordKind,
    RecordLine,
)
from ledger.models.lines import MAX_LINES


@dataclass(frozen=True, slots=True)
class Part:
    """A row of a split entry: its own record, and what it adds to its wallet.

    `memo` is what the line says; the memo of the record also has what all parts share.
    """

    record: Record
    signed: Decimal
    memo: str


def join_parts(parts: Sequence[Part], text: str = "", memo: str = "") -> list[Record]:
    """Return the parts as one record with lines, or as they are where that cannot be.

    One wallet, one day, one currency at home, at most as many lines as an entry may
    have, and a sum that is not 0 make an entry. A line to another wallet is a transfer.
    """
    records = [part.record for part in parts]
    total = sum((part.signed for part in parts), Decimal(0))
    units = round_units(abs(total))
    if not _can_join(records) or not units:
        return records
    direction = Direction.IN if total > 0 else Direction.OUT
    sign = 1 if total > 0 else -1
    lines = [_make_line(part, sign) for part in parts]
    if any(not line.amount for line in lines):
        return records
    # Each part is rounded by itself; the largest takes what is over.
    rest = units - sum(line.amount for line in lines)
    index = max(range(len(lines)), key=lambda i: abs(lines[i].amount))
    lines[index] = replace(lines[index], amount=lines[index].amount + rest)
    first = records[0]
    tags = tuple(dict.fromkeys(tag for record in records for tag in record.tags))
    joined = replace(
        first,
        direction=direction,
        amount=units,
        kind=_joined_kind(records, direction),
        other_wallet=None,
        category=None,
        minor_category=None,
        text=text or first.text,
        memo=memo or first.memo,
        tags=tags,
        lines=tuple(lines),
    )
    return [joined]


def _can_join(records: Sequence[Record]) -> bool:
    first = records[0]
    return (
        2 <= len(records) <= MAX_LINES
        and all(
            each.wallet == first.wallet
            and each.date == first.date
            and each.currency is None
            and each.kind is not RecordKind.OPENING
            for each in records
        )
        and not all(each.kind is RecordKind.TRANSFER for each in records)
    )


def _joined_kind(records: Sequence[Record], direction: Direction) -> RecordKind:
    flows = [each for each in records if each.kind is not RecordKind.TRANSFER]
    is_refund = direction is Direction.IN and all(
        each.kind is RecordKind.REFUND for each in flows
    )
    return RecordKind.REFUND if is_refund else RecordKind.FLOW


def _make_line(part: Part, sign: int) -> RecordLine:
    record = part.record
    return RecordLine(
        amount=round_units(sign * part.signed),
        category=record.category,
        minor_category=record.minor_category,
        memo=part.memo,
        wallet=record.other_wallet,
    )


def round_units(amount: Decimal) -> int:
    """Return whole home units, halves away from 0; 0 is left to the caller."""
    return int(amount.quantize(Decimal(1), ROUND_HALF_UP, EXACT))


def drop_other_sides(
    records: Sequence[Record | BadRow], counts: Counter[str]
) -> list[Record | BadRow]:
    """Drop the rows of other wallets that lines of splits tell already.

    Apps write both sides of a transfer. Where one side is a line, the other one is a
    row of its own, which would move the money a second time.
    """
    wanted: Counter[tuple[object, ...]] = Counter()
    key: tuple[object, ...]
    for each in records:
        if isinstance(each, Record):
            for line in each.lines:
                if line.wallet is not None:
                    sign = -1 if each.direction is Direction.OUT else 1
                    key = (line.wallet, each.wallet, each.date, -sign * line.amount)
                    wanted[key] += 1
    if not wanted:
        return list(records)
    kept: list[Record | BadRow] = []
    for each in records:
        if isinstance(each, Record) and each.kind is RecordKind.TRANSFER:
            sign = -1 if each.direction is Direction.OUT else 1
            key = (each.wallet, each.other_wallet, each.date, sign * (each.amount or 0))
            if wanted[key] > 0:
                wanted[key] -= 1
                counts["part"] += 1
                continue
        kept.append(each)
    return kept
