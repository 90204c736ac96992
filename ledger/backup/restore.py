"""Replaces a member's ledger by a validated backup (spec 3.18)."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db import OperationalError
from django.utils import timezone
from psycopg.errors import QueryCanceled

from accounts.models import Member
from accounts.security.events import SecurityEvent, log_security_event
from core.leases.holding import HeldLease
from ledger.account_deletion import delete_ledger_for_restore
from ledger.backup.columns import (
    NEXT_DATE_NOT_GIVEN,
    Backup,
    BudgetRow,
    IgnoredName,
    RecurringRow,
)
from ledger.backup.concurrency_limits import reader_slot, restore_lease
from ledger.backup.ledger_writer import LedgerWriter
from ledger.backup.validation import validate_tables
from ledger.backup.workbook import open_tables
from ledger.base.encryption import account_number_associated_data, can_decrypt
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.base.operations import store_whole_operation
from ledger.errors import RestoreTimeoutError
from ledger.import_keys.rows import keep_keys
from ledger.models import OperationKind, RowAction, Wallet
from ledger.models.schedule import Frequency, Schedule
from ledger.operations.copies import copy_ledger, count_rows
from ledger.rollups.definitions import bulk_write
from ledger.rollups.time_limit import (
    STATEMENT_TIMEOUT_SECONDS,
    extend_statement_timeout,
)

# How far back a restored rule books the due dates that it has not processed yet.
MAX_CATCH_UP_DAYS = 366

RestoreProgressCallback = Callable[[str], object]


class RestoreResult(NamedTuple):
    """Rows by the name of their sheet, and the sheets and columns that were ignored."""

    row_counts: dict[str, int]
    ignored: list[IgnoredName]


def restore_backup(
    member: Member,
    data: bytes,
    now: datetime,
    *,
    dry_run: bool = False,
    is_by_staff: bool = False,
    keep_import_keys: bool = False,
    report: RestoreProgressCallback = lambda step: None,
    on_written: Callable[[LockedLedger, RestoreResult], None] = lambda *_: None,
) -> RestoreResult:
    """Replace the member's ledger by a file; return the number of rows of each sheet.

    Everything is validated before anything is deleted. `on_written` is called in the
    transaction. Without `keep_import_keys` imported rows are new again. Raises
    `InvalidBackupError`, `EmptyBackupError`,
    `RestoreInProgressError`, `BackupsBusyError` or `RestoreTimeoutError`.
    """
    today = timezone.localdate(now)
    with restore_lease(member) as lease:
        report("reading and checking the file")
        with reader_slot(), open_tables(data) as tables:
            backup = validate_tables(tables, settings.HOME_CURRENCY)
        backup.budgets = choose_budgets(backup.budgets, today)
        for rule in backup.recurring:
            rule.next_date = first_unprocessed_due_date(rule, today)
        result = RestoreResult(backup.row_counts(), backup.ignored)
        if not dry_run:
            report(f"writing {sum(backup.row_counts().values())} rows")
            with raise_on_statement_timeout():
                replace_ledger(
                    *(member, backup, now, lease),
                    is_by_staff=is_by_staff,
                    keep_import_keys=keep_import_keys,
                    on_written=lambda ledger: on_written(ledger, result),
                )
    return result


@contextmanager
def raise_on_statement_timeout() -> Iterator[None]:
    """Raise `RestoreTimeoutError` if a statement of the block takes too long."""
    try:
        yield
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise RestoreTimeoutError(STATEMENT_TIMEOUT_SECONDS) from error
        raise


# As a whole, by its copy.
@ledger_write(is_recorded=False)
def replace_ledger(
    ledger: LockedLedger,
    backup: Backup,
    now: datetime,
    lease: HeldLease,
    *,
    is_by_staff: bool = False,
    keep_import_keys: bool = False,
    on_written: Callable[[LockedLedger], None] = lambda _: None,
) -> None:
    """Delete the ledger and write the rows of the backup.

    Raises `LeaseLostError` if another restore may have begun in the meantime.
    """
    lease.ensure_held()
    extend_statement_timeout()
    # Read before the wallets are deleted: a backup cannot hold account numbers that no
    # key decrypts, so a wallet of the same name without a number keeps its stored one.
    keys = settings.ACCOUNT_NUMBER_KEYS
    context = account_number_associated_data(ledger.member.pk)
    wallets = Wallet.objects.owned_by(ledger.member)
    columns = wallets.values_list("id", "name", "encrypted_account_number")
    former = list(columns)
    encrypted_numbers = {
        name: stored
        for _, name, stored in former
        if not can_decrypt(stored, keys, context)
    }
    copy_ledger(ledger)
    with bulk_write(ledger):
        delete_ledger_for_restore(ledger, keep_import_keys=keep_import_keys)
        writer = LedgerWriter(ledger.member, now, encrypted_numbers)
        writer.write(backup)
        if keep_import_keys:
            ids = writer.wallet_ids
            keep_keys(
                ledger, {id_: ids[name] for id_, name, _ in former if name in ids}
            )
    log_security_event(
        SecurityEvent.RESTORED, ledger.member.pk, is_by_staff=is_by_staff
    )
    member_id = ledger.member.pk
    caller_id = None if is_by_staff else member_id
    counts = {
        kind: {RowAction.CREATED.value: count}
        for kind, count in count_rows(ledger).items()
    }
    store_whole_operation(member_id, OperationKind.RESTORE, caller_id, counts)
    on_written(ledger)


def choose_budgets(budgets: Iterable[BudgetRow], today: date) -> list[BudgetRow]:
    """Return a budget of the current month for each category.

    The source is the current month, else the latest month before it, else the earliest
    after it (spec 3.18).
    """

    def distance(row: BudgetRow) -> tuple[bool, int]:
        months = (row.year - today.year) * 12 + row.month - today.month
        return months > 0, abs(months)

    # The nearest comes last, and replaces the others.
    farthest_first = sorted(budgets, key=distance, reverse=True)
    chosen = {row.category: row for row in farthest_first}
    return [replace(row, year=today.year, month=today.month) for row in chosen.values()]


def first_unprocessed_due_date(rule: RecurringRow, today: date) -> date | None:
    """Return the due date from which a restored rule continues; None if it has ended.

    An active rule books missed dates, up to a year back. An end date with an empty next
    date ends a rule. A rule without a next date starts today.
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
