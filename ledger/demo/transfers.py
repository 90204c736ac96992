"""Transfers, split purchases and refunds. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from ledger.backup.columns import EntryRow, LineRow
from ledger.models.base import CategoryType, EntryType
from ledger.periods import add_months

BANK, CARD = "국민은행 주거래", "신한카드"
# Day of the month, memo, target and amount.
MONTHLY_TRANSFERS = (
    (26, "ATM 출금", "현금", 100_000),
    (26, "체크카드 충전", "카카오 체크", 330_000),
    (27, "비상금 저축", "비상금", 200_000),
)
BILL_DAY = 14
# Every sixth piece of clothes is returned, every fifth supermarket purchase is split.
RETURNED, DIVIDED = 6, 5
RETURN_AFTER = timedelta(days=5)
SUPERMARKET, CLOTHES = "이마트", "의류/잡화"


def divide_purchases(entries: Sequence[EntryRow]) -> list[LineRow]:
    purchases = [entry for entry in entries if entry.memo == SUPERMARKET]
    lines = []
    for number, entry in enumerate(purchases[::DIVIDED]):
        entry.key, entry.category = f"purchase-{number}", None
        amount = entry.amount or 0
        share = amount * 3 // 10
        lines += [
            LineRow(entry=entry.key, amount=amount - share, category="식료품"),
            LineRow(entry=entry.key, amount=share, category="생활용품"),
        ]
    return lines


def generate_refunds(entries: Sequence[EntryRow], today: date) -> Iterator[EntryRow]:
    clothes = [entry for entry in entries if entry.category == CLOTHES]
    for number, entry in enumerate(clothes[::RETURNED]):
        day = entry.date + RETURN_AFTER
        if day <= today:
            entry.key = f"clothes-{number}"
            yield EntryRow(
                date=day,
                type=EntryType.INCOME.value,
                amount=entry.amount,
                category=entry.category,
                category_type=CategoryType.EXPENSE.value,
                wallet=entry.wallet,
                memo=f"{entry.memo} 반품",
                refund_of=entry.key,
            )


def generate_transfers(
    entries: Sequence[EntryRow], first: date, today: date
) -> Iterator[EntryRow]:
    bills = sum_bills(entries)
    for offset in range((today - first).days + 1):
        day = first + timedelta(days=offset)
        for due_day, memo, target, amount in MONTHLY_TRANSFERS:
            if day.day == due_day:
                yield make_transfer(day, memo, target, amount)
        bill = bills[add_months(day.year, day.month, -1)]
        if day.day == BILL_DAY and bill:
            yield make_transfer(day, "신한카드 카드대금", CARD, bill)


def make_transfer(day: date, memo: str, target: str, amount: int) -> EntryRow:
    return EntryRow(
        date=day,
        type=EntryType.TRANSFER.value,
        amount=amount,
        wallet=BANK,
        to_wallet=target,
        memo=memo,
    )


def sum_bills(entries: Sequence[EntryRow]) -> Counter[tuple[int, int]]:
    """Return the card payments less refunds of each (year, month)."""
    bills: Counter[tuple[int, int]] = Counter()
    for entry in entries:
        if entry.wallet == CARD and not entry.pending:
            sign = 1 if entry.type == EntryType.EXPENSE else -1
            bills[entry.date.year, entry.date.month] += sign * (entry.amount or 0)
    return bills
