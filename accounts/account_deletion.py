"""Account deletion: everything that a member has, in the order of spec 2.9."""

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from accounts.locking import lock_actor_and_target
from accounts.models import Member, PointHistory
from accounts.security_events import SecurityEvent, log_security_event
from accounts.sessions import revoke_sessions
from core.db.transactions import retry_on_conflict


@retry_on_conflict
def delete_account(member: Member, *, by: Member | None = None) -> None:
    """Delete the account and all its data in one transaction.

    `by` is the administrator who deletes another member; it raises as
    `lock_actor_and_target` does.
    """
    with transaction.atomic():
        # Other apps depend on this one, so settings name the functions by which they
        # take part. Their locks come before the member's row (lock order).
        for path in settings.ACCOUNT_DELETION_LOCKS:
            import_string(path)(member)
        if by is None:
            locked = Member.objects.select_for_update().get(pk=member.pk)
        else:
            locked = lock_actor_and_target(by, member.pk, to_delete=True)

        # Each app deletes the rows that it owns: board, ledger, points, payments.
        for path in settings.ACCOUNT_DELETION_STEPS:
            import_string(path)(locked)

        revoke_sessions(locked)
        log_security_event(SecurityEvent.ACCOUNT_DELETED, locked.pk)
        locked.delete()


def delete_member_data(member: Member) -> None:
    """Delete the member's point history; a step of `delete_account`."""
    PointHistory.objects.filter(member=member).delete()
