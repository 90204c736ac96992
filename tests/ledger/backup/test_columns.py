"""The column table of backups follows the models."""

from typing import Any

import pytest

from ledger.backup.columns import SHEETS, Backup
from ledger.backup.schema import Sheet

# What the service assigns itself, and so no backup has.
ASSIGNED = {"id", "member", "sort_order", "updated_at", "version"}
ASSIGNED_BY_SHEET = {
    "wallets": {"created_at"},
    "categories": {"level", "parent_level"},
    "budgets": {"type"},
    # From the lines, and from the types of the row and its category.
    "entries": {"line_count", "is_reversal"},
    "recurring": {"is_reversal", "created_at"},
    "quickEntries": {"is_reversal"},
    "lines": {"position"},
    # Tags are names.
    "mergedEntries": {"former_id", "is_reversal", "tag_ids", "notification_ids"},
    "cards": {"place", "billed_with_place", "next_payment_on"},
}
# Fields that a sheet has by another name: a card has the id of its wallet.
RENAMED = {
    "cards": {
        "wallet": "id",
        "pay_from": "pay_from_wallet",
        "excluded_categories": "excluded_category_ids",
        "excluded_tags": "excluded_tag_ids",
    },
    "bills": {"wallet": "card"},
}
# Stored in another table, or the id under another name.
LINKED = {"tags", "key", "not_with"}


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_every_field_of_a_model_is_a_column_of_its_sheet(sheet: Sheet[Any]) -> None:
    stored = {
        field.name if field.is_relation else str(field.column)
        for field in sheet.model._meta.concrete_fields
    }
    assigned = ASSIGNED | ASSIGNED_BY_SHEET.get(sheet.name, set())
    renamed = RENAMED.get(sheet.name, {})
    names = {renamed.get(column.name, column.name) for column in sheet.columns}
    assert names - LINKED - assigned == stored - assigned


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_every_sheet_has_its_list_in_a_backup(sheet: Sheet[Any]) -> None:
    assert Backup().rows_of(sheet) == []
