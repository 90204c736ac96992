"""The cost of a search by keyword or merchant: that of the member's own rows."""

import pytest
from django.db import connection

pytestmark = pytest.mark.django_db

INDEXES = """
SELECT i.indexrelid::regclass::text, am.amname, a.attname
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_am am ON am.oid = c.relam
JOIN pg_attribute a ON a.attrelid = i.indexrelid AND a.attnum = 1
WHERE i.indrelid = %s::regclass
ORDER BY 1
"""


@pytest.mark.parametrize("table", ["account_entry", "account_memo_total"])
def test_every_index_of_memos_is_sorted_by_member(table: str) -> None:
    # One that is not, such as one of words, has lists of all members' memos.
    with connection.cursor() as cursor:
        cursor.execute(INDEXES, [table])
        indexes = cursor.fetchall()
    assert indexes
    # One has times alone.
    assert {row[1:] for row in indexes} - {("brin", "created_at")} == {
        ("btree", "member_id")
    }
