"""Writes a member's ledger as a workbook, a batch of rows at a time.

Names and texts are what the API shows. All sheets show one moment.
"""

from collections.abc import Callable, Iterator
from datetime import date
from typing import IO, Any

from django.conf import settings
from django.db import connection

from accounts.models import Member
from core.db.transactions import repeatable_read
from ledger.backup.columns import SHEETS
from ledger.backup.xlsx import WorkbookWriter
from ledger.encryption import DecryptionError, decrypt
from ledger.wallets import account_number_associated_data

BATCH_SIZE = 2_000
ACCOUNT_NUMBER_INDEX = 3
"""Its place among the columns of a wallet."""

_TAG_NAMES_SQL = """(SELECT string_agg(t.name, ', ' ORDER BY l.position)
    FROM {table} l JOIN account_tag t ON t.id = l.tag_id WHERE l.{owner} = r.id)"""
_JOIN_NAMES_SQL = """LEFT JOIN account_category c ON c.id = r.category_id
    LEFT JOIN account w ON w.id = r.wallet_id
    WHERE r.member_id = %s"""
_ENTRY_TAGS_SQL = _TAG_NAMES_SQL.format(table="account_entry_tag", owner="entry_id")
_RULE_TAGS_SQL = _TAG_NAMES_SQL.format(table="account_recurring_tag", owner="rule_id")
_QUICK_ENTRY_TAGS_SQL = _TAG_NAMES_SQL.format(
    table="account_quick_entry_tag", owner="quick_entry_id"
)

EXPORT_QUERIES = {
    "wallets": """
        SELECT name, kind, institution, account_number, opening_balance,
               manual_valuation, current_value, archived, memo
        FROM account WHERE member_id = %s ORDER BY sort_order, id""",
    "tags": "SELECT name FROM account_tag WHERE member_id = %s ORDER BY sort_order, id",
    "categories": """
        SELECT c.type, c.name, p.name
        FROM account_category c LEFT JOIN account_category p ON p.id = c.parent_id
        WHERE c.member_id = %s
        ORDER BY c.type, coalesce(p.sort_order, c.sort_order), coalesce(p.id, c.id),
                 p.id IS NOT NULL, c.sort_order, c.id""",
    "entries": f"""
        SELECT r.date, r.type, r.amount, c.name, w.name, r.memo, {_ENTRY_TAGS_SQL},
               r.currency, r.original_amount, r.exchange_rate, r.installment_months,
               r.pending
        FROM account_entry r {_JOIN_NAMES_SQL} ORDER BY r.date, r.id""",  # noqa: S608
    "recurring": f"""
        SELECT r.name, r.type, r.amount, c.name, w.name, r.memo, {_RULE_TAGS_SQL},
               r.frequency, r.interval, r.anchor_date, r.end_date, r.next_date, r.active
        FROM account_recurring r {_JOIN_NAMES_SQL} ORDER BY r.id""",  # noqa: S608
    "budgets": """
        SELECT c.name, b.year, b.month, b.amount
        FROM account_budget b JOIN account_category c ON c.id = b.category_id
        WHERE b.member_id = %s ORDER BY b.year, b.month, c.name""",
    "quickEntries": f"""
        SELECT r.name, r.type, r.amount, c.name, w.name, r.memo, {_QUICK_ENTRY_TAGS_SQL}
        FROM account_quick_entry r {_JOIN_NAMES_SQL} ORDER BY r.sort_order, r.id""",  # noqa: S608
}
"""The columns of each sheet, in the order in which they were written down."""

ExportProgressCallback = Callable[[str, int], object]


def write_backup(
    member: Member,
    file: IO[bytes],
    report: ExportProgressCallback = lambda sheet, rows: None,
) -> dict[str, int]:
    """Write the workbook; how many rows each sheet has. `report` is told meanwhile."""
    counts: dict[str, int] = {}
    with repeatable_read(), WorkbookWriter(file, [s.name for s in SHEETS]) as workbook:
        for sheet in SHEETS:
            counts[sheet.name] = 0
            with workbook.open_sheet(sheet.name) as rows:
                rows.write([sheet.headers])
                for batch in _fetch_batches(member, sheet.name):
                    rows.write(batch)
                    counts[sheet.name] += len(batch)
                    report(sheet.name, counts[sheet.name])
    return counts


def backup_filename(day: date) -> str:
    return f"household-ledger-{day.isoformat()}.xlsx"


def _fetch_batches(member: Member, sheet: str) -> Iterator[list[Any]]:
    with connection.chunked_cursor() as cursor:
        cursor.execute(EXPORT_QUERIES[sheet], [member.pk])
        while batch := cursor.fetchmany(BATCH_SIZE):
            yield (
                [_decrypt_wallet_row(member, row) for row in batch]
                if sheet == "wallets"
                else batch
            )


def _decrypt_wallet_row(member: Member, wallet: tuple[Any, ...]) -> tuple[Any, ...]:
    """A wallet with its number in plain text; None where no key opens it."""
    keys, context = (
        settings.ACCOUNT_NUMBER_KEYS,
        account_number_associated_data(member.pk),
    )
    number: str | None
    try:
        number = decrypt(wallet[ACCOUNT_NUMBER_INDEX], keys, context)
    except DecryptionError:
        number = None
    return (*wallet[:ACCOUNT_NUMBER_INDEX], number, *wallet[ACCOUNT_NUMBER_INDEX + 1 :])
