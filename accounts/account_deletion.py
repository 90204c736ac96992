"""Self-deletion: everything a member has, in the order of service.md."""

from collections.abc import Callable

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from accounts.locking import lock_other
from accounts.models import Member, PointHistory
from accounts.sessions import end_sessions


def erase_member(member: Member, *, by: Member | None = None) -> None:
    """Delete the account and all its data in one transaction.

    Board data, the whole ledger, points, payment records, sessions, then the
    member (service.md, DELETE /api/auth/me). Each app deletes what it owns.
    `by` is the administrator who deletes another member.
    """
    with transaction.atomic():
        for lock in _load(settings.ACCOUNT_DELETION_LOCKS):
            lock(member)
        locked = _lock(member, by)
        for delete in _load(settings.ACCOUNT_DELETION_STEPS):
            delete(locked)
        end_sessions(locked)
        locked.delete()


def _lock(member: Member, by: Member | None) -> Member:
    if by is not None:
        return lock_other(by, member.pk, to_delete=True)
    return Member.objects.select_for_update().get(pk=member.pk)


def delete_points(member: Member) -> None:
    PointHistory.objects.filter(member=member).delete()


def _load(paths: list[str]) -> list[Callable[[Member], None]]:
    return [import_string(path) for path in paths]
