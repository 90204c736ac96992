"""The cost of a search by keyword: that of the member's own entries."""

import pytest
from django.db import connection

pytestmark = pytest.mark.django_db

INDEXES = """
SELECT i.indexrelid::regclass::text, am.amname, a.attname
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_am am ON am.oid = c.relam
JOIN pg_attribute a ON a.attrelid = i.indexrelid AND a.attnum = 1
WHERE i.indrelid = 'account_entry'::regclass
ORDER BY 1
"""


def test_every_index_of_entries_is_sorted_by_member() -> None:
    """One that is not, such as one of words, has lists of all members' entries."""
    with connection.cursor() as cursor:
        cursor.execute(INDEXES)
        indexes = cursor.fetchall()
    assert len(indexes) > 3
    assert {row[1:] for row in indexes} == {("btree", "member_id")}
