"""Self-deletion: everything a member has, in the order of service.md."""

from django.db import transaction

import ledger.erasure
import ledger.locking
from accounts.models import Member, PointHistory
from accounts.sessions import end_sessions


def erase_member(member: Member) -> None:
    """Delete the account and all its data in one transaction.

    Board data, the whole ledger, points, payment records, sessions, then the
    member (service.md, DELETE /api/auth/me). Each app deletes what it owns.
    """
    with transaction.atomic():
        ledger.locking.lock_ledger(member)
        locked = Member.objects.select_for_update().get(pk=member.pk)
        ledger.erasure.erase_member(locked)
        PointHistory.objects.filter(member=locked).delete()
        end_sessions(locked)
        locked.delete()
