"""Ends of suspensions (spec 7.1)."""

from datetime import datetime

from django.db import connection, transaction

from accounts.models import Member
from accounts.security.events import SecurityEvent, log_security_event
from core.db.transactions import retry_on_conflict

BATCH_SIZE = 500
# Another run, or an administrator, has the skipped ones.
_END = """
    UPDATE member SET status = 'ACTIVE', suspended_until = NULL, suspension_reason = ''
    WHERE id IN (
        SELECT id FROM member WHERE suspended_until <= %(now)s AND status = 'SUSPENDED'
        ORDER BY suspended_until LIMIT %(batch)s FOR NO KEY UPDATE SKIP LOCKED
    )
    RETURNING id
"""


def end_suspensions(now: datetime) -> int:
    """Let members in again whose suspension has an end that has passed.

    Their sessions have ended with its beginning. Returns their number.
    """
    ended = 0
    while count := _end_batch(now):
        ended += count
    return ended


@retry_on_conflict
def _end_batch(now: datetime) -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_END, {"now": now, "batch": BATCH_SIZE})
        member_ids = [int(row[0]) for row in cursor.fetchall()]
        for member_id in member_ids:
            status = Member.Status.ACTIVE.value
            log_security_event(SecurityEvent.STATUS_CHANGED, member_id, status=status)
    return len(member_ids)
