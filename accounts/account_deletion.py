"""Deletion of accounts with all their data (spec 2.9)."""

from collections.abc import Callable

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils.module_loading import import_string

from accounts.inbox.items import delete_inbox
from accounts.locking import lock_actor_and_target
from accounts.login.identities import delete_identities
from accounts.login.second_factor import delete_factors
from accounts.models import (
    Block,
    Code,
    CodeRequest,
    Consent,
    Mail,
    Member,
    PointHistory,
    SecurityLogEntry,
)
from accounts.security.events import SecurityEvent, log_security_event
from accounts.sessions.store import revoke_sessions
from core.db.transactions import retry_on_conflict


@retry_on_conflict
def delete_account(
    member: Member,
    *,
    by: Member | None = None,
    check: Callable[[Member], None] | None = None,
) -> None:
    """Delete the account and all its data in one transaction.

    An administrator deletes another member with `by`, and gets the errors of
    `lock_actor_and_target`. `check` gets the locked member, and may raise.
    """
    with transaction.atomic():
        # A large ledger takes seconds, in which only the member's own writes wait.
        _call_each(settings.ACCOUNT_DELETION_STEPS_BEFORE_LOCK, member)
        if by is None:
            locked = Member.objects.select_for_update().get(pk=member.pk)
        else:
            locked = lock_actor_and_target(by, member.pk, to_delete=True)
        if check is not None:
            check(locked)
        log_security_event(SecurityEvent.ACCOUNT_DELETED, locked.pk)
        _call_each(settings.ACCOUNT_DELETION_STEPS, locked)
        revoke_sessions(locked)
        locked.delete()


def delete_member_data(member: Member) -> None:
    """Delete the member's rows; a step of `delete_account`."""
    PointHistory.objects.filter(member=member).delete()
    delete_factors(member)
    delete_identities(member)
    Block.objects.filter(Q(member=member) | Q(blocked=member)).delete()
    Consent.objects.filter(member=member).delete()
    # After the board's rows, which writers of items lock.
    delete_inbox(member)
    SecurityLogEntry.objects.filter(member=member).delete()
    # Mails about several accounts have no member.
    Mail.objects.filter(Q(member=member) | Q(codes__member=member)).delete()
    Code.objects.filter(member=member).delete()
    CodeRequest.objects.filter(member=member).delete()


def _call_each(paths: list[str], member: Member) -> None:
    # Settings name the functions of the other apps, which import this app.
    for path in paths:
        import_string(path)(member)
