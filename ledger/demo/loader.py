"""Write the demonstration ledger: all of it, and the everyday part."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from django.db import transaction

from accounts.models import Member
from ledger.categories import get_or_create_category, import_defaults
from ledger.demo.budgets import create_budgets, create_rules
from ledger.demo.entries import (
    BALANCES_TODAY,
    DEMO_WALLETS,
    DemoEntry,
    generate_entries,
)
from ledger.demo.trades import create_investments
from ledger.models import Category, Entry, EntryTag, Wallet
from ledger.quick_entries import create_quick_entry
from ledger.tags import get_or_create_tags
from ledger.wallets import balance_of, list_wallets

TAGS_BY_CATEGORY = {"배달": ("야식",), "여행": ("여행", "가족"), "식료품": ("장보기",)}
"""By the category of the entries that have them."""
DEMO_QUICK_ENTRIES = (
    ("출근 커피", "카페/간식", "카카오 체크", 4_500, ()),
    ("점심", "외식", "신한카드", 10_000, ("회사",)),
    ("지하철", "대중교통", "카카오 체크", 1_550, ()),
    ("장보기", "식료품", "신한카드", None, ("장보기",)),
)
"""Name, category, wallet, amount (None to be asked for) and tags."""


@dataclass(frozen=True, slots=True)
class DemoSummary:
    """How much there is to look at."""

    entries: int
    budgets: int
    trades: int


def create_demo_ledger(member: Member, now: datetime, today: date) -> DemoSummary:
    """Fill an empty ledger with three years of entries and all that goes with them."""
    entries = sorted(generate_entries(today), key=lambda entry: entry.date)
    with transaction.atomic():
        import_defaults(member, english=False)
        wallets = _create_wallets(member)
        rows = _create_entries(member, entries, wallets, now)
        _tag_entries(member, rows)
        _create_quick_entries(member, wallets)
        booked = create_rules(member, wallets, now, today)
        _set_opening_balances(member)
        return DemoSummary(
            entries=len(rows) + booked,
            budgets=create_budgets(member, today),
            trades=create_investments(member, now, today),
        )


def _create_wallets(member: Member) -> dict[str, Wallet]:
    rows = Wallet.objects.bulk_create(
        Wallet(member=member, name=name, sort_order=place, **fields)
        for place, (name, fields) in enumerate(DEMO_WALLETS.items(), start=1)
    )
    return {wallet.name: wallet for wallet in rows}


def _set_opening_balances(member: Member) -> None:
    """Let the wallets hold what is believable today; how they opened follows."""
    for wallet in list_wallets(member).filter(name__in=BALANCES_TODAY):
        wallet.opening_balance += BALANCES_TODAY[wallet.name] - balance_of(wallet)
        wallet.save(update_fields=["opening_balance"])


def _create_entries(
    member: Member,
    entries: list[DemoEntry],
    wallets: dict[str, Wallet],
    now: datetime,
) -> list[Entry]:
    categories = _get_or_create_categories(member, entries)
    return Entry.objects.bulk_create(
        [
            Entry(
                member=member,
                date=entry.date,
                type=entry.type,
                amount=entry.amount,
                category=categories[entry.type, entry.category],
                wallet=wallets[entry.wallet],
                memo=entry.memo,
                currency="USD" if entry.original_amount else None,
                original_amount=entry.original_amount,
                exchange_rate=entry.exchange_rate,
                installment_months=entry.installment_months,
                pending=entry.pending,
                created_at=now,
                updated_at=now,
            )
            for entry in entries
        ],
        batch_size=1000,
    )


def _get_or_create_categories(
    member: Member, entries: Iterable[DemoEntry]
) -> dict[tuple[str, str], Category | None]:
    """By type and name; one that is no default category any more is made."""
    names = dict.fromkeys((entry.type, entry.category) for entry in entries)
    return {
        (type_, name): get_or_create_category(member, type_, name)
        for type_, name in names
    }


def _tag_entries(member: Member, rows: list[Entry]) -> None:
    names = dict.fromkeys(name for group in TAGS_BY_CATEGORY.values() for name in group)
    tags = {tag.name: tag for tag in get_or_create_tags(member, list(names))}
    EntryTag.objects.bulk_create(
        EntryTag(entry=row, tag=tags[name], member_id=member.pk, position=position)
        for row in rows
        if row.category and row.category.name in TAGS_BY_CATEGORY
        for position, name in enumerate(TAGS_BY_CATEGORY[row.category.name])
    )


def _create_quick_entries(member: Member, wallets: dict[str, Wallet]) -> None:
    for name, category, wallet, amount, tags in DEMO_QUICK_ENTRIES:
        values = {
            "name": name,
            "type": "expense",
            "amount": amount,
            "category": category,
            "wallet": wallets[wallet],
            "memo": name,
            "tags": list(tags),
        }
        create_quick_entry(member, values)
