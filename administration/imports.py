"""Deletion of files that members sent and did not commit, and of old records."""

from datetime import datetime, timedelta

from ledger.imports.storing import LIFETIME
from ledger.models import Import

# A member has a few imports, of up to 100,000 rows each.
MEMBERS_PER_STATEMENT = 100
# A request that found an import before its end may still write its rows.
GRACE_PERIOD = timedelta(hours=1)


def purge_old_imports(now: datetime, first_member: int, last_member: int) -> int:
    """Delete the expired imports of a range of members; return their number."""
    deleted = 0
    for first in range(first_member, last_member + 1, MEMBERS_PER_STATEMENT):
        last = min(first + MEMBERS_PER_STATEMENT - 1, last_member)
        old = Import.objects.filter(
            member_id__gte=first,
            member_id__lte=last,
            created_at__lt=now - LIFETIME - GRACE_PERIOD,
        )
        # The database deletes their rows.
        deleted += old.delete()[0]
    return deleted
