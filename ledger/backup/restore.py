"""Replaces a member's ledger by a checked backup (spec 3.18)."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Member
from ledger.account_deletion import delete_ledger_for_restore
from ledger.backup.columns import NEXT_DATE_NOT_GIVEN
from ledger.backup.concurrency_limits import reader_slot, restore_lock
from ledger.backup.rows import Backup, BudgetRow, RecurringRow
from ledger.backup.validation import validate_tables
from ledger.backup.workbook import open_tables
from ledger.encryption import encrypt
from ledger.locking import lock_ledger_exclusive
from ledger.models import Wallet
from ledger.schedule import Frequency, Schedule
from ledger.wallets import account_number_associated_data, has_undecryptable_number

STATEMENT_TIMEOUT_SECONDS = 60
"""For one statement of a restore; others of the service have 10."""
MAX_CATCH_UP_DAYS = 366
"""How far back a restored rule still books what it owes."""

IdByKey = dict[Any, int]
RestoreProgressCallback = Callable[[str], object]


def restore_backup(
    member: Member,
    data: bytes,
    now: datetime,
    *,
    dry_run: bool = False,
    report: RestoreProgressCallback = lambda step: None,
) -> dict[str, int]:
    """Replace the member's ledger by the file's; how many rows each sheet gave.

    Everything is checked before anything is deleted. Raises `InvalidBackup`,
    `EmptyBackup`, `RestoreUnderWay`, `ReadersBusy`.
    """
    with restore_lock(member):
        report("reading and checking the file")
        with reader_slot(), open_tables(data) as tables:
            backup = validate_tables(tables, settings.HOME_CURRENCY)
        backup.budgets = choose_budgets(backup.budgets, timezone.localdate(now))
        if not dry_run:
            report(f"writing {sum(backup.row_counts().values())} rows")
            replace_ledger(member, backup, now)
    return backup.row_counts()


def replace_ledger(member: Member, backup: Backup, now: datetime) -> None:
    """Delete and re-create in one transaction, alone with the member's ledger."""
    with transaction.atomic():
        lock_ledger_exclusive(member)
        with connection.cursor() as cursor:
            seconds = f"{STATEMENT_TIMEOUT_SECONDS}s"
            cursor.execute(
                "SELECT set_config('statement_timeout', %s, true)", [seconds]
            )
        kept = _undecryptable_numbers(member)
        delete_ledger_for_restore(member)
        _LedgerWriter(member, now).write(backup, kept)


def choose_budgets(budgets: Iterable[BudgetRow], today: date) -> list[BudgetRow]:
    """One budget for each category, which becomes this month's.

    That of this month; else of the latest month before it; else of the earliest one
    after it.
    """

    def distance(row: BudgetRow) -> tuple[bool, int]:
        months = (row.year - today.year) * 12 + row.month - today.month
        return months > 0, abs(months)

    farthest_first = sorted(budgets, key=distance, reverse=True)
    return list({row.category: row for row in farthest_first}.values())


def first_unprocessed_due_date(row: RecurringRow, today: date) -> date | None:
    """The first due date that is not dealt with yet: that of the backup.

    What a rule that is on owes is booked, up to a year back. A rule with an end and
    an empty next date has booked its last one; one of which nothing is said starts
    today.
    """
    start = row.next_date
    if start is None and row.end_date is not None:
        return None
    if start is None or start == NEXT_DATE_NOT_GIVEN:
        start = today
    elif row.active:
        start = max(start, today - timedelta(days=MAX_CATCH_UP_DAYS))
    frequency = Frequency(row.frequency)
    schedule = Schedule(frequency, row.interval, row.anchor_date, row.end_date)
    return schedule.first_due_date(start)


def _undecryptable_numbers(member: Member) -> dict[str, str]:
    """Sealed account numbers that no key opens, and that a backup cannot hold.

    A wallet of the same name without a number keeps them, as an edit would.
    """
    wallets = Wallet.objects.owned_by(member).exclude(sealed_account_number="")
    return {
        w.name: w.sealed_account_number for w in wallets if has_undecryptable_number(w)
    }


class _LedgerWriter:
    """Writes the rows of one member's backup, sheet by sheet, by COPY."""

    def __init__(self, member: Member, now: datetime) -> None:
        self.member = member
        self.now = now
        self.wallets: IdByKey = {None: None}  # type: ignore[dict-item]
        self.tags: IdByKey = {}
        self.categories: IdByKey = {}

    def write(self, backup: Backup, kept: dict[str, str]) -> None:
        self._write_wallets(backup, kept)
        self._write_tags(backup)
        self._write_categories(backup)
        self._write_entries(backup)
        self._write_recurring(backup)
        self._write_budgets(backup)
        self._write_quick_entries(backup)

    def _write_wallets(self, backup: Backup, kept: dict[str, str]) -> None:
        ids = reserve_ids("account", len(backup.wallets))
        self.wallets |= {
            row.name: id_ for id_, row in zip(ids, backup.wallets, strict=True)
        }
        keys, context = (
            settings.ACCOUNT_NUMBER_KEYS,
            account_number_associated_data(self.member.pk),
        )
        copy_rows(
            "account (id, member_id, sort_order, account_number, name, kind,"
            " institution, opening_balance, manual_valuation, current_value, archived,"
            " memo)",
            (
                (
                    *(id_, self.member.pk, place),
                    encrypt(row.account_number, keys, context)
                    or kept.get(row.name, ""),
                    *(*row[:3], *row[4:]),
                )
                for place, (id_, row) in enumerate(
                    zip(ids, backup.wallets, strict=True), start=1
                )
            ),
        )

    def _write_tags(self, backup: Backup) -> None:
        ids = reserve_ids("account_tag", len(backup.tags))
        self.tags = {row.name: id_ for id_, row in zip(ids, backup.tags, strict=True)}
        copy_rows(
            "account_tag (id, member_id, name, sort_order)",
            (
                (id_, self.member.pk, name, place)
                for place, (name, id_) in enumerate(self.tags.items(), start=1)
            ),
        )

    def _write_categories(self, backup: Backup) -> None:
        """Major ones, then minor ones; each is placed among its siblings."""
        majors = [row for row in backup.categories if row.parent is None]
        minors = [row for row in backup.categories if row.parent is not None]
        ids = reserve_ids("account_category", len(backup.categories))
        rows = []
        places: dict[Any, int] = {}
        for id_, row in zip(ids, majors + minors, strict=True):
            self.categories[row.type, row.name] = id_
            place = places[row[0], row[2]] = places.get((row[0], row[2]), 0) + 1
            parent_id = self.categories.get((row.type, row.parent))
            rows.append((id_, self.member.pk, row.type, row.name, parent_id, place))
        copy_rows(
            "account_category (id, member_id, type, name, parent_id, sort_order)", rows
        )

    def _write_entries(self, backup: Backup) -> None:
        ids = reserve_ids("account_entry", len(backup.entries))
        find = self.categories.get
        wallets, member_id, now = self.wallets, self.member.pk, self.now
        copy_rows(
            "account_entry (id, member_id, created_at, updated_at, date, type, amount,"
            " category_id, wallet_id, memo, currency, original_amount, exchange_rate,"
            " installment_months, pending)",
            (
                (
                    *(id_, member_id, now, now, *row[:3]),
                    *(find((row.type, row.category)), wallets[row.wallet]),
                    *(row.memo, *row[7:]),
                )
                for id_, row in zip(ids, backup.entries, strict=True)
            ),
        )
        self._write_tag_links("account_entry_tag", "entry_id", ids, backup.entries)

    def _write_recurring(self, backup: Backup) -> None:
        ids = reserve_ids("account_recurring", len(backup.recurring))
        today = timezone.localdate(self.now)
        copy_rows(
            "account_recurring (id, member_id, name, type, amount, category_id,"
            " wallet_id, memo, frequency, interval, anchor_date, end_date, next_date,"
            " active)",
            (
                (
                    *(
                        id_,
                        self.member.pk,
                        *row[:3],
                        *self._reference_ids(row),
                        row.memo,
                    ),
                    *(*row[7:11], first_unprocessed_due_date(row, today), row.active),
                )
                for id_, row in zip(ids, backup.recurring, strict=True)
            ),
        )
        self._write_tag_links("account_recurring_tag", "rule_id", ids, backup.recurring)

    def _write_budgets(self, backup: Backup) -> None:
        """In the current month (spec 3.18)."""
        today = timezone.localdate(self.now)
        copy_rows(
            "account_budget (member_id, category_id, type, year, month, amount)",
            (
                (
                    *(self.member.pk, self.categories["expense", row.category]),
                    *("expense", today.year, today.month, row.amount),
                )
                for row in backup.budgets
            ),
        )

    def _write_quick_entries(self, backup: Backup) -> None:
        ids = reserve_ids("account_quick_entry", len(backup.quickEntries))
        rows = zip(ids, backup.quickEntries, strict=True)
        copy_rows(
            "account_quick_entry (id, member_id, name, type, amount, category_id,"
            " wallet_id, memo, sort_order)",
            (
                (
                    id_,
                    self.member.pk,
                    *row[:3],
                    *self._reference_ids(row),
                    row.memo,
                    place,
                )
                for place, (id_, row) in enumerate(rows, start=1)
            ),
        )
        self._write_tag_links(
            "account_quick_entry_tag", "quick_entry_id", ids, backup.quickEntries
        )

    def _reference_ids(self, row: Any) -> tuple[int | None, int | None]:
        return self.categories.get((row.type, row.category)), self.wallets[row.wallet]

    def _write_tag_links(
        self, table: str, owner: str, ids: list[int], rows: Sequence[Any]
    ) -> None:
        copy_rows(
            f"{table} ({owner}, tag_id, member_id, position)",
            (
                (id_, self.tags[name], self.member.pk, position)
                for id_, row in zip(ids, rows, strict=True)
                for position, name in enumerate(row.tags)
            ),
        )


def reserve_ids(table: str, count: int) -> list[int]:
    """New ids of a table, in their order."""
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH source AS MATERIALIZED"
            " (SELECT pg_get_serial_sequence(%s, 'id')::regclass AS name)"
            " SELECT array_agg(nextval(name)) FROM source, generate_series(1, %s)",
            [table, count],
        )
        ids: list[int] = cursor.fetchone()[0] or []
        return ids


def copy_rows(target: str, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows by COPY; `target` is a table with its columns, never user text."""
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {target} FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row(row)
