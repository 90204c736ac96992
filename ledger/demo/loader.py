"""Write the demonstration ledger: all of it, and the everyday part."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from django.db import transaction

from accounts.models import Member
from ledger.categories import import_defaults, resolve_category
from ledger.demo.budgets import write_budgets, write_rules
from ledger.demo.entries import HELD_TODAY, WALLETS, DemoEntry, imagine_entries
from ledger.demo.trades import write_investments
from ledger.models import Category, Entry, EntryTag, Wallet
from ledger.quick_entries import create_quick_entry
from ledger.tags import resolve_tags
from ledger.wallets import balance_of, list_wallets

TAGS = {"배달": ("야식",), "여행": ("여행", "가족"), "식료품": ("장보기",)}
"""By the category of the entries that have them."""
QUICK_ENTRIES = (
    ("출근 커피", "카페/간식", "카카오 체크", 4_500, ()),
    ("점심", "외식", "신한카드", 10_000, ("회사",)),
    ("지하철", "대중교통", "카카오 체크", 1_550, ()),
    ("장보기", "식료품", "신한카드", None, ("장보기",)),
)
"""Name, category, wallet, amount (None to be asked for) and tags."""


@dataclass(frozen=True, slots=True)
class Written:
    """How much there is to look at."""

    entries: int
    budgets: int
    trades: int


def write_demo_ledger(member: Member, now: datetime, today: date) -> Written:
    """Fill an empty ledger with three years of entries and all that goes with them."""
    entries = sorted(imagine_entries(today), key=lambda entry: entry.date)
    with transaction.atomic():
        import_defaults(member, english=False)
        wallets = _write_wallets(member)
        rows = _write_entries(member, entries, wallets, now)
        _tag_entries(member, rows)
        _write_quick_entries(member, wallets)
        booked = write_rules(member, wallets, now, today)
        _balance_wallets(member)
        return Written(
            entries=len(rows) + booked,
            budgets=write_budgets(member, today),
            trades=write_investments(member, now, today),
        )


def _write_wallets(member: Member) -> dict[str, Wallet]:
    rows = Wallet.objects.bulk_create(
        Wallet(member=member, name=name, sort_order=place, **fields)
        for place, (name, fields) in enumerate(WALLETS.items(), start=1)
    )
    return {wallet.name: wallet for wallet in rows}


def _balance_wallets(member: Member) -> None:
    """Let the wallets hold what is believable today; how they opened follows."""
    for wallet in list_wallets(member).filter(name__in=HELD_TODAY):
        wallet.opening_balance += HELD_TODAY[wallet.name] - balance_of(wallet)
        wallet.save(update_fields=["opening_balance"])


def _write_entries(
    member: Member,
    entries: list[DemoEntry],
    wallets: dict[str, Wallet],
    now: datetime,
) -> list[Entry]:
    categories = _find_categories(member, entries)
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
                currency="USD" if entry.original else None,
                original_amount=entry.original,
                exchange_rate=entry.rate,
                installment_months=entry.months,
                pending=entry.pending,
                created_at=now,
                updated_at=now,
            )
            for entry in entries
        ],
        batch_size=1000,
    )


def _find_categories(
    member: Member, entries: Iterable[DemoEntry]
) -> dict[tuple[str, str], Category | None]:
    """By type and name; one that is no default category any more is made."""
    names = dict.fromkeys((entry.type, entry.category) for entry in entries)
    return {
        (type_, name): resolve_category(member, type_, name) for type_, name in names
    }


def _tag_entries(member: Member, rows: list[Entry]) -> None:
    names = dict.fromkeys(name for group in TAGS.values() for name in group)
    tags = {tag.name: tag for tag in resolve_tags(member, list(names))}
    EntryTag.objects.bulk_create(
        EntryTag(entry=row, tag=tags[name], member_id=member.pk, position=position)
        for row in rows
        if row.category and row.category.name in TAGS
        for position, name in enumerate(TAGS[row.category.name])
    )


def _write_quick_entries(member: Member, wallets: dict[str, Wallet]) -> None:
    for name, category, wallet, amount, tags in QUICK_ENTRIES:
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
