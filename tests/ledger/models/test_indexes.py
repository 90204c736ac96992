"""Keys and indexes of the ledger begin with the member, so that it can be spread.

Tables whose rows belong to no member are named here with their reason; a new table has
to be one or the other.
"""

from typing import Any

import pytest
from django.apps import apps
from django.db import connection

pytestmark = pytest.mark.django_db

INDEXES = """
SELECT t.relname, i.relname, x.indisprimary, x.indisunique,
       ARRAY(SELECT a.attname::text
             FROM unnest(x.indkey) WITH ORDINALITY AS key (number, place)
             JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = number
             ORDER BY place)
FROM pg_index x
JOIN pg_class i ON i.oid = x.indexrelid
JOIN pg_class t ON t.oid = x.indrelid
WHERE t.relname = ANY(%s)
"""
FOREIGN_KEYS = """
SELECT conrelid::regclass::text, conname, confrelid::regclass::text,
       ARRAY(SELECT attname::text FROM unnest(conkey) key (number)
             JOIN pg_attribute ON attrelid = conrelid AND attnum = number),
       ARRAY(SELECT attname::text FROM unnest(confkey) key (number)
             JOIN pg_attribute ON attrelid = confrelid AND attnum = number),
       confdeltype::text
FROM pg_constraint WHERE contype = 'f' AND conrelid::regclass::text = ANY(%s)
"""
WITHOUT_MEMBER = {
    "default_category": "shared by all",
    "notification_count": "counts of all members",
    "fx_rate": "the same for all",
    "stock_quote": "the same for all",
}


def fetch(statement: str, tables: set[str]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, [list(tables)])
        return list(cursor.fetchall())


def list_tables() -> set[str]:
    """Return the tables of the ledger whose rows belong to members."""
    models = apps.get_app_config("ledger").get_models(include_auto_created=True)
    return {model._meta.db_table for model in models} - set(WITHOUT_MEMBER)


def test_every_table_of_members_has_a_column_that_names_the_member() -> None:
    models = apps.get_app_config("ledger").get_models()
    for model in models:
        columns = {field.column for field in model._meta.concrete_fields}
        is_shared = model._meta.db_table in WITHOUT_MEMBER
        assert ("member_id" in columns) is not is_shared, model


def test_every_index_of_members_rows_begins_with_the_member() -> None:
    tables = list_tables()
    indexes = fetch(INDEXES, tables)
    other = [name for _, name, *_, columns in indexes if columns[0] != "member_id"]
    # A few kilobytes of times, for the figures of staff.
    assert other == ["account_entry_written"]
    # Each table has a primary key, so that a row can be found by its member and itself.
    assert {table for table, _, is_primary, *_ in indexes if is_primary} == tables


def test_every_reference_between_members_rows_carries_the_member() -> None:
    tables = list_tables()
    for table, name, target, columns, target_columns, _ in fetch(FOREIGN_KEYS, tables):
        if target in tables:
            assert "member_id" in columns, name
            assert "member_id" in target_columns, name
        else:
            # The one way out of the ledger, which a distribution drops.
            assert (table, target) == ("account_ledger", "member"), name


def test_no_foreign_key_sets_columns_to_null() -> None:
    # Citus rejects SET NULL in a key that contains the distribution column.
    actions = {row[5] for row in fetch(FOREIGN_KEYS, list_tables())}
    # No action, restrict, and cascades.
    assert actions == {"a", "r", "c"}


def test_every_table_leads_to_the_ledger_or_is_a_total_of_it() -> None:
    # No row can be written for a member who has left (spec 1.8).
    tables = list_tables()
    keys = fetch(FOREIGN_KEYS, tables)
    references = {(table, target) for table, _, target, *_ in keys}
    reached = {"account_ledger"}
    for _ in tables:
        reached |= {table for table, target in references if target in reached}
    assert {
        table for table in tables - reached if not table.endswith("_total")
    } == set()
