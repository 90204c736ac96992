"""Changes of members by administrators (spec 7.1, 7.2).

Administrators cannot change the role, status or plan of their own account, nor delete
it here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext, gettext_lazy

import accounts.signup
import billing.subscriptions
from accounts.account_deletion import delete_account
from accounts.audit_log import ADDITION, CHANGE, DELETION, log_admin_action
from accounts.email_verification import own_email_condition
from accounts.errors import (
    AdministratorProfileError,
    EmailNotVerifiedError,
    MemberSuspendedError,
    SelfChangeError,
    StaffFactorError,
)
from accounts.locking import lock_actor_and_target
from accounts.mail.outbox import (
    consume_mail_limits,
    is_mailable,
    require_mail_configured,
)
from accounts.models import Member
from accounts.password_reset import request_reset_for
from accounts.profile import update_profile
from accounts.second_factor import end_factors
from accounts.security_events import SecurityEvent, log_security_event
from accounts.sessions import invalidate_member_session_cache, revoke_sessions
from core.db.transactions import retry_on_conflict
from core.errors import NotFoundError

MEMBER_NOT_FOUND = gettext_lazy("Member not found.")


def get_member(member_id: int) -> Member:
    """Return the member, or raise `NotFoundError`."""
    try:
        return Member.objects.get(pk=member_id)
    except Member.DoesNotExist:
        raise NotFoundError(MEMBER_NOT_FOUND) from None


def get_other_member(actor: Member, member_id: int) -> Member:
    """Return the member with only the id loaded.

    Raises `NotFoundError`, or `SelfChangeError` for the administrator's own account.
    """
    if not Member.objects.filter(pk=member_id).exists():
        raise NotFoundError(MEMBER_NOT_FOUND)
    if member_id == actor.pk:
        raise SelfChangeError
    return Member(pk=member_id)


def require_changeable_profile(actor: Member, member: Member) -> None:
    """Raise `AdministratorProfileError` for another administrator."""
    # Whoever may write an administrator's address could become that administrator.
    if member.is_administrator and member.pk != actor.pk:
        raise AdministratorProfileError


@retry_on_conflict
def create_member(actor: Member, data: accounts.signup.SignupData) -> Member:
    """Create a LOCAL member, even while sign-up is closed."""
    with transaction.atomic():
        member = accounts.signup.create_member(data)
        log_admin_action(actor, member, ADDITION)
    return member


@retry_on_conflict
def update_member_profile(
    actor: Member, member_id: int, changes: dict[str, str], session_key_hash: str
) -> Member:
    """Update the display name and email that are given; the own account is allowed.

    `session_key_hash` is that of the actor's session. Raises
    `AdministratorProfileError` for another administrator, and for the own account as
    `update_profile` does.
    """
    with transaction.atomic():
        try:
            member = lock_actor_and_target(actor, member_id)
        except Member.DoesNotExist:
            raise NotFoundError(MEMBER_NOT_FOUND) from None
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
    """Set the role to MEMBER or ADMIN; live sessions follow at once."""
    with _locked_member(actor, member_id) as member:
        member.role = role
        member.save_fields("role")
        log_security_event(SecurityEvent.ROLE_CHANGED, member.pk, role=role)
        log_admin_action(actor, member, CHANGE, f"Role {role}.")
    return member


@retry_on_conflict
def set_member_status(actor: Member, member_id: int, status: str) -> Member:
    """Set the status to ACTIVE or SUSPENDED; a suspension revokes all sessions."""
    with _locked_member(actor, member_id) as member:
        member.status = status
        member.save_fields("status")
        log_security_event(SecurityEvent.STATUS_CHANGED, member.pk, status=status)
        if status == Member.Status.SUSPENDED:
            revoke_sessions(member)
        log_admin_action(actor, member, CHANGE, f"Status {status}.")
    return member


@retry_on_conflict
def set_member_plan(actor: Member, member_id: int, plan: str) -> Member:
    """Set the plan to FREE or PREMIUM without expiry; live sessions follow at once.

    `billing.subscriptions.override_plan` clears the subscription.
    """
    with _locked_member(actor, member_id) as member:
        updated = billing.subscriptions.override_plan(member, plan)
        log_admin_action(actor, member, CHANGE, f"Plan {plan}.")
    return updated


@retry_on_conflict
def send_password_reset(actor: Member, member_id: int, now: datetime) -> None:
    """Send the member the mail of a forgotten password; staff see no code.

    Raises `MemberSuspendedError`, `EmailNotVerifiedError` for an address that
    may be that of another person, or `RateLimitedError`.
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
    """End the second factor of a member who has lost it.

    Raises `StaffFactorError` for an administrator, whose factor ends at the console
    only, and `NotFoundError` for a member without one.
    """
    with _locked_member(actor, member_id) as member:
        if member.is_administrator:
            raise StaffFactorError
        if not member.has_second_factor:
            raise NotFoundError
        end_factors(member, is_by_staff=True)
        log_admin_action(actor, member, CHANGE, "Second factor ended.")


@retry_on_conflict
def end_member_sessions(actor: Member, member_id: int) -> int:
    """End all sessions and personal tokens of a member; return their number."""
    with _locked_member(actor, member_id) as member:
        ended = revoke_sessions(member)
        log_security_event(SecurityEvent.SESSIONS_ENDED, member.pk, ended=ended)
        log_admin_action(actor, member, CHANGE, "Sessions ended.")
    return ended


@retry_on_conflict
def delete_member(actor: Member, member_id: int) -> None:
    """Delete the account and all its data, like the member's own deletion."""
    member = get_other_member(actor, member_id)
    try:
        with transaction.atomic():
            delete_account(member, by=actor)
            log_admin_action(actor, member, DELETION)
    except Member.DoesNotExist:
        raise NotFoundError(MEMBER_NOT_FOUND) from None


@contextmanager
def _locked_member(actor: Member, member_id: int) -> Iterator[Member]:
    """Yield the other member, locked, and refresh live sessions after the commit."""
    get_other_member(actor, member_id)
    with transaction.atomic():
        try:
            member = lock_actor_and_target(actor, member_id)
        except Member.DoesNotExist:
            raise NotFoundError(MEMBER_NOT_FOUND) from None
        yield member
        invalidate_member_session_cache(member_id)
