"""Purchases in installments and the settings of cards, written as rows."""

from datetime import date
from typing import Any

from accounts.models import Member
from ledger.models import Card, CardBill, Entry, EntryLine, Wallet
from tests.support.factories import make_entry, make_wallet

# Paid on the 14th of the next month; on the 27th of the same one, or the next.
NEXT_MONTH = {"closingDay": 31, "paymentDay": 14, "paymentMonth": 1}
SAME_MONTH = {"closingDay": 13, "paymentDay": 27, "paymentMonth": 0}


def make_card_wallet(
    member: Member, days: dict[str, Any] | None = None, **settings: Any
) -> Wallet:
    """Create a CARD with settings; with `days` it has bills of its own."""
    wallet = make_wallet(member, kind="CARD")
    if days is not None:
        settings["terms"] = [{"from": "2026-01", "shift": "NEXT", **days}]
    Card.objects.create(member=member, id=wallet.pk, **settings)
    return wallet


def print_bill(member: Member, wallet: Wallet, month: str, **printed: Any) -> None:
    CardBill.objects.create(
        member=member,
        card_id=wallet.pk,
        month=date.fromisoformat(f"{month}-01"),
        **printed,
    )


def buy(
    member: Member, wallet: Wallet | None, day: str, amount: int, **fields: Any
) -> Entry:
    return make_entry(
        member, wallet=wallet, date=date.fromisoformat(day), amount=amount, **fields
    )


def buy_split(
    member: Member,
    wallet: Wallet,
    day: str,
    lines: list[dict[str, Any]],
    **fields: Any,
) -> Entry:
    """Create a split entry; `lines` have `amount` and a category, or a wallet."""
    amount = sum(line["amount"] for line in lines)
    entry = buy(member, wallet, day, amount, line_count=None, **fields)
    for position, line in enumerate(lines):
        values = {"category_type": "expense"} | line
        EntryLine.objects.create(
            member=member, entry=entry, position=position, **values
        )
    # Counted by the triggers from here on.
    Entry.objects.filter(pk=entry.pk).update(line_count=len(lines))
    return entry
