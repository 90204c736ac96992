"""Self-deletion: everything a member has, in the order of spec 2.9."""

from collections.abc import Callable

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from accounts.locking import lock_actor_and_target
from accounts.models import Member, PointHistory
from accounts.sessions import revoke_sessions


def delete_account(member: Member, *, by: Member | None = None) -> None:
    """Delete the account and all its data in one transaction.

    Board data, the whole ledger, points, payment records, sessions, then the
    member (spec 2.9). Each app deletes what it owns.
    `by` is the administrator who deletes another member.
    """
    with transaction.atomic():
        for lock in _load(settings.ACCOUNT_DELETION_LOCKS):
            lock(member)
        locked = _lock_member(member, by)
        for delete in _load(settings.ACCOUNT_DELETION_STEPS):
            delete(locked)
        revoke_sessions(locked)
        locked.delete()


def _lock_member(member: Member, by: Member | None) -> Member:
    if by is not None:
        return lock_actor_and_target(by, member.pk, to_delete=True)
    return Member.objects.select_for_update().get(pk=member.pk)


def delete_points(member: Member) -> None:
    PointHistory.objects.filter(member=member).delete()


def _load(paths: list[str]) -> list[Callable[[Member], None]]:
    return [import_string(path) for path in paths]
