"""Replaces a member's ledger by a validated backup (spec 3.18)."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date, datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Member
from core.db.transactions import retry_on_conflict
from core.leases.holding import HeldLease
from ledger.account_deletion import delete_ledger_for_restore
from ledger.backup.columns import NEXT_DATE_NOT_GIVEN, Backup, BudgetRow, RecurringRow
from ledger.backup.concurrency_limits import reader_slot, restore_lease
from ledger.backup.ledger_writer import LedgerWriter
from ledger.backup.validation import validate_tables
from ledger.backup.workbook import open_tables
from ledger.locking import lock_ledger
from ledger.models import Wallet
from ledger.rollups import bulk_write
from ledger.schedule import Frequency, Schedule
from ledger.wallets import has_undecryptable_number

# For one statement of a restore; other statements of the service have 10 seconds.
STATEMENT_TIMEOUT_SECONDS = 60
# How far back a restored rule books the due dates that it has not processed yet.
MAX_CATCH_UP_DAYS = 366

RestoreProgressCallback = Callable[[str], object]


def restore_backup(
    member: Member,
    data: bytes,
    now: datetime,
    *,
    dry_run: bool = False,
    report: RestoreProgressCallback = lambda step: None,
) -> dict[str, int]:
    """Replace the member's ledger by a file; return the number of rows of each sheet.

    Everything is validated before anything is deleted. Raises `InvalidBackupError`,
    `EmptyBackupError`, `RestoreInProgressError` or `BackupsBusyError`.
    """
    today = timezone.localdate(now)
    with restore_lease(member) as lease:
        report("reading and checking the file")
        with reader_slot(), open_tables(data) as tables:
            backup = validate_tables(tables, settings.HOME_CURRENCY)
        backup.budgets = choose_budgets(backup.budgets, today)
        for rule in backup.recurring:
            rule.next_date = first_unprocessed_due_date(rule, today)
        if not dry_run:
            report(f"writing {sum(backup.row_counts().values())} rows")
            replace_ledger(member, backup, now, lease)
    return backup.row_counts()


@retry_on_conflict
def replace_ledger(
    member: Member, backup: Backup, now: datetime, lease: HeldLease
) -> None:
    """Delete the ledger and write that of the backup, in one transaction.

    Raises `LeaseLostError` if another restore may have begun in the meantime.
    """
    with transaction.atomic():
        lock_ledger(member)
        lease.ensure_held()
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT set_config('statement_timeout', %s, true)",
                [f"{STATEMENT_TIMEOUT_SECONDS}s"],
            )
        # Read before the wallets are deleted: a backup cannot hold account numbers that
        # no key decrypts, so that a wallet of the same name without a number keeps what
        # is stored.
        wallets = Wallet.objects.owned_by(member).exclude(encrypted_account_number="")
        encrypted_numbers = {
            wallet.name: wallet.encrypted_account_number
            for wallet in wallets
            if has_undecryptable_number(wallet)
        }
        with bulk_write(member):
            delete_ledger_for_restore(member)
            LedgerWriter(member, now, encrypted_numbers).write(backup)


def choose_budgets(budgets: Iterable[BudgetRow], today: date) -> list[BudgetRow]:
    """Return one budget for each category, as that of the current month.

    It is that of the current month, else of the latest month before it, else of the
    earliest month after it (spec 3.18).
    """

    def distance(row: BudgetRow) -> tuple[bool, int]:
        months = (row.year - today.year) * 12 + row.month - today.month
        return months > 0, abs(months)

    # The nearest comes last, and so replaces the others of its category.
    farthest_first = sorted(budgets, key=distance, reverse=True)
    chosen = {row.category: row for row in farthest_first}
    return [replace(row, year=today.year, month=today.month) for row in chosen.values()]


def first_unprocessed_due_date(rule: RecurringRow, today: date) -> date | None:
    """Return the due date from which a restored rule continues; None if it has ended.

    An active rule books what it missed, up to a year back. A rule with an end date and
    an empty next date has ended. A rule whose next date is not given starts today.
    """
    start = rule.next_date
    if start is None and rule.end_date is not None:
        return None
    if start is None or start == NEXT_DATE_NOT_GIVEN:
        start = today
    elif rule.active:
        start = max(start, today - timedelta(days=MAX_CATCH_UP_DAYS))
    frequency = Frequency(rule.frequency)
    schedule = Schedule(frequency, rule.interval, rule.anchor_date, rule.end_date)
    return schedule.first_due_date(start)
