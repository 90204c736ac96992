"""Deletion of old tombstones, of all members."""

from datetime import datetime, timedelta

from ledger.changes.cursors import MAX_AGE
from ledger.models import Tombstone

# Cursors count days, and a day is not over everywhere at once.
LIFETIME = MAX_AGE + timedelta(days=2)
MEMBERS_PER_STATEMENT = 100


def purge_old_tombstones(now: datetime, first_member: int, last_member: int) -> int:
    """Delete those that no cursor needs, of a range of members; return their number."""
    deleted = 0
    for first in range(first_member, last_member + 1, MEMBERS_PER_STATEMENT):
        last = min(first + MEMBERS_PER_STATEMENT - 1, last_member)
        old = Tombstone.objects.filter(
            member_id__gte=first, member_id__lte=last, deleted_at__lt=now - LIFETIME
        )
        deleted += old._raw_delete(old.db)
    return deleted
