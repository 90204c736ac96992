"""Keys and indexes of the ledger begin with the member, so that it can be spread.

What does not is named here with its reason; `docs/scaling.md` says what to do with it
before the ledger is distributed.
"""

from typing import Any

import pytest
from django.apps import apps
from django.db import connection

INDEXES = """
SELECT c.relname, i.relname
FROM pg_index x
JOIN pg_class i ON i.oid = x.indexrelid
JOIN pg_class c ON c.oid = x.indrelid
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[0]
WHERE c.relname = ANY(%s) AND a.attname <> 'member_id' AND NOT x.indisprimary
"""
FOREIGN_KEYS = {
    ("account_budget", "category_id"),
    ("account_category", "parent_id"),
    ("account_quick_entry", "category_id"),
    ("account_quick_entry", "wallet_id"),
    ("account_recurring", "category_id"),
    ("account_recurring", "wallet_id"),
    ("account_recurring_occurrence", "entry_id"),
}
"""Django's own, for deleting what is referred to: one node's rows or all nodes'."""
NAMED = {
    "account_recurring_due": "the hourly job asks about all members at once",
    "account_recurring_occurrence_once": "its rule belongs to one member",
}
WITHOUT_MEMBER = {
    "default_category": "shared by all",
    "notification_count": "counts of all members",
    "account_entry_tag": "joins rows of one member",
    "account_quick_entry_tag": "joins rows of one member",
    "account_recurring_tag": "joins rows of one member",
    "account_wallet_total": "a row beside each wallet",
    "fx_rate": "the same for all",
    "stock_quote": "the same for all",
}


def list_models() -> Any:
    return apps.get_app_config("ledger").get_models(include_auto_created=True)


def list_tables() -> set[Any]:
    """Those of the ledger whose rows name their member."""
    return {
        model._meta.db_table
        for model in list_models()
        if any(field.name == "member" for field in model._meta.fields)
    }


def test_every_table_of_the_ledger_names_its_member_or_its_reason() -> None:
    tables = {model._meta.db_table for model in list_models()}
    assert tables - list_tables() == set(WITHOUT_MEMBER)


@pytest.mark.django_db
def test_indexes_of_members_rows_begin_with_the_member() -> None:
    with connection.cursor() as cursor:
        cursor.execute(INDEXES, [list(list_tables())])
        other = {
            (table, index)
            for table, index in cursor.fetchall()
            if index not in NAMED
            and not any(index.startswith("_".join(key)) for key in FOREIGN_KEYS)
        }
    assert other == set()
