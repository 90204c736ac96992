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
    assert {column.name for column in sheet.columns} - LINKED == stored - assigned


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_every_sheet_has_its_list_in_a_backup(sheet: Sheet[Any]) -> None:
    assert Backup().rows_of(sheet) == []
