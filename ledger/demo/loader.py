"""Loads the demo ledger."""

from dataclasses import dataclass
from datetime import date, datetime

from ledger.backup.columns import Backup, CategoryRow, ReferringRow, TagRow
from ledger.backup.ledger_writer import LedgerWriter
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.categories.defaults import list_default_categories
from ledger.demo.budgets import (
    create_expected_incomes,
    make_budgets,
    make_rule_lines,
    make_rules,
    process_rules,
)
from ledger.demo.cards import generate_card_purchases, set_up_cards
from ledger.demo.entries import (
    BALANCES_TODAY,
    WALLET_ROWS,
    generate_entries,
    make_quick_entries,
    start_date,
)
from ledger.demo.trades import create_investments
from ledger.demo.transfers import (
    divide_purchases,
    generate_refunds,
    generate_transfers,
)
from ledger.demo.written import set_written_times
from ledger.entry_shape import default_category_type
from ledger.models.base import CategoryType
from ledger.rollups.definitions import bulk_write
from ledger.wallets.wallets import select_wallets


@dataclass(frozen=True, slots=True)
class DemoSummary:
    entries: int
    budgets: int
    trades: int


@ledger_write
def create_demo_ledger(ledger: LockedLedger, now: datetime, today: date) -> DemoSummary:
    member, backup = ledger.member, make_demo_backup(today)
    with bulk_write(ledger):
        LedgerWriter(member, now).write(backup)
    booked = process_rules(member, now, today)
    booked += set_up_cards(ledger, now, today)
    set_written_times(member, now)
    # All entries are booked now: the wallets reach `BALANCES_TODAY`.
    for wallet in select_wallets(member.pk).filter(name__in=BALANCES_TODAY):
        wallet.opening_balance += BALANCES_TODAY[wallet.name] - wallet.balance
        wallet.save(update_fields=["opening_balance"])
    create_expected_incomes(member, today)
    return DemoSummary(
        entries=len(backup.entries) + booked,
        budgets=len(backup.budgets),
        trades=create_investments(member, now, today),
    )


def make_demo_backup(today: date) -> Backup:
    """Return the ledger before its recurring rules ran."""
    entries = list(generate_entries(today))
    lines = divide_purchases(entries)
    entries += generate_refunds(entries, today)
    entries += generate_card_purchases(today)
    entries += generate_transfers(start_date(today), today)
    backup = Backup(
        wallets=list(WALLET_ROWS),
        entries=sorted(entries, key=lambda entry: entry.date),
        lines=[*lines, *make_rule_lines()],
        recurring=make_rules(today),
        budgets=make_budgets(today),
        quick_entries=make_quick_entries(),
    )
    rows: tuple[ReferringRow, ...] = (
        *backup.entries,
        *backup.recurring,
        *backup.quick_entries,
    )
    tags = dict.fromkeys(name for row in rows for name in row.tags)
    backup.tags = [TagRow(name=name) for name in tags]
    defaults = list_default_categories()
    names = {category.pk: category.name for category in defaults}
    categories = {
        (category.type, category.name): CategoryRow(
            type=category.type,
            name=category.name,
            parent=names[category.parent_id] if category.parent_id else None,
        )
        for category in defaults
    }
    # Administrators may have renamed or deleted default categories.
    used = [
        (row.category_type or default_category_type(row.type), row.category)
        for row in rows
        if row.category is not None
    ]
    used += [
        (CategoryType.EXPENSE, line.category)
        for line in backup.lines
        if line.category is not None
    ]
    used += [(CategoryType.EXPENSE, row.category) for row in backup.budgets]
    for type_, name in used:
        categories.setdefault((type_, name), CategoryRow(type=type_, name=name))
    backup.categories = list(categories.values())
    return backup
