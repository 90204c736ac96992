"""Writes of a backup's rows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count, repeat
from operator import attrgetter
from typing import Any

import orjson
from django.conf import settings
from django.utils import timezone

from accounts.models import Member
from ledger.backup.columns import (
    BILLS,
    BUDGETS,
    CARDS,
    CATEGORIES,
    ENTRIES,
    MERGED_ENTRIES,
    QUICK_ENTRIES,
    RECURRING,
    TAGS,
    VALUATIONS,
    WALLETS,
    Backup,
    BillRow,
    BudgetRow,
    CardRow,
    CategoryRow,
    EntryRow,
    LineRow,
    MergedEntryRow,
    QuickEntryRow,
    RecurringRow,
    ReferringRow,
    TagRow,
    ValuationRow,
    WalletRow,
)
from ledger.backup.schema import Sheet
from ledger.base.bulk_rows import copy_rows, reserve_ids
from ledger.base.encryption import account_number_associated_data, encrypt
from ledger.entry_shape import default_category_type, is_reversal
from ledger.models import DeletedClientId, DismissedTransfer, EntryLine
from ledger.models.base import CategoryType

# Table of lines -> column of their owner.
_OWNERS = {
    "account_entry_line": "entry_id",
    "account_recurring_line": "rule_id",
    "account_quick_entry_line": "quick_entry_id",
}


class LedgerWriter:
    """Writes the rows of one backup into an empty ledger, by COPY.

    Call `write` once, inside `ledger_write`, with a backup whose references exist.
    `encrypted_numbers` are by name, for wallets without a number.
    """

    def __init__(
        self,
        member: Member,
        now: datetime,
        encrypted_numbers: Mapping[str, str] | None = None,
    ) -> None:
        self.member = member
        self.now = now
        self.encrypted_numbers = encrypted_numbers or {}
        # Ids of rows by type and name, or by name.
        self.wallet_ids: dict[str, int] = {}
        self.tag_ids: dict[str, int] = {}
        self.category_ids: dict[tuple[str, str], int] = {}
        # Key of an entry or template -> table of its lines, and its id.
        self.line_owners: dict[str, tuple[str, int]] = {}
        self.line_counts: Counter[str] = Counter()
        self.entry_ids: dict[str, int] = {}
        self.last_values: dict[str, int] = {}

    def write(self, backup: Backup) -> None:
        self.line_counts = Counter(line.entry for line in backup.lines)
        by_day = sorted(backup.valuations, key=attrgetter("date"))
        self.last_values = {row.wallet: row.value for row in by_day}
        # Rows come after the rows that they refer to (spec 3.18).
        self._write_wallets(backup.wallets)
        self._write_tags(backup.tags)
        self._write_categories(backup.categories)
        self._write_entries(backup.entries)
        self._write_recurring(backup.recurring)
        self._write_budgets(backup.budgets)
        self._write_quick_entries(backup.quick_entries)
        self._write_lines(backup.lines)
        if backup.valuations:
            self._write_valuations(backup.valuations)
        if backup.merged_entries:
            self._write_merged_entries(backup.merged_entries)
        self._write_dismissals(backup.entries)
        if backup.cards:
            self._write_cards(backup.cards)
            self._write_bills(backup.bills)

    def _write_wallets(self, rows: list[WalletRow]) -> None:
        ids = reserve_ids(WALLETS.table, len(rows))
        self.wallet_ids = {row.name: id_ for id_, row in zip(ids, rows, strict=True)}
        keys = settings.ACCOUNT_NUMBER_KEYS
        associated_data = account_number_associated_data(self.member.pk)
        numbers = (
            encrypt(row.account_number, keys, associated_data)
            or self.encrypted_numbers.get(row.name, "")
            for row in rows
        )
        self._copy_sheet(
            WALLETS,
            rows,
            id=ids,
            sort_order=count(1),
            account_number=numbers,
            current_value=(
                self.last_values.get(row.name, row.current_value) for row in rows
            ),
        )

    def _write_tags(self, rows: list[TagRow]) -> None:
        ids = reserve_ids(TAGS.table, len(rows))
        self.tag_ids = {row.name: id_ for id_, row in zip(ids, rows, strict=True)}
        self._copy_sheet(TAGS, rows, id=ids, sort_order=count(1))

    def _write_categories(self, rows: list[CategoryRow]) -> None:
        # Major ones first: minor ones need their ids.
        rows = sorted(rows, key=lambda row: row.parent is not None)
        ids = reserve_ids(CATEGORIES.table, len(rows))
        self.category_ids = {
            (row.type, row.name): id_ for id_, row in zip(ids, rows, strict=True)
        }
        parent_ids = (
            None if row.parent is None else self.category_ids[row.type, row.parent]
            for row in rows
        )
        # Categories of the same type and parent are numbered from 1.
        siblings: Counter[tuple[str, str | None]] = Counter()
        positions = []
        for row in rows:
            siblings[row.type, row.parent] += 1
            positions.append(siblings[row.type, row.parent])
        self._copy_sheet(
            CATEGORIES, rows, id=ids, parent_id=parent_ids, sort_order=positions
        )

    def _write_entries(self, rows: list[EntryRow]) -> None:
        ids = reserve_ids(ENTRIES.table, len(rows))
        # Formatted once for all rows.
        now = self.now.isoformat()
        self.entry_ids = self._add_owners("account_entry_line", ids, rows)
        self._copy_sheet(
            ENTRIES,
            rows,
            id=ids,
            **self._list_references(rows),
            line_count=(
                self.line_counts[row.key] if row.key is not None else 0 for row in rows
            ),
            refund_of_id=(
                None if row.refund_of is None else self.entry_ids[row.refund_of]
                for row in rows
            ),
            time=(row.time for row in rows),
            client_id=(row.client_id for row in rows),
            bill_month=(row.bill_month for row in rows),
            installment_parts=(
                row.installment_parts and list(row.installment_parts) for row in rows
            ),
            created_at=self._list_created_at(rows),
            updated_at=repeat(now),
        )
        self._write_tag_links("account_entry_tag", "entry_id", ids, rows)

    def _write_recurring(self, rows: list[RecurringRow]) -> None:
        ids = reserve_ids(RECURRING.table, len(rows))
        self._add_owners("account_recurring_line", ids, rows)
        self._copy_sheet(RECURRING, rows, id=ids, **self._list_references(rows))
        self._write_tag_links("account_recurring_tag", "rule_id", ids, rows)

    def _write_budgets(self, rows: list[BudgetRow]) -> None:
        category_ids = (
            self.category_ids[CategoryType.EXPENSE, row.category] for row in rows
        )
        self._copy_sheet(
            BUDGETS,
            rows,
            category_id=category_ids,
            type=repeat(CategoryType.EXPENSE.value),
        )

    def _write_quick_entries(self, rows: list[QuickEntryRow]) -> None:
        ids = reserve_ids(QUICK_ENTRIES.table, len(rows))
        self._copy_sheet(
            QUICK_ENTRIES,
            rows,
            id=ids,
            sort_order=count(1),
            **self._list_references(rows),
        )
        self._add_owners("account_quick_entry_line", ids, rows)
        self._write_tag_links("account_quick_entry_tag", "quick_entry_id", ids, rows)

    def _write_lines(self, rows: list[LineRow]) -> None:
        positions: Counter[str] = Counter()
        by_table: dict[str, list[list[Any]]] = {table: [] for table in _OWNERS}
        for row in rows:
            table, owner_id = self.line_owners[row.entry]
            type_ = row.category_type or CategoryType.EXPENSE.value
            category = row.category and self.category_ids[type_, row.category]
            wallet = row.wallet and self.wallet_ids[row.wallet]
            values = [
                *(self.member.pk, owner_id, positions[row.entry], row.amount),
                *(category, type_, wallet, row.memo),
            ]
            if table == EntryLine._meta.db_table:
                values.append(row.refund_of and self.entry_ids[row.refund_of])
            by_table[table].append(values)
            positions[row.entry] += 1
        for table, lines in by_table.items():
            columns = [
                *("member_id", _OWNERS[table], "position", "amount"),
                *("category_id", "category_type", "wallet_id", "memo"),
            ]
            if table == EntryLine._meta.db_table:
                columns.append("refund_of_id")
            if lines:
                copy_rows(table, columns, lines)

    def _write_valuations(self, rows: list[ValuationRow]) -> None:
        copy_rows(
            VALUATIONS.table,
            ["member_id", "wallet_id", "date", "value", "written_at"],
            (
                (
                    *(self.member.pk, self.wallet_ids[row.wallet]),
                    *(row.date, row.value, min(row.written_at or self.now, self.now)),
                )
                for row in rows
            ),
        )

    def _write_merged_entries(self, rows: list[MergedEntryRow]) -> None:
        is_income = [row.type == CategoryType.INCOME for row in rows]
        # Incomes get their ids with their entries.
        free_ids = iter(reserve_ids(ENTRIES.table, sum(is_income)))
        entry_ids = [self.entry_ids[row.entry] for row in rows]
        self._copy_sheet(
            MERGED_ENTRIES,
            rows,
            entry_id=entry_ids,
            former_id=(
                next(free_ids) if income else entry_id
                for income, entry_id in zip(is_income, entry_ids, strict=True)
            ),
            category_id=(
                None
                if row.category is None
                else self.category_ids[row.category_type or row.type, row.category]
                for row in rows
            ),
            is_reversal=(is_reversal(row.type, row.category_type) for row in rows),
            tag_ids=([self.tag_ids[name] for name in row.tags] for row in rows),
            time=(row.time for row in rows),
            client_id=(row.client_id for row in rows),
            bill_month=(row.bill_month for row in rows),
            installment_parts=(
                row.installment_parts and list(row.installment_parts) for row in rows
            ),
            created_at=self._list_created_at(rows),
            # Restored notifications refer to no entry.
            notification_ids=repeat("{}"),
        )
        # Until the transfer is taken apart.
        DeletedClientId.objects.bulk_create(
            [
                DeletedClientId(member_id=self.member.pk, client_id=row.client_id)
                for row in rows
                if row.client_id is not None
            ],
            ignore_conflicts=True,
        )

    def _write_dismissals(self, rows: list[EntryRow]) -> None:
        expenses = [row for row in rows if row.not_with]
        if not expenses:
            return
        by_key = {row.key: row for row in rows}
        DismissedTransfer.objects.bulk_create(
            DismissedTransfer(
                member_id=self.member.pk,
                expense_id=self.entry_ids[str(expense.key)],
                income_id=self.entry_ids[key],
                expense_amount=expense.amount or 0,
                expense_date=expense.date,
                expense_wallet_id=self.wallet_ids[str(expense.wallet)],
                income_amount=by_key[key].amount or 0,
                income_date=by_key[key].date,
                income_wallet_id=self.wallet_ids[str(by_key[key].wallet)],
            )
            for expense in expenses
            for key in expense.not_with
        )

    def _write_cards(self, rows: list[CardRow]) -> None:
        today = timezone.localdate(self.now)
        self._copy_sheet(
            CARDS,
            rows,
            id=(self.wallet_ids[row.wallet] for row in rows),
            terms=(
                orjson.dumps([term.to_json() for term in row.terms]).decode()
                for row in rows
            ),
            pay_from_wallet_id=(
                row.pay_from and self.wallet_ids[row.pay_from] for row in rows
            ),
            # The job looks at it.
            next_payment_on=(today if row.auto_pay else None for row in rows),
            billed_with_id=(
                row.billed_with and self.wallet_ids[row.billed_with] for row in rows
            ),
            targets=(sorted(set(row.targets)) for row in rows),
            excluded_category_ids=(
                [
                    self.category_ids[CategoryType.EXPENSE, name]
                    for name in row.excluded_categories
                ]
                for row in rows
            ),
            excluded_tag_ids=(
                [self.tag_ids[name] for name in row.excluded_tags] for row in rows
            ),
        )

    def _write_bills(self, rows: list[BillRow]) -> None:
        self._copy_sheet(
            BILLS,
            rows,
            card_id=(self.wallet_ids[row.wallet] for row in rows),
            month=(row.month for row in rows),
        )

    def _list_created_at(
        self, rows: Sequence[EntryRow | MergedEntryRow]
    ) -> Iterator[str | datetime]:
        now = self.now.isoformat()
        return (
            now if row.created_at is None else min(row.created_at, self.now)
            for row in rows
        )

    def _add_owners(
        self, table: str, ids: list[int], rows: Sequence[ReferringRow]
    ) -> dict[str, int]:
        ids_by_key = {
            row.key: id_
            for id_, row in zip(ids, rows, strict=True)
            if row.key is not None
        }
        if self.line_counts:
            self.line_owners |= {key: (table, id_) for key, id_ in ids_by_key.items()}
        return ids_by_key

    def _list_references(
        self, rows: Sequence[ReferringRow]
    ) -> dict[str, Iterator[Any]]:
        return {
            "category_id": (
                None
                if row.category is None
                else self.category_ids[
                    row.category_type or default_category_type(row.type), row.category
                ]
                for row in rows
            ),
            "is_reversal": (is_reversal(row.type, row.category_type) for row in rows),
            "wallet_id": (
                None if row.wallet is None else self.wallet_ids[row.wallet]
                for row in rows
            ),
            "to_wallet_id": (
                None if row.to_wallet is None else self.wallet_ids[row.to_wallet]
                for row in rows
            ),
        }

    def _copy_sheet(
        self, sheet: Sheet[Any], rows: Sequence[Any], **computed: Iterable[Any]
    ) -> None:
        """Copy the rows of a sheet into its table.

        `computed` has values for columns that no column of the sheet stores as it is.
        """
        computed["member_id"] = repeat(self.member.pk)
        stored = {
            column.name: map(attrgetter(column.name), rows)
            for column in sheet.columns
            if column.select is None and column.name not in computed
        }
        values = stored | computed
        # Rows end with the shortest column; some columns repeat without end.
        copy_rows(sheet.table, list(values), zip(*values.values(), strict=False))

    def _write_tag_links(
        self, table: str, owner: str, ids: list[int], rows: Sequence[ReferringRow]
    ) -> None:
        copy_rows(
            table,
            [owner, "tag_id", "member_id", "position"],
            (
                (id_, self.tag_ids[name], self.member.pk, position)
                for id_, row in zip(ids, rows, strict=True)
                for position, name in enumerate(row.tags)
            ),
        )
