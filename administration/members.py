"""Changes of members by administrators (spec 7.1, 7.2).

Administrators can neither change the role, status or plan of their own account nor
delete it here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

import accounts.signup.signup
import billing.subscriptions
from accounts.account_deletion import delete_account
from accounts.codes.password_reset import request_reset_for
from accounts.errors import (
    AdministratorProfileError,
    EmailNotVerifiedError,
    MemberNotFoundError,
    MemberSuspendedError,
    SelfChangeError,
    StaffFactorError,
)
from accounts.locking import lock_actor_and_target
from accounts.login.second_factor import end_factors
from accounts.mail.outbox import (
    consume_mail_limits,
    is_mailable,
    require_mail_configured,
)
from accounts.members.search import own_email_condition
from accounts.models import Block, Member
from accounts.profile.profile import update_profile
from accounts.security.audit_log import (
    ADDITION,
    CHANGE,
    DELETION,
    log_admin_action,
    with_reason,
)
from accounts.security.events import SecurityEvent, log_security_event
from accounts.security.pending_steps import end_pending_steps
from accounts.sessions.store import invalidate_member_session_cache, revoke_sessions
from board.moderation.silencing import end_silence, set_silence
from core.db.transactions import retry_on_conflict
from core.errors import NotFoundError


def get_member(member_id: int) -> Member:
    try:
        return Member.objects.get(pk=member_id)
    except Member.DoesNotExist:
        raise MemberNotFoundError from None


def get_other_member(actor: Member, member_id: int) -> Member:
    """Return a member with only an id; raise `SelfChangeError` for the actor."""
    if not Member.objects.filter(pk=member_id).exists():
        raise MemberNotFoundError
    if member_id == actor.pk:
        raise SelfChangeError
    return Member(pk=member_id)


def require_changeable_profile(actor: Member, member: Member) -> None:
    # An administrator could take over another account by its address.
    if member.is_administrator and member.pk != actor.pk:
        raise AdministratorProfileError


@retry_on_conflict
def create_member(actor: Member, data: accounts.signup.signup.SignupData) -> Member:
    with transaction.atomic():
        member = accounts.signup.signup.create_member(data)
        log_admin_action(actor, member, ADDITION)
    return member


@retry_on_conflict
def update_member_profile(
    actor: Member, member_id: int, changes: dict[str, str], session_key_hash: str
) -> Member:
    """Update display name and email; the own account is allowed.

    `session_key_hash` is the actor's. Raises `AdministratorProfileError` for another
    administrator.
    """
    with transaction.atomic():
        member = lock_actor_and_target(actor, member_id)
        require_changeable_profile(actor, member)
        is_own = member_id == actor.pk
        update_profile(
            member, changes, session_key_hash=session_key_hash if is_own else None
        )
        if changes:
            log_admin_action(actor, member, CHANGE, "Name or email.")
    return member


@retry_on_conflict
def set_member_role(actor: Member, member_id: int, role: str) -> Member:
    with _locked_member(actor, member_id) as member:
        member.role = role
        member.save_fields("role")
        if member.is_moderator:
            # Nobody blocks staff, whose notices all may read (spec 5.9).
            Block.objects.filter(blocked=member).delete()
        end_pending_steps(member)
        log_security_event(SecurityEvent.ROLE_CHANGED, member.pk, role=role)
        log_admin_action(actor, member, CHANGE, f"Role {role}.")
    return member


@retry_on_conflict
def set_member_status(
    actor: Member,
    member_id: int,
    status: str,
    until: datetime | None = None,
    reason: str = "",
    note: str = "",
) -> Member:
    """Set the status; a suspension revokes all sessions.

    `until` and `reason` are those of a suspension, and told to the member. Only the
    log has `note`.
    """
    with _locked_member(actor, member_id) as member:
        member.status = status
        member.suspended_until = until
        member.suspension_reason = reason
        member.save_fields("status", "suspended_until", "suspension_reason")
        end_pending_steps(member)
        log_security_event(SecurityEvent.STATUS_CHANGED, member.pk, status=status)
        if status == Member.Status.SUSPENDED:
            revoke_sessions(member)
        text = with_reason(f"Status {status}.", note)
        log_admin_action(actor, member, CHANGE, text)
    return member


@retry_on_conflict
def set_member_plan(actor: Member, member_id: int, plan: str) -> Member:
    with _locked_member(actor, member_id) as member:
        updated = billing.subscriptions.override_plan(member, plan)
        log_admin_action(actor, member, CHANGE, f"Plan {plan}.")
    return updated


@retry_on_conflict
def send_password_reset(actor: Member, member_id: int, now: datetime) -> None:
    """Send the mail of a forgotten password; staff see no code.

    Raises `EmailNotVerifiedError` for an address that may be another person's.
    """
    require_mail_configured()
    member = get_member(member_id)
    if not member.is_active:
        raise MemberSuspendedError(gettext("The member is suspended."))
    own = Member.objects.filter(own_email_condition(), pk=member.pk)
    if not (own.exists() and is_mailable(member.email)):
        raise EmailNotVerifiedError(
            gettext("The member has not confirmed this email address.")
        )
    consume_mail_limits(member.email)
    with transaction.atomic():
        request_reset_for(member, now)
        log_admin_action(actor, member, CHANGE, "Mail for a new password.")


@retry_on_conflict
def end_member_factors(actor: Member, member_id: int) -> None:
    """End a member's lost factor; raise `StaffFactorError` for administrators."""
    with _locked_member(actor, member_id) as member:
        if member.is_administrator:
            raise StaffFactorError
        if not member.has_second_factor:
            raise NotFoundError
        end_factors(member, is_by_staff=True)
        log_admin_action(actor, member, CHANGE, "Second factor ended.")


@retry_on_conflict
def end_member_sessions(actor: Member, member_id: int, note: str = "") -> int:
    with _locked_member(actor, member_id) as member:
        ended = revoke_sessions(member)
        log_security_event(SecurityEvent.SESSIONS_ENDED, member.pk, ended=ended)
        log_admin_action(actor, member, CHANGE, with_reason("Sessions ended.", note))
    return ended


@retry_on_conflict
def silence_member(
    actor: Member, member_id: int, until: datetime, reason: str, now: datetime
) -> None:
    """Silence a member on the board (spec 5.12); the member reads the reason."""
    with _locked_member(actor, member_id):
        set_silence(actor, member_id, until, reason, now)


@retry_on_conflict
def end_member_silence(
    actor: Member, member_id: int, now: datetime, note: str = ""
) -> None:
    with _locked_member(actor, member_id):
        end_silence(actor, member_id, now, note)


@retry_on_conflict
def delete_member(actor: Member, member_id: int) -> None:
    member = get_other_member(actor, member_id)
    with transaction.atomic():
        delete_account(member, by=actor)
        log_admin_action(actor, member, DELETION)


@contextmanager
def _locked_member(actor: Member, member_id: int) -> Iterator[Member]:
    """Yield the other member, locked, and refresh sessions after the commit."""
    get_other_member(actor, member_id)
    with transaction.atomic():
        member = lock_actor_and_target(actor, member_id)
        yield member
        invalidate_member_session_cache(member_id)
