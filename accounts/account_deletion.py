"""Deletion of accounts with all that a member has, in the order of spec 2.9.

An account with very many rows is only closed by the request: its content on the board
is deleted, its sessions end, and its row names no person any more. A job deletes what
is left, in short transactions, and the member at last. It can be killed at any time:
the next run deletes what it finds.
"""

import logging
import secrets
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.module_loading import import_string

from accounts.locking import lock_actor_and_target
from accounts.models import (
    Code,
    CodeRequest,
    Mail,
    Member,
    PointHistory,
    SecurityLogEntry,
)
from accounts.models.members import CLOSED
from accounts.second_factor import delete_factors
from accounts.security_events import SecurityEvent, log_security_event
from accounts.sessions import revoke_sessions
from core.db.transactions import retry_on_conflict

# Of entries, or of other rows of one kind: more do not fit into one request.
MAX_ROWS_OF_REQUEST = 50_000

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The result of a run of the job: rows deleted, and accounts left."""

    rows: int
    failed: int


@retry_on_conflict
def delete_account(member: Member, *, by: Member | None = None) -> None:
    """Delete the account and all its data in one transaction, or close it.

    `by` is the administrator who deletes another member; it raises as
    `lock_actor_and_target` does.
    """
    with transaction.atomic():
        _take_locks_before_member(member)
        if by is None:
            locked = Member.objects.select_for_update().get(pk=member.pk)
        else:
            locked = lock_actor_and_target(by, member.pk, to_delete=True)
        log_security_event(SecurityEvent.ACCOUNT_DELETED, locked.pk)
        if any(
            import_string(path)(locked, MAX_ROWS_OF_REQUEST)
            for path in settings.ACCOUNT_DELETION_SIZES
        ):
            _close(locked)
        else:
            _delete(locked)


def list_closed_accounts() -> QuerySet[Member]:
    """Return the members whose accounts are closed, the oldest first."""
    return Member.including_closed.filter(status=CLOSED).order_by("id")


def has_closed_accounts() -> bool:
    return list_closed_accounts().exists()


def delete_accounts_in_batches() -> BatchResult:
    """Delete all closed accounts; one that fails does not keep the others."""
    rows = failed = 0
    for member in list_closed_accounts():
        try:
            for path in settings.ACCOUNT_DELETION_BATCHES:
                for deleted in import_string(path)(member):
                    rows += deleted
            _delete_closed(member)
        except Exception:
            logger.exception("closed account of member %s is not deleted", member.pk)
            failed += 1
    return BatchResult(rows, failed)


def delete_member_data(member: Member) -> None:
    """Delete points, factors, log, mails and codes; a step of `delete_account`."""
    PointHistory.objects.filter(member=member).delete()
    delete_factors(member)
    SecurityLogEntry.objects.filter(member=member).delete()
    _delete_mails(member)


def _delete_mails(member: Member) -> None:
    """Delete what was to be sent to the member, and the codes that were."""
    # A mail about several accounts names this one, too.
    Mail.objects.filter(Q(member=member) | Q(codes__member=member)).delete()
    Code.objects.filter(member=member).delete()
    CodeRequest.objects.filter(member=member).delete()


def _take_locks_before_member(member: Member) -> None:
    # Other apps depend on this one, so settings name the functions by which they take
    # part. Their locks come before the member's row (lock order).
    for path in settings.ACCOUNT_DELETION_LOCKS:
        import_string(path)(member)


def _close(member: Member) -> None:
    """Take the account from everybody, its owner too; the caller has locked it."""
    for path in settings.ACCOUNT_CLOSING_STEPS:
        import_string(path)(member)
    revoke_sessions(member)
    delete_factors(member)
    SecurityLogEntry.objects.filter(member=member).delete()
    _delete_mails(member)
    Member.objects.filter(pk=member.pk).update(
        status=CLOSED,
        # Free for others at once, as after a deletion, and nothing about a person.
        login_id=f"deleted-{secrets.token_hex(16)}",
        display_name="",
        email="",
        verified_email="",
        authenticated_email="",
        pending_email="",
        idp_id=None,
        idp_picture="",
        profile_image="",
        password=make_password(None),
        has_second_factor=False,
        role=Member.Role.MEMBER,
        plan=Member.Plan.FREE,
        plan_expires_at=None,
        plan_product="",
        plan_auto_renew=False,
    )


@retry_on_conflict
def _delete_closed(member: Member) -> None:
    """Delete the account when its batches are done."""
    with transaction.atomic():
        _take_locks_before_member(member)
        locked = list_closed_accounts().select_for_update().filter(pk=member.pk).first()
        # None if a run that was taken for killed has deleted it.
        if locked is not None:
            _delete(locked)


def _delete(member: Member) -> None:
    """Delete the account; the caller has locked it."""
    # Each app deletes the rows that it owns: board, ledger, points, payments.
    for path in settings.ACCOUNT_DELETION_STEPS:
        import_string(path)(member)
    revoke_sessions(member)
    member.delete()
