"""Loads the demo ledger: rows of a backup, and what backups do not hold."""

from dataclasses import dataclass
from datetime import date, datetime

from django.db import transaction

from accounts.models import Member
from core.db.transactions import retry_on_conflict
from ledger.backup.columns import Backup, CategoryRow, ReferringRow, TagRow
from ledger.backup.ledger_writer import LedgerWriter
from ledger.default_categories import list_default_categories
from ledger.demo.budgets import (
    create_expected_incomes,
    make_budgets,
    make_rule_lines,
    make_rules,
    process_rules,
)
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
from ledger.lines import natural_category_type
from ledger.locking import lock_ledger
from ledger.models.base import CategoryType
from ledger.rollups import bulk_write
from ledger.wallets import list_wallets


@dataclass(frozen=True, slots=True)
class DemoSummary:
    """Numbers of the rows that were created."""

    entries: int
    budgets: int
    trades: int


@retry_on_conflict
def create_demo_ledger(member: Member, now: datetime, today: date) -> DemoSummary:
    """Fill a member's empty ledger with three years up to today."""
    backup = make_demo_backup(today)
    with transaction.atomic():
        lock_ledger(member)
        with bulk_write(member):
            LedgerWriter(member, now).write(backup)
        booked = process_rules(member, now, today)
        # Now that all entries are booked: the wallets reach `BALANCES_TODAY`.
        for wallet in list_wallets(member).filter(name__in=BALANCES_TODAY):
            wallet.opening_balance += BALANCES_TODAY[wallet.name] - wallet.balance
            wallet.save(update_fields=["opening_balance"])
        create_expected_incomes(member, today)
        return DemoSummary(
            entries=len(backup.entries) + booked,
            budgets=len(backup.budgets),
            trades=create_investments(member, now, today),
        )


def make_demo_backup(today: date) -> Backup:
    """Return the ledger before its recurring rules ran, with all that rows refer to."""
    entries = list(generate_entries(today))
    lines = divide_purchases(entries)
    entries += generate_refunds(entries, today)
    entries += generate_transfers(entries, start_date(today), today)
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
    # Dicts keep the order in which the names first appear.
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
        (row.category_type or natural_category_type(row.type), row.category)
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
