"""Deletion of old texts that were not sure, of all members."""

from datetime import datetime

from ledger.models import UnsureText
from ledger.notifications.unsure import LIFETIME

MEMBERS_PER_STATEMENT = 100


def purge_old_texts(now: datetime, first_member: int, last_member: int) -> int:
    """Delete those that are no longer listed, of a range of members."""
    deleted = 0
    for first in range(first_member, last_member + 1, MEMBERS_PER_STATEMENT):
        last = min(first + MEMBERS_PER_STATEMENT - 1, last_member)
        old = UnsureText.objects.filter(
            member_id__gte=first, member_id__lte=last, created_at__lt=now - LIFETIME
        )
        deleted += old._raw_delete(old.db)
    return deleted
