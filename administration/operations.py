"""Deletion of old operations of all members."""

from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from accounts.models import Member
from ledger.base.operations import MAX_KEPT_ROWS
from ledger.operations.undo import LIFETIME, LIFETIME_OF_COPY, make_room_in

# An undo that has begun in time has ended by then.
GRACE = timedelta(days=1)
MEMBERS_PER_STATEMENT = 100
_ROWS = """
    DELETE FROM account_operation_row kept USING account_operation operation
    WHERE kept.member_id BETWEEN %(first)s AND %(last)s
        AND operation.member_id = kept.member_id
        AND operation.id = kept.operation_id AND operation.at < %(oldest)s
"""
_COPIES = """
    DELETE FROM account_ledger_copy copy
    WHERE copy.member_id BETWEEN %(first)s AND %(last)s AND NOT EXISTS (
        SELECT FROM account_operation operation
        WHERE operation.member_id = copy.member_id AND operation.is_whole
            AND operation.is_kept AND operation.at >= %(oldest_copy)s
    )
"""
_WITHOUT_COPY = """
    UPDATE account_operation SET is_kept = false
    WHERE member_id BETWEEN %(first)s AND %(last)s AND is_whole AND is_kept
        AND at < %(oldest_copy)s
"""
_OPERATIONS = """
    DELETE FROM account_operation
    WHERE member_id BETWEEN %(first)s AND %(last)s AND at < %(oldest)s
"""
_FULL = """
    SELECT member_id FROM account_operation
    WHERE member_id BETWEEN %(first)s AND %(last)s AND is_kept AND NOT is_whole
    GROUP BY member_id HAVING sum(row_count) > %(limit)s
"""


def purge_old_operations(now: datetime, first_member: int, last_member: int) -> int:
    """Delete operations that cannot be undone any more; return their number.

    For a range of members. Rows beyond the limit of a ledger are deleted, too.
    """
    deleted = 0
    for first in range(first_member, last_member + 1, MEMBERS_PER_STATEMENT):
        params: dict[str, Any] = {
            "first": first,
            "last": min(first + MEMBERS_PER_STATEMENT - 1, last_member),
            "oldest": now - LIFETIME - GRACE,
            "oldest_copy": now - LIFETIME_OF_COPY - GRACE,
            "limit": MAX_KEPT_ROWS,
        }
        with connection.cursor() as cursor:
            for statement in (_ROWS, _COPIES, _WITHOUT_COPY, _OPERATIONS):
                cursor.execute(statement, params)
            deleted += cursor.rowcount
            cursor.execute(_FULL, params)
            full = [member_id for (member_id,) in cursor.fetchall()]
        for member in Member.objects.filter(pk__in=full):
            make_room_in(member)
    return deleted
