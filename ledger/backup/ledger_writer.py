"""Writes the rows of a backup into an empty ledger."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count, repeat
from operator import attrgetter
from typing import Any

from django.conf import settings
from django.db import connection

from accounts.models import Member
from ledger.backup.columns import (
    BUDGETS,
    CATEGORIES,
    ENTRIES,
    QUICK_ENTRIES,
    RECURRING,
    TAGS,
    WALLETS,
    Backup,
    BudgetRow,
    CategoryRow,
    EntryRow,
    QuickEntryRow,
    RecurringRow,
    ReferringRow,
    TagRow,
    WalletRow,
)
from ledger.backup.schema import Sheet
from ledger.encryption import encrypt
from ledger.models.base import CategoryType
from ledger.wallets import account_number_associated_data


class LedgerWriter:
    """Writes the rows of one backup by COPY, sheet by sheet.

    Call `write` once, in a transaction that holds the ledger's exclusive lock, with a
    backup whose references exist. `encrypted_numbers` are account numbers by the name
    of the wallet, for wallets that come without one.
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
        # The ids of what other rows refer to, by type and name or by name.
        self.wallet_ids: dict[str, int] = {}
        self.tag_ids: dict[str, int] = {}
        self.category_ids: dict[tuple[str, str], int] = {}

    def write(self, backup: Backup) -> None:
        # What rows refer to comes before them (spec 3.18).
        self._write_wallets(backup.wallets)
        self._write_tags(backup.tags)
        self._write_categories(backup.categories)
        self._write_entries(backup.entries)
        self._write_recurring(backup.recurring)
        self._write_budgets(backup.budgets)
        self._write_quick_entries(backup.quick_entries)

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
            WALLETS, rows, id=ids, sort_order=count(1), account_number=numbers
        )

    def _write_tags(self, rows: list[TagRow]) -> None:
        ids = reserve_ids(TAGS.table, len(rows))
        self.tag_ids = {row.name: id_ for id_, row in zip(ids, rows, strict=True)}
        self._copy_sheet(TAGS, rows, id=ids, sort_order=count(1))

    def _write_categories(self, rows: list[CategoryRow]) -> None:
        # Major ones first, since minor ones need their ids.
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
        # As text: the same datetime would be formatted anew for each row.
        now = self.now.isoformat()
        self._copy_sheet(
            ENTRIES,
            rows,
            id=ids,
            category_id=self._list_category_ids(rows),
            wallet_id=self._list_wallet_ids(rows),
            created_at=repeat(now),
            updated_at=repeat(now),
        )
        self._write_tag_links("account_entry_tag", "entry_id", ids, rows)

    def _write_recurring(self, rows: list[RecurringRow]) -> None:
        ids = reserve_ids(RECURRING.table, len(rows))
        self._copy_sheet(
            RECURRING,
            rows,
            id=ids,
            category_id=self._list_category_ids(rows),
            wallet_id=self._list_wallet_ids(rows),
        )
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
            category_id=self._list_category_ids(rows),
            wallet_id=self._list_wallet_ids(rows),
            sort_order=count(1),
        )
        self._write_tag_links("account_quick_entry_tag", "quick_entry_id", ids, rows)

    def _list_category_ids(self, rows: Sequence[ReferringRow]) -> Iterator[int | None]:
        for row in rows:
            category = row.category
            yield None if category is None else self.category_ids[row.type, category]

    def _list_wallet_ids(self, rows: Sequence[ReferringRow]) -> Iterator[int | None]:
        for row in rows:
            yield None if row.wallet is None else self.wallet_ids[row.wallet]

    def _copy_sheet(
        self, sheet: Sheet[Any], rows: Sequence[Any], **computed: Iterable[Any]
    ) -> None:
        """Copy the rows of a sheet into its table.

        `computed` are values, in the order of the rows, for columns of the table that
        no column of the sheet stores as it is.
        """
        computed["member_id"] = repeat(self.member.pk)
        stored = {
            column.name: map(attrgetter(column.name), rows)
            for column in sheet.columns
            if column.select is None and column.name not in computed
        }
        values = stored | computed
        # Rows end where the shortest of the columns ends; some repeat without end.
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


def reserve_ids(table: str, count: int) -> list[int]:
    """Return new ids of a table, ascending."""
    with connection.cursor() as cursor:
        # Materialized, so that the sequence is looked up once and not for each id.
        cursor.execute(
            "WITH source AS MATERIALIZED"
            " (SELECT pg_get_serial_sequence(%s, 'id')::regclass AS name)"
            " SELECT array_agg(nextval(name)) FROM source, generate_series(1, %s)",
            [table, count],
        )
        ids: list[int] = cursor.fetchone()[0] or []
        return ids


def copy_rows(table: str, columns: list[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows by COPY; table and columns are constants, never user text."""
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row(row)
