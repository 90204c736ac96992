"""Self-deletion: everything a member has, in the order of service.md."""

from django.db import transaction

import billing.erasure
import board.erasure
import board.locking
import ledger.erasure
import ledger.locking
from accounts.administrators import lock_other
from accounts.models import Member, PointHistory
from accounts.sessions import end_sessions


def erase_member(member: Member, *, by: Member | None = None) -> None:
    """Delete the account and all its data in one transaction.

    Board data, the whole ledger, points, payment records, sessions, then the
    member (service.md, DELETE /api/auth/me). Each app deletes what it owns.
    `by` is the administrator who deletes another member.
    """
    with transaction.atomic():
        board.locking.wait_to_leave()
        ledger.locking.lock_ledger(member)
        locked = _lock(member, by)
        board.erasure.erase_member(locked)
        ledger.erasure.erase_member(locked)
        PointHistory.objects.filter(member=locked).delete()
        billing.erasure.erase_member(locked)
        end_sessions(locked)
        locked.delete()


def _lock(member: Member, by: Member | None) -> Member:
    if by is not None:
        return lock_other(by, member.pk, to_delete=True)
    return Member.objects.select_for_update().get(pk=member.pk)
