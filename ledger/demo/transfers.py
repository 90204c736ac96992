"""Transfers, split purchases and refunds. Pure."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from ledger.backup.columns import EntryRow, LineRow
from ledger.models.base import CategoryType, EntryType

BANK = "국민은행 주거래"
# Day of the month, memo, target and amount.
MONTHLY_TRANSFERS = (
    (26, "ATM 출금", "현금", 100_000),
    (26, "체크카드 충전", "카카오 체크", 330_000),
    (27, "비상금 저축", "비상금", 200_000),
)
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


def generate_transfers(first: date, today: date) -> Iterator[EntryRow]:
    for offset in range((today - first).days + 1):
        day = first + timedelta(days=offset)
        for due_day, memo, target, amount in MONTHLY_TRANSFERS:
            if day.day == due_day:
                yield make_transfer(day, memo, target, amount)


def make_transfer(day: date, memo: str, target: str, amount: int) -> EntryRow:
    return EntryRow(
        date=day,
        type=EntryType.TRANSFER.value,
        amount=amount,
        wallet=BANK,
        to_wallet=target,
        memo=memo,
    )
